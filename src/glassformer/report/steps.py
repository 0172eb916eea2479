"""Which of the kept steps a file holds: all while they fit, else those where something happens and many early ones."""

from collections.abc import Iterable, Sequence

import numpy as np

from glassformer.analyses import _clock
from glassformer.run import Run
from glassformer.tensors import Array

MOST, FEWER, LIVES = 2_000, 200, 4_000  # more than a slider has places; of many members fewer, of all together so many


def usual(members: int) -> int:
    """How many steps of a run a file holds at most, unless somebody asks for more."""
    return max(FEWER, min(MOST, LIVES // members))


def chosen(run: Run, most: int, always: Sequence[int] = (), events: Iterable[int] = ()) -> list[int]:
    """At most so many kept steps, in order: the first, the last and `always`; then events, logged steps, a spread.

    Events and logged steps take at most half of the places, and stand for the kept step nearest to each. The rest is
    spread half evenly and half in the logarithm of the step: early steps change a model most.
    """
    kept = run.steps
    if len(kept) <= most:
        return [int(step) for step in kept]
    found = dict.fromkeys([*always, int(kept[-1]), int(kept[0])][: max(most, 1)])
    wanted = [_clock.nearest(run, step) for step in events]
    logged = [step for step in run.metrics["step"].tolist() if step in set(kept.tolist())]
    for some in (wanted, logged):
        new = [step for step in dict.fromkeys(some) if step not in found]
        room = max(most // 2 - len(found), 0)
        if some is logged and len(new) > room:  # rather none than a ragged share of them
            continue
        found |= dict.fromkeys(new[:room])
    return sorted(_filled(kept, most, list(found)))


def _filled(kept: Array, most: int, found: list[int]) -> set[int]:
    """These steps and others, as many as there is room for, evenly on a clock that runs faster early on."""
    clock = kept / max(kept[-1], 1) + np.log1p(kept) / np.log1p(max(kept[-1], 1))
    few, many = 0, len(kept)  # places of the spread: so many fit, so many do not
    best = set(found)
    while few + 1 < many:
        middle = (few + many) // 2
        at = np.searchsorted(clock, np.linspace(0, clock[-1], middle + 1)[:-1])
        tried = {*found, *kept[at].tolist()}
        if len(tried) <= most:
            few, best = middle, tried
        else:
            many = middle
    rest = np.setdiff1d(kept, sorted(best))  # some places may be left, as two of the spread may be one step
    return best | set(rest[np.linspace(0, len(rest) - 1, most - len(best)).astype(int)].tolist())
