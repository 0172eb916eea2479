"""How much it bets: the probability of the likeliest token and of the right one, by step."""

import numpy as np

from glassformer.analyses._judged import exactly
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import result
from glassformer.analyses._uncertain import Subject, Uncertainty, part
from glassformer.analyses._uncertain_run import uncertainty

ORDER = 150
ANSWERS = ("0.8",)
COST = "b"


@result
class Sharpening(Uncertainty):
    """Probabilities of the likeliest token and of the one that came."""

    kinds: tuple[str, ...]  # of places told apart: constrained and free, where there are both

    @property
    def title(self) -> str:
        """How much the right token gets, at first and in the end."""
        if self.no_story:
            return self.no_story
        name = f"p_target {self.kinds[0]}" if self.kinds else "p_target"
        right, best = self.by_step[name].values[0], self.true(name)
        who = "Where the rule speaks, the right token" if self.kinds else "The right token"
        who = who if self.exact or self.subject != "run" else "The token that came"
        told = self.subject == "run" and self.exact and np.isfinite(best)
        of = f", of {exactly(best)} that can be had" if told else ""
        if self.subject == "run" and not self.exact and np.isfinite(best):
            of = f"; the best table of counts gives it {exactly(best)}"
        return f"{who} gets {exactly(right[0])} at first and {exactly(right[-1])} in the end{of}"


def sharpening(run: Subject, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> Sharpening:
    """What a run, or a physics model, bets on its favourite and on the right token, over its life."""
    seen = uncertainty(run, step=step, member=member, axis=axis)
    kinds = ("constrained", "free") if "p_max constrained" in seen.by_step else ()
    shown = [f"by_step.{name} {kind}".strip() for name in ("p_max", "p_target") for kind in kinds or ("",)]
    return part(Sharpening, seen, *shown, kinds=kinds)
