"""After an even number comes an odd one; after an odd number, anything goes."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class EvenToOddTransition(StrictRule):
    """Numbers 0 to 20. The next token depends on the current one only, so attention has nothing to do."""

    vocabulary = tuple(map(str, range(21)))
    showcase = ("4 17 9 2 11 20 3 6", "8 1 13 5 0 19 12 7")

    def law(self, state: int | None) -> FloatArray:
        """Ten odd numbers, or all 21."""
        return self.evenly(range(1, 21, 2) if state is not None and state % 2 == 0 else range(21))
