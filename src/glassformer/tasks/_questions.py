"""Tasks of questions with one answer each, all of which can be listed."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import ClassVar

import numpy as np

from glassformer.errors import CallError
from glassformer.tasks._task import BoolArray, Data, Examples, FloatArray, IntArray, InView, Part, Rung, Split, choose

Seen = Callable[[tuple[int, ...]], Hashable]


@dataclass(frozen=True)
class Listed:
    """Every question there is, how likely each answer is, and the part it belongs to."""

    questions: IntArray  # (question, place)
    chances: FloatArray  # (question, token); one token has them all unless the same question has several answers
    answers: IntArray  # (question,) the likeliest
    kind: IntArray  # (question,) index into the task's `kinds`, -1 for none
    parts: dict[Part, IntArray]  # which questions


@dataclass(frozen=True, kw_only=True)
class Questions(InView):
    """Each question is a window of its own; its answer is the window's last token. All of them are always judged."""

    answers = "one"
    rungs: ClassVar[dict[str, Seen]]  # name → what is seen of a question; the last sees all of it

    @abstractmethod
    def listed(self) -> Listed:
        """All questions."""

    @cached_property
    def every(self) -> Listed:
        """All questions, listed once."""
        found = self.listed()
        for part, chosen in found.parts.items():
            if len(chosen) == 0:
                raise CallError(f"the {part} part has no question; bring more of them, or change the shares")
        return found

    @property
    def length(self) -> int:
        """Tokens of a question."""
        return int(self.every.questions.shape[1])

    @property
    def outputs(self) -> int:
        """How many tokens can be answers: the first ones of the vocabulary."""
        return len(self.vocabulary)

    def sizes(self) -> dict[str, int]:
        """The window that fits, where the answer is read, and what it can be."""
        return {"context": self.length, "read_position": self.length - 1, "outputs": self.outputs}

    def data(self, context: int) -> Data:
        """Training goes over the questions in shuffled passes."""
        parts = {part: self._split(context, part) for part in self.every.parts}
        return Data(parts["train"], parts["validation"], parts.get("test"), order="passes")

    def _split(self, context: int, part: Part) -> Split:
        which = self.every.parts[part]
        return Split.of(self._windows(context, which), self.every.kind[which])

    def _fitting(self, context: int) -> None:
        if context != self.length:
            raise CallError(f"context = {context} does not fit: a question has {self.length} tokens; set it to that")

    def _windows(self, context: int, which: IntArray) -> IntArray:
        self._fitting(context)
        return np.column_stack([self.every.questions, self.every.answers])[which]

    def examples(self, context: int, part: Part, most: int) -> Examples:
        """The whole part, or `most` questions that have its share of every kind and of every answer."""
        which = self.every.parts.get(part)
        if which is None:
            raise CallError(f"this task has no {part} part")
        which = which[choose(len(which), most, self.every.kind[which], self.every.answers[which])]
        windows, chances = self._windows(context, which), self.every.chances[which]
        certain = np.ones((len(which), 1), dtype=bool)
        truth = np.log(np.take_along_axis(chances, windows[:, -1:], axis=1))
        return Examples(windows, certain, certain, chances[:, None] > 0, self.every.kind[which, None], truth)

    def sample(self, rng: np.random.Generator, length: int) -> IntArray:  # noqa: ARG002
        """One of all questions, and an answer to it."""
        which = rng.integers(len(self.every.questions))
        return np.append(self.every.questions[which], rng.choice(len(self.vocabulary), p=self.every.chances[which]))

    def allowed(self, tokens: IntArray) -> BoolArray:
        """(place, token): after a whole question its answers, elsewhere anything."""
        found = np.ones((len(tokens), len(self.vocabulary)), dtype=bool)
        if (which := self._which(tokens)) is not None:
            found[self.length - 1] = self.every.chances[which] > 0
        return found

    def constrained(self, tokens: IntArray) -> BoolArray:
        """(place,): only the place after a whole question."""
        found = np.zeros(len(tokens), dtype=bool)
        found[self.length - 1 : self.length] = self._which(tokens) is not None
        return found

    def true_distribution(self, tokens: IntArray, context: int) -> FloatArray:  # noqa: ARG002
        """(place, token): the chance of each answer to the question, as far as it has been read."""
        every = self.every
        fits, rows = np.ones(len(every.questions), dtype=bool), []
        for place, token in enumerate(tokens):
            fits = fits & (every.questions[:, place] == token) if place < self.length else fits
            rows.append(every.chances[fits if fits.any() else slice(None)].mean(axis=0))  # none begins so: any answer
        return np.array(rows).reshape(-1, len(self.vocabulary))

    def ladder(self, context: int) -> tuple[Rung, ...]:
        """What a model loses that sees only so much of a question; by listing all of them."""
        self._fitting(context)
        return self._rungs

    @cached_property
    def _rungs(self) -> tuple[Rung, ...]:
        even = np.arange(len(self.vocabulary)) < self.outputs
        uniform = Rung("uniform guess", log(self.outputs), lambda tokens: even / self.outputs)  # noqa: ARG005
        return (uniform, *(self._rung(name, seen) for name, seen in self.rungs.items()))

    def _rung(self, name: str, seen: Seen) -> Rung:
        """The best guess from what is seen of a question."""
        keys = [seen(tuple(question)) for question in self.every.questions.tolist()]
        number = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        table = np.zeros((len(number), len(self.vocabulary)))
        np.add.at(table, [number[key] for key in keys], self.every.chances)
        share = table / table.sum(axis=1, keepdims=True)
        nats = -np.sum(table * np.log(np.where(table > 0, share, 1))) / len(keys)

        def guess(tokens: IntArray) -> FloatArray:
            row = number.get(seen(tuple(np.asarray(tokens).tolist()))) if len(tokens) == self.length else None
            return share[row] if row is not None else self.every.chances.mean(axis=0)

        return Rung(name, float(nats) + 0.0, guess, accuracy=float(table.max(axis=1).sum() / len(keys)))

    def _which(self, tokens: IntArray) -> int | None:
        """The question at the beginning of some tokens, if they begin with one."""
        known: dict[tuple[int, ...], int] = self.__dict__.setdefault(
            "_known", {tuple(question): k for k, question in enumerate(self.every.questions.tolist())}
        )
        return known.get(tuple(np.asarray(tokens)[: self.length].tolist()))


def certain(answers: IntArray, size: int) -> FloatArray:
    """(question, token): one answer has all the chances."""
    return (np.arange(size) == np.asarray(answers)[:, None]).astype(np.float64)


def dealt(units: Sequence[IntArray], shares: Sequence[float], seed: int) -> list[IntArray]:
    """Units of questions dealt into parts by share, none of them torn apart."""
    order = np.random.default_rng(seed).permutation(len(units))
    ends = (np.cumsum(shares)[:-1] * len(units) + 1e-9).astype(int)
    return [np.sort(np.concatenate([units[k] for k in some] or [np.zeros(0, int)])) for some in np.split(order, ends)]
