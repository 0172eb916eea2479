"""From queries and keys to attention: one input, one head, every number on the way."""

import numpy as np

from glassformer.analyses import _applies
from glassformer.analyses._attend import DIRECTIONS, OneHead, about_head, checked, product, tokens_of
from glassformer.analyses._options import Block, Head, Member, Sequence, Step
from glassformer.analyses._pairs import pairs, placed, spoken
from glassformer.analyses._plane import PairPlane, pair_plane
from glassformer.analyses._result import Array, Labelled, fate, numbers, percent, result
from glassformer.analyses._sought import copied, sought, which
from glassformer.analyses.attend.attention import sources
from glassformer.run import Run

ORDER = 65
ANSWERS = ("4.13", "4.r14", "3.§3.3.1")
COST = "b"
APPLIES = (_applies.asking,)


@result
class Scoring(OneHead):
    """Queries, keys, scores and attention of one input in one head."""

    query: Labelled  # (query_position, feature)
    key: Labelled  # (key_position, feature)
    drawn_query: Labelled  # (query_position, direction)
    drawn_key: Labelled  # (key_position, direction)
    others: dict[str, Labelled]  # block 0: query, key: all there are, (token, position, direction)
    scores: Labelled  # (query_position, key_position), those that are masked too
    attention: Labelled  # (query_position, key_position)
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
    followed: int  # the query to speak of: the last with an answer to look up, else the one with the sharpest attention
    best: int  # the key that it scores highest
    lead: float  # how far that is above the next; NaN: there is no other
    left_out: int  # tokens of the vocabulary that are not among the others, the rarer ones

    @property
    def title(self) -> str:
        """Follow one query from its scores to its attention."""
        if not np.isfinite(self.attention.values).all():
            return fate("the attention is not a number", self.step)
        query, source, weights = self.followed, self.source[self.followed], self.attention.values[self.followed]
        lead = f", {tenths(self.lead)} above the next" if np.isfinite(self.lead) else ""
        me = "itself" if self.best == query else f"{spoken(self.tokens[self.best])} at position {self.best}"
        there = "there"
        if source >= 0:
            there = f"to this token, {which(self.copied)}"
            if source != self.best:
                there = f"there, {percent(float(weights[source]))} to {sought(self.copied)}"
        return (
            f"{spoken(self.tokens[query])} at position {query} scores {me} highest{lead}: "
            f"{percent(float(weights[self.best]))} of its attention{self.who} goes {there}"
        )

    @property
    def allowed(self) -> Array:
        """(query_position, key_position): the scores, NaN where a query may not look."""
        found: Array = self.scores.values
        return np.where(np.tri(len(found), dtype=bool), found, np.nan) if self.causal else found


def scoring(
    run: Run, *, sequence: Sequence = None, block: Block = 0, head: Head = None, step: Step = -1, member: Member = 0
) -> Scoring:
    """Every number between the queries and keys of `sequence` and the attention of one head."""
    head, a = checked(run, block, head, sequence, member), run.architecture
    seen = run.trace(sequence, step=step, member=member)
    q, k, scores, weights = (
        seen[name][block, head].astype(np.float64) for name in ("query", "key", "scores", "attention")
    )
    others: dict[str, Labelled] = {}
    left_out = 0
    plane = pair_plane(q, k)
    if block == 0:  # deeper queries depend on the whole input: there is no list of all of them
        every = pairs(run, step=seen.step, member=member, also=tokens_of(run, sequence))
        all_q, all_k = every.at("query", head).astype(np.float64), every.at("key", head).astype(np.float64)
        plane, left_out = pair_plane(all_q, all_k), len(run.task.vocabulary) - len(every.ids)
        axes = {"token": every.tokens, "position": numbers(every.context), "direction": DIRECTIONS}
        others = {"query": Labelled(plane.queries(all_q), axes), "key": Labelled(plane.keys(all_k), axes)}
    tokens, source = tuple(run.task.vocabulary[token] for token in seen.tokens), sources(run, seen.tokens)
    rows, columns = {"query_position": placed(tokens)}, {"key_position": placed(tokens)}
    query = _followed(source, weights, a.causal)
    met = scores[query, : query + 1] if a.causal else scores[query]
    best = int(np.argmax(met))
    return Scoring(
        **about_head(run, head, seen.step, member),
        query=Labelled(q, rows | {"feature": numbers(q.shape[1])}),
        key=Labelled(k, columns | {"feature": numbers(k.shape[1])}),
        drawn_query=Labelled(plane.queries(q), rows | {"direction": DIRECTIONS}),
        drawn_key=Labelled(plane.keys(k), columns | {"direction": DIRECTIONS}),
        others=others,
        scores=Labelled(scores, rows | columns, "score"),
        attention=Labelled(weights, rows | columns, "share"),
        product=product(run),
        tokens=tokens,
        source=source,
        copied=copied(run),
        plane=plane,
        causal=a.causal,
        block=block,
        followed=query,
        best=best,
        lead=float(met[best]) - float(np.delete(met, best).max()) if len(met) > 1 else float("nan"),
        left_out=left_out,
    )


def _followed(source: tuple[int, ...], weights: Array, causal: bool) -> int:
    places = [query for query, key in enumerate(source) if key >= 0]
    if places:
        return places[-1]
    first = 1 if causal and len(weights) > 1 else 0
    return first + int(np.argmax(weights[first:].max(axis=1)))


def tenths(value: float) -> str:
    """A difference of scores: 2.3, 0.23."""
    return f"{value:.1f}" if abs(value) >= 0.95 else f"{value:.2f}"
