"""What breaks without it: loss and wrong answers when each part is zeroed, averaged or resampled."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from glassformer.analyses._result import Array, percent, thousands
from glassformer.analyses.decide.ablation import SHOWS, WAYS, Ablation
from glassformer.figures import _draw, _style

MOST = {"slide": 12}  # rows; else 24
NEURONS, WORTH = 6, 0.05  # single neurons at most, and the share of the largest cost that one must reach
FAR = 5.0  # nats: beyond, small and large costs need a logarithmic axis to be seen together
MARKS = {"zero": "o", "mean": "o", "resample": "x"}  # zero is hollow; all in ink, the colours mean parts elsewhere


def draw(seen: Ablation, look: _draw.Look) -> Figure:
    """Parts sorted by what averaging them costs; three ways to remove each; intervals over windows."""
    names, rows = seen.loss.axes["part"].labels, _rows(seen, MOST.get(look.size, 24))
    shows = "Dots with intervals: loss and wrong answers by removed part"
    sheet = look.sheet(seen, _caption(seen), shows, height=2.6 + 0.32 * len(rows))
    t = sheet.theme
    panels = sheet.panels(
        1, 2 if seen.answers else 1, left=12.5, right=2, bottom=5.2, top=2.2, gap=(3, 3)
    )[0]  # fmt: skip
    _ways(panels[0], seen.loss.values[rows], seen.loss_interval.values[rows], t)
    panels[0].axvline(0, color=t.ink, linewidth=0.5 * sheet.size.line)
    panels[0].set_title(f"loss {_draw.number(seen.base_loss)} with all parts, {thousands(seen.windows)} windows")
    far = _scale(panels[0], seen.loss_interval.values[rows])
    panels[0].set_xlabel(f"change of loss (nats per token{', logarithmic beyond 1' if far else ''})")
    if seen.answers:
        base = seen.base_error
        _ways(panels[1], base + seen.error.values[rows], base + seen.error_interval.values[rows], t)
        panels[1].axvline(base, color=t.ink, linewidth=0.5 * sheet.size.line)
        panels[1].set_xlim(-0.02, 1.02)
        panels[1].xaxis.set_major_locator(MaxNLocator(5))
        panels[1].xaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
        panels[1].set_xlabel("wrong among answers that can be checked")
        panels[1].set_title(f"{percent(base)} wrong with all parts, {thousands(seen.answers)} answers")
    for panel in panels:
        panel.set_ylim(len(rows) - 0.4, -0.6)
        _draw.name_rows(panel, [names[k] for k in rows] if panel is panels[0] else [""] * len(rows))
        panel.grid(axis="y")
        panel.spines["left"].set_visible(False)
    sheet.legend([Line2D([], [], label=way, **_look(way, t, sheet.size.line)) for way in WAYS])
    left = [k for k in range(len(names)) if k not in rows]
    if left:
        most = float(np.nan_to_num(np.abs(seen.loss.values[left, WAYS.index("mean")])).max())
        what = f"of {seen.neurons} neurons{' tried' if seen.left_out else ''}"
        what = what if all(seen.kinds[k] == "neuron" for k in left) else f"of {len(names)} parts and neurons"
        sheet.note(f"not drawn: {len(left)} {what}; averaging one: {_most(most)}")
    return sheet.done()


def _caption(seen: Ablation) -> str:
    idle = "all" if seen.idle == seen.neurons else seen.idle or "none"
    shows = f"without a change that shows (one that is not by chance, and {SHOWS:g} nats or more)"
    neurons = f"Of {seen.neurons} single neurons, {idle} can be averaged {shows}. "
    if seen.left_out:
        neurons = (
            f"{seen.neurons} of {seen.neurons + seen.left_out} single neurons were tried, those whose output changes "
            f"most from window to window; of these, {idle} can be averaged {shows}. "
        )
    turned = "The position embedding is averaged over positions and resampled by turning it round. "
    turned = turned if "position embedding" in seen.loss.axes["part"].labels else ""
    return (
        "Each part of the model replaced by zero, by its mean over windows, or by its value in another window "
        f"(resample); {seen.windows} {seen.of_part} windows with {seen.answers} answers that can be checked (the "
        "loss in the clock is as logged, on all judged windows); bars are intervals of 95 % over windows. Left: change "
        "of the loss (the same as of the excess). Right: the share of wrong answers; the line is the whole model's. "
        f"Parts are sorted by the loss that averaging them costs. {neurons if seen.neurons else ''}{turned}A part "
        "whose interval spans 0 is not shown to matter alone; two that can stand in for each other may both look idle."
    )


def _most(cost: float) -> str:
    """The most that averaging one of those left out costs, in a note."""
    return f"less than {SHOWS:g} nats" if cost < SHOWS else f"at most {cost:.2g} nats"


def _rows(seen: Ablation, most: int) -> list[int]:
    """The parts to draw, in order: all but neurons, and the few neurons that cost much to average."""
    cost, every = seen.loss.values[:, WAYS.index("mean")], seen.order()
    large = [k for k in every if seen.kinds[k] != "neuron"][:most]
    neurons = [k for k in every if seen.kinds[k] == "neuron" and cost[k] > WORTH * np.nan_to_num(cost).max()]
    return [k for k in every if k in {*large, *neurons[: min(NEURONS, most - len(large))]}]


def _scale(ax: Axes, ends: Array) -> bool:
    """Limits around the intervals; logarithmic beyond 1 nat (and then true is returned) if some are far out."""
    reach = ends[np.isfinite(ends)]
    low, high = reach.min(initial=0.0), reach.max(initial=0.0)
    if high <= FAR:
        return False
    ax.set_xscale("symlog", linthresh=1.0)
    ax.set_xlim(min(low, -0.06) * 1.15, high * 1.15)
    ticks = [0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500] if high < 50 else [0, 1, *10.0 ** np.arange(1, 12)]
    ax.set_xticks([tick for tick in ticks if tick < high])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return True


def _look(way: str, theme: _style.Theme, line: float) -> dict[str, object]:
    colour = theme.ink if way == "mean" else theme.quiet
    return {
        "marker": MARKS[way], "color": colour, "linewidth": 0.6 * line, "markeredgewidth": 0.8 * line,
        "markerfacecolor": theme.paper if way == "zero" else colour,
    }  # fmt: skip


def _ways(ax: Axes, values: Array, ends: Array, theme: _style.Theme) -> None:
    """(part, way) as marks with intervals, the three ways one below the other."""
    line, text = (float(matplotlib.rcParams[name]) for name in ("lines.linewidth", "font.size"))
    for j, way in enumerate(WAYS):
        y, look = np.arange(len(values)) + 0.25 * (j - 1), _look(way, theme, line)
        ax.hlines(y, ends[:, j, 0], ends[:, j, 1], color=look["color"], linewidth=0.6 * line)
        ax.plot(values[:, j], y, **look | {"linestyle": "", "markersize": 0.45 * text})
