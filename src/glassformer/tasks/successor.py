"""Every number is followed by the next one; after 9 comes 0."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class Successor(StrictRule):
    """Numbers 0 to 9. One token settles everything, so the loss can reach zero."""

    shortest: int = 12
    longest: int = 20

    vocabulary = tuple(map(str, range(10)))
    showcase = ("0 1 2 3 4 5 6 7 8 9", "7 8 9 0 1 2 3 4 5 6")

    def law(self, state: int | None) -> FloatArray:
        """The first number is free."""
        return self.evenly(range(10) if state is None else [(state + 1) % 10])
