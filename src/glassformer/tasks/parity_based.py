"""After two numbers of equal parity comes an even one, after two of different parity an odd one."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class ParityBased(StrictRule):
    """Numbers 0 to 20. Either all stay even, or the pattern odd, odd, even repeats for ever."""

    shortest: int = 33
    longest: int = 64

    vocabulary = tuple(map(str, range(21)))
    showcase = ("3 8 5 11 2 17 9 14 1 7 20 13 5 0 19 3", "4 18 0 6 12 2 20 20 8 10 4 16 6 0 14 2")
    start = ()  # the parities of the last two tokens
    back = 1  # the last token is at hand; the one before it must be looked up

    def advance(self, state: tuple[int, ...], token: int) -> tuple[int, ...]:
        """Parities are all that counts."""
        return (*state, token % 2)[-2:]

    def law(self, state: tuple[int, ...]) -> FloatArray:
        """The first two numbers are free."""
        if len(state) < 2:
            return self.evenly(range(21))
        return self.evenly(range(0, 21, 2) if state[0] == state[1] else range(1, 21, 2))
