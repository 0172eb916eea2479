"""One life told three times: in plain words, in formulas, and as physics."""

from typing import Annotated

import numpy as np

from glassformer.analyses._judged import exactly
from glassformer.analyses._options import Member, Option, Step, StepAxis, Temperature
from glassformer.analyses._result import result
from glassformer.analyses._uncertain import CALIBRATED, Subject, Uncertainty, moves, nats, part, place
from glassformer.analyses._uncertain_run import uncertainty
from glassformer.errors import CallError
from glassformer.words import thousands

ORDER = 160
ANSWERS = ("0.V1", "0.V2", "0.V3")
COST = "b"
TABLES = ("by_step", "change", "by_temperature", "at_moments", "maps", "marks", "attention", "ladder")
View = Annotated[int, Option("1: in plain words, 2: with formulas, 3: as physics", choices=(1, 2, 3))]


@result
class Thermodynamics(Uncertainty):
    """Every diagnostic of one life."""

    view: int  # 1: for everyone, 2: with formulas, 3: for physicists

    @property
    def title(self) -> str:
        """One life in three depths."""
        if self.no_story:
            return self.no_story
        entropy, right = self.by_step["entropy"].values[0], self.by_step["p_target"].values[0]
        cold = self.temperatures
        if self.view == 1:
            return (
                f"In {thousands(self.total)} steps the model {'narrows' if entropy[-1] < entropy[0] else 'widens'} its "
                f"choice from {_choices(entropy[0])} to {_choices(entropy[-1])} of {thousands(self.tokens)} options; "
                f"the right answer gets {exactly(right[0])} at first and {exactly(right[-1])} in the end"
            )
        if self.view == 2:
            return (
                f"Entropy {moves(entropy)} from {entropy[0]:.3f} to {entropy[-1]:.3f} nats, of at most ln "
                f"{thousands(self.tokens)} = {self.highest:.3f}, while p(target) goes from {right[0]:.3f} to "
                f"{right[-1]:.3f}"
            )
        if self.own_lives:
            mean = self.by_temperature["entropy"].values[0]
            return (
                f"Trained at T = {cold[0]:g} the memory ends ordered, at T = {cold[-1]:g} less so: mean entropy "
                f"{mean[0]:.2f} and {mean[-1]:.2f} of at most ln {self.tokens} = {self.highest:.2f}"
            )
        peak = place(float(self.marks["most_heat"].values[-1]), cold).removeprefix("at ")
        return (
            f"In the end the predictions turn from ordered to random around {peak}, where the specific heat is largest"
        )

    @property
    def sentences(self) -> dict[str, str]:
        """A sentence for each diagnostic that asks for no mathematics, with the numbers of this life."""
        if self.no_story:
            return dict.fromkeys(("entropy", "phase", "temperature", "loss", "change", "sharpening"), "")
        entropy, loss = (self.by_step[name].values[0] for name in ("entropy", "loss_at"))
        mean, cold = self.by_temperature["entropy"].values[0], self.temperatures
        right, most = (self.by_step[name].values[0] for name in ("p_target", "p_max"))
        change = self.change["divergence"]
        steps = np.array(change.axes["step"].values)
        fast = f"step {thousands(int(steps[np.argmax(change.values[0])]))}" if len(steps) else "no step"
        gap = float(self.by_step["gap"].values[0, -1]) - self.calibrated
        off = "surer than it is right" if gap > 0 else "less sure than it could be"
        end = "as sure as it is right" if abs(gap) < CALIBRATED else off
        return {
            "entropy": f"How unsure is it? As if choosing among {_choices(entropy[0])} equal options at first, among "
            f"{_choices(entropy[-1])} in the end.",
            "phase": "Sure and right are two things. Above the line it is too sure, below it could be surer. It ends "
            f"{end}.",
            "temperature": f"Temperature stirs: at {cold[0]:g} it has {_choices(mean[0])} options on average, at "
            f"{cold[-1]:g} it has {_choices(mean[-1])} of {thousands(self.tokens)}.",
            "loss": f"How surprised is it by the right answer? {nats(loss[0])} at first, {nats(loss[-1])} in the end; "
            "0 is no surprise.",
            "change": f"How fast does it change its mind? Fastest at {fast}; the lower the line, the slower.",
            "sharpening": f"The right answer gets {exactly(right[0])} at first and {exactly(right[-1])} in the end, "
            f"its favourite {exactly(most[0])} and {exactly(most[-1])}.",
        }


def thermodynamics(
    run: Subject, *, view: View = 3, temperature: Temperature = 1.0, step: Step = -1, member: Member = 0,
    axis: StepAxis = "auto",
) -> Thermodynamics:  # fmt: skip
    """Every diagnostic of a run, or of a physics model, for one of three readers."""
    if view not in (1, 2, 3):
        raise CallError(f"view = {view} is not 1 (plain words), 2 (formulas) or 3 (physics)")
    seen = uncertainty(run, temperature=temperature, step=step, member=member, axis=axis)
    return part(Thermodynamics, seen, *TABLES, view=view)


def _choices(entropy: float) -> str:
    return f"{np.exp(entropy):.1f}".removesuffix(".0")
