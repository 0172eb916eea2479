"""Six digits, then the same six in order."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import log
from typing import Literal

import numpy as np

from glassformer.errors import CallError
from glassformer.settings import setting
from glassformer.tasks._questions import dealt
from glassformer.tasks._task import BoolArray, Data, Examples, FloatArray, IntArray, InView, Part, Rung, Split, choose

DIGITS, MANY = 3, 6
LENGTH = 2 * MANY
Row = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Sort(InView):
    """729 inputs. Only the six answers are trained and judged; the input is free."""

    test: float = setting("share of the inputs held back", 0.25, above=0.0, below=1.0)
    split: Literal["input", "multiset"] = setting("multiset: no input held back was seen in any order", "input")

    vocabulary = tuple(map(str, range(DIGITS)))
    showcase = ("2 0 1 1 0 2 0 0 1 1 2", "1 1 2 0 0 0 0 0 0 1 1", "2 2 2 1 0 0 0 0 1 2 2")
    kinds = tuple(f"answer {k + 1}" for k in range(MANY))
    measure = "rule_error"
    skip = MANY - 1

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Digits."""
        return {"digit": range(DIGITS)}

    def sizes(self) -> dict[str, int]:
        """The window that holds input and answer."""
        return {"context": LENGTH - 1}

    def _rows(self, part: Part) -> IntArray:
        """(input, 12)."""
        if part == "test":
            raise CallError("sort has no test part beside its validation: the inputs that were held back")
        every = np.array([(*row, *sorted(row)) for row in product(range(DIGITS), repeat=MANY)])
        units: dict[Row, list[int]] = {}
        for k, row in enumerate(every.tolist()):
            units.setdefault(tuple(row[:MANY] if self.split == "input" else row[MANY:]), []).append(k)
        held = dealt([np.array(unit) for unit in units.values()], (1 - self.test, self.test), self.seed)
        chosen = held[("train", "validation").index(part)]
        if len(chosen) == 0:
            raise CallError(f"data.test = {self.test} leaves the {part} part without an input; change it")
        return every[chosen]

    def data(self, context: int) -> Data:
        """Every input with its answer, in shuffled passes."""
        self._fitting(context)
        return Data(Split.of(self._rows("train")), Split.of(self._rows("validation")), order="passes")

    def _fitting(self, context: int) -> None:
        if context != LENGTH - 1:
            raise CallError(f"context = {context} does not fit: input and answer need {LENGTH - 1}; set it to that")

    def examples(self, context: int, part: Part, most: int) -> Examples:
        """The whole part, or `most` inputs spaced evenly over it."""
        self._fitting(context)
        rows = self._rows(part)
        rows = rows[choose(len(rows), most)]
        asked = np.broadcast_to(np.arange(LENGTH - 1) >= MANY - 1, (len(rows), LENGTH - 1))
        right = np.arange(DIGITS) == rows[:, 1:, None]
        kind = np.where(asked, np.arange(LENGTH - 1) - (MANY - 1), -1)
        truth = np.where(asked, 0.0, -log(DIGITS))
        return Examples(rows, asked, asked, np.where(asked[..., None], right, True), kind, truth)

    def sample(self, rng: np.random.Generator, length: int) -> IntArray:
        """An input and its answer, or as much of them as asked for."""
        row = rng.integers(DIGITS, size=MANY)
        return np.append(row, np.sort(row))[:length]

    def allowed(self, tokens: IntArray) -> BoolArray:
        """(place, digit): the sorted digits after the input, elsewhere anything."""
        chances = self.true_distribution(tokens, LENGTH - 1)
        return chances > 0

    def constrained(self, tokens: IntArray) -> BoolArray:
        """(place,): the answer's."""
        places = np.arange(len(tokens))
        return (places >= MANY - 1) & (places < LENGTH - 1)

    def source_position(self, tokens: IntArray) -> IntArray:
        """(place,): the digit of the input that comes next; of equal ones, the first stays first."""
        order = np.argsort(np.asarray(tokens)[:MANY], kind="stable")
        place = np.clip(np.arange(len(tokens)) - (MANY - 1), 0, len(order) - 1) if len(order) else np.zeros(0, int)
        return np.where(self.constrained(tokens), order[place], -1)

    def true_distribution(self, tokens: IntArray, context: int) -> FloatArray:  # noqa: ARG002
        """(place, digit): certain in the answer, equal chances elsewhere."""
        chances = np.full((len(tokens), DIGITS), 1 / DIGITS)
        asked = self.constrained(tokens)
        places = np.flatnonzero(asked)
        chances[places] = np.arange(DIGITS) == np.sort(np.asarray(tokens)[:MANY])[places - (MANY - 1), None]
        return chances

    def ladder(self, context: int) -> tuple[Rung, ...]:
        """What is lost by looking only so far; by listing all inputs. Prices are those of the six answers."""
        self._fitting(context)
        uniform = Rung("uniform guess", log(DIGITS), lambda tokens: np.full(DIGITS, 1 / DIGITS))  # noqa: ARG005
        return uniform, *_rungs()


@cache
def _rungs() -> tuple[Rung, ...]:
    seen: dict[str, Callable[[Row, Row], Hashable]] = {
        "output position": lambda row, said: len(said),  # noqa: ARG005
        "position and previous output": lambda row, said: (len(said), said[-1:]),  # noqa: ARG005
        "position, smallest and largest": lambda row, said: (len(said), min(row), max(row)),
        "position and number of zeros": lambda row, said: (len(said), row.count(0)),
        "the rule": lambda row, said: (len(said), tuple(sorted(row))),
    }
    return tuple(_rung(name, look) for name, look in seen.items())


def _rung(name: str, look: Callable[[Row, Row], Hashable]) -> Rung:
    counts: dict[Hashable, FloatArray] = {}
    for row in product(range(DIGITS), repeat=MANY):
        answer = tuple(sorted(row))
        for place in range(MANY):
            counts.setdefault(look(row, answer[:place]), np.zeros(DIGITS))[answer[place]] += 1
    table = np.array(list(counts.values()))
    share = table / table.sum(axis=1, keepdims=True)
    nats = -np.sum(table * np.log(np.where(table > 0, share, 1))) / table.sum()

    def guess(tokens: IntArray) -> FloatArray:
        row = tuple(np.asarray(tokens).tolist())
        found = counts.get(look(row[:MANY], row[MANY:])) if len(row) >= MANY else None
        return np.full(DIGITS, 1 / DIGITS) if found is None else found / found.sum()

    return Rung(name, float(nats) + 0.0, guess, accuracy=float(table.max(axis=1).sum() / table.sum()))
