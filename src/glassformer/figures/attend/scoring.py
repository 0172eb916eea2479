"""From queries and keys to attention, step by step, on one input."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array, percent
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.scoring import Scoring
from glassformer.figures import _attend, _draw, _on_grey, _style


def draw(seen: Scoring, look: _draw.Look) -> Figure:
    """Queries, keys, both on a plane, masked scores, attention: one input through one head."""
    length, names = len(seen.tokens), seen.attention.axes["key_position"]
    text, narrow = " ".join(map(shown, seen.tokens)), look.size == "print_narrow"
    shows, height = f"Queries, keys, scores and attention of {text}", _style.inches(look.size, 101) if narrow else 8.4
    sheet = look.sheet(seen, _caption(seen, text), shows, height=height, least=0)
    queries, keys = seen.drawn_query.values, seen.drawn_key.values
    grey = [each.values.reshape(-1, 2) for each in seen.others.values()]
    top, plane, scores, attention = _panels(sheet, np.vstack([queries, keys, *grey]), 2.6 + _draw.widest(names))
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
            row_name=f"{part} position",
            column_name="feature",
            numbers=None if len(features) <= 4 else False,
            digits=1,
        )
        if len(features) > 8:
            _draw.places(panel, features, "x", most=5)
        panel.set_title("queries" if part == "query" else "keys", color=sheet.theme[part])
    _draw.bar(sheet, "signed", limit, "value", beside=list(top)[-1:], wide=0.7, gap=0.6)
    _draw.plane_axes(plane, seen.plane, np.vstack([queries, keys, *grey]), theme=sheet.theme)
    for part, each in seen.others.items():
        _draw.dots(plane, each.values.reshape(-1, 2), colour=sheet.theme.faint, marker=_style.MARKER[part], scale=0.45)
    _draw.dots(plane, queries, colour=sheet.theme.query, marker=_style.MARKER["query"], zorder=3)
    _draw.dots(plane, keys, colour=sheet.theme.key, marker=_style.MARKER["key"], zorder=3)
    asks = [(seen.followed, int(np.argmax(seen.attention.values[seen.followed])))]  # what the title is about, first
    asks += [(q, s) for q, s in reversed(list(enumerate(seen.source))) if s >= 0]
    _on_grey.named(
        plane,
        np.vstack([queries, keys]),
        drawn(names) * 2,
        colours=[sheet.theme.query] * length + [sheet.theme.key] * length,
        theme=sheet.theme,
        first=[*(k for q, s in asks for k in (q, length + s)), *range(length, 2 * length)],
        most=2 * length if length <= 8 else 2 * _on_grey.MOST,
    )
    _draw.heading(plane, "● queries, ■ keys" + (" (others grey)" if grey else ""))
    _scores_and_attention(sheet, scores, attention, seen, _attend.span(seen.allowed))
    return sheet.done()


def _caption(seen: Scoring, text: str) -> str:
    return (
        f"The input {text}{seen.who}. From left to right: its queries and keys, number by number; the same on a "
        f"plane"
        + (" in front of all others there are (grey)" if seen.others else "")
        + f"; the scores, {seen.product}"
        + (", with the future cross-hatched" if seen.causal else "")
        + "; and the attention, which is their softmax row by row. "
        + (f"A framed cell is the position of {sought(seen.copied)}. " if max(seen.source) >= 0 else "")
        + (
            ""
            if seen.plane.lossless
            else f"The plane explains {percent(seen.plane.kept)} of the variance of the scores. "
        )
        + "Exact. If the softmax of a row of scores were not the row of attention, the picture would be wrong."
        + _attend.left_out(seen.left_out)
    )


def _scores_and_attention(
    sheet: _draw.Sheet, left: Axes, right: Axes, seen: Scoring, limit: tuple[float, float]
) -> None:
    """The scores of an input and their softmax, side by side, the answers framed."""
    names, length = seen.attention.axes["key_position"], len(seen.tokens)
    future = ~np.tri(length, dtype=bool) if seen.causal else None
    scores, shares = seen.allowed, seen.attention.values
    fine = _draw.numbers_fit(left, np.nan_to_num(scores), 1)  # else whole numbers, where those fit
    for panel, values, kind, limits, title, digits in (
        (left, seen.scores.values, "signed", limit, f"scores: {seen.product}", 1 if fine else 0),
        (right, shares, "share", (0.0, 1.0), "attention: the softmax of each row", 2),
    ):
        _draw.heat(panel, values, kind=kind, theme=sheet.theme, limit=limits, masked=future, rows=names, columns=names,
                   row_name="query position" if panel is left else "", column_name="key position",
                   numbers=None if length <= 12 else False, digits=digits)  # fmt: skip
        panel.set_title(title)
        _draw.outline(panel, ((q, s) for q, s in enumerate(seen.source) if s >= 0), sheet.theme.right)
    _attend.score_bar(sheet, limit, scores, beside=left)
    _draw.bar(sheet, "share", (0.0, 1.0), "share of attention", beside=right)


def _panels(sheet: _draw.Sheet, cloud: Array, names: float) -> tuple[list[Axes], Axes, Axes, Axes]:
    """Places for queries and keys, the plane, scores and attention, in the order of the computation.

    A cloud that is taller than wide gets a tall plane in the middle; another a wide one at the top. `names`: ems that
    the names of the rows need.
    """
    beside, below = max(5.4, names), max(4.6, names)  # names along x may stand upright
    down = below + 2.0
    if sheet.size.name == "print_narrow":  # one column: below each other
        first = sheet.panels(1, 2, left=beside, right=6.8, bottom=4.4, top=2.4, gap=(beside, 0), within=(0, 0.76, 1, 1))
        plane = sheet.panels(1, 1, left=5.2, right=2, bottom=below, top=2.4, within=(0, 0.5, 1, 0.76))[0, 0]
        last = sheet.panels(2, 1, left=beside, right=7, bottom=below, top=2.4, gap=(0, down), within=(0, 0, 1, 0.5))
        return list(first.flat), plane, *last.flat
    wide, high = np.ptp(cloud[np.isfinite(cloud).all(axis=1)], axis=0) if np.isfinite(cloud).any() else (1.0, 1.0)
    if high > 1.3 * wide:
        first = sheet.panels(2, 1, left=beside, right=5.6, bottom=below, top=2.4, gap=(0, down), within=(0, 0, 0.26, 1))
        plane = sheet.panels(1, 1, left=5.2, right=2, bottom=below, top=2.4, within=(0.26, 0, 0.5, 1))[0, 0]
        last = sheet.panels(
            2, 1, left=max(6.0, beside), right=7, bottom=below, top=2.4, gap=(0, down), within=(0.5, 0, 1, 1)
        )
        return list(first.flat), plane, *last.flat
    first = sheet.panels(
        1, 2, left=beside, right=7.2, bottom=3.6, top=2.4, gap=(max(7.0, beside), 0), within=(0, 0.5, 0.56, 1)
    )
    plane = sheet.panels(1, 1, left=5.4, right=1.5, bottom=3.6, top=2.4, within=(0.56, 0.5, 1, 1))[0, 0]
    last = sheet.panels(
        1,
        2,
        left=max(6.0, beside),
        right=7.5,
        bottom=below,
        top=2.6,
        gap=(7.5 + max(6.5, beside), 0),
        within=(0, 0, 1, 0.5),
    )
    return list(first.flat), plane, *last.flat
