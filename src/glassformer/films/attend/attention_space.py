"""Queries and keys beside the scores they give, while they learn."""

import numpy as np

from glassformer.analyses._passage import brief
from glassformer.analyses._reel import Extent, Reel
from glassformer.analyses._result import Labelled
from glassformer.analyses.attend.attention_space import AttentionSpace
from glassformer.analyses.attend.query_key_space import QueryKeySpace
from glassformer.figures import _attend, _draw
from glassformer.films._film import Stage, Update
from glassformer.films.attend.query_key_space import CAPTION, cloud, key, noted


def caption(reel: Reel) -> str:
    """How to read the plane and the map."""
    seen: AttentionSpace = reel.still["map"]
    if seen.scores is None:
        return f"{CAPTION} Right: the attention on one input."
    return f"{CAPTION} Right: the score of every query with every key, in blocks by token (red: high)."


def scene(stage: Stage, reel: Reel) -> Update:
    """The plane of queries and keys beside the scores of all pairs, or with `maps="demo"` an input's attention."""
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
    limit = _draw.limits("signed", np.array([extent.largest])) if atlas else (0.0, 1.0)
    right.set_xlim(-0.5, side - 0.5)
    right.set_ylim(side - 0.5, -0.5)
    _draw.bare(right)
    picture = stage.picture(right, kind="signed" if atlas else "share", limit=limit)
    if seen.attention is None:
        right.set_title("scores of every query with every key")
        _attend.atlas(right, tokens, context, stage.theme)
        right.set_xlabel(f"key: token, in it positions 0 to {context - 1}")
        right.set_ylabel("query: token")
        for line in right.lines:
            stage.moving(line)
    else:
        _input(stage, right, seen.attention, seen.source)
    if last.causal:
        blocks = [(r * context, c * context) for r in range(len(tokens)) for c in range(len(tokens))]
        _attend.staircase(right, blocks if atlas else [(0, 0)], context if atlas else side, stage.theme)
    _draw.bar(stage, "signed" if atlas else "share", limit, "score" if atlas else "share of attention", beside=right)

    def update(seen: AttentionSpace) -> None:
        move(seen.space)
        values = seen.scores if atlas else seen.attention
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
