"""From tokens to the head's output in nine pictures."""

from dataclasses import replace

import numpy as np

from glassformer.analyses import _applies
from glassformer.analyses._attend import DIRECTIONS, tokens_of
from glassformer.analyses._options import Head, Member, Sequence, Step
from glassformer.analyses._pairs import pairs, placed, spoken
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._result import Labelled, Result, numbers, percent, result
from glassformer.analyses._sought import which
from glassformer.analyses.attend.qkv import Qkv, qkv
from glassformer.analyses.attend.scoring import Scoring, scoring
from glassformer.architecture import sinusoids
from glassformer.run import Run

ORDER = 20
ANSWERS = ("4.S7",)
COST = "c"
EDITS = "weights"
APPLIES = (_applies.asking,)


@result
class QkvOverview(Result):
    """Everything between the embeddings and the output of a head of block 0, with one input followed."""

    parts: dict[str, Labelled]  # token, position: (token or position, direction)
    planes: dict[str, Plane]  # of these
    images: Qkv  # embedding, queries, keys and values of all pairs, without their exact features
    scored: Scoring  # the attention of the input, and queries and keys on one plane
    mixed: Labelled  # (query_position, direction) on the plane of the values: what the head passes on

    @property
    def title(self) -> str:
        """What one query of the input gets from the position it looks at most."""
        seen = self.scored
        if not np.isfinite(seen.attention.values).all():
            return seen.title
        query, weights = seen.followed, seen.attention.values[seen.followed]
        best = int(np.argmax(weights))
        whose = "its own" if best == query else f"that of {spoken(seen.tokens[best])} at position {best}"
        said = (
            f"Of the value that {spoken(seen.tokens[query])} at position {query} passes on{seen.who}, "
            f"{percent(float(weights[best]))} is {whose}"
        )
        return said + (f", {which(seen.copied)}" if seen.source[query] == best else "")


def qkv_overview(
    run: Run, *, sequence: Sequence = None, head: Head = None, step: Step = -1, member: Member = 0
) -> QkvOverview:
    """Embeddings, queries, keys, values of all pairs; attention and `mixed` of one input, in block 0."""
    images = qkv(run, sequence=sequence, head=head, step=step, member=member)
    scored = scoring(run, sequence=sequence, head=images.head, step=step, member=member)
    at, a = scored.step or 0, run.architecture
    weights, every = run.weights(at, member), pairs(run, step=at, member=member, also=tokens_of(run, sequence))
    parts = {"token": weights["token"][list(every.ids)].astype(np.float64)}
    if a.positions in ("learned", "sinusoidal"):
        table = weights["position"] if a.positions == "learned" else sinusoids(a.context, a.width)
        parts["position"] = np.asarray(table, np.float64)
    places = {"token": every.tokens, "position": numbers(every.context)}
    planes = {name: plane(values) for name, values in parts.items()}
    mixed = run.trace(sequence, step=at, member=member)["mixed"][0, images.head].astype(np.float64)

    def on(where: Plane, values: np.ndarray) -> np.ndarray:
        return where.points(values, spread=np.linspace(0, 1, len(values)))

    return QkvOverview(
        step=at,
        clock=scored.clock,
        parts={
            name: Labelled(on(planes[name], values), {name: places[name], "direction": DIRECTIONS})
            for name, values in parts.items()
        },
        planes=planes,
        images=replace(images, exact={}),
        scored=scored,
        mixed=Labelled(
            on(images.planes["value"], mixed), {"query_position": placed(scored.tokens), "direction": DIRECTIONS}
        ),
    )
