"""What every task gives: words, data, a verdict on each answer, and the price of each partial understanding."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from glassformer import settings
from glassformer.errors import CallError
from glassformer.settings import setting

IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Part = Literal["train", "validation", "test"]
MOST_HELD = 20_000  # held-out windows of a part that are looked for in training


@dataclass(frozen=True)
class Rung:
    """A way of guessing, and its exact price in nats per predicted token."""

    name: str
    nats: float
    guess: Callable[[IntArray], FloatArray]  # the tokens in view → probability of each next token
    accuracy: float | None = None  # the best share of right answers at this level, where that has a meaning
    reachable: bool = True  # False: needs more than the window shows
    also: tuple[str, ...] = ()  # rungs above it that cost the same


@dataclass(frozen=True)
class Split:
    """Pieces of text laid end to end, and how many windows begin in each.

    An example is a piece chosen evenly, then a start chosen evenly among the first `windows` places of that piece.
    """

    tokens: IntArray  # (n,)
    starts: IntArray  # (piece,) where each piece begins in `tokens`
    windows: IntArray  # (piece,)
    kind: IntArray | None = None  # (piece,) index into the task's `kinds`; None where pieces have no kind

    @classmethod
    def of(cls, windows: IntArray, kind: IntArray | None = None) -> Self:
        """Windows (piece, context + 1) of which each is a piece of its own."""
        many, span = windows.shape
        return cls(windows.ravel(), np.arange(many) * span, np.ones(many, dtype=np.int64), kind)

    @property
    def strata(self) -> tuple[IntArray, ...]:
        """(window,) each: what a sample of the windows must represent, the kind of its piece and its place in it."""
        piece = np.repeat(np.arange(len(self.starts)), self.windows)
        place = np.arange(len(piece)) - np.repeat(np.cumsum(self.windows) - self.windows, self.windows)
        return (place,) if self.kind is None else (self.kind[piece], place)

    def hashes(self, span: int) -> NDArray[np.uint64]:
        """(window,): a number of 64 bits for each window, the same for the same tokens; no window is laid out."""
        tokens = np.asarray(self.tokens).astype(np.uint64) + np.uint64(1)
        found = np.zeros(max(len(tokens) - span + 1, 0), dtype=np.uint64)
        for place in range(span):  # wraps around, as it should
            found *= np.uint64(0x9E3779B97F4A7C15)
            found += tokens[place : place + len(found)]
            found ^= found >> np.uint64(29)
        begin = [start + np.arange(many) for start, many in zip(self.starts, self.windows, strict=True)]
        return found[np.concatenate(begin)]


def choose(many: int, most: int, *keys: NDArray[Any], middle: bool = False) -> IntArray:
    """The indices of at most `most` of `many` items, in rising order: all of them where they are few.

    The items are sorted by the keys, the first key first and ties in their own order, and taken at even distances (from
    the first item on, or from half a distance on). Every value of the first key thus has its share of the sample to
    within one item, whatever order the items come in. Every sample of windows or questions is chosen here.
    """
    if many <= most:
        return np.arange(many)
    chosen = (2 * np.arange(most) + middle) * many // (2 * most)
    return np.sort(np.lexsort(keys[::-1])[chosen]) if keys else chosen


@dataclass(frozen=True)
class Data:
    """What a model is trained on and judged by; `order` says how training meets the examples."""

    train: Split
    validation: Split
    test: Split | None = None
    order: Literal["random", "passes"] = "random"  # drawn with replacement, or in shuffled passes over all pieces

    @property
    def held_out(self) -> bool:
        """Whether it is judged on what training does not see; what is learnt by heart is not."""
        return self.train is not self.validation

    def leak(self, span: int, *parts: Split | None) -> float:
        """The share of the windows of these parts (validation and test if none is given) that training has, too."""
        every = [part for part in parts or (self.validation, self.test) if part is not None]
        chosen = [choose(int(part.windows.sum()), MOST_HELD, *part.strata) for part in every]
        looked_for = np.concatenate([part.hashes(span)[rows] for part, rows in zip(every, chosen, strict=True)])
        return float(np.isin(looked_for, self.train.hashes(span)).mean())


@dataclass(frozen=True)
class Examples:
    """Windows to be judged, with all that is known about their answers.

    Place p is the p-th prediction of a window: after token p for tasks that predict every next token; tasks with one
    answer have one place, and the answer is the window's last token.
    """

    windows: IntArray  # (example, context + 1)
    constrained: BoolArray  # (example, place) the rule restricts the predicted token
    answerable: BoolArray  # (example, place) and what is in view settles which tokens are allowed
    allowed: BoolArray  # (example, place, token) what the verifier accepts
    kind: IntArray  # (example, place) index into the task's `kinds`, -1 for none
    truth: FloatArray  # (example, place) log-probability that the exact predictor gives the token that came


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A small world with a rule. The fields are the settings of its data; `seed` chooses the data set."""

    seed: int = setting("chooses the data set", 18, least=0)

    vocabulary: ClassVar[tuple[str, ...]]
    showcase: ClassVar[tuple[str, ...]]  # texts worth looking at, the first one first
    starts: ClassVar[tuple[str, ...]] = ()  # words of one token from which it is shown to go on by itself
    needs: ClassVar[tuple[str, ...]] = ()  # names of the files without which a run cannot be opened; `files` gives them
    kept: ClassVar[Mapping[str, bytes] | None] = None  # those files as a run keeps them, once `within` was asked
    exact: ClassVar[bool] = True  # whether the true chances are known; else the best count table stands in for them
    answers: ClassVar[Literal["next", "one"]] = "next"  # predict every next token, or one answer per window
    kinds: ClassVar[tuple[str, ...]] = ()  # what sorts of question there are
    skip: ClassVar[int] = 0  # this many predictions at the beginning of a window do not count, in training or judging
    measure: ClassVar[Literal["rule_error", "accuracy"]] = "accuracy"  # how right answers are counted while training

    def __post_init__(self) -> None:
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        for name, value in settings.checked(type(self), given, "data").items():
            object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def groups(self) -> Mapping[str, Sequence[int]]:
        """The families of tokens, for markers and tables; every token is in exactly one."""

    @abstractmethod
    def data(self, context: int) -> Data:
        """Training, validation and test parts, split by whole sequences or distinct questions."""

    @abstractmethod
    def examples(self, context: int, part: Part, most: int) -> Examples:
        """At most so many windows of a part, always the same ones; all of them where they are few."""

    @abstractmethod
    def ladder(self, context: int) -> tuple[Rung, ...]:
        """The exact loss of each partial understanding, highest first; the last reachable one is the floor."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, length: int) -> IntArray:
        """One fresh sequence (tasks with one answer: a question and its answer, whatever the length)."""

    @abstractmethod
    def allowed(self, tokens: IntArray) -> BoolArray:
        """(place, token): what the verifier accepts after each token of a sequence seen from its start."""

    @abstractmethod
    def constrained(self, tokens: IntArray) -> BoolArray:
        """(place,): whether the rule has anything to say about the token after each one."""

    @abstractmethod
    def answerable(self, tokens: IntArray) -> BoolArray:
        """(place,): whether these tokens, seen as a window, settle which tokens are allowed after each one."""

    @abstractmethod
    def source_position(self, tokens: IntArray) -> IntArray:
        """(place,): where in these tokens the answer after each one can be read off; -1 where it cannot."""

    @abstractmethod
    def true_distribution(self, tokens: IntArray, context: int) -> FloatArray:
        """(place, token): the exact predictor's probabilities after each token of a window."""

    def verify(self, tokens: IntArray) -> list[bool | None]:
        """For each token of a sequence: right, wrong, or None where the rule leaves it free."""
        tokens = np.asarray(tokens)
        if len(tokens) == 0:
            return []
        constrained, allowed = self.constrained(tokens[:-1]), self.allowed(tokens[:-1])
        judged = [bool(allowed[p, tokens[p + 1]]) if constrained[p] else None for p in range(len(tokens) - 1)]
        return [None, *judged]

    def floor(self, context: int) -> float:
        """The least loss a model with this window can reach on average."""
        return [rung for rung in self.ladder(context) if rung.reachable][-1].nats

    def files(self) -> dict[str, bytes]:
        """What a run must keep beside its weights so that it can be opened anywhere: name → content."""
        return {}

    def within(self, kept: Mapping[str, bytes]) -> Self:
        """The same task, made from what a run keeps instead of what it was made from at first."""
        moved = replace(self)
        object.__setattr__(moved, "kept", kept)
        return moved

    def sizes(self) -> dict[str, int]:
        """Settings of the architecture that follow from the data; used where an experiment leaves them out."""
        return {}

    def expectations(self, architecture: Any, train: Any) -> list[str]:  # noqa: ARG002
        """What a person should know before training begins, one sentence each."""
        return []

    def encode(self, text: str) -> IntArray:
        """Token ids of a text whose tokens are separated by spaces."""
        ids = {token: i for i, token in enumerate(self.vocabulary)}
        words = text.split()
        for place, word in enumerate(words):
            if word not in ids:
                known = f"{' '.join(self.vocabulary):.1000}"
                raise CallError(f"token {word!r:.100} at position {place} is not one of: {known}")
        return np.array([ids[word] for word in words], dtype=np.int32)

    def decode(self, tokens: IntArray) -> str:
        """The text of some token ids."""
        return " ".join(self.vocabulary[token] for token in np.asarray(tokens))

    def readable(self, tokens: IntArray) -> str:
        """The text for reading: of a text whose tokens have lost their spaces, with spaces where they usually stand."""
        return self.decode(tokens)


@dataclass(frozen=True, kw_only=True)
class InView(Task):
    """A task in which what a window shows settles the next token wherever anything restricts it."""

    def answerable(self, tokens: IntArray) -> BoolArray:
        """(place,): where the next token is restricted."""
        return self.constrained(tokens)

    def source_position(self, tokens: IntArray) -> IntArray:
        """(place,): nowhere: an answer is not copied from the window."""
        return np.full(len(tokens), -1)
