"""What all texts have in common: a stream of tokens, consecutive parts, and what counting can say about them.

Nobody knows the true chances of the next token of a text. The ladder is therefore one of count tables, learnt from the
training part and scored on the validation part; the best of them stands where rules have their floor, and a model that
has learnt more than counts goes below it.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import exp, log
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from glassformer import corpora, tokenizers
from glassformer.errors import CallError, DamagedError
from glassformer.settings import setting
from glassformer.tasks._counts import Counts
from glassformer.tasks._task import BoolArray, Data, Examples, FloatArray, IntArray, InView, Part, Rung, Split, choose
from glassformer.tokenizers import Tokenizer
from glassformer.tokenizers._spacing import Spacing

T = TypeVar("T")
TEXT, TOKENIZER = "text.txt", "tokenizer.json"  # what a run keeps beside its weights; folder.py knows these names
LEAST_CONTEXTS = 10  # a text shorter than this many contexts is refused
COUNTED = 4_000_000  # tokens of the training part that the count tables are made of, at most
MANY_PASSES = 60  # over the training part, after which small models begin to learn it by heart
BY_HEART = 50_000  # windows up to which the price of knowing the training text by heart is worked out
NAMES = ("token frequencies", "last token", *(f"last {n} tokens" for n in ("two", "three", "four", "five")))


@dataclass(frozen=True, kw_only=True)
class Text(InView):
    """A text in consecutive parts: training, validation, test. No window shares a token with another part."""

    tokenizer: Literal["characters", "words", "bpe", "byte_bpe"] = setting("how the text is cut", "byte_bpe")
    entries: int | None = setting("entries the tokenizer learns; absent: its own choice", None, least=2, most=65_536)
    validation: float = setting("share of the text to judge by", 0.1, above=0.0, below=0.9)
    test: float = setting("share of the text for the test; 0: none", 0.1, least=0.0, below=0.9)
    split: Literal["tokens", "windows", "characters"] = setting("what the shares are shares of", "tokens")

    needs: ClassVar[tuple[str, ...]] = (TEXT, TOKENIZER)
    exact: ClassVar[bool] = False
    history: ClassVar[int] = 5  # the longest one counted

    # ---- the text ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def original(self) -> bytes:
        """The text as it lies on this machine; a run has its own copy."""

    def files(self) -> dict[str, bytes]:
        """What a run must keep so that it can be opened anywhere."""
        return {TOKENIZER: self.cutter.save(), TEXT: self.text.encode()}

    @cached_property
    def text(self) -> str:
        """All of it, with plain line ends."""
        with _blame_on(self.kept):
            if self.kept is not None:
                text = corpora.decoded(self.kept[TEXT], TEXT)
            else:
                text = corpora.decoded(self.original(), self.source)
            if not text.strip():
                raise CallError(f"{self.source} is empty; there is nothing to learn")
        return text

    @property
    def source(self) -> str:
        """Where the text comes from, in words."""
        return type(self).__name__

    @cached_property
    def cutter(self) -> Tokenizer:
        """The tokenizer, learnt from the text, or as the run keeps it."""
        if self.kept is not None and TOKENIZER in self.kept:
            found = tokenizers.load(self.kept[TOKENIZER], TOKENIZER)
            if found.kind != self.tokenizer:
                raise DamagedError(f"{TOKENIZER} holds {found.kind}, and this run was trained with {self.tokenizer}")
            return found
        return _learnt(self.tokenizer, self.text, self.entries)

    @cached_property
    def stream(self) -> IntArray:
        """The whole text as ids."""
        with _blame_on(self.kept):
            return _stream(self.cutter, self.text)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:  # type: ignore[override]
        """Each token as it is shown."""
        return self.cutter.vocabulary

    @cached_property
    def showcase(self) -> tuple[str, ...]:  # type: ignore[override]
        """The beginnings of three lines, from well inside the part that was not trained on."""
        held = self.text[int(len(self.text) * (1 - self.validation - self.test)) :]
        lines = [line.strip() for line in held.splitlines()[1:] if len(line.strip()) > 3] or [held[:24].strip()]
        return tuple(dict.fromkeys(_short(lines[k * len(lines) // 6]) for k in (1, 3, 5)))

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """The families that the tokenizer knows."""
        return self.cutter.groups

    def encode(self, text: str) -> IntArray:
        """Token ids of a text."""
        return self.cutter.encode(text)

    def decode(self, tokens: IntArray) -> str:
        """The text of some token ids."""
        return self.cutter.decode(tokens)

    def readable(self, tokens: IntArray) -> str:
        """The text of some token ids, with white space where the training part usually has it."""
        return self.decode(tokens) if self.cutter.lossless else self._spacing.text(tokens)

    @cached_property
    def _spacing(self) -> Spacing:
        return Spacing(self.cutter, self.text[: int(len(self.text) * (1 - self.validation - self.test))])

    def expectations(self, architecture: Any, train: Any) -> list[str]:
        """How long the text is, what counting can do, and whether there is enough of it."""
        context, tokens = architecture.context, len(self.stream)
        begin, end = self.bounds(context)["train"]
        passes = train.steps * train.batch * context / (end - begin + context)
        said = [
            f"{self.source}: {len(self.text):,} characters, {tokens:,} tokens, {len(self.vocabulary):,} entries "
            f"({self.tokenizer}); {train.steps:,} steps read the training part {passes:,.0f} times"
        ]
        best = self.best(context)
        price = exp(self.prices(context)[best])
        if len(self.vocabulary) == 1:
            said.append("every token of it is the same, so the floor is 0 and there is nothing to learn")
        else:
            said.append(
                f"counting alone ({NAMES[best]}) has a validation perplexity of {price:,.1f}: a model should beat that"
            )
        if len(rare := np.flatnonzero(np.array(self.vocabulary) == "<RARE>")):
            share = float(np.mean(self.stream == rare[0]))
            said.append(f"{share:.1%} of the words are beyond the vocabulary and read as <RARE>")
        if passes > MANY_PASSES:
            said.append(
                "that is a short text for so many steps: expect the model to learn much of it by heart, and the "
                "validation loss to rise again; fewer --steps, or --set train.stop_after=5, stop it before"
            )
        return said

    # ---- parts and windows -------------------------------------------------------------------------------------------

    def bounds(self, context: int) -> dict[Part, tuple[int, int]]:
        """Where the windows of each part begin: from, and up to but without."""
        tokens = len(self.stream)
        if tokens < LEAST_CONTEXTS * (context + 1):
            raise CallError(
                f"{self.source} has {tokens:,} tokens, too few for context = {context}; "
                f"bring {LEAST_CONTEXTS * (context + 1):,} or more, or lower architecture.context"
            )
        windows = tokens - context
        first = self._place(1 - self.validation - self.test, windows)
        second = self._place(1 - self.test, windows) if self.test else tokens
        parts: dict[Part, tuple[int, int]] = {
            "train": (0, first - context),
            "validation": (first, second - context),
            "test": (second, windows),
        }
        if not self.test:
            del parts["test"]
        for part, (begin, end) in parts.items():
            if end <= begin:
                raise CallError(
                    f"the {part} part of {self.source} is shorter than one window of context = {context}; "
                    f"lower the context, or change data.validation = {self.validation} and data.test = {self.test}"
                )
        return parts

    def _place(self, share: float, windows: int) -> int:
        """The token at which so much of the text lies behind."""
        if self.split == "characters":  # so that texts cut into different tokens are judged on the same letters
            before = self.text[: int(share * len(self.text))]
            return self._once(("place", share), lambda: len(self.cutter.read(before)))
        return int(share * (len(self.stream) if self.split == "tokens" else windows))

    def data(self, context: int) -> Data:
        """The stream; windows are gathered from it while training."""
        parts = {part: self._split(*bounds) for part, bounds in self.bounds(context).items()}
        return Data(parts["train"], parts["validation"], parts.get("test"))

    def _split(self, begin: int, end: int) -> Split:
        return Split(self.stream, np.array([begin]), np.array([end - begin]))

    def examples(self, context: int, part: Part, most: int) -> Examples:
        """Every window of the part, or `most` of them spaced evenly."""
        bounds = self.bounds(context)
        if part not in bounds:
            raise CallError(f"{self.source} has no {part} part; data.test = {self.test}")
        begin, end = bounds[part]
        starts = begin + choose(end - begin, most)
        many = len(starts)
        windows = self.stream[starts[:, None] + np.arange(context + 1)]
        none = np.broadcast_to(np.False_, (many, context))
        anything = np.broadcast_to(np.True_, (many, context, len(self.vocabulary)))
        kind = np.broadcast_to(np.int64(-1), (many, context))
        cost = self._costs(context, part)[starts[:, None] + np.arange(1, context + 1) - begin]
        return Examples(windows, none, none, anything, kind, -cost)

    def _costs(self, context: int, part: Part) -> FloatArray:
        """(token of the part,): what each token costs by the best count table."""
        begin, end = self.bounds(context)[part]
        stretch = self.stream[begin : end + context]
        return self._once(("costs", context, part), lambda: self.counts(context).cost(stretch, self.best(context)))

    def sample(self, rng: np.random.Generator, length: int) -> IntArray:
        """A stretch of the text."""
        if length > len(self.stream):
            raise CallError(f"length = {length} is more than the {len(self.stream):,} tokens of the text")
        begin = rng.integers(len(self.stream) - length + 1)
        return self.stream[begin : begin + length]

    # ---- verdicts: a text has no rule --------------------------------------------------------------------------------

    def allowed(self, tokens: IntArray) -> BoolArray:
        """(place, token): anything may come."""
        return np.ones((len(tokens), len(self.vocabulary)), dtype=bool)

    def constrained(self, tokens: IntArray) -> BoolArray:
        """(place,): never."""
        return np.zeros(len(tokens), dtype=bool)

    def true_distribution(self, tokens: IntArray, context: int) -> FloatArray:
        """(place, token): what the best count table expects; the truth is not known."""
        counts, longest = self.counts(context), self.best(context)
        seen = [tokens[max(0, place + 1 - context) : place + 1] for place in range(len(tokens))]
        return np.array([counts.chances(view, longest) for view in seen]).reshape(-1, len(self.vocabulary))

    # ---- the ladder --------------------------------------------------------------------------------------------------

    def counts(self, context: int) -> Counts:
        """The count tables of the training part, or of its last few million tokens."""
        end = self.bounds(context)["train"][1] + context
        stretch = self.stream[max(0, end - COUNTED) : end]
        return self._once(("counts", end), lambda: Counts(stretch, len(self.vocabulary), self.history))

    def price(self, context: int, part: Part, longest: int) -> float:
        """What a prediction of a part's windows costs on average, by tables of at most so many tokens of history.

        Tokens near an end of the part lie in fewer windows than others, and so are predicted less often.
        """
        begin, end = self.bounds(context)[part]
        cost = self.counts(context).cost(self.stream[begin : end + context], longest)[1:]  # nobody predicts the first
        place = np.arange(len(cost))
        often = np.minimum(np.minimum(place + 1, len(cost) - place), min(context, end - begin))
        return float(np.average(cost, weights=often))

    def prices(self, context: int) -> FloatArray:
        """(history,): what a validation window's token costs, by tables of histories of 0, 1, 2, ... tokens."""
        lengths = range(self.history + 1)
        return self._once(
            ("prices", context), lambda: np.array([self.price(context, "validation", n) for n in lengths])
        )

    def best(self, context: int) -> int:
        """The history after which longer ones no longer help: they are too rare to be counted."""
        return int(np.argmin(self.prices(context)))

    def ladder(self, context: int) -> tuple[Rung, ...]:
        """Uniform guess, then count tables of longer and longer histories, as long as they help."""
        size, prices = len(self.vocabulary), self.prices(context)
        rungs = [Rung("uniform guess", log(size), lambda tokens: np.full(size, 1 / size))]  # noqa: ARG005
        for longest in range(self.best(context) + 1):
            rungs.append(Rung(NAMES[longest], float(prices[longest]), self._guess(context, longest)))
        begin, end = self.bounds(context)["train"]
        if end - begin <= BY_HEART:
            nats = by_heart(self.stream[begin : end + context], context)
            guess = self._guess(context, self.history)
            rungs.append(Rung("the training text by heart", nats, guess, reachable=False))
        return tuple(rungs)

    def _guess(self, context: int, longest: int) -> Callable[[IntArray], FloatArray]:
        return lambda tokens: self.counts(context).chances(np.asarray(tokens), longest)

    def _once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """What takes a while is worked out once per task; two tasks of the same settings may have different texts."""
        made: dict[tuple[Any, ...], T] = self.__dict__.setdefault("_made", {})
        if key not in made:
            made[key] = make()
        return made[key]


