"""Sure and right are two things: the path on the plane of entropy and loss, past the rungs of the ladder."""

from collections.abc import Sequence

import numpy as np

from glassformer.analyses._options import Frames, Member, Pace, Shown, Step, StepAxis, Temperature
from glassformer.analyses._reel import Reel, Strip, frames_of, strip
from glassformer.analyses._result import Array, Labelled, numbers, result
from glassformer.analyses._uncertain import CALIBRATED, Subject, Uncertainty, nats, part
from glassformer.analyses._uncertain_run import Now, now, point, uncertainty
from glassformer.errors import CallError, MissingError
from glassformer.run import Run
from glassformer.words import thousands

ORDER = 130
ANSWERS = ("0.5",)
COST = "b"


@result
class Phase(Uncertainty):
    """Entropy, loss and their difference at the temperature, and the rungs of the ladder."""

    too_sure: float  # loss minus entropy in the end, less that of the exact predictor; negative: too cautious
    first_rise: (
        int | None
    )  # the step up to which the loss rose while the entropy stayed, before both fell; None: no such

    @property
    def path(self) -> Array:
        """(step, 2): entropy and loss."""
        return np.stack([self.by_step["entropy_at"].values[0], self.by_step["loss_at"].values[0]], axis=1)

    @property
    def title(self) -> str:
        """Where the path begins and ends, and on which side of the line it went."""
        if self.no_story:
            return self.no_story
        entropy, loss = self.path.T
        off = f"{abs(self.too_sure):.2f} nats too {'sure' if self.too_sure > 0 else 'cautious'}"
        end = "as sure as it should be" if abs(self.too_sure) < CALIBRATED else off
        if self.first_rise is None:
            return (
                f"From entropy {nats(entropy[0])} and loss {nats(loss[0])} to {nats(entropy[-1])} and {nats(loss[-1])} "
                f"nats{self.sample}: the model ends {end}"
            )
        top = self.looked_at.index(self.first_rise)
        return (
            f"The loss first rises from {nats(loss[0])} to {nats(loss[top])} while the entropy stays near "
            f"{nats(entropy[top])} (step {thousands(self.first_rise)}), then both fall; the model ends {end}"
        )


def phase(
    run: Subject, *, temperature: Temperature = 1.0, step: Step = -1, member: Member = 0, axis: StepAxis = "auto"
) -> Phase:
    """Entropy against loss over the life of a run, or of a physics model."""
    seen = uncertainty(run, temperature=temperature, step=step, member=member, axis=axis)
    entropy, loss = (seen.by_step[name].values[0] for name in ("entropy_at", "loss_at"))
    return part(
        Phase, seen, "by_step.entropy_at", "by_step.loss_at", "by_step.gap", "ladder",
        too_sure=float(loss[-1] - entropy[-1]) - seen.calibrated, first_rise=_first_rise(seen, entropy, loss),
    )  # fmt: skip


def _first_rise(seen: Uncertainty, entropy: Array, loss: Array) -> int | None:
    top = int(np.argmax(loss))
    still = abs(entropy[top] - entropy[0]) < 0.05 * seen.highest
    rises = loss[top] > loss[0] + 0.1 * (np.ptp(loss) or 1)
    return seen.looked_at[top] if rises and still and loss[-1] < loss[0] and entropy[-1] < entropy[0] else None


def reel(
    run: Subject, *, temperature: Temperature = 1.0, member: Member = 0, axis: StepAxis = "auto", frames: Frames = 200,
    pace: Pace = "even", steps: Shown = None,
) -> Reel:  # fmt: skip
    """The point (entropy, loss) walking past the rungs of the ladder."""
    life = phase(run, temperature=temperature, member=member, axis=axis)
    if not isinstance(run, Run):
        return _of_life(life, frames, steps)

    def at(step: int) -> Now:
        return now(run, step=step, temperature=life.temperature, member=member)

    return Reel(life.title, frames_of(run, frames, pace, steps, member), at, strip(run, member, axis), {"life": life})


def _of_life(life: Phase, frames: int, steps: Sequence[int] | None) -> Reel:
    """Of a life that was looked at in every step; its ladder is knowing nothing and knowing the answer."""
    every = np.unique(np.linspace(0, life.total, min(frames, life.total + 1)).astype(int)).tolist()
    shown = every if steps is None else [life.total if step == -1 else int(step) for step in steps]
    if not shown:
        raise CallError("a film needs at least one step")
    if wrong := [step for step in shown if step not in life.looked_at]:
        raise MissingError(f"step {wrong[0]} was not lived; the last is {life.total}")

    def at(step: int) -> Now:
        clock = f"step {thousands(step)} of {thousands(life.total)} · T = {life.temperature:.4g}"
        return Now(step=step, clock=clock, point=point(life.path[life.looked_at.index(step)]))

    losses = life.by_step["loss_at"].values[:1].T
    below = Strip(
        losses=Labelled(losses, {"step": life.looked_at, "member": numbers(1)}, "nats"),
        main=Labelled(losses[:, 0], {"step": life.looked_at}, "nats"),
        rungs=Labelled(np.array([life.highest, 0.0]), {"rung": ("uniform guess", "always right")}, "nats"),
        own_floor=float("nan"),
        scale=life.scale,
        subject=life.subject,
    )
    return Reel(life.title, shown, at, below, {"life": life})
