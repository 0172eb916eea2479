"""Who looks at whom: the attention of every block and head on one input."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import percent
from glassformer.analyses._sought import sought
from glassformer.analyses.attention import Attention, attention, named, say
from glassformer.figures import _attend, _draw
from glassformer.run import Run

SECTION = "attend"
ORDER = 70
ANSWERS = ("2.F5", "2.F6", "2.F7", "2.F8", "1.P3", "1.P6", "3.§3.3.1")
COST = "b"
MOST_NUMBERS = 12  # positions
MOST_PANELS = 16
NARROW = 60  # ems under which the bars are left out


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return "this model has no attention" if run.architecture.attention == "off" else None


@_draw.drawing
def plot_attention(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    page: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Who looks at whom: rows look at columns; the frame marks the answer, or the token the rule needs."""
    seen = attention(run, sequence=sequence, step=step, member=member)
    blocks, heads = seen.attention.values.shape[:2]
    most, wide = (_slide(heads), 4 if heads == 4 else 3) if size == "slide" else (MOST_PANELS, 4)
    every = [(b, h) for b in range(blocks) for h in range(heads)]
    places, pages = _draw.paged(every, most, page)
    columns = min(heads, wide, len(places))
    rows = -(-len(places) // columns)
    side = min(4.6, 10.3 / columns - 0.4)  # inches of a panel at screen size
    sheet = _draw.Sheet(
        ax, theme, size, say(seen, places), seen.clock, height=1.5 + (side + 0.55) * rows, least=17 * columns
    )
    bars = len(places) == 1 and max(seen.source) >= 0 and sheet.room[0] > NARROW
    part = (0, 0, 0.62 if bars else 1, 1)
    shape = 0.6 if size == "slide" and columns == 4 and rows == 1 else 1.0  # one row: as high as a slide has room
    above = 4.0 if len(places) > 1 and (seen.roles or max(seen.source) >= 0) else 2.4  # headings of two lines
    panels = sheet.panels(rows, columns, left=6, right=7.5, bottom=5 if pages == 1 else 6.6, top=above,
                          gap=(3, above + 2.1), square=shape, within=part)  # fmt: skip
    for k, (block, head) in enumerate(places):
        _map(panels.flat[k], seen, block, head, sheet, left=k % columns == 0, bottom=k + columns >= len(places))
        if len(places) > 1:
            who, said = named(block, head, blocks), _said(seen, block, head)
            if seen.roles:
                panels.flat[k].set_title(f"{who}:\n{said}")
            else:
                _draw.heading(panels.flat[k], f"{who}: {said}" if said else who)
    for panel in panels.flat[len(places) :]:
        panel.remove()
    last = panels[0, min(columns, len(places)) - 1]
    _draw.bar(sheet, "share", (0, 1), "share of attention", beside=last)
    if bars:
        _bars(sheet.beside(last, begin=0.62, left=6, right=3), seen, sheet)
    if pages > 1:
        sheet.note(f"page {page + 1} of {pages}: {len(places)} of {blocks * heads} heads")
    return sheet.done(seen, sequence=" ".join(seen.tokens), page=page, pages=pages)


def _slide(heads: int) -> int:
    """Panels on a slide: six at most, whole blocks where they fit."""
    return max(1, 6 // heads) * heads if heads <= 6 else 6


def _map(ax: Axes, seen: Attention, block: int, head: int, sheet: _draw.Sheet, *, left: bool, bottom: bool) -> None:
    names = seen.attention.axes["key_position"]
    _draw.heat(
        ax, seen.attention.values[block, head], kind="share", theme=sheet.theme,
        masked=~np.tri(len(names), dtype=bool) if seen.causal else None,
        numbers=None if len(names) <= MOST_NUMBERS else False,
    )  # fmt: skip
    _attend.places(ax, names if left else (), seen.marks, "y", "query position" if left else "")
    _attend.places(ax, names if bottom else (), seen.marks, "x", "key position" if bottom else "")
    _draw.outline(ax, ((q, s) for q, s in enumerate(seen.source) if s >= 0), sheet.theme.right)


def _said(seen: Attention, block: int, head: int) -> str:
    """What a head does: its look at what is sought, else its clearest role."""
    there = seen.on_answer.values[block, head]
    some = there[np.isfinite(there)]
    on = f"{percent(float(some.mean()))} on {sought(seen.copied)}" if len(some) else ""
    return on or seen.roles.get((block, head), "")


def _bars(ax: Axes, seen: Attention, sheet: _draw.Sheet) -> None:
    """Weight on what is sought, one bar per row of the map beside it."""
    there, even = seen.on_answer.values[0, 0], seen.uniform.values
    asks = np.flatnonzero(np.isfinite(there))
    ax.barh(asks, there[asks], height=0.5, facecolor=(sheet.theme.right, 0.25), edgecolor=sheet.theme.right)
    ax.plot(even[asks], asks, linestyle="", marker="|", color=sheet.theme.ink, markersize=2.2 * sheet.size.text)
    for row in asks:
        ax.text(max(there[row], even[row]) + 0.02, row, percent(float(there[row])), va="center")
    ax.set_ylim(len(there) - 0.5, -0.5)
    ax.set_xlim(0, 1.15)
    ax.set_xticks([0, 0.5, 1])
    _draw.places(ax, seen.on_answer.axes["query_position"], "y")
    ax.set_xlabel(f"share on {sought(seen.copied)}")
    ax.set_title("| if it looked everywhere alike")
