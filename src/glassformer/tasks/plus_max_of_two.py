"""After '+' comes the larger of the last two numbers; after a number, anything goes."""

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.settings import setting
from glassformer.tasks._rule import Rule
from glassformer.tasks._task import FloatArray

PLUS = 21
State = tuple[int | None, int | None, bool]


@dataclass(frozen=True, kw_only=True)
class PlusMaxOfTwo(Rule):
    """Numbers 0 to 20 and '+'. The model must find two numbers, skipping any '+', and compare them."""

    sequences: int = 2000
    shortest: int = 20
    longest: int = 50
    plus: float = setting("chance of '+' after a number", 0.3, least=0.001, most=1.0)

    vocabulary = (*map(str, range(21)), "+")
    showcase = ("4 9 + 9 13 7 + 13", "18 + 18 2 + 18 5 +", "3 20 11 + 20 6 + 20")
    start = (None, None, False)  # the number before the last one, the last number, whether a '+' came after it

    def advance(self, state: State, token: int) -> State:
        """A '+' leaves the two numbers as they are."""
        return (*state[:2], True) if token == PLUS else (state[1], token, False)

    def law(self, state: State) -> FloatArray:
        """With only one number so far, the answer is that one; a '+' before any number may be followed by any."""
        before, last, asked = state
        numbers = self.evenly(range(21))
        if last is None:
            return numbers
        if asked:
            return self.evenly([last if before is None else max(before, last)])
        return (1 - self.plus) * numbers + self.plus * self.evenly([PLUS])

    def is_constrained(self, state: State) -> bool:
        """After '+'."""
        return state[2]

    def source(self, tokens: Sequence[int], place: int) -> int:
        """The larger of the last two numbers in view; the later one if they are equal."""
        numbers = [i for i in range(place) if tokens[i] != PLUS][-2:]
        return max(numbers, key=lambda i: (tokens[i], i))
