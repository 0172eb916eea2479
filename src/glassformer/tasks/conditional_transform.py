"""Even numbers are halved; odd numbers grow by one."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class ConditionalTransform(StrictRule):
    """Numbers 0 to 9, and 9 grows to 0. Everything soon ends in 0 0 0 ... or 1 2 1 2 ..."""

    shortest: int = 12
    longest: int = 20

    vocabulary = tuple(map(str, range(10)))
    showcase = ("7 8 4 2 1 2 1 2 1 2", "6 3 4 2 1 2 1 2 1 2", "9 0 0 0 0 0 0 0 0 0")

    def law(self, state: int | None) -> FloatArray:
        """The first number is free."""
        if state is None:
            return self.evenly(range(10))
        return self.evenly([state // 2 if state % 2 == 0 else (state + 1) % 10])
