"""After a 9 comes the token three places before it; otherwise anything goes, most often a 9."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from glassformer.settings import setting
from glassformer.tasks._rule import Rule
from glassformer.tasks._task import FloatArray


@dataclass(frozen=True, kw_only=True)
class StepBack(Rule):
    """Numbers 0 to 10. The model must count places back. Four 9s in a row never end.

    The source describes the rule in a line as each number being one less than the number before; its program steps back
    in places, not in value, and is what is rebuilt here. Counting down would be `successor` the other way round, which
    the last token settles and attention has nothing to do with.
    """

    sequences: int = 8000
    shortest: int = 30
    longest: int = 80
    trigger: int = setting("the number after which one must look back", 9, least=0, most=10)
    distance: int = setting("places from the trigger back to the answer", 3, least=1, most=4)
    extra: float = setting("chance of a trigger, on top of its even share", 0.4, least=0.0, most=1.0)

    vocabulary = tuple(map(str, range(11)))
    showcase = (
        "4 0 6 9 4 9 6 9 4 9 6 9 4 1 2 9",
        "1 2 3 4 5 9 3 4 9 9 3 9 9 9 3 10",
        "9 9 8 9 9 9 8 9 9 9 8 9 9 9 8 9",
    )
    start = ()  # the last distance + 1 tokens

    def advance(self, state: tuple[int, ...], token: int) -> tuple[int, ...]:
        """Keep just enough tokens to reach back."""
        return (*state, token)[-self.distance - 1 :]

    def law(self, state: tuple[int, ...]) -> FloatArray:
        """A trigger too near the start to reach back asks for nothing."""
        if self.is_constrained(state):
            return self.evenly([state[0]])
        return (1 - self.extra) * self.evenly(range(11)) + self.extra * self.evenly([self.trigger])

    def is_constrained(self, state: tuple[int, ...]) -> bool:
        """After a trigger with enough tokens before it."""
        return len(state) == self.distance + 1 and state[-1] == self.trigger

    def source(self, tokens: Sequence[int], place: int) -> int:  # noqa: ARG002
        """So many places before the trigger."""
        return place - self.distance

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """The trigger and the others."""
        return {"trigger": [self.trigger], "other": [token for token in range(11) if token != self.trigger]}
