"""How tokens lie in a plane: which line parts them, who stands outside, what forms a ladder, and since when."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def parted(points: Array, one: Iterable[int], other: Iterable[int]) -> Array:
    """(...,): whether a straight line parts some points of (..., point, 2) from others.

    A line does so exactly if all arrows from the others to the ones point into one half of the plane, which is to say
    that their directions leave more than half a turn free.
    """
    arrows = points[..., list(one), None, :] - points[..., None, list(other), :]
    flat = arrows.reshape(*points.shape[:-2], -1, 2)
    turn = np.sort(np.arctan2(flat[..., 1], flat[..., 0]), axis=-1)
    free = np.diff(turn, axis=-1, append=turn[..., :1] + 2 * np.pi)
    return free.max(axis=-1) > np.pi


def outside(points: Array, one: int, others: Sequence[int]) -> Array:
    """(...,): how far a point lies from the centre of others, in distances of the farthest of those."""
    centre = points[..., list(others), :].mean(axis=-2, keepdims=True)
    far = np.linalg.norm(points - centre, axis=-1)
    return far[..., one] / far[..., list(others)].max(axis=-1)


def ladder(points: Array) -> tuple[Array, Array]:
    """(...,) twice: whether points lie in their order along their longest line, and its share of the variance.

    The order is measured by the rank correlation, 0 to 1, whichever end is up.
    """
    from_centre = points - points.mean(axis=-2, keepdims=True)
    _, sizes, rows = np.linalg.svd(from_centre, full_matrices=False)
    along = (from_centre @ rows[..., 0, :, None])[..., 0]
    rank = along.argsort(axis=-1).argsort(axis=-1)
    many = points.shape[-2]
    apart = ((rank - np.arange(many)) ** 2).sum(axis=-1)
    order = np.abs(1 - 6 * apart / (many * (many**2 - 1)))
    return order, sizes[..., 0] ** 2 / (sizes**2).sum(axis=-1)


def since(steps: Sequence[int], holds: Callable[[int], Array]) -> Array:
    """(member,): the first of the steps from which on something holds at all later ones; NaN: not at the last one."""
    each = np.array([holds(step) for step in steps], dtype=bool)
    broken = ~each[::-1]
    after = np.where(broken.any(axis=0), len(steps) - broken.argmax(axis=0), 0)
    return np.append(np.asarray(steps, dtype=np.float64), np.nan)[after]
