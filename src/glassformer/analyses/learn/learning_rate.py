"""How large the steps are: the learning rate by step, and the updates that come of it."""

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import Labelled, Result, fate, power, result, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.run import Run

ORDER = 17
ANSWERS = ("1.P4",)
COST = "a"
EDITS = "training"

NEARLY = 0.99  # of the highest rate, from which it counts as reached
APPLIES = (_applies.logged,)


@result
class LearningRate(Result):
    """The rate at each logged step, and the length of the update as a share of the weights."""

    rate: Labelled  # (step,)
    update: Labelled  # (step,): NaN where it was not logged
    schedule: str
    warmup: int  # steps in which the rate grows
    scale: Scale  # of the steps
    diverged_at: int  # the first logged step whose loss is no number; -1: none

    @property
    def title(self) -> str:
        """How the rate goes, and what it does to the weights."""
        rate, update = self.rate.values, self.update.values
        if not np.isfinite(rate).all():
            return fate("the rate is not a number")
        said = f"The learning rate is {_short(rate[-1])} throughout"
        if np.ptp(rate) > 1e-9 * rate.max():
            top = int(np.argmax(rate))
            top = int(np.argmax(rate >= NEARLY * rate[top])) if rate[0] < NEARLY * rate[top] else top
            up = f" rises to {_short(rate[top])} by step {thousands(int(self.at[top]))}" if top else ""
            down = f" falls to {_short(rate[-1])} by step {thousands(int(self.at[-1]))}" if rate[-1] < rate[top] else ""
            said = f"The learning rate begins at {_short(rate[0])},{up}{' and' if up and down else ''}{down}"
        known = update[np.isfinite(update)]
        if self.diverged_at >= 0:
            return fate("the loss is not a number, whatever the rate", since=self.diverged_at)
        if not len(known):
            return said
        low, high = (f"{_short(100 * share)} %" for share in (known.min(), known.max()))
        return f"{said}; an update is {low} to {high} as long as the weights"

    @property
    def at(self) -> tuple[int, ...]:
        """The logged steps."""
        return tuple(int(str(step)) for step in self.rate.axes["step"].values)


def applies(run: Run) -> str | None:
    """That the rate was logged."""
    return None if "rate" in run.metrics else "the learning rate of this training was not logged"


def learning_rate(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "linear") -> LearningRate:
    """The logged rates, and updates over weights."""
    steps = {"step": run.metrics["step"]}
    rate, update, weights = (_clock.metric(run, name, member) for name in ("rate", "update.all", "weights.all"))
    nothing = np.full(len(steps["step"]), np.nan)
    with np.errstate(all="ignore"):
        ratio = nothing if update is None or weights is None else update / weights
    train = run.experiment.train
    losses = _clock.metric(run, "train_loss", member)
    lost = steps["step"][~np.isfinite(losses)] if losses is not None else steps["step"][:0]
    return LearningRate(
        **_clock.over_life(run, step, member),
        rate=Labelled(nothing if rate is None else rate, steps),
        update=Labelled(np.where(np.isfinite(ratio), ratio, np.nan), steps, "share of the weights"),
        schedule=train.schedule,
        warmup=min(train.warmup, train.steps // 2),
        scale=spaced(run, axis, member),
        diverged_at=int(lost[0]) if len(lost) else -1,
    )


def _short(value: float) -> str:
    return power(value, 2) if 0 < value < 1e-3 else thousands(round(value)) if value >= 100 else f"{value:.2g}"
