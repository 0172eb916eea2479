"""Who looks at whom: the attention of every block and head on one input."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import percent
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.attention import Attention, named
from glassformer.analyses.attend.head_roles import HAS
from glassformer.figures import _attend, _draw

MOST_NUMBERS = 12  # positions
MOST_PANELS = 16
NARROW = 60  # ems under which the bars are left out
LARGE = 8.0  # inches of a map that was asked for alone


def draw(seen: Attention, look: _draw.Look) -> Figure:
    """Who looks at whom: rows look at columns; the frame marks the answer, or the token the rule needs."""
    blocks, heads = seen.attention.values.shape[:2]
    most, wide = (_slide(heads), 4 if heads == 4 else 3) if look.size == "slide" else (MOST_PANELS, 4)
    every = list(seen.chosen) or [(b, h) for b in range(blocks) for h in range(heads)]
    places, pages = _draw.paged(every, most, look.page)
    columns = min(len({head for _, head in every}), wide, len(places))
    if look.size == "slide" and len(places) <= 4:
        columns = len(places)  # side by side: a slide is wide
    rows = -(-len(places) // columns)
    alone, headed = len(every) == 1 < blocks * heads, len(places) > 1 or bool(seen.chosen)
    side = min(LARGE if alone else 4.6, 10.3 / columns - 0.4)  # inches of a panel on screen
    title = seen.title_of(places)
    sheet = look.sheet(
        seen, _caption(seen), _shows(seen), title=title, height=1.5 + (side + 0.55) * rows, least=17 * columns
    )
    bars = len(places) == 1 and not alone and max(seen.source) >= 0 and sheet.room[0] > NARROW
    part = (0, 0, 0.62 if bars else 1, 1)
    shape = (
        0.6 if look.size == "slide" and columns == 4 and rows == 1 and len(seen.tokens) > 8 else 1.0
    )  # one row: as high as a slide has room
    above = 4.0 if headed and (seen.roles or max(seen.source) >= 0) else 2.4  # headings of two lines
    beside = max(6.0, 2.4 + _draw.widest(seen.attention.axes["key_position"]))
    below = max(5.0, 3.2 + _draw.widest(seen.attention.axes["key_position"])) + (1.6 if pages > 1 else 0)
    panels = sheet.panels(rows, columns, left=beside, right=7.5, bottom=below, top=above,
                          gap=(3, above + 2.1), square=shape, within=part)  # fmt: skip
    for k, (block, head) in enumerate(places):
        _map(panels.flat[k], seen, block, head, sheet, left=k % columns == 0, bottom=k + columns >= len(places))
        if headed:
            who, said = named(block, head, blocks), _said(seen, block, head)
            if seen.roles:
                panels.flat[k].set_title(f"{who}:\n{said}")
            else:
                _draw.heading(panels.flat[k], f"{who}: {said}" if said else who)
    _draw.remove_spare(panels, len(places))
    last = panels[0, min(columns, len(places)) - 1]
    _draw.bar(sheet, "share", (0, 1), "share of attention", beside=last)
    if bars:
        _bars(sheet.beside(last, begin=0.62, left=6, right=3), seen, sheet)
    sheet.note_page(pages, f": {len(places)} of {len(every)} heads")
    return sheet.done(pages=pages)


def _caption(seen: Attention) -> str:
    there = seen.on_answer.values
    where = "a window of the validation part, " if seen.held_out else "the input "
    said = (
        f"Attention of {'some heads' if seen.chosen else 'every block and head'} on {where}"
        f"{' '.join(map(shown, seen.tokens))}; in `{drawn(seen.attention.axes['key_position'])[0]}` the small number "
        "is the position. "
        "Rows are the positions that look, columns those looked at; each row sums to 1, and a darker cell (lighter on "
        "a dark page) is a larger share, on a scale fixed from 0 to 1. "
    )
    said += "Cross-hatched cells lie in the future and may not be looked at. " if seen.causal else ""
    if np.isfinite(there).any():
        alone = "; the ticks on the bars are what it would get if all positions in view counted the same"
        said += (
            f"A framed cell is the position of {sought(seen.copied)}, where there is one"
            f"{' (of equal tokens that would do, the first)' if _tied(seen) else ''}"
            f"{alone if there.shape[:2] == (1, 1) else ''}. The numbers are exact. "
            "If a head did not look it up, the framed cells would be no darker than the rest of their rows."
        )
    else:
        if seen.marks:
            said += f"Short lines at the edges mark {_attend.marked(seen.tokens, seen.marks)}: a head that looks "
            said += "there has dark columns. "
        said += (
            "A head that looks at the token before has a dark line beside the diagonal. The numbers are exact; what a "
            "head does on one window may be chance."
        )
    if seen.roles:
        said += (
            " Above each map, the head's clearest role over many judged windows and the share of its "
            f"attention that goes there, if that is {HAS:g} points more than looking everywhere alike would give."
        )
    return said


def _shows(seen: Attention) -> str:
    blocks, heads = seen.attention.values.shape[:2]
    many = f"{blocks} blocks of {heads} heads" if blocks > 1 else f"{heads} heads" if heads > 1 else "one head"
    return f"Heat maps of attention ({many}) on {' '.join(map(shown, seen.tokens))}"


def _tied(seen: Attention) -> bool:
    """Whether the one answer stands at several positions, of which one is framed."""
    key = seen.source[seen.read] if 0 <= seen.read < len(seen.source) else -1
    return key >= 0 and seen.tokens.count(seen.tokens[key]) > 1


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
    ax.set(ylim=(len(there) - 0.5, -0.5), xlim=(0, 1.15), xticks=[0, 0.5, 1])
    _draw.places(ax, seen.on_answer.axes["query_position"], "y")
    ax.set(xlabel=f"share on {sought(seen.copied)}", title="| if it looked everywhere alike")
