"""Three inputs below each other, each a row of panels: its scores, its mixes, or its stream."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array, Axis
from glassformer.analyses.attend.scoring import Scoring
from glassformer.analyses.decide.mixing import Mixing
from glassformer.analyses.decide.residual import Residual
from glassformer.analyses.decide.three_inputs import ThreeInputs
from glassformer.figures import _attend, _draw, _regions, _style

TITLES = {
    "scoring": ("queries", "keys", "● queries, ■ keys", "scores", "attention"),
    "mixing": ("attention", "values", "mixed", "▲ values", "● mixed"),
    "residual": ("before", "+ attended", "= middle", "before", "attended", "before → after", "after"),
}
MAPS = {"scoring": (0, 1), "mixing": (1, 2), "residual": (0, 1, 2)}  # the narrow panels: positions by features
WIDE, NARROW = 3.0, 1.3  # widths of panels


def draw(seen: ThreeInputs, look: _draw.Look) -> Figure:
    """One row for each input; on slides one page for each."""
    shown_inputs, pages = _draw.paged(list(seen.inputs), 1 if look.size == "slide" else len(seen.inputs), look.page)
    titles, rows = TITLES[seen.part], len(shown_inputs)
    names = max(_draw.widest(_names(each)) for each in shown_inputs)
    sheet = look.sheet(seen, _caption(seen), f"Rows of heat maps and planes of {rows} inputs", height=1.4 + 3.1 * rows)
    widths = [NARROW if k in MAPS[seen.part] else WIDE for k in range(len(titles))]
    panels = sheet.panels(rows, len(titles), widths=widths, left=1 + names, right=1, bottom=2 + names, top=2.4,
                          gap=(3.2, 3.4 + names))  # fmt: skip
    for line, each in zip(panels, shown_inputs, strict=True):
        if isinstance(each, Scoring):
            _scoring(line, each, sheet.theme)
        elif isinstance(each, Mixing):
            _mixing(line, each, seen.head, sheet.theme)
        else:
            _residual(line, each, sheet.theme)
        for panel, title in zip(line, titles, strict=True):
            panel.set_title(title)
    met = [verdict for verdict in ("right", "wrong") if seen.part == "residual" and _met(seen, verdict)]
    sheet.legend(met)
    sheet.note_page(pages)
    return sheet.done(pages=pages)


def _met(seen: ThreeInputs, verdict: str) -> bool:
    return any(verdict in each.verdicts for each in seen.residual)


def _names(each: Scoring | Mixing | Residual) -> Axis:
    if isinstance(each, Residual):
        return each.before.axes["position"]
    return each.attention.axes["key_position"]


def _caption(seen: ThreeInputs) -> str:
    inputs = "; ".join(" ".join(map(shown, each.tokens)) for each in seen.inputs)
    said = {
        "scoring": "its queries and keys as numbers, both on a plane in front of all there are (grey), their scores, "
        f"and the attention that these become{'; framed is what the rule needs' if seen.asked else ''}",
        "mixing": f"the attention of head {seen.head} of block 0, the values and the mixes it makes of them as "
        "numbers, and both on the plane of all values (grey)",
        "residual": "the stream before the last attention, what it adds and the sum, as numbers; then the same on a "
        "plane, the arrows from before to after in the colour of the verdict, and where they end",
    }[seen.part]
    return (
        f"One row for each of the inputs {inputs}. From left to right: {said}. Colours of signed numbers have 0 at the "
        "centre and one scale per panel, shares run from 0 to 1. Exact; `scoring`, `mixing` and `residual` show one "
        "input larger."
    )


def _table(ax: Axes, values: Array, names: Axis | Sequence[str], theme: _style.Theme) -> None:
    """Positions by features."""
    _draw.heat(ax, values, kind="signed", theme=theme, rows=names, digits=1,
               numbers=_draw.numbers_fit(ax, values, 1))  # fmt: skip
    _regions.features(ax, values.shape[1], "")


def _square(ax: Axes, values: Array, each: Scoring | Mixing, theme: _style.Theme, kind: str, **more: Any) -> None:
    """Queries by keys, what the rule needs framed; the names of the rows stand once in a line."""
    names = each.attention.axes["key_position"]
    future = ~np.tri(len(names), dtype=bool) if each.causal else None
    _draw.heat(ax, values, kind=kind, theme=theme, columns=names, masked=future, numbers=False, **more)
    _draw.outline(ax, ((q, s) for q, s in enumerate(each.source) if s >= 0), theme.right, width=1.0)


def _points(ax: Axes, flat: Any, grey: Array, own: dict[str, tuple[Array, str, str]], names: list[str],
            theme: _style.Theme) -> None:  # fmt: skip
    """Points of the input, by their colour and mark, in front of all others."""
    every = np.concatenate([grey.reshape(-1, 2), *(xy.reshape(-1, 2) for xy, _, _ in own.values())])
    _draw.plane_axes(ax, flat, every, theme=theme, names=False)
    _draw.dots(ax, grey.reshape(-1, 2), colour=theme.faint, scale=0.35, zorder=1)
    for xy, colour, mark in own.values():
        _draw.dots(ax, xy, colour=colour, marker=mark, scale=0.8, zorder=3)
    spots = np.concatenate([xy for xy, _, _ in own.values()])
    colours = [colour for xy, colour, _ in own.values() for _ in xy]
    _draw.labels(ax, spots, names * len(own), colours=colours, most=10)
    _regions.halo(ax.texts, theme)


def _scoring(line: Array, each: Scoring, t: _style.Theme) -> None:
    names = each.attention.axes["key_position"]
    _table(line[0], each.query.values, names, t)
    _table(line[1], each.key.values, (), t)
    grey = np.concatenate([other.values.reshape(-1, 2) for other in each.others.values()] or [np.zeros((0, 2))])
    own = {
        part: (at.values, t[part], _style.MARKER[part])
        for part, at in (("query", each.drawn_query), ("key", each.drawn_key))
    }
    _points(line[2], each.plane, grey, own, drawn(names), t)
    _square(line[3], each.scores.values, each, t, "signed", limit=_attend.span(each.allowed))
    _square(line[4], each.attention.values, each, t, "share")


def _mixing(line: Array, each: Mixing, head: int, t: _style.Theme) -> None:
    names, grey = each.attention.axes["key_position"], each.all_points.values[head]
    _square(line[0], each.attention.values[head], each, t, "share", rows=names)
    _table(line[1], each.value.values[head], (), t)
    _table(line[2], each.mixed.values[head], (), t)
    for panel, at, colour, mark in (
        (line[3], each.value_points, t.value, _style.MARKER["value"]), (line[4], each.mixed_points, t.ink, "o")
    ):  # fmt: skip
        _points(panel, each.planes[head], grey, {"": (at.values[head], colour, mark)}, drawn(names), t)


def _residual(line: Array, each: Residual, t: _style.Theme) -> None:
    names = each.before.axes["position"]
    for panel, values in zip(line[:3], (each.before, each.attended, each.middle), strict=True):
        _table(panel, values.values, names if panel is line[0] else (), t)
    begin, end = each.points["begin"].values, each.points["end"].values
    colours = [_regions.colour(verdict, t) for verdict in each.verdicts]
    every = np.concatenate([begin, end, each.points["attended"].values])
    for panel, xy in ((line[3], begin), (line[4], each.points["attended"].values), (line[6], end)):
        _points(panel, each.plane, np.zeros((0, 2)), {"": (xy, t.ink, "o")}, drawn(names), t)
        _draw.frame(panel, every)
    _draw.plane_axes(line[5], each.plane, every, theme=t, names=False)
    _draw.arrows(line[5], begin, end, colours=colours, width=0.8)
    signed = [_regions.signed(name, verdict) for name, verdict in zip(drawn(names), each.verdicts, strict=True)]
    _draw.labels(line[5], end, signed, colours=colours, first=_regions.important(each.verdicts), most=8)
    _regions.halo(line[5].texts, t)
