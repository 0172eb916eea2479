"""One frame that holds the points of an input at every step of a film."""

from collections.abc import Iterable

import numpy as np

from glassformer.analyses import _decide
from glassformer.analyses._pairs import pairs
from glassformer.analyses._plane import Plane
from glassformer.analyses._result import Array
from glassformer.analyses.decide.landscape import Frame
from glassformer.run import Run

MARGIN = 0.1  # of the points' extent, on every side
SHAPES = (1.0, 1.5)  # width over height that the frame may have


def around(
    run: Run,
    plane: Plane,
    steps: Iterable[int],
    *,
    sequence: str | None = None,
    member: int = 0,
    embedded: bool = False,
    shape: float | None = None,
) -> Frame:
    """Left, right, bottom, top around this input before and after the last attention (`embedded`: around all pairs).

    The frame has the shape of its points, within limits, or the width over height that is given.
    """
    found: list[Array] = []
    for step in steps:
        if embedded:
            found.append(pairs(run, step=step, member=member).at("embedded").reshape(-1, run.architecture.width))
        else:
            seen = run.trace(sequence, step=step, member=member)
            found += [_decide.entering(seen, run.architecture.blocks - 1, run.architecture), seen["middle"][-1]]
    flat = plane.points(np.concatenate(found)).reshape(-1, 2)
    flat = flat[np.isfinite(flat).all(axis=1)]
    low, high = (flat.min(axis=0), flat.max(axis=0)) if len(flat) else (-np.ones(2), np.ones(2))
    wide, tall = np.maximum((high - low) * (0.5 + MARGIN), 1e-3)
    ratio = float(np.clip(wide / tall, *SHAPES)) if shape is None else shape
    up = max(float(tall), float(wide) / ratio)
    x, y = (low + high) / 2
    return float(x - ratio * up), float(x + ratio * up), float(y - up), float(y + up)
