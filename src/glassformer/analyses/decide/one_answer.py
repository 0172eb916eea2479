"""One answer, step by step: what a position asks, where it looks, how far that moves it, and what it says then."""

import numpy as np

from glassformer.analyses import _applies, _counted, _decide, _land
from glassformer.analyses._attend import OneHead, about_head
from glassformer.analyses._land import Frame, Regions, around, ends_of_many, fitted
from glassformer.analyses._options import Head, Member, Sequence, Step
from glassformer.analyses._pairs import drawn, placed, shown
from glassformer.analyses._plane import DIRECTIONS, Plane
from glassformer.analyses._result import Array, Axis, Labelled, fate, percent, result
from glassformer.analyses.attend.attention import named
from glassformer.analyses.attend.scoring import scoring
from glassformer.analyses.decide.residual import residual
from glassformer.run import Run

ORDER = 5
ANSWERS = ("new",)
COST = "b"
APPLIES = (_applies.asking, _applies.plane, _land.few_answers)


@result
class OneAnswer(OneHead):
    """The last block's attention at one position of one input, from its scores to its answer."""

    scores: Labelled  # (key_position,): query times key, scaled; only what may be seen
    shares: Labelled  # (key_position,): of the attention
    without: Labelled  # (token,): probabilities if this attention added nothing
    answer: Labelled  # (token,): the model's probabilities
    points: Labelled  # (point, direction): before, what attention adds, after
    tokens: tuple[str, ...]
    place: int  # the position that answers
    source: int  # the position it must look at; -1: the rule names none
    copied: bool
    right: tuple[int, ...]  # ids of the right answers; empty: anything goes
    verdict: str
    block: int
    head: int
    blocks: int
    heads: int
    divided: int  # scores are divided by its root
    plane: Plane
    regions: Regions

    @property
    def title(self) -> str:
        """From the highest score to the answer, in one sentence."""
        if not np.isfinite(self.answer.values).all():
            return fate("the answer is not a number", self.step)
        names, best = drawn(placed(self.tokens)), int(np.argmax(self.shares.values))
        looks = f"{names[self.place]} looks at {names[best]} ({percent(float(self.shares.values[best]))}{self.where})"
        was, now = (int(each.values.argmax()) for each in (self.without, self.answer))
        old, said = (shown(self.answer.axes["token"].labels[k]) for k in (was, now))
        chance = percent(float(self.answer.values[now]))
        that = "that" if self.blocks * self.heads == 1 else "the block's attention"
        turned = (
            f"{looks}; with or without {that} it answers {said} ({chance})"
            if was == now
            else f"{looks}, and {that} turns its answer from {old} to {said} ({chance})"
        )
        if was != now and {was, now} <= {*self.right}:
            return f"{turned}, both of which are right"
        return turned + (f", which is {self.verdict}" if self.verdict in ("right", "wrong") else "")

    @property
    def where(self) -> str:
        """` in block 1, head 0` where there is more than one."""
        return f" in {named(self.block, self.head, self.blocks)}" if self.who else ""


def one_answer(
    run: Run, *, sequence: Sequence = None, head: Head = None, step: Step = -1, member: Member = 0
) -> OneAnswer:
    """Follow the last position that has something to look up (else the last that answers) through the last block.

    `head` as in `scoring`.
    """
    a = run.architecture
    asked = scoring(run, sequence=sequence, block=a.blocks - 1, head=head, step=step, member=member)
    last = _counted.place(run, run.tokens(sequence))
    place = asked.followed if max(asked.source) >= 0 else last
    seen, block = run.trace(sequence, step=step, member=member), a.blocks - 1
    stages = np.stack([_decide.entering(seen, block, a)[place] * a.residual, seen["middle"][block, place]])
    plane = fitted(run, sequence=sequence, step=step, member=member)
    if not plane.lossless:
        plane = _through(stages, ends_of_many(run, seen.step, member).reshape(-1, a.width)) or plane
    way = plane.points(stages)
    path = np.stack([way[0], plane.zero + plane.directions(seen["attended"][block, place]), way[1]])
    moved = residual(run, sequence=sequence, step=step, member=member, on=plane, frame=_around(way))
    view = slice(0, place + 1) if a.causal else slice(None)
    here = placed(asked.tokens)
    keys = {"key_position": Axis(here.values[view], here.words[view])}
    words = {"token": moved.words}
    return OneAnswer(
        **about_head(run, asked.head, asked.step, member),
        scores=Labelled(asked.scores.values[place, view], keys, "score"),
        shares=Labelled(asked.attention.values[place, view], keys, "share"),
        without=Labelled(moved.first.values[place], words, "probability"),
        answer=Labelled(moved.at_end.values[place], words, "probability"),
        points=Labelled(path, {"point": ("before", "attended", "after"), "direction": DIRECTIONS}),
        tokens=asked.tokens,
        place=place,
        source=asked.source[place],
        copied=asked.copied,
        right=moved.right[place],
        verdict=moved.verdicts[place],
        block=asked.block,
        divided=a.per_head if a.score_scale == "head" else a.width,
        plane=moved.plane,
        regions=moved.regions,
    )


def _through(stages: Array, cloud: Array) -> Plane | None:
    """The plane through two points that holds most of a cloud (n, feature), so that the map is exact at both."""
    begin, end = stages.astype(np.float64)
    ahead = end - begin
    length = float(np.linalg.norm(ahead))
    if not (0 < length < np.inf and np.isfinite(cloud).all()):
        return None
    ahead /= length
    around = cloud - cloud.mean(0)
    rest = around - np.outer(around @ ahead, ahead)
    across = np.linalg.svd(rest, full_matrices=False)[2][0]
    across -= (across @ ahead) * ahead
    if not np.linalg.norm(across) > 1e-6:
        return None
    basis = np.column_stack([ahead, across / np.linalg.norm(across)])
    shares = ((around @ basis) ** 2).sum(0) / max(float((around**2).sum()), 1e-300)
    beside = begin - basis @ (basis.T @ begin)
    return Plane(beside, basis, ("along attention's push", "across it"), tuple(map(float, shares)))


def _around(points: Array) -> Frame:
    """A square that holds the way from one point to the other with as much room again on every side."""
    still = (points[0] == points[1]).all()
    return around([points + np.array([[-1.0], [1.0]]) if still else points], 0.0 if still else 1.0)
