"""After '+' comes the last even number; after a number, anything goes."""

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.settings import setting
from glassformer.tasks._rule import Rule
from glassformer.tasks._task import FloatArray

PLUS = 11


@dataclass(frozen=True, kw_only=True)
class PlusLastEven(Rule):
    """Numbers 0 to 10 and '+'. The model must look back for the most recent even number, which may be out of view."""

    sequences: int = 2000
    shortest: int = 20
    longest: int = 50
    plus: float = setting("chance of '+' after a number", 0.3, least=0.001, most=0.999)

    vocabulary = (*map(str, range(11)), "+")
    showcase = ("4 9 + 4 10 7 + 10", "4 1 + 4 6 9 5 +", "10 + 10 6 + 6 4 8")
    start = (None, None)  # the last even number, the last token

    def advance(self, state: tuple[int | None, int | None], token: int) -> tuple[int | None, int]:
        """Remember even numbers."""
        return (token if token < PLUS and token % 2 == 0 else state[0]), token

    def law(self, state: tuple[int | None, int | None]) -> FloatArray:
        """After '+' with no even number yet, any even one will do."""
        even, last = state
        if last == PLUS:
            return self.evenly(range(0, 11, 2)) if even is None else self.evenly([even])
        numbers = self.evenly(range(11))
        return numbers if last is None else (1 - self.plus) * numbers + self.plus * self.evenly([PLUS])

    def is_constrained(self, state: tuple[int | None, int | None]) -> bool:
        """After '+'."""
        return state[1] == PLUS

    def source(self, tokens: Sequence[int], place: int) -> int:
        """The last even number."""
        return max(i for i in range(place) if tokens[i] < PLUS and tokens[i] % 2 == 0)
