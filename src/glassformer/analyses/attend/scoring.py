"""From queries and keys to attention: one input, one head, every number on the way."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._attend import AXES, checked, largest, must_ask, product
from glassformer.analyses._pairs import pairs, placed, shown
from glassformer.analyses._plane import PairPlane, pair_plane
from glassformer.analyses._result import Labelled, Result, Words, numbers, percent, result
from glassformer.analyses._sought import copied, sought, which
from glassformer.analyses.attend.attention import named, sources
from glassformer.run import Run

ORDER = 65
ANSWERS = ("4.13", "4.r14", "3.§3.3.1")
COST = "b"
APPLIES = (_applies.asking,)

GRID = 9


@result
class Scoring(Result):
    """Queries, keys, scores and attention of one input in one head."""

    query: Labelled  # (query_position, feature)
    key: Labelled  # (key_position, feature)
    drawn_query: Labelled  # (query_position, axis)
    drawn_key: Labelled  # (key_position, axis)
    others: dict[str, Labelled]  # block 0: all queries and keys there are, (pair, axis)
    scores: Labelled  # (query_position, key_position), those that are masked too
    attention: Labelled  # (query_position, key_position)
    field: Labelled  # (query_position, vertical, horizontal): score of a key drawn there, from -reach to reach
    reach: float
    product: str  # how a score comes about
    tokens: tuple[str, ...]
    source: tuple[int, ...]
    copied: bool  # as in `Attention`
    plane: PairPlane
    causal: bool
    block: int
    head: int
    blocks: int
    heads: int


def scoring(
    run: Run, *, sequence: str | None = None, block: int = 0, head: int | None = None, step: int = -1, member: int = 0
) -> Scoring:
    """Every number between the queries and keys of `sequence` and the attention of one head."""
    must_ask(run)
    head = checked(run, block, head, sequence, member)
    seen = run.trace(sequence, step=step, member=member)
    q, k, scores, weights = (
        seen[name][block, head].astype(np.float64) for name in ("query", "key", "scores", "attention")
    )
    others: dict[str, Labelled] = {}
    scale = float(
        (run.architecture.per_head if run.architecture.score_scale == "head" else run.architecture.width) ** -0.5
    )
    plane = pair_plane(q, k)
    if block == 0:  # deeper queries depend on the whole input: there is no list of all of them
        every = pairs(run, step=seen.step, member=member)
        all_q, all_k = every.at("query", head).astype(np.float64), every.at("key", head).astype(np.float64)
        plane = pair_plane(all_q, all_k)
        names = tuple(f"{token}@{place}" for token in every.tokens for place in range(every.context))
        others = {
            "query": Labelled(plane.queries(all_q).reshape(-1, 2), {"pair": names, "axis": AXES}),
            "key": Labelled(plane.keys(all_k).reshape(-1, 2), {"pair": names, "axis": AXES}),
        }
    drawn_q, drawn_k = plane.queries(q), plane.keys(k)
    everything = [drawn_q, drawn_k, *(each.values for each in others.values())]
    reach = 2.2 * largest(*everything) or 1.0
    side = np.linspace(-reach, reach, GRID)
    field = (drawn_q[:, 0, None, None] * side[None, None, :] + drawn_q[:, 1, None, None] * side[None, :, None]) * scale
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    names, marks = placed(tokens), tuple(f"{x:.4g}" for x in side)
    rows, columns = {"query_position": names}, {"key_position": names}
    return Scoring(
        step=seen.step,
        clock=_clock.text(run, seen.step, member),
        query=Labelled(q, rows | {"feature": numbers(q.shape[1])}),
        key=Labelled(k, columns | {"feature": numbers(k.shape[1])}),
        drawn_query=Labelled(drawn_q, rows | {"axis": AXES}),
        drawn_key=Labelled(drawn_k, columns | {"axis": AXES}),
        others=others,
        scores=Labelled(scores, rows | columns, "score"),
        attention=Labelled(weights, rows | columns, "share"),
        field=Labelled(field, rows | {"vertical": marks, "horizontal": marks}, "score"),
        reach=reach,
        product=product(run),
        tokens=tokens,
        source=sources(run, seen.tokens),
        copied=copied(run),
        plane=plane,
        causal=run.architecture.causal,
        block=block,
        head=head,
        blocks=run.architecture.blocks,
        heads=run.architecture.heads,
    )


def where(seen: Scoring) -> str:
    """` (block 1, head 0)` where there is more than one."""
    return f" ({named(seen.block, seen.head, seen.blocks)})" if seen.blocks * seen.heads > 1 else ""


class Looking(Protocol):
    """An input with the attention of one head on it."""

    @property
    def tokens(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> tuple[int, ...]: ...
    @property
    def attention(self) -> Labelled: ...
    @property
    def causal(self) -> bool: ...


def spoken(seen: Looking) -> int:
    """The query to speak of: the last with an answer to look up; else the one whose attention is sharpest."""
    places = [query for query, source in enumerate(seen.source) if source >= 0]
    if places:
        return places[-1]
    first = 1 if seen.causal and len(seen.tokens) > 1 else 0
    return first + int(np.argmax(seen.attention.values[first:].max(axis=1)))


def say(seen: Scoring) -> Words:
    """Follow one query from its scores to its attention."""
    text, q = " ".join(map(shown, seen.tokens)), spoken(seen)
    caption = (
        f"The input {text}{where(seen)}. From left to right: its queries and keys, number by number; the same on a "
        f"plane"
        + (" in front of all others there are (grey)" if seen.others else "")
        + f"; the scores, {seen.product}"
        + (", with the future cross-hatched" if seen.causal else "")
        + "; and the attention, which is their softmax row by row. A framed cell is "
        f"the position of {sought(seen.copied)}. "
        + (
            ""
            if seen.plane.lossless
            else f"The plane explains {percent(seen.plane.kept)} of the variance of the scores. "
        )
        + "Exact. If the softmax of a row of scores were not the row of attention, the picture would be wrong."
    )
    scores, weights = seen.scores.values[q], seen.attention.values[q]
    if not np.isfinite(seen.attention.values).all():
        title = f"At step {seen.step} the attention is not a number: the training has diverged"
        return Words(title, caption, title)
    allowed = np.arange(len(scores)) <= q if seen.causal else np.ones(len(scores), bool)
    best = int(np.argmax(np.where(allowed, scores, -np.inf)))
    second = np.max(np.where(allowed & (np.arange(len(scores)) != best), scores, -np.inf))
    lead = f", {_number(float(scores[best] - second))} above the next" if np.isfinite(second) else ""
    me = "itself" if best == q else f"{shown(seen.tokens[best])} at position {best}"
    title = (
        f"{shown(seen.tokens[q])} at position {q} scores {me} highest{lead}: {percent(float(weights[best]))} of "
        f"its attention{where(seen)} goes "
    )
    source = seen.source[q]
    if source >= 0 and source != best:
        title += f"there, {percent(float(weights[source]))} to {sought(seen.copied)}"
    elif source >= 0:
        title += f"to this token, {which(seen.copied)}"
    else:
        title += "there"
    return Words(title[0].upper() + title[1:], caption, f"Queries, keys, scores and attention of {text}. {title}.")


def _number(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 0.95 else f"{value:.2f}"


def spans(seen: Scoring) -> dict[int, float]:
    """From the lowest to the highest score of each query that can choose, the widest first."""
    scores, first = seen.scores.values, 1 if seen.causal else 0  # the first query of a causal model has one key
    found = {q: float(np.ptp(scores[q, : q + 1] if seen.causal else scores[q])) for q in range(first, len(scores))}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def say_field(seen: Scoring) -> Words:
    """The same, told by the field of each query."""
    told = say(seen)
    text = " ".join(map(shown, seen.tokens))
    caption = (
        f"One small plane for each query of the input {text}{where(seen)}, coloured by the score that a key drawn "
        f"there would get, {seen.product} (one scale for all); squares are the keys that this query may see, larger "
        "where it gives more attention. Above each plane: the query, the key that it gives most, and what share of its "
        "attention that is. "
        + (
            ""
            if seen.plane.lossless
            else f"The planes explain {percent(seen.plane.kept)} of the variance of the scores. "
        )
        + "Exact. A pale plane means a short query: it cares little where it looks."
    )
    if not np.isfinite(seen.scores.values).all() or len(spans(seen)) < 2:
        return Words(told.title, caption, told.alt)
    found = spans(seen)
    sharp, *_, mild = found
    title = (
        f"{shown(seen.tokens[sharp])} at position {sharp} tells its keys apart most{where(seen)}: their scores span "
        f"{_number(found[sharp])}; those for {shown(seen.tokens[mild])} at position {mild} only {_number(found[mild])}"
    )
    return Words(title[0].upper() + title[1:], caption, f"{title}. {told.alt}")
