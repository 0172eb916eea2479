"""Which tokens are looked at by all that follow, head by head."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses.attend.anchors import LEAST, Anchors
from glassformer.figures import _draw, _style

MOST_HEADS = {"slide": 8, "print_narrow": 8}  # side by side; else 16


def draw(seen: Anchors, look: _draw.Look) -> Figure:
    """Rows are tokens, the strongest anchor on top, columns heads; beside it groups of tokens and the first place."""
    blocks, heads, many = seen.received.values.shape
    every = list(np.ndindex(blocks, heads))
    picked, pages = _draw.paged(every, MOST_HEADS.get(_style.widened(look.size), 16), look.page)
    shows = "Heat maps of the attention that tokens and groups of tokens receive"
    kinds = list(seen.by_group.axes["group"].labels)
    sheet = look.sheet(seen, _caption(seen), shows, height=2.2 + 0.3 * max(many, len(kinds) + 2, 8))
    tokens = [f"{shown(word)}\u00a0({int(n)})" for word, n in zip(_words(seen), seen.occurs.values, strict=True)]
    groups = [*(f"{name or 'other'}\u00a0tokens".replace(" ", "\u00a0") for name in kinds), "first\u00a0position"]
    left, right = (max(5.0, 1.2 + _draw.widest(names)) for names in (tokens, groups))
    panels = (
        sheet.panels(1, 1, left=left, right=2, bottom=4, top=2.4, within=(0, 0, 0.5, 1))[0, 0],
        sheet.panels(1, 1, left=right, right=7, bottom=4, top=2.4, within=(0.5, 0, 1, 1))[0, 0],
    )
    whole = [seen.received.values, np.concatenate([seen.by_group.values, seen.first.values[..., None]], axis=-1)]
    limit = (0.0, max(2.0, float(np.nanmax(np.concatenate([each.ravel() for each in whole]), initial=0))))
    names = ["·".join(map(str, each)) if blocks > 1 else str(each[1]) for each in picked]
    for panel, values, rows, title in zip(panels, whole, (tokens, groups), ("tokens", "groups of tokens"), strict=True):
        _map(panel, np.array([values[each] for each in picked]).T, limit, rows, names, sheet)
        panel.set(title=f"received by {title}", xlabel="block·head" if blocks > 1 else "head")
    _draw.bar(sheet, "share", limit, "times an even share", beside=panels[1])
    notes = [f"in brackets: occurrences in {seen.windows} windows"]
    sheet.note(" · ".join([*([f"page {look.page + 1} of {pages}"] if pages > 1 else []), *notes]))
    return sheet.done(pages=pages)


def _words(seen: Anchors) -> list[str]:
    return list(seen.received.axes["token"].labels)


def _map(
    ax: Axes, values: np.ndarray, limit: tuple[float, float], rows: list[str], names: list[str], sheet: _draw.Sheet
) -> None:  # fmt: skip
    fits = _draw.numbers_fit(ax, values, 1)
    _draw.heat(ax, values, kind="share", theme=sheet.theme, limit=limit, rows=rows, columns=names, numbers=fits,
               digits=1)  # fmt: skip


def _caption(seen: Anchors) -> str:
    who = "positions after it" if seen.causal else "the other positions"
    return (
        f"How much attention a key receives from {who}, over {seen.windows} {seen.of_part} windows, as a multiple of "
        "what it would receive if each looked everywhere alike (1). Left: the tokens that receive most, of those that "
        f"occur {LEAST} times at least; right: by group of tokens, and the first position, whatever stands there. What "
        "a token gives itself is not counted. If no token were an anchor, all cells would be near 1."
    )
