"""Three inputs below each other: how each is scored, what is mixed from it, and where attention moves it."""

from typing import Annotated, Literal, get_args

import numpy as np

from glassformer.analyses import _applies, _land
from glassformer.analyses._options import Member, Option, Step
from glassformer.analyses._result import Result, fate, percent, result
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.scoring import Scoring, scoring
from glassformer.analyses.decide.mixing import Mixing, mixing
from glassformer.analyses.decide.residual import Residual, residual
from glassformer.errors import check_name
from glassformer.run import Run

ORDER = 24
ANSWERS = ("4.13", "4.14", "4.15")
COST = "d"
APPLIES = (_applies.asking, _applies.plane, _land.few_answers)
MANY = 3
Part = Literal["scoring", "mixing", "residual"]


def applies(run: Run) -> str | None:
    """That the task has several inputs to show."""
    return None if len(run.task.showcase) > 1 else "the task shows one input only"


@result
class ThreeInputs(Result):
    """The results of one analysis for several inputs; those of the other two are empty."""

    part: Part
    scoring: tuple[Scoring, ...]
    mixing: tuple[Mixing, ...]
    residual: tuple[Residual, ...]
    met: int  # queries that look most at what they should, or answers that are right
    asked: int  # queries or answers of which that can be said
    share: float  # mean attention on what is sought; NaN: nothing is
    copied: bool  # as in `Attention`
    head: int  # of block 0, for scores and mixes
    finite: bool

    @property
    def inputs(self) -> tuple[Scoring | Mixing | Residual, ...]:
        """The results, one for each input."""
        return self.scoring or self.mixing or self.residual

    @property
    def title(self) -> str:
        """How many look, or answer, as they should."""
        many = len(self.inputs)
        if not self.finite:
            return fate("the numbers are not finite", self.step)
        if not self.asked:
            return f"{many} inputs, of which none has an answer to look up"
        if self.part == "residual":
            are = "is" if self.met == 1 else "are"
            return f"On {many} inputs, {self.met} of {self.asked} answers {are} right where attention has moved them"
        if self.part == "mixing":
            share = percent(self.share)
            return f"On {many} inputs, {share} of what is picked up comes from {sought(self.copied)}, on average"
        look = "looks" if self.met == 1 else "look"
        return f"On {many} inputs, {self.met} of {self.asked} queries with an answer to look up {look} at it most"


def three_inputs(
    run: Run, *, part: Annotated[Part, Option("what is shown: scores, mixes or the stream")] = "scoring",
    step: Step = -1, member: Member = 0, sequences: tuple[str, ...] = (),
) -> ThreeInputs:  # fmt: skip
    """One analysis for several `sequences`, the first of the task's own if none are given, of the same head."""
    check_name(part, "part", get_args(Part))
    texts = sequences or run.task.showcase[:MANY]
    first = scoring(run, sequence=texts[0], step=step, member=member)
    scored = [scoring(run, sequence=text, head=first.head, step=step, member=member) for text in texts]
    asks = [(each, q, s) for each in scored for q, s in enumerate(each.source) if s >= 0]
    shares = [float(each.attention.values[q, s]) for each, q, s in asks]
    met = sum(int(each.attention.values[q].argmax()) == s for each, q, s in asks)
    mixes = [mixing(run, sequence=text, step=step, member=member) for text in texts if part == "mixing"]
    moved = [residual(run, sequence=text, step=step, member=member) for text in texts if part == "residual"]
    asked = len(asks)
    if part == "residual":
        met, asked = sum(each.verdicts.count("right") for each in moved), sum(len(each.judged) for each in moved)
    return ThreeInputs(
        step=first.step,
        clock=first.clock,
        part=part,
        scoring=tuple(scored) if part == "scoring" else (),
        mixing=tuple(mixes),
        residual=tuple(moved),
        met=met,
        asked=asked,
        share=float(np.mean(shares)) if shares else float("nan"),
        copied=first.copied,
        head=first.head,
        finite=all(np.isfinite(each.attention.values).all() for each in scored),
    )
