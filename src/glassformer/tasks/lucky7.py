"""After a 7 comes the token before it; otherwise anything goes, most often a 7."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from glassformer.settings import setting
from glassformer.tasks._rule import Rule
from glassformer.tasks._task import FloatArray

SEVEN = 7


@dataclass(frozen=True, kw_only=True)
class Lucky7(Rule):
    """Numbers 0 to 10. Two 7s in a row never end: every later token is a 7."""

    sequences: int = 5000
    shortest: int = 30
    longest: int = 80
    extra: float = setting("chance of a 7, on top of its even share", 0.25, least=0.0, most=1.0)

    vocabulary = tuple(map(str, range(11)))
    showcase = ("4 9 7 9 2 0 7 0", "3 7 3 7 3 7 3 7", "10 1 5 7 5 7 5 8")
    start = ()  # the last two tokens
    back = 1  # the answer is the token before the 7

    def advance(self, state: tuple[int, ...], token: int) -> tuple[int, ...]:
        """Keep two tokens."""
        return (*state, token)[-2:]

    def law(self, state: tuple[int, ...]) -> FloatArray:
        """A 7 at the very start has no token before it and asks for nothing."""
        if self.is_constrained(state):
            return self.evenly([state[0]])
        return (1 - self.extra) * self.evenly(range(11)) + self.extra * self.evenly([SEVEN])

    def is_constrained(self, state: tuple[int, ...]) -> bool:
        """After a 7 that is not the first token."""
        return len(state) == 2 and state[1] == SEVEN

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """The 7 and the others."""
        return {"seven": [SEVEN], "other": [token for token in range(11) if token != SEVEN]}
