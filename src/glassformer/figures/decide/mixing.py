"""What attention carries away: values, and the mixes made of them."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import listed, percent
from glassformer.analyses.decide.mixing import Mixing
from glassformer.figures import _draw, _regions, _style

MOST_HEADS = 4  # rows on one page
FAINT = 0.05  # a smaller share of attention gets no line


def draw(seen: Mixing, look: _draw.Look) -> Figure:
    """Attention × values = mixes: heat maps, and the plane with the mixes joined to what they average."""
    rows = 1 if look.size == "slide" else MOST_HEADS
    heads, pages = _draw.paged(range(len(seen.planes)), rows, look.page)
    title, shows = seen.title_of(heads), f"Attention, values and mixes on {' '.join(map(shown, seen.tokens))}"
    sheet = look.sheet(seen, _caption(seen), shows, title=title, height=1.8 + 3.4 * len(heads))
    t, many = sheet.theme, len(heads)
    room, (length, features) = sheet.room[0], seen.value.values.shape[1:]
    names = seen.attention.axes["key_position"]
    wide = _draw.widest(names)
    left, below = max(4.6, wide + 2.6), max(6.2, wide + 3.8)  # the names, upright below, and the name of the axis
    # shares of the room: attention up to begin, the two maps up to end, then the plane
    most = 13 if look.size == "slide" else 24  # a slide has no more room beside the plane
    begin = left + 5.9 + float(np.clip((2.9 if length <= 8 else 1.35) * length, 10, most))
    begin = min(begin, 0.36 * room + left - 4.6) / room
    each = max(4.0, 3.2 * features) if features <= 4 else 6.0  # few features have room for numbers
    end = begin + (left + 7.5 + 2 * each) / room
    rest: dict[str, Any] = {"bottom": below, "top": 2.4}
    down = below + 0.8
    looks = sheet.panels(many, 1, left=left, right=6.5, gap=(0, down), within=(0, 0, begin, 1), **rest)[:, 0]
    maps = sheet.panels(many, 2, left=left, right=6.5, gap=(1.6, down), within=(begin, 0, end, 1), **rest)
    planes = sheet.panels(many, 1, left=5.4, right=1.2, gap=(0, down), within=(end, 0, 1, 1), **rest)[:, 0]
    limit = _draw.limits("signed", seen.value.values, seen.mixed.values)
    future = ~np.tri(len(names), dtype=bool) if seen.causal else None
    for head, share, (values, mixes), plane in zip(heads, looks, maps, planes, strict=True):
        _draw.heat(share, seen.attention.values[head], kind="share", theme=t, rows=names, columns=names, masked=future,
                   row_name="query position", column_name="key position",
                   numbers=None if len(names) <= 12 else False)  # fmt: skip
        tables = (values, seen.value.values[head]), (mixes, seen.mixed.values[head])
        numbers = all(_draw.numbers_fit(panel, table, 1) for panel, table in tables)  # in both or in neither
        _draw.heat(values, seen.value.values[head], kind="signed", theme=t, limit=limit, rows=names, numbers=numbers,
                   digits=1, row_name="key position")  # fmt: skip
        _draw.heat(mixes, seen.mixed.values[head], kind="signed", theme=t, limit=limit, numbers=numbers, digits=1)
        for panel in (values, mixes):
            _regions.features(panel, seen.value.values.shape[-1])
        many_heads = len(seen.planes) > 1
        share.set_title(f"attention of head {head}" if many_heads else "attention")
        values.set_title("value")
        mixes.set_title("mixed")
        _draw.heading(plane, "values and their mixes")
        _plane(plane, seen, head, t)
        _draw.bar(sheet, "share", (0, 1), "share of attention", beside=share, wide=0.7, gap=0.6)
        _draw.bar(sheet, "signed", limit, "value, mixed", beside=mixes, wide=0.7, gap=0.6)
    sheet.legend(
        [
            ("value", _style.MARKER["value"], t.value),
            ("mixed", "o", t.ink),
            *([("values of all pairs", "^", t.faint)] if seen.all_points.values.size else []),
        ]
    )
    sheet.note_page(pages, f" · head {listed([str(head) for head in heads])}")
    return sheet.done(pages=pages)


def _caption(seen: Mixing) -> str:
    return (
        f"The input {' '.join(map(shown, seen.tokens))}, block {seen.block}. Left to right: attention (rows look at "
        "columns, 0 to 1); the value of each position and the mix that each position picks up, as numbers on one scale "
        "with 0 at the centre; the plane of the values, all pairs of token and position in "
        f"grey{'' if seen.all_points.values.size else ' (not known beyond block 0)'}, with the mixes: those of the "
        "positions to look at are named and joined to the values they average, by lines as strong as the attention. A "
        f"mix is an average, so it lies among its values. {_kept(seen)} of the variance. The numbers are exact; "
        "a head that carried nothing would put all mixes in one place."
    )


def _kept(seen: Mixing) -> str:
    """How much of the values the planes hold."""
    kept = [percent(plane.kept) for plane in sorted(seen.planes, key=lambda plane: plane.kept)]
    if kept[0] == kept[-1]:
        return f"The plane holds {kept[0]}"
    return f"The heads' planes hold {kept[0]} to {kept[-1]}"


def _plane(ax: Axes, seen: Mixing, head: int, t: _style.Theme) -> None:
    """The values, all mixes, and the mixes to look at with lines to what they average."""
    plane, names = seen.planes[head], drawn(seen.value.axes["key_position"])
    grey, values, mixes = seen.all_points.values[head], seen.value_points.values[head], seen.mixed_points.values[head]
    if plane.width == 1:
        spread = np.linspace(0.1, 0.9, len(names))
        values, mixes = np.column_stack([values[:, 0], spread]), np.column_stack([mixes[:, 0], spread])
    _draw.plane_axes(ax, plane, np.concatenate([grey, values, mixes]), theme=t)
    _draw.dots(ax, grey, colour=t.faint, marker="^", scale=0.6, zorder=1)
    _draw.dots(ax, values, colour=t.value, marker=_style.MARKER["value"], scale=1.0, zorder=3)
    weights, queries = seen.attention.values[head], list(seen.places)
    pairs = [(q, k) for q in queries for k in range(len(names)) if weights[q, k] > FAINT]
    line = float(matplotlib.rcParams["lines.linewidth"])
    lines = LineCollection([[mixes[q], values[k]] for q, k in pairs], colors=t.query, alpha=0.7, zorder=2,
                           linewidths=[(0.4 + 2 * float(weights[q, k])) * line for q, k in pairs])  # fmt: skip
    ax.add_collection(lines, autolim=False)
    _draw.dots(ax, mixes, colour=t.ink, scale=0.6, zorder=3.5)
    _draw.dots(ax, mixes[queries], colour=t.ink, scale=1.1, zorder=4)
    keys = [k for q in queries[::-1] for k in np.argsort(-np.nan_to_num(weights[q]), kind="stable")[:2].tolist()]
    named = np.concatenate([mixes[queries], values])
    first = [*range(len(queries))[::-1], *(len(queries) + k for k in keys)]
    _draw.labels(ax, named, [*(f"mix of {names[q]}" for q in queries), *names], first=first, most=len(queries) + 8,
                 colours=[t.ink] * len(queries) + [t.value] * len(names),
                 keep_clear=np.concatenate([named, mixes]))  # fmt: skip
    _regions.halo(ax.texts, t)
