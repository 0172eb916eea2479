"""Queries and keys of one head on one plane, beside the attention or the scores that they give."""

from typing import Annotated, Literal

import numpy as np

from glassformer.analyses import _applies
from glassformer.analyses._options import Frames, Head, Member, Option, Pace, Sequence, Shown, Step
from glassformer.analyses._pairs import frequent
from glassformer.analyses._plane import PairPlane
from glassformer.analyses._reel import Reel, extent, frames_of, glance, strip
from glassformer.analyses._result import Labelled, Result, result
from glassformer.analyses.attend.attention import attention
from glassformer.analyses.attend.pair_scores import pair_scores
from glassformer.analyses.attend.query_key_space import QueryKeySpace, clouds, grown, query_key_space
from glassformer.errors import check_name
from glassformer.run import Run

ORDER = 35
ANSWERS = ("4.D4",)
COST = "c"
APPLIES = (_applies.asking,)
MOST = 120  # pairs, for each of which a row and a column of a map can still be seen
GLANCE = 24  # frames looked at for the limits of the colours
BRIGHT = 96  # percentile of the shares at which the colours of a film end: few reach far beyond, and hide the rest
Maps = Annotated[
    Literal["attention", "scores", "demo"],
    Option("beside the plane: attention or scores of all pairs, or the attention on one input"),
]


@result
class AttentionSpace(Result):
    """Queries and keys of all pairs on one plane, and a map of what they give."""

    space: QueryKeySpace
    scores: Labelled | None  # (query_token, query_position, key_token, key_position), NaN: masked; None: not asked for
    shares: Labelled | None  # the same axes: attention if all pairs in view stood there, over what even looks give each
    attention: Labelled | None  # on one input, (query_position, key_position), NaN: masked; None: not asked for
    source: tuple[int, ...]  # of the input, as in `Attention`

    @property
    def title(self) -> str:
        """Towards which keys a query points."""
        return self.space.title


def attention_space(
    run: Run, *, maps: Maps = "attention", sequence: Sequence = None, head: Head = None, step: Step = -1,
    member: Member = 0, plane: PairPlane | None = None,
) -> AttentionSpace:  # fmt: skip
    """The plane, and attention or scores of all pairs; where those are too many, or for `demo`, those on `sequence`.

    `plane`: a fixed one, for films.
    """
    check_name(maps, "maps", ("attention", "scores", "demo"))
    space = query_key_space(run, head=head, step=step, member=member, plane=plane)
    scores, shares, looked = None, None, None
    source: tuple[int, ...] = ()
    if maps != "demo" and len(frequent(run)) * run.architecture.context <= MOST:
        scores = pair_scores(run, head=space.head, step=step, member=member).scores
        shares, scores = (together(scores), None) if maps == "attention" and scores else (None, scores)
    else:
        seen = attention(run, sequence=sequence, step=step, member=member, roles=False)
        values, source = seen.attention.values[0, space.head], seen.source
        axes = {axis: seen.attention.axes[axis] for axis in ("query_position", "key_position")}
        future = ~np.tri(len(values), dtype=bool) & space.causal
        looked = Labelled(np.where(future, np.nan, values), axes, "share")
    return AttentionSpace(
        step=space.step, clock=space.clock, space=space, scores=scores, shares=shares, attention=looked, source=source
    )


def together(scores: Labelled) -> Labelled:
    """The softmax of each query's scores over all keys that it may see, times how many these are.

    At the query's own position stands nobody but itself. 1: as much as looking everywhere alike would give.
    """
    tokens, context = scores.values.shape[:2]
    flat = scores.values.reshape(tokens * context, tokens * context)
    place, own = np.arange(tokens * context) % context, np.eye(tokens * context, dtype=bool)
    known = np.where((place[:, None] == place) & ~own, np.nan, flat)
    seen = ~np.isnan(known)
    with np.errstate(invalid="ignore"):  # a query whose scores are no numbers shares nothing out
        weights = np.exp(known - known.max(axis=1, keepdims=True, where=seen, initial=-np.inf))
        shares = weights / weights.sum(axis=1, keepdims=True, where=seen)
        shares *= np.isfinite(known).sum(axis=1, keepdims=True)
    return Labelled(shares.reshape(scores.values.shape), scores.axes, "times an even share")


def reel(
    run: Run, *, maps: Maps = "attention", sequence: Sequence = None, head: Head = None, member: Member = 0,
    frames: Frames = 200, pace: Pace = "even", steps: Shown = None,
) -> Reel:  # fmt: skip
    """The plane of queries and keys, fixed on the last step, beside a map of what they give."""
    last = query_key_space(run, head=head, member=member)

    def space(step: int) -> QueryKeySpace:
        return query_key_space(run, head=last.head, step=step, member=member, plane=last.plane)

    def at(step: int) -> AttentionSpace:
        return attention_space(
            run, maps=maps, sequence=sequence, head=last.head, step=step, member=member, plane=last.plane
        )

    every = frames_of(run, frames, pace, steps, member)
    some = [at(step) for step in glance(every, GLANCE)]
    coloured = [each.scores.values for each in some if each.scores]
    bright = [found[np.isfinite(found)] for each in some if each.shares for found in [each.shares.values]]
    coloured += [np.percentile(found, BRIGHT, keepdims=True) for found in bright if len(found)]
    still = {"last": last, "map": at(every[-1]), "extent": extent({"space": clouds(space, every)}, coloured)}
    return Reel(grown(space(int(run.steps[0])), last), every, at, strip(run, member), still)
