"""How unsure it is, and how rightly: entropy of the predictions and loss at a temperature, by step."""

import numpy as np

from glassformer.analyses._options import Member, Step, StepAxis, Temperature
from glassformer.analyses._result import Array, result
from glassformer.analyses._uncertain import Subject, Uncertainty, moves, nats, part
from glassformer.analyses._uncertain_run import uncertainty
from glassformer.words import thousands

ORDER = 110
ANSWERS = ("0.1", "0.2", "0.3")
COST = "b"


@result
class Entropy(Uncertainty):
    """Entropy as trained and at the temperature, and the loss at it."""

    four_fifths: tuple[int, int] | None  # steps between which so much of entropy's way lies, if that is a small part

    @property
    def title(self) -> str:
        """From how undecided to how undecided, and from how wrong to how wrong."""
        if self.no_story:
            return self.no_story
        entropy, loss = (self.by_step[name].values[0] for name in ("entropy_at", "loss_at"))
        when = ""
        if self.four_fifths:
            first, last = map(thousands, self.four_fifths)
            way = moves(entropy).removesuffix("s")
            when = f"; four fifths of entropy's {way} comes between steps {first} and {last}"
        return (
            f"{'E' if self.temperature == 1 else f'At T = {self.temperature:.4g} e'}ntropy {moves(entropy)} from "
            f"{nats(entropy[0])} to {nats(entropy[-1])} nats, the loss from {nats(loss[0])} to {nats(loss[-1])}"
            f"{self.sample}{when}"
        )


def entropy(
    run: Subject, *, temperature: Temperature = 1.0, step: Step = -1, member: Member = 0, axis: StepAxis = "auto"
) -> Entropy:
    """Output entropy and loss over the life of a run, or of a physics model."""
    seen = uncertainty(run, temperature=temperature, step=step, member=member, axis=axis)
    shown = ("by_step.entropy", "by_step.entropy_at", "by_step.loss_at")
    when = _four_fifths(seen, seen.by_step["entropy_at"].values[0])
    return part(Entropy, seen, *shown, four_fifths=when)


def _four_fifths(seen: Uncertainty, values: Array) -> tuple[int, int] | None:
    way = (values[0] - values) / ((values[0] - values[-1]) or 1)
    begin, end = (int(np.argmax(way >= share)) for share in (0.1, 0.9))
    first, last = seen.looked_at[max(begin - 1, 0)], seen.looked_at[end]
    told = 0 < last - first <= 0.4 * seen.total and abs(values[0] - values[-1]) >= 0.1
    return (first, last) if told else None
