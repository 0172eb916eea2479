"""Five operations on three digits: First, Second, Last, Max, Min."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import product
from typing import Literal, get_args

import numpy as np

from glassformer.errors import CallError
from glassformer.settings import setting
from glassformer.tasks._questions import Listed, Questions, Seen, certain
from glassformer.tasks._task import Examples, IntArray, Part, Rung, Split, choose

ANSWER: dict[str, Callable[[tuple[int, ...]], int]] = {
    "First": lambda digits: digits[0],
    "Second": lambda digits: digits[1],
    "Last": lambda digits: digits[-1],
    "Max": max,
    "Min": min,
}
Operation = Literal["First", "Second", "Last", "Max", "Min"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
WORDS = ("PAD", "EOS", *map(str, range(10)), *OPERATIONS, "(", ")", ",")
PAD, ZERO, FIRST, OPEN, CLOSE, COMMA = (WORDS.index(word) for word in ("PAD", "0", "First", "(", ")", ","))
Question = tuple[int, ...]  # operation, then the digits


@cache
def questions(arguments: int = 3) -> tuple[IntArray, IntArray]:
    """All questions with so many digits, by operation and then by digits, and the token that answers each."""
    every = list(product(range(5), *[range(10)] * arguments))
    tokens = np.full((len(every), length(arguments)), COMMA, dtype=np.int32)
    tokens[:, 1], tokens[:, -1] = OPEN, CLOSE
    tokens[:, 0], tokens[:, 2::2] = FIRST + np.array(every)[:, 0], ZERO + np.array(every)[:, 1:]
    return tokens, np.array([answer(question) for question in every], dtype=np.int32)


def length(arguments: int) -> int:
    """Tokens of a question: its operation, two brackets, the digits and the commas between them."""
    return 2 * arguments + 2


def answer(question: Question) -> int:
    """The token that answers a question."""
    return ZERO + ANSWER[OPERATIONS[question[0]]](question[1:])


def read(tokens: Sequence[int] | IntArray, arguments: int = 3) -> Question | None:
    """The question that these tokens begin with, if they do."""
    long = length(arguments)
    row = [int(token) for token in tokens[:long]]
    if len(row) < long or row[1::2] != [OPEN, *[COMMA] * (arguments - 1), CLOSE]:
        return None
    question = (row[0] - FIRST, *(digit - ZERO for digit in row[2::2]))
    good = 0 <= question[0] < 5 and all(0 <= digit < 10 for digit in question[1:])
    return question if good else None


@dataclass(frozen=True, kw_only=True)
class FiveOperations(Questions):
    """Questions such as Max(5,3,9), each with one answer; all 5 000 can be listed, so nothing is left to chance.

    `split` keeps distinct questions apart, or whole multisets of digits, so that no test question was seen in any
    order. `draws` draws that many training questions with replacement instead, so that many of them leak into the test.
    `fraction` leaves that share of the training questions, `operations` leaves those of some operations; what is
    tested stays the same. `arguments` is the number of digits in a question. `padded` fills a question up to so
    many tokens with PAD, which the model sees like any other.
    `shuffled` deals the training answers out anew, so that nothing is left but to memorise: an illness on purpose.
    """

    split: Literal["question", "multiset"] = setting("multiset: no test question was seen in any order", "question")
    draws: int | None = setting("training questions drawn with replacement; absent: each once", None, least=50,
                                most=1_000_000)  # fmt: skip
    shuffled: bool = setting("deal the training answers out anew: an illness on purpose", False)
    fraction: float = setting("share of the training questions that is left", 1.0, above=0.0, most=1.0)
    operations: tuple[Operation, ...] = setting("what is trained on", OPERATIONS)
    arguments: int = setting("digits in a question", 3, least=2, most=4)
    padded: int | None = setting("tokens a question is filled up to; absent: not at all", None, least=6, most=64)

    vocabulary = WORDS
    showcase = ("Max(5,3,9)", "First(5,3,9)", "Min(7,1,9)", "Last(7,1,9)", "Max(9,9,5)", "Min(1,0,3)")
    kinds = OPERATIONS
    rungs = {  # noqa: RUF012
        "answer frequencies": lambda question: (),  # noqa: ARG005
        "operation only": lambda question: question[:1],
        "digits without operation": lambda question: question[1:],
        "operation and digits without order": lambda question: (question[0], *sorted(question[1:])),
        "Max and Min confused": lambda question: (min(question[0], 3), *question[1:]),
        "the rule": lambda question: question,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.draws is not None and self.split != "question":
            raise CallError(
                f"draws = {self.draws} mixes all questions, so split = {self.split!r} has no effect; drop one"
            )
        if self.draws is not None and (self.fraction, self.operations) != (1.0, OPERATIONS):
            raise CallError(f"draws = {self.draws} draws from all questions; leave out fraction and operations")
        if not self.operations or len(set(self.operations)) < len(self.operations):
            raise CallError(f"operations = {list(self.operations)} must name at least one operation, each once")
        if self.padded is not None and self.padded < length(self.arguments):
            raise CallError(f"padded = {self.padded} cuts a question of {length(self.arguments)} tokens; make it more")

        if self.arguments != 3:  # the examples must be questions that such a model can be asked
            shown = {
                2: ("Max(5,3)", "First(5,3)", "Min(7,1)", "Max(9,9)"),
                4: ("Max(5,3,9,2)", "First(5,3,9,2)", "Min(7,1,9,4)", "Max(9,9,5,0)"),
            }
            object.__setattr__(self, "showcase", shown[self.arguments])

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Operations, digits, brackets and comma, and the two tokens that never occur."""
        operations, digits = range(FIRST, FIRST + 5), range(ZERO, ZERO + 10)
        return {"operation": operations, "digit": digits, "syntax": (OPEN, CLOSE, COMMA), "special": (0, 1)}

    def questions(self) -> tuple[IntArray, IntArray]:
        """All questions (5 000 of three digits), (question, place), and the answer of each, as tokens."""
        tokens, answers = questions(self.arguments)
        return np.pad(tokens, ((0, 0), (0, self.length - tokens.shape[1])), constant_values=PAD), answers

    @property
    def length(self) -> int:
        """Tokens of a question, with those that fill it up."""
        return self.padded or length(self.arguments)

    # ---- data --------------------------------------------------------------------------------------------------------

    def _parts(self) -> dict[Part, IntArray]:
        """Which of all questions are in each part, the same number for every operation."""
        rng = np.random.default_rng(self.seed)
        if self.draws is not None:
            sizes: tuple[tuple[Part, int], ...] = (
                ("train", self.draws),
                ("validation", self.draws // 10),
                ("test", self.draws // 10),
            )
            each = 10**self.arguments
            return {part: np.arange(size) % 5 * each + rng.integers(each, size=size) for part, size in sizes}
        parts: dict[Part, list[int]] = {"train": [], "validation": [], "test": []}
        trained = {OPERATIONS.index(each) for each in self.operations}
        for family in _families(self.split, self.arguments):
            order, tenth = rng.permutation(len(family)), len(family) // 10
            for part, chosen in zip(parts, np.split(order, [8 * tenth, 9 * tenth]), strict=True):
                if part == "train":  # a smaller fraction is a part of every larger one
                    chosen = chosen[: max(1, round(self.fraction * len(chosen)))]
                parts[part] += [question for unit in chosen for question in family[unit]]
        parts["train"] = [each for each in parts["train"] if each // 10**self.arguments in trained]
        return {part: np.sort(chosen) for part, chosen in parts.items()}

    def sizes(self) -> dict[str, int]:
        """None: an experiment says how long its questions are."""
        return {}

    def listed(self) -> Listed:
        """All questions; what is dealt out anew for training still has its true answer here."""
        tokens, answers = self.questions()
        return Listed(tokens, certain(answers, len(WORDS)), answers, tokens[:, 0] - FIRST, self._parts())

    def _fitting(self, context: int) -> None:
        if context != self.length:
            raise CallError(
                f"context = {context} does not fit: a question has {self.length} tokens; set context = {self.length}"
            )

    def _part_windows(self, context: int, part: Part) -> IntArray:
        """(question, context + 1): the questions of a part with the answers that are trained or judged."""
        windows = self._windows(context, self.every.parts[part])
        if self.shuffled and part == "train":
            windows[:, -1] = np.random.default_rng([self.seed, 1]).permutation(windows[:, -1])
        return windows

    def _split(self, context: int, part: Part) -> Split:
        windows = self._part_windows(context, part)
        return Split.of(windows, windows[:, 0] - FIRST)

    def examples(self, context: int, part: Part, most: int) -> Examples:
        """The whole part, or `most` questions that have its share of every operation."""
        windows = self._part_windows(context, part)
        mixed = self.split == "multiset"  # all operations have the same digits, and would be asked about the same few
        order = np.random.default_rng(self.seed).permutation(len(windows)) * mixed
        return self.judged(windows[choose(len(windows), most, windows[:, 0], order)])

    def judged(self, windows: IntArray) -> Examples:
        """Questions with their answers, (example, 9), as examples; the answer is certain."""
        certain = np.ones((len(windows), 1), dtype=bool)
        allowed = np.arange(len(WORDS)) == windows[:, -1, None, None]
        return Examples(windows, certain, certain, allowed, windows[:, :1] - FIRST, np.zeros((len(windows), 1)))

    def sample(self, rng: np.random.Generator, length: int) -> IntArray:  # noqa: ARG002
        """One of all questions, and its answer."""
        tokens, answers = self.questions()
        which = rng.integers(len(tokens))
        return np.append(tokens[which], answers[which])

    # ---- verdicts ----------------------------------------------------------------------------------------------------

    def source_position(self, tokens: IntArray) -> IntArray:
        """(place,): after a whole question, the digit that is the answer; the first one if Max or Min is a tie."""
        found = np.full(len(tokens), -1)
        question = self._read(tokens)
        if question is not None:
            operation, *digits = question
            named = {"First": 0, "Second": 1, "Last": self.arguments - 1}.get(OPERATIONS[operation])
            which = digits.index(answer(question) - ZERO) if named is None else named
            found[self.length - 1] = 2 + 2 * which
        return found

    def _read(self, tokens: Sequence[int] | IntArray) -> Question | None:
        """The question that these tokens begin with, if they do and it is filled up."""
        return read(tokens, self.arguments) if len(tokens) >= self.length else None

    def _which(self, tokens: IntArray) -> int | None:
        question = self._read(tokens)
        return None if question is None else int("".join(map(str, question)))

    def _rung(self, name: str, seen: Seen) -> Rung:
        """What is not a question is told apart by nothing: it has no answer to be known."""
        return super()._rung(name, lambda tokens: seen(found) if (found := self._read(tokens)) else None)

    def ladder(self, context: int) -> tuple[Rung, ...]:
        """What a model loses that reads only so much of the question; listed once for all data sets."""
        self._fitting(context)
        return _ladder(self.arguments, self.padded)

    # ---- words -------------------------------------------------------------------------------------------------------

    def encode(self, text: str) -> IntArray:
        """Token ids of `Max(5,3,9)`, with or without spaces, with or without an answer; filled up if need be."""
        words = re.findall(r"[A-Za-z]+|\S", text)
        for place, word in enumerate(words):
            if word not in WORDS:
                near = get_close_matches(word.capitalize(), OPERATIONS, n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise CallError(f"token {word!r} at position {place}{hint} is not one of: {' '.join(WORDS)}")
        if self.padded and ")" in words:
            words = [word for word in words if word != "PAD"]
            end = words.index(")") + 1
            words[end:end] = ["PAD"] * (self.padded - end)
        return np.array([WORDS.index(word) for word in words], dtype=np.int32)

    def decode(self, tokens: IntArray) -> str:
        """The text of some token ids, as a person would write it: `Max(5,3,9) 9`, without what fills it up."""
        text, tokens = "", np.asarray(tokens)
        for token in tokens[tokens != PAD] if self.padded else tokens:
            apart = text.endswith(")") or (text[-1:].isalpha() and WORDS[token].isalpha())
            text += (" " if apart else "") + WORDS[token]
        return text


def _families(split: str, arguments: int) -> list[list[list[int]]]:
    """What is cut 8 : 1 : 1: lists of units, each unit some questions that stay together."""
    if split == "question":
        each = 10**arguments
        return [[[each * operation + digits] for digits in range(each)] for operation in range(5)]
    units: dict[tuple[int, ...], list[int]] = {}
    for question in product(range(5), *[range(10)] * arguments):
        units.setdefault(tuple(sorted(question[1:])), []).append(int("".join(map(str, question))))
    return [[unit for digits, unit in units.items() if len(set(digits)) == many] for many in range(arguments, 0, -1)]


@cache
def _ladder(arguments: int, padded: int | None) -> tuple[Rung, ...]:
    return FiveOperations(arguments=arguments, padded=padded)._rungs
