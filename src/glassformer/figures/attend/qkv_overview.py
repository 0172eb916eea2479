"""Nine pictures from tokens to what the head passes on."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._attend import not_asking
from glassformer.analyses._pairs import drawn
from glassformer.analyses.attend.qkv_overview import QkvOverview, qkv_overview, say
from glassformer.analyses.attend.scoring import spoken
from glassformer.figures import _attend, _draw, _on_grey, _style
from glassformer.run import Run

TITLES = {
    "token": "tokens",
    "position": "positions",
    "embedded": "embedding: token + position",
    "query": "queries",
    "key": "keys",
    "value": "values",
}


@_draw.drawing
def plot_qkv_overview(
    run: Run,
    *,
    sequence: str | None = None,
    head: int | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Token, position, sum; query, key, value; queries with keys, attention of one input, what the head passes on."""
    seen = qkv_overview(run, sequence=sequence, head=head, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=11, least=60)
    names = sheet.size.fixed is None
    panels = sheet.panels(
        3 if names else 2, 3, left=5.6, right=3, bottom=5, top=2.4, gap=(9.6 if names else 8, 5.8 if names else 4.6)
    )
    parts = list(TITLES) if names else ["embedded", "query", "key", "value"]  # a slide has six panels at most
    for panel, part in zip(panels.flat, parts, strict=False):
        if part not in seen.planes_of:
            _draw.bare(panel)
            panel.text(
                0.5, 0.5, "no position is added\nto the token", ha="center", va="center", transform=panel.transAxes
            )
            continue
        values = seen.planes_of[part]
        points, colour = values.values.reshape(-1, 2), sheet.theme[part] if part in _style.MARKER else sheet.theme.ink
        _draw.plane_axes(panel, seen.planes[part], points, theme=sheet.theme, names=names)
        single = len(values.axes) == 2
        labels = drawn(next(iter(values.axes.values()))) if single else _attend.pair_labels(values)
        chosen = () if single else seen.example
        _on_grey.cloud(panel, points, chosen, colour=colour, marker=_style.MARKER.get(part, "o"), theme=sheet.theme)
        told = list(chosen) or list(range(len(labels)))
        _on_grey.named(
            panel,
            points[told],
            [labels[k] for k in told],
            colours=colour,
            theme=sheet.theme,
            first=[told.index(k) for k in _spoken(seen) if k in told],
            most=40 if single else _on_grey.MOST,
        )
        alone = part == "embedded" and "position" not in seen.planes_of
        panel.set_title("embedding" if alone else TITLES[part], color=colour)
    if names:
        _both(panels[2, 0], seen, sheet)
    _input(panels[-1, 1], panels[-1, 2], seen, sheet, names)
    if not names:
        left_out = "; left out: tokens, positions, the plane of queries with keys"
        tokens = " ".join(drawn(seen.tokens))
        sheet.note(_on_grey.fitting(sheet, "coloured: the input ", tokens, left_out, 0.97))
    return sheet.done(seen, sequence=" ".join(seen.tokens), head=seen.head)


def _spoken(seen: QkvOverview) -> list[int]:
    """The pairs that the title is about, in a list of all pairs; then other queries with an answer and its place."""
    values = seen.planes_of["query"]
    vocabulary, context = list(values.axes["token"].labels), len(values.axes["position"])
    query = spoken(seen)
    asks = [(query, int(np.argmax(seen.attention.values[query])))]
    asks += [(q, s) for q, s in reversed(list(enumerate(seen.source))) if s >= 0]
    places = dict.fromkeys(place for pair in asks for place in pair)
    return [vocabulary.index(seen.tokens[p]) * context + p for p in places if seen.tokens[p] in vocabulary]


def _both(both: Axes, seen: QkvOverview, sheet: _draw.Sheet) -> None:
    """Queries with keys."""
    cloud = {part: each.values.reshape(-1, 2) for part, each in seen.paired.items()}
    _draw.plane_axes(both, seen.pair, np.vstack(list(cloud.values())), theme=sheet.theme)
    for part, points in cloud.items():
        _on_grey.cloud(
            both, points, seen.example, colour=sheet.theme[part], marker=_style.MARKER[part], theme=sheet.theme
        )
    told = list(seen.example) or list(range(len(cloud["query"])))
    texts = _attend.pair_labels(seen.paired["query"])
    about = [told.index(k) for k in _spoken(seen) if k in told]
    _on_grey.named(
        both,
        np.vstack([cloud["query"][told], cloud["key"][told]]),
        [texts[k] for k in told] * 2,
        colours=[sheet.theme.query] * len(told) + [sheet.theme.key] * len(told),
        theme=sheet.theme,
        first=[*about[:1], *(len(told) + k for k in about[1:]), *range(len(told), 2 * len(told))],
    )
    both.set_title("● queries with ■ keys")


def _input(grid: Axes, last: Axes, seen: QkvOverview, sheet: _draw.Sheet, names: bool) -> None:
    """The attention on the input, and what the head passes on."""
    length = len(seen.tokens)
    labels_at = seen.attention.axes["key_position"].labels
    _draw.heat(
        grid,
        seen.attention.values,
        kind="share",
        theme=sheet.theme,
        rows=labels_at,
        columns=labels_at,
        numbers=False,
        masked=~np.tri(length, dtype=bool) if seen.causal else None,
        row_name="query position" if names else "",
        column_name="key position" if names else "",
    )
    grid.set_title("attention on the input")
    _draw.outline(grid, ((q, s) for q, s in enumerate(seen.source) if s >= 0), sheet.theme.right)
    _draw.bar(sheet, "share", (0, 1), "share of attention" if names else "", beside=grid, wide=0.7, gap=0.5)
    values = seen.planes_of["value"].values.reshape(-1, 2)
    mixed = seen.mixed.values
    _draw.plane_axes(last, seen.planes["value"], np.vstack([values, mixed]), theme=sheet.theme, names=names)
    _draw.dots(last, values, colour=sheet.theme.faint, marker=_style.MARKER["value"], scale=0.5)
    _draw.dots(last, mixed, colour=sheet.theme.ink, scale=0.9, zorder=3)  # as in `mixing`
    asks = [spoken(seen)]
    texts = [f"mix of {name}" for name in drawn(seen.mixed.axes["query_position"].labels)]
    _on_grey.named(last, mixed, texts, colours=sheet.theme.ink, theme=sheet.theme, first=asks)
    last.set_title("passed on: ● mixes of ▲ values")
