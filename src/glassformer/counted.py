"""Which predictions of a window count, in training as in judging, and which few windows stand for many."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.architecture import Architecture
from glassformer.tasks import Examples


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


def as_hard_as_all(seen: Examples, came: slice, most: int) -> NDArray[np.int64]:
    """The rows of at most so many windows, spaced evenly by their difficulty.

    Drawn blindly, a hundred windows may be harder or easier than all by more than a model still has to learn. Ordered
    by what the exact predictor pays on each and taken at even distances, they have almost the floor of all.
    """
    many = len(seen.windows)
    if many <= most:
        return np.arange(many)
    hard = np.argsort(seen.truth[:, came].mean(axis=1), kind="stable")
    return np.sort(hard[((np.arange(most) + 0.5) * many / most).astype(int)])
