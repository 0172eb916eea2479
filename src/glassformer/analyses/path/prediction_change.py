"""How fast it changes its mind: the divergence of its predictions from those before, per step."""

import numpy as np

from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import result
from glassformer.analyses._uncertain import Subject, Uncertainty, part, small
from glassformer.analyses._uncertain_run import uncertainty
from glassformer.words import thousands

ORDER = 140
ANSWERS = ("0.6",)
COST = "b"


@result
class PredictionChange(Uncertainty):
    """Divergence of the predictions at a step from those at the one looked at before, per step."""

    late: float  # the median of the last tenth of the comparisons, in nats per step; NaN: nothing was compared

    @property
    def title(self) -> str:
        """When the predictions change fastest, and how much slower in the end."""
        lines = self.change["divergence"]
        if self.no_story or not lines.values.size:
            return self.no_story or "One step is too few to see a change"
        values, steps, top = lines.values[0], np.array(lines.axes["step"].values), int(np.argmax(lines.values[0]))
        slower = f"{_times(values[top] / self.late)} slower" if self.late > 0 else "not at all"
        when = f"at step {thousands(int(steps[top]))}"
        if top == 0 and steps[0] > 1 and self.subject == "run":  # between the start and the first look
            when = f"within the first {thousands(int(steps[0]))} steps"
        return (
            f"The predictions change fastest {when}, by "
            f"{_two(float(values[top]))} nats a step, and {slower} in the last {self._stretch}"
        )

    @property
    def _stretch(self) -> str:
        """The steps behind `late`: those of the last comparisons, which need not be a tenth of the training."""
        steps = np.array([0, *self.change["divergence"].axes["step"].values], dtype=int)
        many = int(steps[-1] - steps[-1 - _tenth(len(steps) - 1)])
        return f"{thousands(many)} steps" if many > 1 else "step"


def prediction_change(
    run: Subject, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto"
) -> PredictionChange:
    """How far the predictions of a run, or of a physics model, move from step to step."""
    seen = uncertainty(run, step=step, member=member, axis=axis)
    values = seen.change["divergence"].values[0]
    late = float(np.median(values[-_tenth(len(values)) :])) if len(values) else float("nan")
    return part(PredictionChange, seen, "change", "ladder.crossed", late=late)


def _tenth(many: int) -> int:
    """A tenth of so many comparisons, or one."""
    return max(1, many // 10)


def _times(factor: float) -> str:
    if factor < 10:
        return f"{factor:.1f} times"
    return f"about {thousands(round(float(f'{factor:.2g}')))} times" if factor < 1e5 else "over 100 000 times"


def _two(value: float) -> str:
    """Two digits that count, without a power of ten while there are few zeros."""
    return f"{value:.2g}" if value >= 1e-4 else small(value)
