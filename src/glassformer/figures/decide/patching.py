"""Where the difference travels: share of a logit difference carried by each value at each position."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array, percent
from glassformer.analyses.decide.attribution import signed
from glassformer.analyses.decide.patching import Patching
from glassformer.figures import _draw, _style

ROWS = {"slide": 17}  # points on one page: the embedding and two blocks; else all
LEAST = 0.005  # a smaller share is written as nothing


def draw(seen: Patching, look: _draw.Look) -> Figure:
    """Named point × position: how much of the difference between two inputs one value restores, and removes."""
    points, pages = _draw.paged(range(len(seen.points)), ROWS.get(look.size, 100), look.page)
    shares = np.concatenate([seen.share.values, seen.at_once.values[..., None]], -1)[:, points]
    rows, columns = shares.shape[1:]
    shows = "Two tables of restored and removed share by point and position"
    sheet = look.sheet(seen, _caption(seen), shows, height=3.1 + 0.38 * rows)
    t = sheet.theme
    left = max(_draw.text_width(name, sheet.size.text) for name in seen.points) / sheet.em + 1.2
    names = _draw.widest(seen.share.axes["position"])
    upright = 0.8 * (sheet.room[0] - left - 10.1) / 2 / columns < names
    below = max(6.2, names + 4.2) if upright else 6.2
    panels = sheet.panels(1, 2, left=left, right=8.5, bottom=below, top=3.6, gap=(1.6, 3))[0]
    mine, other = (shown(each[seen.changed]) for each in (seen.tokens, seen.other))
    titles = (
        f"input with {other}, one part put back from the one with {mine}: percent restored",
        f"input with {mine}, one part taken from the one with {other}: percent lost",
    )
    for k, panel in enumerate(panels):
        _draw.heat(panel, shares[k], kind="share", theme=t, columns=[*drawn(seen.share.axes["position"]), "all"],
                   column_name="position", numbers=False)  # fmt: skip
        _numbers(panel, shares[k], t)
        if k == 0:
            _draw.name_rows(panel, [seen.points[k] for k in points])
        _draw.heading(panel, titles[k])
        for edge in np.arange(rows + 1) - 0.5:  # pale cells are cells too
            panel.axhline(edge, color=t.faint, linewidth=0.3 * sheet.size.line)
        for edge in np.arange(columns + 1) - 0.5:
            panel.axvline(edge, color=t.faint, linewidth=0.3 * sheet.size.line)
        panel.axvline(columns - 1.5, color=t.quiet, linewidth=sheet.size.line)
        ticks = panel.get_xticklabels()
        for at in {seen.changed, seen.position}:
            if at < len(ticks) and len(ticks) == columns:
                ticks[at].set_fontweight("bold")
    scale = _draw.bar(sheet, "share", (0, 1), "share of the difference", beside=panels[1])
    scale.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
    page = f"page {look.page + 1} of {pages} · " if pages > 1 else ""
    read = "" if seen.changed == seen.position else f", and {seen.position}"
    also = f"{read}, where the answer is read" if read else " and the answer is read"
    sheet.note(f"{page}empty: rounds to 0 · bold: position {seen.changed}, where the inputs differ{also}")
    return sheet.done(pages=pages)


def _caption(seen: Patching) -> str:
    mine, other = (shown(each[seen.changed]) for each in (seen.tokens, seen.other))
    return (
        f"The input {' '.join(map(shown, seen.tokens))} and the same with {other} in place of {mine} at position "
        f"{seen.changed}. After position {seen.position} the logit of {shown(seen.first)} minus that of "
        f"{shown(seen.second)}{'' if seen.judged else ', the two that this moves apart most,'} is {signed(seen.clean)} "
        f"on the first{' (split by `attribution`)' if seen.nearest else ''} and {signed(seen.corrupt)} on the second. "
        "Left: one value of the first input put into the run on the second, and how much of this difference comes "
        "back. Right: one value of the second put into the run on the first, and how much is lost. Rows are in the "
        "order of the computation, “all” is every position at once; numbers are percent, empty cells round to 0; below "
        "0 or above 100 a value does more than carry the difference. Exact. If the model did not use the exchanged "
        "token, all cells would be empty." + ("" if seen.nearest else f" `attribution` takes {_nearer(seen)}.")
    )


def _nearer(seen: Patching) -> str:
    """The rivals of `attribution`, where they are others."""
    return "the best wrong token instead, whose logit is nearer" if seen.judged else "the winner and the runner-up"


def _numbers(ax: Axes, shares: Array, theme: _style.Theme) -> None:
    """Percent, where they do not round to zero and cells are wide enough."""
    size, box = float(matplotlib.rcParams["font.size"]), ax.get_window_extent()
    if box.width / ax.figure.dpi / shares.shape[1] < 1.05 * _draw.text_width("100", size):
        return
    palette = _style.colormap("share", theme.name)
    for row, column in np.argwhere(np.abs(np.nan_to_num(shares)) >= LEAST):
        value = float(shares[row, column])
        ax.text(column, row, _draw.number(100 * value, 0), ha="center", va="center",
                color=_style.on(palette(float(np.clip(value, 0, 1)))))  # fmt: skip
