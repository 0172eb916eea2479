"""Sixteen random tokens, then the same sixteen again."""

from dataclasses import dataclass
from math import log

from glassformer.tasks._repeated import LENGTH, SYMBOLS, Repeated

PERIOD = LENGTH // 2


@dataclass(frozen=True, kw_only=True)
class Induction(Repeated):
    """The period never changes, so looking fifteen places back is enough: no induction head is needed."""

    showcase = tuple(
        " ".join(str((7 * k * k + 3 * k + first) % SYMBOLS) for k in [*range(PERIOD), *range(8)]) for first in (0, 5)
    )

    @property
    def periods(self) -> range:
        """One."""
        return range(PERIOD, PERIOD + 1)

    def _price(self) -> float:
        """The first token is given, fifteen are free, sixteen are certain."""
        return (PERIOD - 1) * log(SYMBOLS) / (LENGTH - 1)