def by_heart(stream: IntArray, context: int) -> float:
    """The least loss on the training windows themselves: how often each token follows each beginning of a window."""
    windows = len(stream) - context
    number, nats = np.zeros(windows, dtype=np.int64), 0.0
    size = int(stream.max()) + 1
    for place in range(context):
        _, number = np.unique(number * size + stream[place : place + windows], return_inverse=True)
        _, pair = np.unique(number * size + stream[place + 1 : place + 1 + windows], return_inverse=True)
        share = np.bincount(pair)[pair] / np.bincount(number)[number]
        nats -= float(np.log(share).mean())
    return nats / context


@lru_cache(maxsize=4)
def _learnt(kind: str, text: str, entries: int | None) -> Tokenizer:
    found = tokenizers.find(kind)
    learnt = found.learn(text, found.entries if entries is None else entries)
    try:
        tokenizers.load(learnt.save(), "what it learns")
    except DamagedError as problem:
        raise CallError(f"no run could keep the tokenizer {kind!r} of this text: {problem}") from None
    return learnt


@lru_cache(maxsize=4)
def _stream(cutter: Tokenizer, text: str) -> IntArray:
    return cutter.read(text)


@contextmanager
def _blame_on(kept: Mapping[str, bytes] | None) -> Iterator[None]:
    """What is wrong with the text that a run keeps is damage, and nobody's call."""
    try:
        yield
    except CallError as problem:
        if kept is None:
            raise
        raise DamagedError(f"{TEXT} is not what this run was trained on: {problem}") from None


def _short(line: str, most: int = 24) -> str:
    """The beginning of a line, cut between words."""
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0]
