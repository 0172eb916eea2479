"""From tokens to the head's output in nine pictures."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies
from glassformer.analyses._attend import AXES, example
from glassformer.analyses._pairs import pairs, placed, shown
from glassformer.analyses._plane import PairPlane, Plane, plane
from glassformer.analyses._result import Labelled, Result, Words, numbers, percent, result
from glassformer.analyses._sought import which
from glassformer.analyses.attend.qkv import qkv
from glassformer.analyses.attend.scoring import Scoring, scoring, spoken, where
from glassformer.analyses.attend.scoring import say as say_scoring
from glassformer.architecture import sinusoids
from glassformer.run import Run

ORDER = 20
ANSWERS = ("4.S7",)
COST = "c"
APPLIES = (_applies.asking,)


@result
class QkvOverview(Result):
    """Planes of everything between the embeddings and the output of a head, with one input followed."""

    planes_of: dict[str, Labelled]  # token, position, embedded, query, key, value: (..., axis)
    paired: dict[str, Labelled]  # query, key: (token, position, axis) on the plane of both
    attention: Labelled  # (query_position, key_position)
    mixed: Labelled  # (query_position, axis) on the plane of the values
    planes: dict[str, Plane]
    pair: PairPlane
    tokens: tuple[str, ...]
    source: tuple[int, ...]
    groups: tuple[str, ...]
    head: int
    heads: int
    causal: bool
    title: str
    scored: str  # how that comes about
    example: tuple[int, ...]  # the pairs of the input, in a list of all pairs


def qkv_overview(
    run: Run, *, sequence: str | None = None, head: int | None = None, step: int = -1, member: int = 0
) -> QkvOverview:
    """Embeddings, queries, keys, values of all pairs; attention and `mixed` of one input, in block 0."""
    maps = qkv(run, head=head, step=step, member=member)
    seen = scoring(run, sequence=sequence, head=maps.head, step=step, member=member)
    at, a = seen.step or 0, run.architecture
    weights, every = run.weights(at, member), pairs(run, step=at, member=member)
    parts = {"token": weights["token"][list(every.ids)].astype(np.float64)}
    if a.positions in ("learned", "sinusoidal"):
        parts["position"] = np.asarray(
            weights["position"] if a.positions == "learned" else sinusoids(a.context, a.width), np.float64
        )
    axes = {"token": {"token": every.tokens}, "position": {"position": numbers(every.context)}}
    planes = dict(maps.planes) | {name: plane(values) for name, values in parts.items()}
    found = {
        name: Labelled(planes[name].points(values, spread=np.linspace(0, 1, len(values))), axes[name] | {"axis": AXES})
        for name, values in parts.items()
    }
    mixed = run.trace(sequence, step=at, member=member)["mixed"][0, maps.head].astype(np.float64)
    shape = (len(every.tokens), every.context, 2)
    both = {"token": every.tokens, "position": numbers(every.context), "axis": AXES}
    return QkvOverview(
        step=at,
        clock=seen.clock,
        planes_of=found | maps.drawn,
        paired={name: Labelled(each.values.reshape(shape), both) for name, each in seen.others.items()},
        attention=seen.attention,
        mixed=Labelled(
            planes["value"].points(mixed, spread=np.linspace(0, 1, len(mixed))),
            {"query_position": placed(seen.tokens), "axis": AXES},
        ),
        planes=planes,
        pair=seen.plane,
        tokens=seen.tokens,
        source=seen.source,
        groups=maps.groups,
        head=maps.head,
        heads=maps.heads,
        causal=seen.causal,
        title=_passed_on(seen),
        scored=say_scoring(seen).title,
        example=example(run, every.ids, sequence),
    )


def say(seen: QkvOverview) -> Words:
    """What one query of the input passes on, and how it came to look there."""
    text = " ".join(map(shown, seen.tokens))
    caption = (
        "Read from the top left: token embeddings, position embeddings and their sum for every pair; queries, keys "
        "and values made from it"
        + (f" (head {seen.head} of {seen.heads})" if seen.heads > 1 else "")
        + f"; queries and keys on one plane, the attention on the input {text}, and what the head passes on for each "
        "of its positions: the mean of the values it looks at, in front of all values (grey). "
        + (
            ""
            if all(p.lossless for p in seen.planes.values())
            else "Planes wider than two features are principal components. "
        )
        + "Exact. A mixed point outside the cloud of values would be impossible."
    )
    return Words(
        seen.title, caption, f"Nine panels from embeddings to the output of the head. {seen.title}. {seen.scored}."
    )


def _passed_on(seen: Scoring) -> str:
    """What one query of the input gets from the position it looks at most."""
    query = spoken(seen)
    weights = seen.attention.values[query]
    if not np.isfinite(seen.attention.values).all():
        return say_scoring(seen).title
    best, source = int(np.argmax(weights)), seen.source[query]
    whose = "its own" if best == query else f"that of {shown(seen.tokens[best])} at position {best}"
    title = (
        f"Of the value that {shown(seen.tokens[query])} at position {query} passes on{where(seen)}, "
        f"{percent(float(weights[best]))} is {whose}"
    )
    return title + (f", {which(seen.copied)}" if source == best else "")
