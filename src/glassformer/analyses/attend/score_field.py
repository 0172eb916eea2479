"""What a query looks for: the plane of keys in the colours of its score, and the keys it scores highest."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _applies
from glassformer.analyses._attend import Query, largest
from glassformer.analyses._options import Block, Head, Member, Option, Sequence, Step
from glassformer.analyses._pairs import spoken
from glassformer.analyses._result import Labelled, Result, fate, listed, percent, result
from glassformer.analyses.attend.query_key_space import CLEAR, TOP, QueryKeySpace, by_group, query_key_space
from glassformer.analyses.attend.scoring import Scoring, scoring, tenths
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 40
ANSWERS = ("4.10", "4.r15")
COST = "b"
APPLIES = (_applies.asking,)
GRID = 9  # points along each side of a small plane, whose score is linear


@result
class ScoreField(Result):
    """What one query scores high among all keys there are; or, for every query of an input, a plane of its own."""

    one: QueryKeySpace | None  # the query followed, and its scores with all keys
    every: Scoring | None  # all queries of an input
    fields: Labelled | None  # of those, (query_position, vertical, horizontal): score of a key drawn there
    spans: Labelled | None  # (query_position,): from its lowest score to its highest; NaN: it has one key only

    @property
    def title(self) -> str:
        """What the one query scores high; of many, which tells its keys apart most and which least."""
        return _one(self.one) if self.one is not None else self._every()

    def _every(self) -> str:
        assert self.every is not None
        order = self.order
        if not np.isfinite(self.every.scores.values).all() or len(order) < 2:
            return self.every.title
        sharp, mild = (f"{spoken(self.every.tokens[k])} at position {k}" for k in (order[0], order[-1]))
        most, least = (tenths(float(self._spans[k])) for k in (order[0], order[-1]))
        return (
            f"{sharp} tells its keys apart most{self.every.who}: their scores span {most}; those for {mild} only "
            f"{least}"
        )

    @property
    def order(self) -> list[int]:
        """The queries of the input that can choose, those that tell their keys apart most first."""
        known = np.flatnonzero(np.isfinite(self._spans))
        return sorted(known.tolist(), key=lambda query: -float(self._spans[query]))

    @property
    def _spans(self) -> np.ndarray:
        return np.zeros(0) if self.spans is None else self.spans.values


def score_field(
    run: Run, *, query: Query = None, sequence: Sequence = None,
    every: Annotated[bool, Option("a small plane for each query of the input, in place of one query")] = False,
    block: Block = 0, head: Head = None, step: Step = -1, member: Member = 0,
) -> ScoreField:  # fmt: skip
    """The scores of one query of block 0 with every key there is; `every`: those of each query of `sequence`.

    The queries of deeper blocks depend on the whole input: of those, there are only small planes.
    """
    if query is not None and (every or block):
        other = "every = True" if every else f"block = {block}"
        raise CallError(f"query = {query!r} and {other} exclude each other: one query is of block 0, and has all keys")
    if not every and not block:
        one = query_key_space(run, query=query, sequence=sequence, head=head, step=step, member=member)
        return ScoreField(step=one.step, clock=one.clock, one=one, every=None, fields=None, spans=None)
    seen = scoring(run, sequence=sequence, block=block, head=head, step=step, member=member)
    a = run.architecture
    queries, scale = seen.drawn_query.values, float((a.per_head if a.score_scale == "head" else a.width) ** -0.5)
    reach = 2.2 * largest(queries, seen.drawn_key.values, *(each.values for each in seen.others.values())) or 1.0
    side = np.linspace(-reach, reach, GRID)
    field = (queries[:, 0, None, None] * side[None, None, :] + queries[:, 1, None, None] * side[None, :, None]) * scale
    rows, scores = {"query_position": seen.scores.axes["query_position"]}, seen.scores.values
    spans = np.full(len(scores), np.nan)
    if np.isfinite(scores).all():
        for q in range(int(a.causal), len(scores)):  # the first query of a causal model has one key
            spans[q] = np.ptp(scores[q, : q + 1] if a.causal else scores[q])
    return ScoreField(
        step=seen.step,
        clock=seen.clock,
        one=None,
        every=seen,
        fields=Labelled(field, rows | {"vertical": side, "horizontal": side}, "score"),
        spans=Labelled(spans, rows, "score"),
    )


def _one(seen: QueryKeySpace) -> str:
    """What the one query scores high."""
    if not np.isfinite(seen.scores.values).all():
        return fate("the scores are not numbers", seen.step)
    asker = f"{seen.asker}{seen.who}"
    if len(seen.means) < 2:
        return f"{asker} scores {listed(list(seen.top.axes['key_pair'].labels[:TOP]))} highest"
    (best, *others), above, later = seen.means, seen.group_above.values[0], seen.group_later.values[0]
    if above >= CLEAR:
        other = _a(others[0]) if len(others) == 1 else "any other"
        how, pairs = ("always ", "") if above == 1 else ("", f" in {percent(above)} of all pairs")
        said = f"{asker} {how}scores {_a(best)} key above {other} key{pairs}"
        if later >= CLEAR and seen.causal:
            again = "" if above == later == 1 else " always" if later == 1 else f" in {percent(later)}"
            said += f", and the later of two {best} keys above the earlier{again}"
        return said
    if seen.position_share >= 0.5:
        return (
            f"{asker} scores keys at position {seen.best_position} highest on average: the position accounts for "
            f"{percent(seen.position_share)} of the differences between scores"
        )
    return f"{asker} gives {by_group(seen)}"


def _a(word: str) -> str:
    return f"{'an' if word[:1] in 'aeio' else 'a'} {word}"
