"""Nine pictures from tokens to what the head passes on."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses.attend.qkv_overview import QkvOverview
from glassformer.analyses.attend.scoring import Scoring
from glassformer.figures import _attend, _draw, _on_grey, _style
from glassformer.figures.know.embeddings import outside

TITLES = {
    "token": "tokens",
    "position": "positions",
    "embedded": "embedding: token + position",
    "query": "queries",
    "key": "keys",
    "value": "values",
}


def draw(seen: QkvOverview, look: _draw.Look) -> Figure:
    """Token, position, sum; query, key, value; queries with keys, attention of one input, what the head passes on."""
    alt = f"Nine panels from embeddings to the output of the head. {seen.title}. {seen.scored.title}."
    sheet = look.sheet(seen, _caption(seen), alt=alt, height=11)
    clouds, planes, about = seen.parts | seen.images.drawn, seen.planes | seen.images.planes, _spoken(seen)
    names = sheet.size.fixed is None
    below = max(5.0, 2.6 + _draw.widest(seen.scored.attention.axes["key_position"]))
    panels = sheet.panels(
        3 if names else 2, 3, left=5.6, right=3, bottom=below, top=2.4, gap=(9.6 if names else 8, 5.8 if names else 4.6)
    )
    parts = list(TITLES) if names else ["embedded", "query", "key", "value"]  # a slide has six panels at most
    for panel, part in zip(panels.flat, parts, strict=False):
        if part not in clouds:
            _draw.bare(panel)
            panel.text(
                0.5, 0.5, "no position is added\nto the token", ha="center", va="center", transform=panel.transAxes
            )
            continue
        values = clouds[part]
        points, colour = values.values.reshape(-1, 2), sheet.theme[part] if part in _style.MARKER else sheet.theme.ink
        _draw.plane_axes(panel, planes[part], points, theme=sheet.theme, names=names)
        single = len(values.axes) == 2
        labels = drawn(next(iter(values.axes.values()))) if single else _attend.pair_labels(values)
        chosen = () if single else seen.images.example
        _on_grey.cloud(panel, points, chosen, colour=colour, marker=_style.MARKER.get(part, "o"), theme=sheet.theme)
        told = list(chosen) or list(range(len(labels)))
        _on_grey.named(
            panel,
            points[told],
            [labels[k] for k in told],
            colours=colour,
            theme=sheet.theme,
            first=_first(seen, part, points) if single else [told.index(k) for k in about if k in told],
            most=40 if single else _on_grey.MOST,
        )
        alone = part == "embedded" and "position" not in clouds
        panel.set_title("embedding" if alone else TITLES[part], color=colour)
    if names:
        _both(panels[2, 0], seen, sheet, about)
    _attention(panels[-1, 1], seen.scored, sheet, names)
    _passed_on(panels[-1, 2], seen, sheet, names)
    if not names:
        left_out = "; left out: tokens, positions, the plane of queries with keys"
        tokens = " ".join(drawn(seen.scored.tokens))
        sheet.note(_on_grey.fitting(sheet, "coloured: the input ", tokens, left_out, 0.97))
    return sheet.done()


def _caption(seen: QkvOverview) -> str:
    text, head, heads = " ".join(map(shown, seen.scored.tokens)), seen.images.head, seen.images.heads
    lossless = all(each.lossless for each in (seen.planes | seen.images.planes).values())
    added = "token embeddings, position embeddings and their sum for every pair"
    added = added if "position" in seen.parts else "token embeddings, to which no position is added"
    return (
        f"Read from the top left: {added}; queries, keys and values made from it"
        + (f" (head {head} of {heads})" if heads > 1 else "")
        + f"; queries and keys on one plane, the attention on the input {text}, and what the head passes on for each "
        "of its positions: the mean of the values it looks at, in front of all values (grey). "
        + ("" if lossless else "Planes wider than two features are principal components. ")
        + "Exact. A mixed point outside the cloud of values would be impossible."
        + _attend.left_out(seen.images.left_out)
    )


def _spoken(seen: QkvOverview) -> list[int]:
    """The pairs that the title is about, in a list of all pairs; then other queries with an answer and its place."""
    axes, scored = seen.images.drawn["query"].axes, seen.scored
    vocabulary, context, query = axes["token"].values, len(axes["position"]), scored.followed
    asks = [(query, int(np.argmax(scored.attention.values[query])))]
    asks += [(q, s) for q, s in reversed(list(enumerate(scored.source))) if s >= 0]
    places = dict.fromkeys(place for pair in asks for place in pair)
    return [vocabulary.index(scored.tokens[p]) * context + p for p in places if scored.tokens[p] in vocabulary]


def _first(seen: QkvOverview, part: str, points: np.ndarray) -> list[int]:
    """Of the points of tokens or positions, which are named first: those of the input, then the outermost."""
    own = seen.scored.tokens if part == "token" else [str(k) for k in range(len(seen.scored.tokens))]
    labels = seen.parts[part].axes[part].labels
    return [*(labels.index(each) for each in own if each in labels), *outside(points)]


def _both(both: Axes, seen: QkvOverview, sheet: _draw.Sheet, spoken: list[int]) -> None:
    """Queries with keys."""
    others, example = seen.scored.others, seen.images.example
    cloud = {part: each.values.reshape(-1, 2) for part, each in others.items()}
    _draw.plane_axes(both, seen.scored.plane, np.vstack(list(cloud.values())), theme=sheet.theme)
    for part, points in cloud.items():
        _on_grey.cloud(both, points, example, colour=sheet.theme[part], marker=_style.MARKER[part], theme=sheet.theme)
    told = list(example) or list(range(len(cloud["query"])))
    texts = _attend.pair_labels(others["query"])
    about = [told.index(k) for k in spoken if k in told]
    _on_grey.named(
        both,
        np.vstack([cloud["query"][told], cloud["key"][told]]),
        [texts[k] for k in told] * 2,
        colours=[sheet.theme.query] * len(told) + [sheet.theme.key] * len(told),
        theme=sheet.theme,
        first=[*about[:1], *(len(told) + k for k in about[1:]), *range(len(told), 2 * len(told))],
    )
    both.set_title("● queries with ■ keys")


def _attention(grid: Axes, seen: Scoring, sheet: _draw.Sheet, names: bool) -> None:
    """The attention on the input."""
    _draw.heat(
        grid,
        seen.attention.values,
        kind="share",
        theme=sheet.theme,
        rows=seen.attention.axes["query_position"],
        columns=seen.attention.axes["key_position"],
        numbers=False,
        masked=~np.tri(len(seen.tokens), dtype=bool) if seen.causal else None,
        row_name="query position" if names else "",
        column_name="key position" if names else "",
    )
    grid.set_title("attention on the input")
    _draw.outline(grid, ((q, s) for q, s in enumerate(seen.source) if s >= 0), sheet.theme.right)
    _draw.bar(sheet, "share", (0, 1), "share of attention" if names else "", beside=grid, wide=0.7, gap=0.5)


def _passed_on(ax: Axes, seen: QkvOverview, sheet: _draw.Sheet, names: bool) -> None:
    """What the head passes on, in front of the values of all pairs."""
    values, mixed = seen.images.drawn["value"].values.reshape(-1, 2), seen.mixed.values
    _draw.plane_axes(ax, seen.images.planes["value"], np.vstack([values, mixed]), theme=sheet.theme, names=names)
    _draw.dots(ax, values, colour=sheet.theme.faint, marker=_style.MARKER["value"], scale=0.5)
    _draw.dots(ax, mixed, colour=sheet.theme.ink, scale=0.9, zorder=3)  # as in `mixing`
    texts = [f"mix of {name}" for name in drawn(seen.mixed.axes["query_position"])]
    _on_grey.named(ax, mixed, texts, colours=sheet.theme.ink, theme=sheet.theme, first=[seen.scored.followed])
    ax.set_title("passed on: ● mixes of ▲ values" if names else "● mixes of ▲ values")
