"""Three tokens repeat for ever."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class CopyModulo(StrictRule):
    """Numbers 0 to 20. The first three are free; every later one equals the one three places before.

    The source speaks in a line of copying with modular arithmetic; in its program, which is rebuilt here, only the
    place is taken modulo three (token i is token i mod 3), and no number is ever calculated with.
    """

    shortest: int = 33
    longest: int = 64

    vocabulary = tuple(map(str, range(21)))
    showcase = (
        "4 17 9 4 17 9 4 17 9 4 17 9 4 17 9 4 17 9 4 17 9 4 17 9 4 17 9 4 17 9 4 17",
        "20 0 20 20 0 20 20 0 20 20 0 20 20 0 20 20 0 20 20 0 20 20 0 20 20 0 20 20 0 20 20 0",
        "5 5 12 5 5 12 5 5 12 5 5 12 5 5 12 5 5 12 5 5 12 5 5 12 5 5 12 5 5 12 5 5",
    )
    start = ()  # the first three tokens, turned so that the one due next stands first
    back = 2  # two before the last token, three before the next

    def advance(self, state: tuple[int, ...], token: int) -> tuple[int, ...]:
        """Once there are three, they only turn: a wrong token later changes nothing."""
        return (*state, token) if len(state) < 3 else (*state[1:], state[0])

    def law(self, state: tuple[int, ...]) -> FloatArray:
        """The token due next."""
        return self.evenly([state[0]] if len(state) == 3 else range(21))
