"""A table of your own: questions and their answers.

A line is a question and its answer, and perhaps a group; with `split = "group"` no group is in two parts. Cells are set
apart by commas, semicolons, tabs or |, in quotes where they hold one. The first line may name the columns question,
answer and group, or with a word like these (Frage and Antwort, prompt and response), in any order, in any case, among
others that are left alone; without names the first column is the question, the second the answer, a third the group.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from glassformer import corpora
from glassformer.errors import CallError, LimitError
from glassformer.settings import setting
from glassformer.tasks._questions import Listed, Questions, dealt
from glassformer.tasks._table import Row, Table, read
from glassformer.tasks._task import IntArray, Part

PAD = "<PAD>"
TABLE = "text.txt"  # under this name a run keeps it
LEAST = 10  # different questions
MOST_VOCABULARY = 65_536  # different answers and tokens of questions
MOST_LENGTH = 4_096  # tokens of one question
MOST_TOKENS = 20_000_000  # questions × the length of the longest
MOST_CHANCES = 10_000_000  # questions × vocabulary: each rung of the ladder holds as many numbers, of eight bytes


@dataclass(frozen=True, kw_only=True)
class OwnTable(Questions):
    """A CSV file with the columns question and answer, and perhaps group. An answer is one token, whatever its length.

    The same question twice is one question; with different answers each is as likely as it is frequent. Parts share no
    question, or with `split = "group"` no group. Shorter questions are filled up from the left.
    """

    file: str = setting("a table: columns question and answer, perhaps group")
    tokens: Literal["characters", "words"] = setting("what a question is cut into", "characters")
    split: Literal["question", "group"] = setting("parts share no question, or no group", "question")
    validation: float = setting("share of the questions to judge by", 0.1, above=0.0, below=0.9)
    test: float = setting("share of the questions for the test", 0.1, above=0.0, below=0.9)

    rungs = {  # noqa: RUF012
        "answer frequencies": lambda question: (),  # noqa: ARG005
        "first token": lambda question: next((token for token in question), 0),
        "bag of tokens": lambda question: tuple(sorted(question)),
        "the whole question": lambda question: question,
    }

    needs: ClassVar[tuple[str, ...]] = (TABLE,)

    def files(self) -> dict[str, bytes]:
        """The table itself."""
        return {TABLE: self._text.encode()}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation + self.test >= 1:
            raise CallError(
                f"data.validation = {self.validation} and data.test = {self.test} leave nothing to train on; "
                "together they must be below 1"
            )

    @cached_property
    def _text(self) -> str:
        data = corpora.read_file(self.file) if self.kept is None else self.kept[TABLE]
        return corpora.decoded(data, self.file if self.kept is None else TABLE)

    @cached_property
    def table(self) -> Table:
        """The file, read."""
        return read(self._text, self.file, self.split == "group")

    @property
    def rows(self) -> list[Row]:
        """The lines of the table."""
        return self.table.rows

    @cached_property
    def _counts(self) -> dict[str, Counter[str]]:
        """Every different question with its answers, if there are neither too few nor too many."""
        counts: dict[str, Counter[str]] = {}
        for row in self.rows:
            counts.setdefault(self._plain(row.question), Counter())[row.answer] += 1
        if len(counts) < LEAST:
            raise CallError(f"{self.file} has fewer than {LEAST} different questions ({len(counts)}); bring more")
        answers = len({answer for each in counts.values() for answer in each})
        words = {word for question in counts for word in self._cut(question)}
        if PAD in words:
            raise CallError(f"{self.file} has the word {PAD}, which fills up short questions; write it otherwise")
        longest = max(len(self._cut(question)) for question in counts)
        size = len(counts)
        for what, value, most in (
            (f"{answers:,} different answers and {len(words):,} tokens in questions", answers + len(words),
             MOST_VOCABULARY),
            (f"a question of {longest:,} tokens", longest, MOST_LENGTH),
            (f"{size:,} questions of up to {longest:,} tokens, together {size * longest:,}", size * longest,
             MOST_TOKENS),
            (f"{size:,} questions × {answers + len(words):,} answers and tokens", size * (answers + len(words)),
             MOST_CHANCES),
        ):  # fmt: skip
            if value > most:
                raise LimitError(f"data.file = {self.file} has {what}; the most is {most:,}")
        return counts

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:  # type: ignore[override]
        """Answers first, then the tokens of the questions, then the filler; what is both has one id."""
        answers = sorted({answer for each in self._counts.values() for answer in each})
        words = sorted({word for question in self._counts for word in self._cut(question)})
        return (*dict.fromkeys([*answers, *words]), PAD)

    @cached_property
    def showcase(self) -> tuple[str, ...]:  # type: ignore[override]
        """The first questions that were not trained on."""
        which = self.every.parts["validation"][:3]
        return tuple(self.decode(self.every.questions[k]) for k in which)

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Tokens of questions, of answers, of both, and the filler."""
        asked = {word for question in self._counts for word in self._cut(question)}
        answered = {answer for each in self._counts.values() for answer in each}
        found: dict[str, list[int]] = {}
        for token, word in enumerate(self.vocabulary):
            both = "in both" if word in answered else "in questions"
            found.setdefault("filler" if word == PAD else both if word in asked else "answer", []).append(token)
        return found

    def listed(self) -> Listed:
        """Every different question of the table."""
        ids = {word: token for token, word in enumerate(self.vocabulary)}
        counts = self._counts
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
            groups.setdefault(row.group, set()).add(number[self._plain(row.question)])
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
        trained, tested = (len(every.parts[part]) for part in ("train", "test"))
        answers = {answer for each in self._counts.values() for answer in each}
        several = int((np.count_nonzero(every.chances, axis=1) > 1).sum())
        said = [
            f"{self.file}: {self.table.how}",
            f"{len(self.rows):,} lines, {len(every.questions):,} different questions of up to {self.length} tokens, "
            f"{'1 answer' if len(answers) == 1 else f'{len(answers):,} answers'}; {trained:,} questions to train on, "
            f"{tested:,} to test",
            f"of the test questions {leaks['question']:.0%} occur in training, and {leaks['tokens']:.0%} in any order",
        ]
        usual = int(np.median([len(self._cut(question)) for question in self._counts]))
        if self.length > 4 * usual:
            said.append(
                f"half of the questions have up to {usual} tokens, and the longest {self.length}, to which all are "
                "filled up: without it training would be quicker"
            )
        if several:
            said.append(f"{several:,} questions have more than one answer")
        if len(answers) == 1:
            said.append(f"every answer is {next(iter(answers))!r}, so there is nothing to tell apart")
        return said

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
