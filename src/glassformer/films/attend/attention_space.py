"""Queries and keys beside the scores they give, while they learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from glassformer.analyses._attend import checked, must_ask
from glassformer.analyses._pairs import shown
from glassformer.analyses._passage import brief
from glassformer.analyses._result import Labelled, Result, result
from glassformer.analyses.attend.attention import attention
from glassformer.analyses.attend.query_key_space import query_key_space
from glassformer.analyses.attend.pair_scores import pair_scores
from glassformer.errors import CallError
from glassformer.figures import _attend, _draw
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.films.attend.query_key_space import CAPTION, cloud, lived, noted, told
from glassformer.run import Run

ANSWERS = ("4.D4",)
MOST = 120  # pairs, for each of which a row and a column of the atlas can still be seen
GLANCE = 24  # steps looked at for the limits of the colours


@result
class Shown(Result):
    """What one frame shows."""

    queries: Labelled
    keys: Labelled
    map: Labelled


@_film.film
def film_attention_space(
    run: Run,
    *,
    maps: Literal["atlas", "demo"] = "atlas",
    sequence: str | None = None,
    head: int | None = None,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Sequence[int] | None = None,
    theme: str = "light",
) -> Film:
    """The plane of queries and keys beside the score atlas, or with `maps="demo"` beside the attention on one input."""
    must_ask(run)
    if maps not in ("atlas", "demo"):
        raise CallError(f"maps = {maps!r} is neither 'atlas' nor 'demo'")
    head = checked(run, 0, head, member=member)
    last = query_key_space(run, head=head, member=member)
    tokens, context = last.queries.axes["token"].labels, len(last.queries.axes["position"])
    atlas = maps == "atlas" and len(tokens) * context <= MOST

    def scene(stage: Stage) -> Update:
        foot = 4 + max(1.2, _attend.longest([shown(token) for token in tokens]) - 1)
        left = stage.panels(1, 1, left=5, right=2, bottom=foot, top=2, within=(0, 0, 0.5, 1))[0, 0]
        right = stage.panels(1, 1, left=5, right=7.5, bottom=foot, top=2, within=(0.5, 0, 1, 1), square=True)[0, 0]
        move = cloud(stage, left, last, lived(run, last, member, steps))
        noted(stage, run, last)
        if atlas:
            some = [
                pair_scores(run, head=head, step=step, member=member).scores["scores"]
                for step in _film.glance(run, steps, GLANCE)
            ]
            limit = _draw.limits("signed", *(each.values for each in some))
            side = len(some[-1].axes["query"].labels)
            right.set_title("scores of every query with every key")
        else:
            demo = attention(run, sequence=sequence, member=member, roles=False)
            side, limit = len(demo.tokens), (0.0, 1.0)
            right.set_title(f"attention on {brief(demo.tokens)}")
        right.set_xlim(-0.5, side - 0.5)
        right.set_ylim(side - 0.5, -0.5)
        _draw.bare(right)
        picture = stage.picture(right, kind="signed" if atlas else "share", limit=limit)
        if atlas:
            _attend.atlas(right, tokens, context, stage.theme)
            right.set_xlabel(f"key: token, in it positions 0 to {context - 1}")
            right.set_ylabel("query: token")
            for line in right.lines:
                stage.moving(line)
        else:
            _draw.places(right, demo.attention.axes["key_position"].labels, "x", name="key position", most=16)
            _draw.places(right, demo.attention.axes["query_position"].labels, "y", name="query position", most=16)
            _draw.outline(right, ((q, s) for q, s in enumerate(demo.source) if s >= 0), stage.theme.right)
            for frame in right.patches:
                stage.moving(frame)
        if run.architecture.causal:
            blocks = (
                [(r * context, c * context) for r in range(len(tokens)) for c in range(len(tokens))]
                if atlas
                else [(0, 0)]
            )
            _attend.staircase(right, blocks, context if atlas else side, stage.theme)
        _draw.bar(
            stage, "signed" if atlas else "share", limit, "score" if atlas else "share of attention", beside=right
        )

        def update(step: int) -> Result:
            seen = query_key_space(
                run, query=last.query, head=head, step=step, member=member, plane=last.plane, reach=last.reach
            )
            move(seen)
            if atlas:
                shown_map = pair_scores(run, head=head, step=step, member=member).scores["scores"]
            else:
                full = attention(run, sequence=sequence, step=step, member=member, roles=False).attention
                axes = {axis: labels for axis, labels in full.axes.items() if axis not in ("block", "head")}
                values = full.values[0, head]
                shown_map = Labelled(
                    np.where(np.tri(side, dtype=bool), values, np.nan) if run.architecture.causal else values,
                    axes,
                    "share",
                )
            picture.show(shown_map.values)
            return Shown(step=step, queries=seen.queries, keys=seen.keys, map=shown_map)

        return update

    beside = (
        "Right: the score of every query with every key, in blocks by token (red: high)."
        if atlas
        else "Right: the attention on one input."
    )
    return Film(
        run,
        scene,
        title=told(run, last, member),
        caption=f"{CAPTION} {beside}",
        steps=steps,
        frames=frames,
        pace=pace,
        theme=theme,
        member=member,
    )
