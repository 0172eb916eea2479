"""Queries and keys beside the attention that they give, while they learn."""

import numpy as np

from glassformer.analyses._passage import brief
from glassformer.analyses._reel import Extent, Reel
from glassformer.analyses._result import Labelled
from glassformer.analyses.attend.attention_space import BRIGHT, AttentionSpace
from glassformer.analyses.attend.query_key_space import QueryKeySpace
from glassformer.figures import _attend, _draw
from glassformer.films._film import Stage, Update
from glassformer.films.attend.query_key_space import CAPTION, cloud, key, noted


def caption(reel: Reel) -> str:
    """How to read the plane and the map."""
    seen: AttentionSpace = reel.still["map"]
    if seen.attention:
        return f"{CAPTION} Right: the attention on one input."
    if seen.shares:
        return (
            f"{CAPTION} Right: the attention of every query on every key, in blocks by token, if all pairs that it may "
            "see stood there at once, as a multiple of what looking everywhere alike would give each; beyond the full "
            f"colour lie at most {100 - BRIGHT} % of the cells of a frame."
        )
    return f"{CAPTION} Right: the score of every query with every key, in blocks by token (red: high)."


def scene(stage: Stage, reel: Reel) -> Update:
    """The plane of queries and keys beside attention or scores of all pairs, or beside the attention on an input."""
    last: QueryKeySpace = reel.still["last"]
    seen: AttentionSpace = reel.still["map"]
    extent: Extent = reel.still["extent"]
    tokens, context = last.queries.axes["token"].labels, len(last.queries.axes["position"])
    foot = 4 + max(1.2, _attend.longest(tokens) - 1)
    left = stage.panels(1, 1, left=5, right=2, bottom=foot, top=2, within=(0, 0, 0.5, 1))[0, 0]
    right = stage.panels(1, 1, left=5, right=7.5, bottom=foot, top=2, within=(0.5, 0, 1, 1), square=True)[0, 0]
    move = cloud(stage, left, last, extent.corners["space"].values)
    key(stage, left)
    noted(stage, last)
    atlas, count = seen.attention is None, len(tokens) * context
    side = count if seen.attention is None else len(seen.source)
    kind, limit, unit = "share", (0.0, 1.0), "share of attention"
    if seen.shares:
        limit, unit = (0.0, extent.largest), "times an even share"
    elif seen.scores:
        kind, limit, unit = "signed", _draw.limits("signed", np.array([extent.largest])), "score"
    right.set(xlim=(-0.5, side - 0.5), ylim=(side - 0.5, -0.5))
    _draw.bare(right)
    picture = stage.picture(right, kind=kind, limit=limit)
    if seen.attention is None:
        right.set_title(f"{'attention of every query on' if seen.shares else 'scores of every query with'} every key")
        _attend.atlas(right, tokens, context, stage.theme)
        right.set(xlabel=f"key: token, in it positions 0 to {context - 1}", ylabel="query: token")
        for line in right.lines:
            stage.moving(line)
    else:
        _input(stage, right, seen.attention, seen.source)
    if last.causal:
        blocks = [(r * context, c * context) for r in range(len(tokens)) for c in range(len(tokens))]
        _attend.staircase(right, blocks if atlas else [(0, 0)], context if atlas else side, stage.theme)
    _draw.bar(stage, kind, limit, unit, beside=right, beyond=bool(seen.shares))

    def update(seen: AttentionSpace) -> None:
        move(seen.space)
        values = seen.scores or seen.shares or seen.attention
        assert values is not None
        picture.show(values.values.reshape(side, side))

    return update


def _input(stage: Stage, ax: _draw.Axes, attention: Labelled, source: tuple[int, ...]) -> None:
    """The names of an input's positions, and frames where its answers stand."""
    names = attention.axes["key_position"]
    ax.set_title(f"attention on {brief(names.labels)}")
    _draw.places(ax, names, "x", name="key position", most=16)
    _draw.places(ax, names, "y", name="query position", most=16)
    _draw.outline(ax, ((q, s) for q, s in enumerate(source) if s >= 0), stage.theme.right)
    for frame in ax.patches:
        stage.moving(frame)
