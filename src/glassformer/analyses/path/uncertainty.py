"""How sure a model is and how rightly: entropy, loss, change and energy over its life and over temperature."""

from dataclasses import replace

from glassformer.analyses import _clock, _uncertain_physics, _uncertain_run
from glassformer.analyses._result import Words
from glassformer.analyses._uncertain import Uncertainty, at_temperature
from glassformer.analyses._uncertain_physics import Lived
from glassformer.analyses._uncertain_words import say_entropy
from glassformer.run import Run

Subject = Run | Lived


def uncertainty(run: Subject, *, temperature: float = 1.0, step: int = -1, member: int = 0) -> Uncertainty:
    """Every diagnostic of a run (one member), or of what a physics model lived through.

    Of a run, averaged over held-out windows, with their spread, at any temperature. A physics model has one input and
    temperatures of its own: the one nearest to `temperature` is taken and named. `step` is looked at too, and marked.
    """
    temperature = at_temperature(temperature)
    if isinstance(run, Run):
        at, clock = _clock.resolve(run, step), _clock.text(run, step, member)
        seen = _uncertain_run.measured(run, temperature, member, -1 if step == -1 else at)
    else:
        at = _uncertain_physics.nearest(run, step)
        seen = _uncertain_physics.lived(run, temperature, -1 if step == -1 else at)
        clock = _uncertain_physics.clock(run, seen, step)
    return replace(seen, step=None if step == -1 else at, clock=clock)


def say(seen: Uncertainty) -> Words:
    """From how undecided to how undecided; each figure has words of its own."""
    return say_entropy(seen)
