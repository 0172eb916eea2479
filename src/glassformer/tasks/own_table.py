"""A table of your own: questions and their answers."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from glassformer import corpora
from glassformer.errors import CallError
from glassformer.tasks._questions import Listed, Questions, dealt
from glassformer.tasks._task import IntArray, Part

PAD = "<PAD>"
TABLE = "text.txt"  # under this name a run keeps it
COLUMNS = ("question", "answer", "group")


@dataclass(frozen=True, kw_only=True)
class OwnTable(Questions):
    """A CSV file with the columns question and answer, and perhaps group. An answer is one token, whatever its length.

    The same question twice is one question; with different answers each is as likely as it is frequent. Parts share no
    question, or with `split = "group"` no group. Shorter questions are filled up from the left.
    """

    file: str
    tokens: Literal["characters", "words"] = "characters"
    split: Literal["question", "group"] = "question"
    validation: float = field(default=0.1, metadata={"above": 0.0, "below": 0.9})
    test: float = field(default=0.1, metadata={"above": 0.0, "below": 0.9})

    rungs = {  # noqa: RUF012
        "answer frequencies": lambda question: (),  # noqa: ARG005
        "first token": lambda question: next((token for token in question), 0),
        "bag of tokens": lambda question: tuple(sorted(question)),
        "the whole question": lambda question: question,
    }

    def files(self) -> dict[str, bytes]:
        """The table itself."""
        return {TABLE: self._text.encode()}

    @cached_property
    def _text(self) -> str:
        path = self.file if self.folder is None else str(self.folder / TABLE)
        return corpora.decoded(corpora.read_file(path), path)

    @cached_property
    def rows(self) -> list[dict[str, str]]:
        """The lines of the table."""
        read = csv.DictReader(io.StringIO(self._text), strict=True)
        try:
            rows = list(read)
        except csv.Error as problem:
            raise CallError(f"{self.file}, line {read.line_num}: {problem}") from None
        for name in COLUMNS[: 2 if self.split == "question" else 3]:
            if name not in (read.fieldnames or ()):
                raise CallError(f"{self.file} has no column {name!r}; its first line must name question and answer")
        for number, row in enumerate(rows, start=2):
            if not (row["question"] or "").strip() or not (row["answer"] or "").strip():
                raise CallError(f"{self.file}, line {number}: a question and an answer are needed, one is empty")
        if len({row["question"] for row in rows}) < LEAST:
            raise CallError(f"{self.file} has fewer than {LEAST} different questions; bring more")
        return rows

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:  # type: ignore[override]
        """Answers first, then the tokens of the questions, then the filler; what is both has one id."""
        answers = sorted({row["answer"].strip() for row in self.rows})
        words = sorted({word for row in self.rows for word in self._cut(row["question"])})
        return (*dict.fromkeys([*answers, *words]), PAD)

    @cached_property
    def showcase(self) -> tuple[str, ...]:  # type: ignore[override]
        """The first questions that were not trained on."""
        which = self.every.parts["validation"][:3]
        return tuple(self.decode(self.every.questions[k]) for k in which)

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Tokens of questions, of answers, of both, and the filler."""
        asked = {word for row in self.rows for word in self._cut(row["question"])}
        answered = {row["answer"].strip() for row in self.rows}
        found: dict[str, list[int]] = {}
        for token, word in enumerate(self.vocabulary):
            both = "in both" if word in answered else "in questions"
            found.setdefault("filler" if word == PAD else both if word in asked else "answer", []).append(token)
        return found

    def listed(self) -> Listed:
        """Every different question of the table."""
        ids = {word: token for token, word in enumerate(self.vocabulary)}
        counts: dict[str, Counter[str]] = {}
        for row in self.rows:
            counts.setdefault(self._plain(row["question"]), Counter())[row["answer"].strip()] += 1
        longest = max(len(self._cut(question)) for question in counts)
        questions = np.full((len(counts), longest), ids[PAD])
        chances = np.zeros((len(counts), len(ids)))
        for k, (question, answers) in enumerate(counts.items()):
            words = self._cut(question)
            questions[k, longest - len(words) :] = [ids[word] for word in words]
            for answer, many in answers.items():
                chances[k, ids[answer]] = many / answers.total()
        shares = (1 - self.validation - self.test, self.validation, self.test)
        names: tuple[Part, ...] = ("train", "validation", "test")
        parts = dict(zip(names, dealt(self._units(list(counts)), shares, self.seed), strict=True))
        for part, chosen in parts.items():
            if len(chosen) == 0:
                raise CallError(f"the {part} part of {self.file} is empty; bring more questions, or change the shares")
        return Listed(questions, chances, chances.argmax(axis=1), np.full(len(counts), -1), parts)

    def _units(self, questions: list[str]) -> list[IntArray]:
        """What must stay together: one question, or all questions of a group."""
        if self.split == "question":
            return list(np.arange(len(questions))[:, None])
        number = {question: k for k, question in enumerate(questions)}
        groups: dict[str, set[int]] = {}
        for row in self.rows:
            groups.setdefault(row["group"], set()).add(number[self._plain(row["question"])])
        taken: set[int] = set()
        units = []
        for group in groups.values():
            units.append(np.array(sorted(group - taken), dtype=int))  # a question of two groups stays in the first
            taken |= group
        return [unit for unit in units if len(unit)]

    def leaks(self) -> dict[str, float]:
        """Share of test questions that training has seen, and of those whose tokens it has seen in another order."""
        train, test = (self.every.questions[self.every.parts[part]] for part in ("train", "test"))
        seen, bags = {tuple(each) for each in train.tolist()}, {tuple(sorted(each)) for each in train.tolist()}
        return {
            "question": float(np.mean([tuple(each) in seen for each in test.tolist()])),
            "tokens": float(np.mean([tuple(sorted(each)) in bags for each in test.tolist()])),
        }

    def expectations(self, architecture: Any, train: Any) -> list[str]:  # noqa: ARG002
        """How large the table is, and how far its test can be trusted."""
        leaks, every = self.leaks(), self.every
        several = int((np.count_nonzero(every.chances, axis=1) > 1).sum())
        said = [
            f"{self.file}: {len(self.rows):,} lines, {len(every.questions):,} different questions of up to "
            f"{self.length} tokens; {len(every.parts['train']):,} to train on, {len(every.parts['test']):,} to test",
            f"of the test questions {leaks['question']:.0%} occur in training, and {leaks['tokens']:.0%} in any order",
        ]
        return said + ([f"{several:,} questions have more than one answer"] if several else [])

    def encode(self, text: str) -> IntArray:
        """A question, filled up from the left."""
        ids = {word: token for token, word in enumerate(self.vocabulary)}
        words = self._cut(text)
        for place, word in enumerate(words):
            if word not in ids:
                raise CallError(f"token {word!r} at position {place} does not occur in {self.file}")
        fill = [ids[PAD]] * max(0, self.length - len(words))
        return np.array([*fill, *(ids[word] for word in words)], dtype=np.int32)

    def decode(self, tokens: IntArray) -> str:
        """The question, without what fills it up."""
        words = [self.vocabulary[token] for token in np.asarray(tokens) if self.vocabulary[token] != PAD]
        return ("" if self.tokens == "characters" else " ").join(words)

    def _cut(self, question: str) -> list[str]:
        return list(question.strip()) if self.tokens == "characters" else question.split()

    def _plain(self, question: str) -> str:
        return question.strip() if self.tokens == "characters" else " ".join(question.split())


LEAST = 10  # different questions
