"""Which predictions of a window count, in training as in judging, and which few windows stand for many."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.architecture import Architecture
from glassformer.tasks import Examples, choose
from glassformer.tasks._task import IntArray


class Counted(NamedTuple):
    """Slices along a window: where the predictions that count are made, and what came there."""

    read: slice  # of positions
    came: slice  # of the tokens that follow them, and of whatever has one place for every prediction


def counted(architecture: Architecture, skip: int) -> Counted:
    """All after those that the task skips; or one, made at the position that is read, of the window's last token."""
    place = architecture.read_position
    if place is None:
        return Counted(slice(skip, None), slice(skip, None))
    return Counted(slice(place, place + 1), slice(-1, None))


def as_hard_as_all(seen: Examples, came: slice, most: int) -> IntArray:
    """The rows of at most so many windows, spaced evenly by their kind, where each has one, and their difficulty.

    Drawn blindly, a hundred windows may be harder or easier than all by more than a model still has to learn. Ordered
    by what the exact predictor pays on each and taken at even distances, they have almost the floor of all.
    """
    return choose(len(seen.windows), most, *_strata(seen, came), middle=True)


def interleave(seen: Examples, came: slice, most: int) -> IntArray:
    """The same rows, in an order whose beginning represents all of them wherever it is cut."""
    rows, turns = as_hard_as_all(seen, came, most), np.arange(most) * 0.618034 % 1  # by the golden ratio: spread evenly
    ordered = rows[np.lexsort([key[rows] for key in _strata(seen, came)[::-1]])]
    return ordered[np.argsort(np.argsort(turns[: len(rows)]))]


def _strata(seen: Examples, came: slice) -> tuple[NDArray[Any], ...]:
    """(window,) each: the kind of a window, where it has one, and how likely the exact predictor finds its tokens."""
    hard = seen.truth[:, came].mean(axis=1)
    return (seen.kind[:, 0], hard) if seen.kind.shape[1] == 1 else (hard,)
