"""Which steps of a training are kept, logged and safe; all of it follows from the settings, never from the clock."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassformer.experiment import Experiment

Steps = NDArray[np.int64]
SAFE_BYTES = 4_000_000  # kept weights that may wait for the next safe point
SAFE_WORK = 1e12  # multiplications between two safe points: some seconds on a small machine
STRETCH_NUMBERS = 1 << 24  # tokens, or kept weights, that one compiled call may hold


@dataclass(frozen=True)
class Plan:
    """The steps at which something happens. Step t means: after t updates."""

    kept: Steps  # weights stored
    logged: Steps  # a line of metrics
    safe: Steps  # everything so far is on disk, and training can resume here
    stops: Steps  # the end of a compiled call; every logged and safe step is one

    def rows(self, after: int, until: int) -> Steps:
        """The kept steps with after < step ≤ until."""
        first, last = np.searchsorted(self.kept, [after, until], side="right")
        return self.kept[first:last]

    def stretches(self, begin: int) -> list[tuple[int, int]]:
        """The compiled calls that remain from a step on, as (from, to)."""
        ends = self.stops[self.stops > begin].tolist()
        return list(zip([begin, *ends[:-1]], ends, strict=True))


def plan(experiment: Experiment, members: int) -> Plan:
    """The plan of a training."""
    train, a = experiment.train, experiment.architecture
    numbers = a.parameters * members
    every = train.log_every or _log_every(train.steps, members)
    logged = np.union1d(np.arange(0, train.steps, every), train.steps)
    room = train.keep_bytes // (4 * numbers)
    if train.stop_after is not None and len(logged) + 2 <= room:  # the best and the last will be judged steps
        kept = np.union1d(logged, kept_steps(train.steps, room - len(logged)))
    else:
        kept = kept_steps(train.steps, room)
    longest = max(1, min(every, STRETCH_NUMBERS // (members * train.batch * (a.context + 1))))
    crowded = max(1, STRETCH_NUMBERS // numbers)
    stops = np.unique(np.concatenate([logged[1:], np.arange(longest, train.steps, longest), kept[crowded::crowded]]))

    work = 6.0 * numbers * train.batch * a.context
    safe: list[int] = []
    since = 0
    for step in stops.tolist():
        waiting = 4 * numbers * int(np.sum((kept > since) & (kept <= step)))
        if waiting >= SAFE_BYTES or (step - since) * work >= SAFE_WORK or step == train.steps:
            safe.append(step)
            since = step
    return Plan(kept, logged, np.array(safe), stops)


def _log_every(steps: int, members: int) -> int:
    """About 200 lines, fewer for short trainings (a compiled call should be worth making) and for large populations."""
    lines = max(2, min(200, 50_000 // members))
    return max(1, steps // lines, min(25, steps // 20))


def kept_steps(last: int, most: int) -> Steps:
    """At most so many of the steps 0 … last, the first and the last always among them.

    Every step while that fits; otherwise half of them evenly in the logarithm of the step and half evenly over all of
    the training: early steps change a model most, and the rest of its life should not be a blur.
    """
    if last + 1 <= most:
        return np.arange(last + 1)
    most = max(most, 2)
    spread = [np.linspace(0, last, most - most // 2 + 1), np.geomspace(1, last, most // 2)]
    chosen = np.unique(np.round(np.concatenate(spread)).astype(np.int64))
    if len(chosen) < most:  # the two spreads share some steps; the first ones left out take their places
        chosen = np.union1d(chosen, np.setdiff1d(np.arange(last + 1), chosen)[: most - len(chosen)])
    while len(chosen) > most:
        chosen = np.delete(chosen, -2)
    return chosen
