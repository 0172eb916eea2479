"""After two numbers of equal parity comes one below 10, after two of different parity one from 10 up."""

from dataclasses import dataclass

from glassformer.tasks._task import FloatArray
from glassformer.tasks.parity_based import ParityBased


@dataclass(frozen=True, kw_only=True)
class Paritygt10(ParityBased):
    """Numbers 0 to 20. What counts is the parity of the last two tokens; what is chosen is the size of the next."""

    sequences: int = 5000

    showcase = ("3 8 15 12 20 5 11 2 17 10", "4 18 6 3 10 17 13 9 1 8")

    def law(self, state: tuple[int, ...]) -> FloatArray:
        """The first two numbers are free."""
        if len(state) < 2:
            return self.evenly(range(21))
        return self.evenly(range(10) if state[0] == state[1] else range(10, 21))
