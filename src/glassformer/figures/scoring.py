"""From queries and keys to attention, step by step, on one input."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._attend import not_asking
from glassformer.analyses._pairs import drawn
from glassformer.analyses.scoring import say, scoring
from glassformer.figures import _draw, _style
from glassformer.run import Run

SECTION = "attend"
ORDER = 65
ANSWERS = ("4.13", "4.r14", "3.§3.3.1")
COST = "b"
applies = not_asking


@_draw.drawing
def plot_scoring(
    run: Run,
    *,
    sequence: str | None = None,
    block: int = 0,
    head: int | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Queries, keys, both on a plane, masked scores, attention: one input through one head."""
    seen = scoring(run, sequence=sequence, block=block, head=head, step=step, member=member)
    length, names = len(seen.tokens), seen.attention.axes["key_position"]
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=8.4)
    top = sheet.panels(
        1, 3, widths=[1, 1, 2.6], left=5, right=1.5, bottom=3.6, top=2.4, gap=(9.5, 0), within=(0, 0.5, 1, 1)
    )[0]
    limit = _draw.limits("signed", seen.query.values, seen.key.values)
    for panel, each, part in ((top[0], seen.query, "query"), (top[1], seen.key, "key")):
        features = each.axes["feature"]
        _draw.heat(
            panel,
            each.values,
            kind="signed",
            theme=sheet.theme,
            limit=limit,
            rows=names,
            columns=features,
            row_name=f"{part} position" if part == "query" else "",
            column_name="feature",
            numbers=None if len(features) <= 4 else False,
            digits=1,
        )
        if len(features) > 8:
            _draw.places(panel, features, "x", most=5)
        panel.set_title("queries" if part == "query" else "keys", color=sheet.theme[part])
    _draw.bar(sheet, "signed", limit, "", beside=top[1], wide=0.7, gap=0.6)
    plane = top[2]
    queries, keys = seen.drawn_query.values, seen.drawn_key.values
    grey = [each.values for each in seen.others.values()]
    _draw.plane_axes(plane, seen.plane, np.vstack([queries, keys, *grey]), theme=sheet.theme)
    for part, each in seen.others.items():
        _draw.dots(plane, each.values, colour=sheet.theme.faint, marker=_style.MARKER[part], scale=0.45)
    _draw.dots(plane, queries, colour=sheet.theme.query, marker=_style.MARKER["query"], zorder=3)
    _draw.dots(plane, keys, colour=sheet.theme.key, marker=_style.MARKER["key"], zorder=3)
    asks = [q for q, s in enumerate(seen.source) if s >= 0]
    _draw.labels(
        plane,
        np.vstack([queries, keys]),
        drawn(names) * 2,
        colours=[sheet.theme.query] * length + [sheet.theme.key] * length,
        first=[*asks, *(length + seen.source[q] for q in asks), *range(length, 2 * length)],
    )
    plane.set_title("● queries, ■ keys" + (" (all others grey)" if grey else ""))
    left, right = sheet.panels(1, 2, left=6, right=7.5, bottom=4.6, top=2.6, gap=(14, 0), within=(0, 0, 1, 0.5))[0]
    future = ~np.tri(length, dtype=bool) if seen.causal else None
    allowed = seen.scores.values if future is None else np.where(future, 0.0, seen.scores.values)
    span = _draw.limits("signed", allowed)
    numbers = None if length <= 12 else False
    _draw.heat(
        left,
        seen.scores.values,
        kind="signed",
        theme=sheet.theme,
        limit=span,
        masked=future,
        rows=names,
        columns=names,
        row_name="query position",
        column_name="key position",
        numbers=numbers,
        digits=1,
    )
    _draw.heat(
        right,
        seen.attention.values,
        kind="share",
        theme=sheet.theme,
        masked=future,
        rows=names,
        columns=names,
        numbers=numbers,
        column_name="key position",
    )
    left.set_title("scores: query times key")
    right.set_title("attention: the softmax of each row")
    for panel in (left, right):
        _draw.outline(panel, ((q, s) for q, s in enumerate(seen.source) if s >= 0), sheet.theme.right)
    _draw.bar(sheet, "signed", span, "score", beside=left)
    _draw.bar(sheet, "share", (0, 1), "share of attention", beside=right)
    return sheet.done(seen, sequence=" ".join(seen.tokens), block=block, head=seen.head)
