"""What is answered when it is wrong: the token that came against the likeliest token."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, thousands
from glassformer.analyses.confusion import confusion, say
from glassformer.figures import _draw, _style
from glassformer.run import Run

SECTION = "learn"
ORDER = 50
ANSWERS = ("1.P5",)
COST = "b"


@_draw.drawing
def plot_confusion(
    run: Run,
    *,
    step: int = -1,
    steps: Sequence[int] | None = None,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """True token down, likeliest token across; the last step large, the earlier ones beside it."""
    seen = confusion(run, step=step, steps=steps, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=7, least=60)
    words, early = seen.share.axes["true"], len(seen.steps) - 1
    more = early + (seen.answered_as is not None)
    side = 0.62 if more else 0.9
    widest = max(_draw.text_width(shown(word), sheet.size.text) for word in words) / sheet.em if words else 1
    foot = 5.8 if widest < 2.5 else 4.6 + widest  # long tokens are turned
    large = sheet.panels(1, 1, left=3.2 + widest, right=1, bottom=foot, top=2.4, within=(0, 0, side, 1))[0, 0]
    _map(large, seen.share.values[-1], seen.count.values[-1], words, sheet, names=True)
    large.set_title(f"step {thousands(seen.steps[-1])}")
    right = 7.0
    smalls: list[Axes] = []
    if more:
        # the colour bar stands beside the small maps
        smalls = list(
            sheet.panels(
                more,
                1,
                left=5 if seen.answered_as is not None else 2.5,
                right=right,
                bottom=foot,
                top=2.4,
                gap=(0, 3.2),
                within=(side, 0, 1, 1),
            )[:, 0]
        )
    for k in range(early):
        _map(smalls[k], seen.share.values[k], None, words, sheet, names=False)
        smalls[k].set_title(f"step {thousands(seen.steps[k])}")
    if seen.answered_as is not None:
        asked, fits = seen.answered_as.axes["asked"], seen.answered_as.axes["answered_as"]
        _draw.heat(
            smalls[-1], seen.answered_as.values[-1], kind="probability", theme=sheet.theme, rows=asked, columns=fits
        )
        smalls[-1].set_title("answered as (rows: asked)")
    _draw.bar(sheet, "probability", (0, 1), "share of the row", beside=smalls or [large])
    t = sheet.theme
    named = [Patch(fill=False, edgecolor=t.right, label="answered with the token that came")]
    if np.isnan(seen.share.values).any():
        named.append(Patch(facecolor=t.paper, edgecolor=t.masked, hatch="xxxx", label="never asked for"))
    sheet.legend(named)
    return sheet.done(seen, steps=list(seen.steps), member=member)


def _map(
    ax: Axes, values: Array, counts: Array | None, words: Sequence[str], sheet: _draw.Sheet, *, names: bool
) -> None:
    empty = np.isnan(values)
    _draw.heat(
        ax,
        values,
        kind="probability",
        theme=sheet.theme,
        numbers=False,
        masked=empty if empty.any() else None,
        rows=words if names else (),
        columns=words if names else (),
        row_name="the token that came" if names else "",
        column_name="likeliest token of the model" if names else "",
    )
    _draw.outline(ax, ((k, k) for k in range(len(words))), sheet.theme.right, 0.6)
    if counts is None:
        return
    box = ax.get_window_extent()
    widest = max((_draw.text_width(f"{int(c)}", sheet.size.text) for c in np.unique(counts)), default=0)
    if (
        box.width / ax.figure.dpi / len(words) < 1.1 * widest
        or box.height / ax.figure.dpi / len(words) < 1.1 * sheet.em
    ):
        return
    palette = _style.colormap("probability", sheet.theme.name)
    for (row, column), count in np.ndenumerate(counts):
        if count:
            ax.text(
                column, row, f"{int(count)}", ha="center", va="center", color=_style.on(palette(values[row, column]))
            )
