"""How many neurons are at work: the share that is active, never active, always active, over the whole life."""

from itertools import pairwise

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._options import Member, Step
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, numbers, percent, result, thousands
from glassformer.analyses.know.neurons import sample
from glassformer.run import Run

ORDER = 60
ANSWERS = ("1.P2",)
COST = "a"
APPLIES = (_applies.feed_forward,)
MOST_STEPS = 60
WORK = 40_000_000  # hidden values over a life, about
BINS = 20
SHARES = ("active", "never active", "always active")


def applies(run: Run) -> str | None:
    """That a neuron can be off."""
    return "tanh neurons are never off" if run.architecture.activation == "tanh" else None


@result
class Sparsity(Result):
    """Activity of the neurons by block."""

    over_life: Labelled  # (quantity, step, block): share of (place, neuron) pairs active; of neurons never, always
    rates: Labelled  # (block, neuron): share of places at which each neuron is active, at the chosen step
    histogram: Labelled  # (block, share): neurons by that share
    active: float  # share of all hidden values, at the chosen step
    first: int  # the first step looked at
    active_first: float  # the share there
    never: int  # neurons that are never active, at the chosen step
    activation: str
    places: int  # counted at every step, the same as in `neurons`

    @property
    def title(self) -> str:
        """How much is active now and at the start, and who never is."""
        many = self.rates.values.size
        if not np.isfinite(self.rates.values).all():
            return fate("the hidden values are not numbers", self.step)
        said = f"{percent(self.active)} of the hidden values are active at step {thousands(self.step or 0)}"
        if self.step != self.first:
            said += f", {percent(self.active_first)} at step {thousands(self.first)}"
        if not self.never:
            return f"{said}; all {thousands(many)} neurons are active somewhere"
        return f"{said}; {self.never} of {thousands(many)} neurons {'is' if self.never == 1 else 'are'} never active"


def sparsity(run: Run, *, step: Step = -1, member: Member = 0) -> Sparsity:
    """Activity over the same validation windows at up to 60 kept steps, the chosen one among them."""
    step, a = _clock.resolve(run, step), run.architecture
    windows = sample(run).windows[:, : a.context]
    work = windows.size * a.blocks * max(a.feed_forward, a.width)
    steps = sorted({*_clock.looks(run, int(np.clip(WORK // work, 12, MOST_STEPS)), member), step})
    life, now = np.zeros((len(SHARES), len(steps), a.blocks)), np.zeros((a.blocks, a.feed_forward))
    for k, at in enumerate(steps):
        rate = _rates(run, windows, at, member)
        now = rate if at == step else now
        life[:, k] = rate.mean(axis=1), (rate == 0).mean(axis=1), (rate == 1).mean(axis=1)
        life[1:, k, np.isnan(rate).any(axis=1)] = np.nan
    edges = np.linspace(0, 1, BINS + 1)
    counts = np.array([np.histogram(row[np.isfinite(row)], edges)[0] for row in now]).astype(float)
    bins = Axis(tuple(edges[:-1].tolist()), tuple(f"{low:.2f} to {high:.2f}" for low, high in pairwise(edges)))
    blocks = numbers(a.blocks)
    return Sparsity(
        **_clock.at_step(run, step, member),
        over_life=Labelled(life, {"quantity": SHARES, "step": steps, "block": blocks}, "share"),
        rates=Labelled(now, {"block": blocks, "neuron": numbers(a.feed_forward)}, "share"),
        histogram=Labelled(counts, {"block": blocks, "share": bins}, "neurons"),
        active=float(now.mean()),
        first=steps[0],
        active_first=float(life[0, 0].mean()),
        never=int((now == 0).sum()),
        activation=a.activation,
        places=int(windows.size),
    )


def _rates(run: Run, windows: Array, step: int, member: int) -> Array:
    """(block, neuron): share of the windows' places at which each neuron is active; NaN where it is not a number."""
    hidden = run.trace(windows, step=step, member=member)["hidden"]  # (window, block, position, neuron)
    return np.where(np.isfinite(hidden).all(axis=(0, 2)), (hidden > 0).mean(axis=(0, 2)), np.nan)
