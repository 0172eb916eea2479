"""Which steps of a training are kept, logged and safe; all of it follows from the settings, never from the clock.

Judging has a budget: a share of the arithmetic of the steps (docs/decisions/judging-budget.md).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import LimitError
from glassformer.experiment import Experiment
from glassformer.folder import MOST_KEPT, MOST_LINES, MOST_VALUES

Steps = NDArray[np.int64]
SAFE_BYTES = 4_000_000  # kept weights that may wait for the next safe point
SAFE_WORK = 1e12  # multiplications between two safe points: some seconds on a small machine
STRETCH_NUMBERS = 1 << 24  # tokens, or kept weights, that one compiled call may hold
STRETCH = 128  # steps of one compiled call: the batches of so many are drawn however few are asked for
JUDGING = 0.15  # of the arithmetic of the steps, for all judgements together
ONE_WINDOW = 1 / 3  # judging it, of the arithmetic of a step on it: forward, but not back
FEWEST, ENOUGH, MOST = 20, 100, 200  # lines: not fewer; beyond these, windows come first; not more
LEAST = 128  # windows of a part behind every line, where there are so many


@dataclass(frozen=True)
class Plan:
    """The steps at which something happens. Step t means: after t updates."""

    kept: Steps  # weights stored
    logged: Steps  # a line of metrics
    safe: Steps  # everything so far is on disk, and training can resume here
    stops: Steps  # the end of a compiled call; every logged and safe step is one
    share: float  # of the judged windows: those behind every line but the last, which has them all

    def rows(self, after: int, until: int) -> Steps:
        """The kept steps with after < step ≤ until."""
        first, last = np.searchsorted(self.kept, [after, until], side="right")
        return self.kept[first:last]

    def stretches(self, begin: int) -> list[tuple[int, int]]:
        """The compiled calls that remain from a step on, as (from, to)."""
        return list(pairwise([begin, *self.stops[self.stops > begin].tolist()]))


def plan(experiment: Experiment, members: int) -> Plan:
    """The plan of a training."""
    train, a = experiment.train, experiment.architecture
    numbers = a.parameters * members
    logged, share = judging(experiment, members)
    room = min(train.keep_bytes // (4 * numbers), MOST_KEPT)
    if train.stop_after is not None and len(logged) + 2 <= room:  # the best and the last will be judged steps
        kept = np.union1d(logged, kept_steps(train.steps, room - len(logged)))
    else:
        kept = kept_steps(train.steps, room)
    longest = max(1, min(STRETCH, STRETCH_NUMBERS // (members * train.batch * (a.context + 1))))
    crowded = max(1, STRETCH_NUMBERS // numbers)
    stops = np.unique(np.concatenate([_cut(logged, longest), kept[crowded::crowded]]))

    work = 6.0 * numbers * train.batch * a.context
    safe: list[int] = []
    since = 0
    for step in stops.tolist():
        waiting = 4 * numbers * int(np.sum((kept > since) & (kept <= step)))
        if waiting >= SAFE_BYTES or (step - since) * work >= SAFE_WORK or step == train.steps:
            safe.append(step)
            since = step
    return Plan(kept, logged, np.array(safe), stops, share)


def judging(experiment: Experiment, members: int) -> tuple[Steps, float]:
    """The logged steps, and the share of the judged windows behind every line but the last.

    What is given is respected, and so is a training that depends on its judgements: those are even, and on all windows.
    """
    train, data = experiment.train, experiment.task.data(experiment.architecture.context)
    decides = train.schedule == "plateau" or train.stop_after is not None
    parts = [data.train, data.validation, *([] if data.test is None else [data.test])]
    sizes = [min(train.windows, int(np.sum(part.windows))) for part in parts]
    whole = sum(sizes)
    least = whole if decides or train.judged is not None else sum(min(LEAST, size) for size in sizes)
    budget = JUDGING / ONE_WINDOW * train.steps * train.batch - whole  # windows of one member, the last line paid for
    most = max(2, min(MOST, 50_000 // members))
    if train.log_every is not None or decides:
        every = train.log_every or max(1, train.steps // most, min(25, train.steps // 20))
        logged = np.union1d(np.arange(0, train.steps, every), train.steps)
        values = members * (20 + len(experiment.task.kinds) + 6 * (experiment.architecture.blocks + 2))
        if len(logged) > MOST_LINES or len(logged) * values > MOST_VALUES:
            raise LimitError(
                f"train.log_every = {every} would log {len(logged):,} lines of about {values:,} numbers; the most is "
                f"{MOST_LINES:,} lines and {MOST_VALUES:,} numbers: log less often"
            )
    else:
        lines = max(budget / whole, min(ENOUGH, budget / least))
        logged = kept_steps(train.steps, 1 + int(np.clip(lines, min(FEWEST, most), most)))
    return logged, float(np.clip(budget / (max(1, len(logged) - 1) * whole), least / whole, 1.0))


def _cut(steps: Steps, longest: int) -> Steps:
    """These steps but the first, and between two that are far apart as many more, evenly, as it takes."""
    return np.concatenate([
        np.linspace(begin, end, -(-(end - begin) // longest) + 1).astype(np.int64)[1:] for begin, end in pairwise(steps)
    ])  # fmt: skip


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
