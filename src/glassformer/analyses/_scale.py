"""How the steps of a training are spaced along an axis: evenly, by their logarithm, or by what was learnt.

An analysis over steps takes the option `axis: StepAxis = "auto"` and keeps `scale=spaced(run, axis, member)` in a field
`scale: Scale` of its result; its figure calls `_draw.steps_axis(panel, scale=seen.scale)` once all is drawn, which sets
the scale, the limits from 0 to the last step, the marks and a label that names the scale. What cannot be drawn with a
scale of Matplotlib (an image) is placed by `seen.scale.place(steps)`, 0 to 1.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import STEP_AXES
from glassformer.analyses._result import Array
from glassformer.errors import check_name
from glassformer.run import Run

ENOUGH = 0.2  # of the width for nine tenths of what is learnt; with less, the rest of an even axis is wasted
BEGUN, DONE = 0.02, 0.9  # shares of all that the loss gains: learning shows, learning is nearly over
STRAIGHT = 0.4  # of a decade: the beginning of a logarithmic axis, where it is not logarithmic


@dataclass(frozen=True)
class Scale:
    """An axis of steps from 0 to the last: each knot is a step and its place, straight lines between."""

    kind: Literal["linear", "log", "learning"]
    last: int
    first: int = 1  # a logarithmic axis is straight up to here
    steps: tuple[int, ...] = ()  # of the knots of an axis by learning
    places: tuple[float, ...] = ()

    def place(self, steps: Array) -> Array:
        """Where steps lie, 0 to 1; outside of the training the ends go on straight."""
        x = np.asarray(steps, dtype=float)
        if self.kind == "log":
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(x < self.first, x / self.first, 1 + np.log10(x / self.first) / STRAIGHT) / self._length
        return _straight(x, self.steps, self.places) if self.kind == "learning" else x / self.last

    def step(self, places: Array) -> Array:
        """Which steps lie at these places."""
        y = np.asarray(places, dtype=float)
        if self.kind == "log":
            long = y * self._length
            return np.where(long < 1, long, 10.0 ** (np.maximum(long - 1, 0) * STRAIGHT)) * self.first
        return _straight(y, self.places, self.steps) if self.kind == "learning" else y * self.last

    @property
    def _length(self) -> float:
        return float(1 + np.log10(self.last / self.first) / STRAIGHT)


def spaced(run: Run, axis: str = "auto", member: int = 0) -> Scale:
    """How to space the steps of a run, by its held-out loss, or by that in training where only this one falls."""
    losses = [_clock.metric(run, name, member) for name in ("validation_loss", "train_loss")]
    return by_losses(
        _clock.metrics(run)["step"], *(each for each in losses if each is not None), last=_clock.total(run), axis=axis
    )


def by_losses(at: Array, *losses: Array, last: int, axis: str = "auto") -> Scale:
    """How to space steps by the first of these curves that falls; `auto`: evenly, unless learning lacks room."""
    check_name(axis, "the ways to space steps", STEP_AXES)
    at, last = np.asarray(at), max(last, 1)
    even = Scale("linear", last)
    gained = next((gain for each in losses if (gain := _gain(np.asarray(each))).any()), None)
    if gained is None:  # what learns nothing has no part that needs more room
        return Scale("log", last) if axis == "log" else even
    logarithmic = Scale("log", last, first=max(int(at[np.searchsorted(gained, BEGUN)]), 1))
    steps, places = [int(step) for step in at], [float(place) for place in (at / last + gained) / 2]
    if steps[-1] < last:  # not finished
        steps, places = [*steps, last], [*places, 1.0]
    learnt = Scale("learning", last, steps=tuple(steps), places=tuple(places))
    if axis != "auto":
        return {"linear": even, "log": logarithmic, "learning": learnt}[axis]
    learning = at[[max(int(np.searchsorted(gained, 1 - DONE)) - 1, 0), int(np.searchsorted(gained, DONE))]]
    return next((each for each in (even, logarithmic) if np.ptp(each.place(learning)) >= ENOUGH), learnt)


def _gain(losses: Array) -> Array:
    """(line,): how much of all that the best loss so far gains is gained; nothing where it gains nothing."""
    best = np.fmin.accumulate(losses)
    falls = len(best) > 1 and np.isfinite(best[0]) and best[-1] < best[0]
    return (best[0] - best) / (best[0] - best[-1]) if falls else np.zeros(len(best))


def _straight(x: Array, known: tuple[float, ...], there: tuple[float, ...]) -> Array:
    """Linear between the knots, and on from the first two and the last two."""
    before, after = np.array(known, dtype=float), np.array(there, dtype=float)
    k = np.clip(np.searchsorted(before, x), 1, len(before) - 1)
    return after[k - 1] + (x - before[k - 1]) * (after[k] - after[k - 1]) / (before[k] - before[k - 1])
