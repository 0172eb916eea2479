"""Every number is followed by its partner in a fixed table."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray

PARTNER = (7, 3, 2, 8, 5, 6, 9, 4, 0, 1)


@dataclass(frozen=True, kw_only=True)
class LookupPermutation(StrictRule):
    """Numbers 0 to 9. The table sends 2 to itself and turns the others in one ring: 0 7 4 5 6 9 1 3 8."""

    shortest: int = 12
    longest: int = 20

    vocabulary = tuple(map(str, range(10)))
    showcase = ("0 7 4 5 6 9 1 3 8 0", "2 2 2 2 2 2 2 2 2 2", "9 1 3 8 0 7 4 5 6 9")

    def law(self, state: int | None) -> FloatArray:
        """The first number is free."""
        return self.evenly(range(10) if state is None else [PARTNER[state]])
