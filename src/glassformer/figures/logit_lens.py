"""When the answer appears: the most probable token if the stream were read out at each point."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses.logit_lens import logit_lens, say
from glassformer.figures import _draw, _regions, _style
from glassformer.run import Run

SECTION = "decide"
ORDER = 80
ANSWERS = ("new",)
COST = "a"


@_draw.drawing
def plot_logit_lens(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Rows are points from the embedding to the end, columns positions; colour: probability of the right token."""
    seen = logit_lens(run, sequence=sequence, step=step, member=member)
    values = seen.right.values
    rows = len(values)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=2.6 + 0.55 * rows)
    t = sheet.theme
    panel = sheet.panels(1, 1, left=11, right=7.5, bottom=5, top=1.4)[0, 0]
    panel.set_facecolor(t.unconstrained)
    names = seen.right.axes
    _draw.heat(panel, values, kind="probability", theme=t, columns=names["position"], numbers=False,
               column_name="position of the input")  # fmt: skip
    _regions.rows_named(panel, names["point"])
    palette = _style.colormap("probability", t.name)
    for row in range(rows):
        for column, said in enumerate(seen.said[row]):
            if not said:
                continue
            value, verdict = values[row, column], seen.verdicts[row][column]
            ink = t.ink if np.isnan(value) else _style.on(palette(float(value)))
            sign = f" {_style.GLYPH[verdict]}" if _style.GLYPH.get(verdict) else ""
            panel.text(column, row, f"{shown(said)}{sign}", ha="center", va="center", color=ink, parse_math=False,
                       fontweight="bold" if sign else "normal")  # fmt: skip
    _draw.bar(sheet, "probability", (0, 1), "P(right token)", beside=panel)
    sheet.legend(["unconstrained"])
    return sheet.done(seen, sequence=" ".join(seen.tokens))
