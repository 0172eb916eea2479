"""After an even number comes the last odd one; after an odd number, anything goes."""

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class EvenRepeatLastOdd(StrictRule):
    """Numbers 0 to 20. It looks like a long search, but after the first odd number two evens never meet."""

    vocabulary = tuple(map(str, range(21)))
    showcase = ("3 8 3 11 20 11 7 2 7 4 7 9", "4 18 5 0 5 5 12 5 1 6 1 10", "6 6 13 17 17 2 17 8 17 19 4 19")
    start = (None, None)  # the last odd number, the last token

    def advance(self, state: tuple[int | None, int | None], token: int) -> tuple[int | None, int]:
        """Remember odd numbers."""
        return (token if token % 2 else state[0]), token

    def law(self, state: tuple[int | None, int | None]) -> FloatArray:
        """Free as long as no odd number has come."""
        odd, last = state
        return self.evenly(range(21) if odd is None or last == odd else [odd])

    def source(self, tokens: Sequence[int], place: int) -> int:
        """The last odd number."""
        return max(i for i in range(place) if tokens[i] % 2)
