"""Eight to sixteen random tokens, repeated: how many must be found out from the repetition itself."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from glassformer.tasks._repeated import LENGTH, SYMBOLS, Repeated

MANY = 4_000


@dataclass(frozen=True, kw_only=True)
class InductionVaried(Repeated):
    """Positions do not tell where the answer lies; a model must look for what followed the same token before."""

    showcase = tuple(
        " ".join(str((7 * k * k + 3 * k) % SYMBOLS) for k in [*range(period), *range(period)]) for period in (11, 9)
    )

    @property
    def periods(self) -> range:
        """Eight to sixteen."""
        return range(8, 17)

    def _price(self) -> float:
        return _price()


@cache
def _price() -> float:
    """What the exact predictor pays, estimated: for every period so many blocks; the standard error is below 0.001."""
    task, rng = InductionVaried(), np.random.default_rng(2)
    blocks = [rng.integers(SYMBOLS, size=(MANY, period)) for period in task.periods]
    rows = [block[:, np.arange(LENGTH) % block.shape[1]] for block in blocks]
    return float(np.mean([task.cost(some).mean() for some in rows]))
