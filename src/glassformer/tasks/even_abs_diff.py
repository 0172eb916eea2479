"""After an even number comes its distance from the number before; after an odd number, anything goes."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class EvenAbsDiff(StrictRule):
    """Numbers 0 to 20. If the first two are even, all that follow are, and they end in a ring g g 0."""

    vocabulary = tuple(map(str, range(21)))
    showcase = ("3 8 5 11 20 9 2 7 7 4 3 15", "12 8 4 4 0 4 4 0 4 4 0 4", "9 18 9 1 6 5 13 0 13 10 3 17")
    start = ()  # the last two tokens
    back = 1  # the last token is at hand; the one before it must be looked up

    def advance(self, state: tuple[int, ...], token: int) -> tuple[int, ...]:
        """Keep two tokens."""
        return (*state, token)[-2:]

    def law(self, state: tuple[int, ...]) -> FloatArray:
        """An even number at the very start has none before it and asks for nothing."""
        settled = len(state) == 2 and state[1] % 2 == 0
        return self.evenly([abs(state[1] - state[0])] if settled else range(21))
