"""Even and odd numbers take turns, beginning with an even one."""

from dataclasses import dataclass

from glassformer.tasks._rule import StrictRule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class OddEvenIndex(StrictRule):
    """Numbers 0 to 20. The parity of any token in view gives the phase of the whole sequence."""

    sequences: int = 2000

    vocabulary = tuple(map(str, range(21)))
    showcase = ("4 17 10 3 0 9 20 1", "8 11 6 5 2 19 14 7")
    start = 0  # the parity that is due next

    def advance(self, state: int, token: int) -> int:  # noqa: ARG002
        """Turns are counted from the start: a wrong token does not change whose turn it is."""
        return 1 - state

    def law(self, state: int) -> FloatArray:
        """Any number of the parity that is due."""
        return self.evenly(range(state, 21, 2))
