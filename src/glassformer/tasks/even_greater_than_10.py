"""After an even number comes one above 10, after an odd number one below 10."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class EvenGreaterThan10(StrictRule):
    """Numbers 0 to 20; 10 itself can only come first."""

    shortest: int = 33
    longest: int = 64

    vocabulary = tuple(map(str, range(21)))
    showcase = ("4 17 9 2 20 11 0 13 5 8", "10 12 16 19 3 6 14 15 1 7")

    def law(self, state: int | None) -> FloatArray:
        """Ten numbers are allowed each time."""
        if state is None:
            return self.evenly(range(21))
        return self.evenly(range(11, 21) if state % 2 == 0 else range(10))
