"""After '+' comes an even number; after a number, anything goes."""

from dataclasses import dataclass

from glassformer.settings import setting
from glassformer.tasks._rule import Rule
from glassformer.tasks._task import FloatArray

PLUS = 21


@dataclass(frozen=True, kw_only=True)
class PlusMeansEven(Rule):
    """Numbers 0 to 20 and '+'. The next token depends on the current one only, so attention has nothing to do."""

    sequences: int = 2000
    shortest: int = 20
    longest: int = 50
    plus: float = setting("chance of '+' after a number", 0.25, least=0.001, most=1.0)

    vocabulary = (*map(str, range(21)), "+")
    showcase = ("4 9 + 4 13 7 + 10", "+ 18 + 0 11 + 2 2", "15 3 9 20 + 6 17 1")

    def law(self, state: int | None) -> FloatArray:
        """A sequence begins with a number, and '+' never follows '+'."""
        if state == PLUS:
            return self.evenly(range(0, 21, 2))
        numbers = self.evenly(range(21))
        return numbers if state is None else (1 - self.plus) * numbers + self.plus * self.evenly([PLUS])

    def is_constrained(self, state: int | None) -> bool:
        """After '+'."""
        return state == PLUS
