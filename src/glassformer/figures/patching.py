"""Where the difference travels: share of a logit difference carried by each value at each position."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array
from glassformer.analyses.patching import patching, say
from glassformer.figures import _draw, _regions, _style
from glassformer.run import Run

SECTION = "decide"
ORDER = 110
ANSWERS = ("new",)
COST = "b"
BEYOND = 0.005


@_draw.drawing
def plot_patching(
    run: Run,
    *,
    sequence: str | None = None,
    other: str | None = None,
    position: int | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Named point × position: how much of the difference between two inputs one value restores, and removes."""
    seen = patching(run, sequence=sequence, other=other, position=position, step=step, member=member)
    shares = seen.share.values
    rows, columns = shares.shape[1:]
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=2.9 + 0.38 * rows, least=60)
    t = sheet.theme
    panels = sheet.panels(
        1, 2, left=11.5 if len(seen.share.axes["point"]) > 8 else 8.5, right=7, bottom=5.2, top=2.2, gap=(1.6, 3)
    )[0]
    names = seen.share.axes
    titles = (
        f"{shown(seen.tokens[seen.changed])} put back: restored",
        f"{shown(seen.other[seen.changed])} put in: removed",
    )
    for k, panel in enumerate(panels):
        _draw.heat(panel, shares[k], kind="share", theme=t, columns=names["position"], numbers=False)
        _numbers(panel, shares[k], t)
        if k == 0:
            _regions.rows_named(panel, names["point"])
        panel.set_title(titles[k], parse_math=False)
        beyond = np.isfinite(shares[k]) & ((shares[k] < -BEYOND) | (shares[k] > 1 + BEYOND))
        for row, column in np.argwhere(beyond):
            panel.add_patch(_cell(column, row, t.masked))
        panel.axvline(columns - 1.5, color=t.quiet, linewidth=sheet.size.line)
        ticks = panel.get_xticklabels()
        for at in {seen.changed, seen.position}:
            if at < len(ticks) and len(ticks) == columns:
                ticks[at].set_fontweight("bold")
    _draw.bar(sheet, "share", (0, 1), "share of the difference", beside=panels[1])
    sheet.note(
        f"bold: position {seen.changed}, where the inputs differ, and {seen.position}, where the answer is read · "
        "hatched: below 0 or above 1"
    )
    return sheet.done(seen, sequence=" ".join(seen.tokens), other=" ".join(seen.other), position=seen.position)


def _numbers(ax: Axes, shares: Array, theme: _style.Theme) -> None:
    """What is not zero, written into its cell where cells are wide enough."""
    size, box = float(matplotlib.rcParams["font.size"]), ax.get_window_extent()
    if box.width / ax.figure.dpi / shares.shape[1] < 1.1 * _draw.text_width("0.00", size):
        return
    palette = _style.colormap("share", theme.name)
    for row, column in np.argwhere(np.abs(np.nan_to_num(shares)) >= 0.005):
        value = float(shares[row, column])
        ax.text(column, row, _draw.number(value), ha="center", va="center",
                color=_style.on(palette(float(np.clip(value, 0, 1)))))  # fmt: skip


def _cell(column: int, row: int, colour: str) -> Rectangle:
    return Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="////", edgecolor=colour, linewidth=0)
