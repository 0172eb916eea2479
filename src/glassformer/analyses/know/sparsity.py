"""How many neurons are at work: the share that is active, never active, always active, over the whole life."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, percent, thousands, result
from glassformer.analyses.know.neurons import sample
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 60
ANSWERS = ("1.P2",)
COST = "a"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    if not run.architecture.feed_forward:
        return "this model has no feed-forward part"
    return "tanh neurons are never off" if run.architecture.activation == "tanh" else None


MOST_STEPS = 60
WORK = 40_000_000  # hidden values over a life, about
BINS = 20
SHARES = ("active", "never active", "always active")


@result
class Sparsity(Result):
    """Activity of the neurons by block."""

    over_life: Labelled  # (share, step, block): of (place, neuron) pairs active; of neurons never, always active
    rates: Labelled  # (block, neuron): share of places at which each neuron is active, at the chosen step
    histogram: Labelled  # (block, bin): neurons by that share
    activation: str
    places: int  # counted at every step, the same as in `neurons`


def sparsity(run: Run, *, step: int = -1, member: int = 0) -> Sparsity:
    """Activity over the same validation windows at up to 60 kept steps, the chosen one among them."""
    a = run.architecture
    if not a.feed_forward:
        raise CallError("this model has no feed-forward part")
    step = _clock.resolve(run, step)
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
    bins = tuple(f"{low:.2f} to {high:.2f}" for low, high in pairwise(edges))
    blocks = numbers(a.blocks)
    return Sparsity(
        step=step,
        clock=_clock.text(run, step, member),
        over_life=Labelled(life, {"share": SHARES, "step": tuple(map(str, steps)), "block": blocks}, "share"),
        rates=Labelled(now, {"block": blocks, "neuron": numbers(a.feed_forward)}, "share"),
        histogram=Labelled(counts, {"block": blocks, "active": bins}, "neurons"),
        activation=a.activation,
        places=int(windows.size),
    )


def _rates(run: Run, windows: Array, step: int, member: int) -> Array:
    """(block, neuron): share of the windows' places at which each neuron is active; NaN where it is not a number."""
    hidden = run.trace(windows, step=step, member=member)["hidden"]  # (window, block, position, neuron)
    found: Array = np.where(np.isfinite(hidden).all(axis=(0, 2)), (hidden > 0).mean(axis=(0, 2)), np.nan)
    return found


def say(seen: Sparsity) -> Words:
    """How much is active now and at the start, and who never is."""
    steps = [int(step) for step in seen.over_life.axes["step"].labels]
    assert seen.step is not None
    first = seen.over_life.values[:, 0]
    rates = seen.rates.values
    meaning = "its hidden value is above 0" + (
        ""
        if seen.activation == "relu"
        else f" (a convention for {seen.activation}, whose values below 0 are small but not 0)"
    )
    caption = (
        f"A neuron is active at a place when {meaning}; measured at {thousands(seen.places)} places of validation "
        f"windows, always the same, at {len(steps)} kept steps. Left: share of all (place, neuron) pairs that are "
        "active, share of neurons active at none of these places, and at all of them. Right: at how "
        "many places each neuron is active at the chosen step. The same places are counted in `neurons`. "
        "A neuron that is never active here may still fire on an input that was not drawn."
    )  # fmt: skip
    if not np.isfinite(rates).all():
        title = f"At step {seen.step} the hidden values are not numbers: the training has diverged"
    else:
        dead = int((rates == 0).sum())
        title = f"{percent(float(rates.mean()))} of the hidden values are active at step {thousands(seen.step)}"
        if seen.step != steps[0]:
            title += f", {percent(float(first[0].mean()))} at step {thousands(steps[0])}"
        title += (
            f"; {dead} of {rates.size} neurons {'is' if dead == 1 else 'are'} never active"
            if dead
            else f"; all {rates.size} neurons are active somewhere"
        )
    return Words(title, caption, f"Curves of active shares over training and a histogram of activity. {title}.")
