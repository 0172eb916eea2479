"""What breaks without it: change of loss and error when each part is zeroed, averaged or resampled."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses.ablation import WAYS, ablation, order, say
from glassformer.figures import _draw
from glassformer.run import Run

SECTION = "decide"
ORDER = 100
ANSWERS = ("1.P10", "new")
COST = "c"
MOST = {"slide": 12}  # rows; else 24
MARKS = {"zero": "o", "mean": "s", "resample": "D"}


@_draw.drawing
def plot_ablation(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Parts sorted by effect; three ways to remove each; intervals over windows."""
    seen = ablation(run, step=step, member=member)
    names = seen.loss.axes["part"]
    sorted_parts = order(seen)
    big = [k for k in sorted_parts if not names[k].startswith("neuron")]
    most = MOST.get(size, 24)
    picked = set(big[:most]) | set(
        [k for k in sorted_parts if names[k].startswith("neuron")][: max(0, min(10, most - len(big)))]
    )
    rows = [k for k in sorted_parts if k in picked]
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=2.4 + 0.3 * len(rows), least=60)
    t = sheet.theme
    panels = sheet.panels(1, 2, left=12.5, right=2, bottom=5.2, top=2.2, gap=(3, 3))[0]
    colours = {"zero": t.query, "mean": t.key, "resample": t.value}
    measures = ((panels[0], seen.loss, seen.loss_interval, "change of loss (nats per token)"),
                (panels[1], seen.error, seen.error_interval, "change of the share of wrong answers"))  # fmt: skip
    for panel, values, interval, label in measures:
        panel.axvline(0, color=t.ink, linewidth=0.5 * sheet.size.line)
        for j, way in enumerate(WAYS):
            y = np.arange(len(rows)) + 0.25 * (j - 1)
            x, ends = values.values[rows, j], interval.values[rows, j]
            panel.hlines(y, ends[:, 0], ends[:, 1], color=colours[way], linewidth=0.6 * sheet.size.line)
            panel.plot(x, y, linestyle="", marker=MARKS[way], color=colours[way], markersize=0.45 * sheet.size.text)
        panel.set_ylim(len(rows) - 0.4, -0.6)
        panel.set_yticks(range(len(rows)), [names[k] for k in rows] if panel is panels[0] else [""] * len(rows))
        panel.tick_params(axis="y", length=0)
        panel.grid(axis="y")
        panel.set_xlabel(label)
        panel.spines["left"].set_visible(False)
    panels[0].set_title(f"loss is {seen.base_loss:.2f} with all parts")
    panels[1].set_title(f"{100 * seen.base_error:.1f} % wrong with all parts")
    sheet.legend(
        [
            Line2D(
                [], [], linestyle="-", linewidth=0.6 * sheet.size.line, marker=MARKS[way], color=colours[way], label=way
            )
            for way in WAYS
        ]
    )
    left = len(names) - len(rows)
    if left:
        worst = float(np.abs(np.delete(seen.loss.values, rows, axis=0)).max())
        sheet.note(f"{left} more neurons change the loss by at most {worst:.2g} nats each")
    return sheet.done(seen)
