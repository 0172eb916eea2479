"""What every tokenizer does: learn its vocabulary from a text, cut texts into ids, and put ids together again."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import CallError

IntArray = NDArray[np.integer[Any]]
CUT = re.compile(r"(?<=\S)(?= \S)")
MOST_ENTRIES = 65_536  # of a vocabulary
MOST_LENGTH = 100_000  # characters of one token


class Tokenizer(ABC):
    """A vocabulary, and the way between texts and ids."""

    kind: ClassVar[str]
    lossless: ClassVar[bool]  # whether decoding gives every text back exactly
    entries: ClassVar[int | None] = None  # the size of the vocabulary where it can be chosen and nobody chose
    vocabulary: tuple[str, ...]  # each token as it is shown; the id is the place

    @classmethod
    @abstractmethod
    def learn(cls, text: str, entries: int | None) -> Self:
        """The tokenizer of a text, with at most so many entries where that can be chosen."""

    @classmethod
    @abstractmethod
    def restore(cls, saved: Mapping[str, Any]) -> Self:
        """From what `saved` gave."""

    @abstractmethod
    def saved(self) -> dict[str, Any]:
        """All that is needed to make it again, as plain values."""

    @abstractmethod
    def encode(self, text: str) -> IntArray:
        """The ids of a text; what has no id is refused with its place."""

    def read(self, text: str) -> IntArray:
        """The ids of a whole training text."""
        return self.encode(text)

    @abstractmethod
    def decode(self, ids: IntArray) -> str:
        """The text of some ids."""

    def places(self, text: str) -> Iterator[tuple[int, int, int]]:
        """(id, begin, end): where each token lies in a text; asked only of tokenizers that lose white space."""
        raise NotImplementedError

    @staticmethod
    @abstractmethod
    def family(token: str) -> str:
        """The family of a token."""

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Ids by the family of their token, for markers and tables; families in order of first appearance."""
        found: dict[str, list[int]] = {}
        for token, word in enumerate(self.vocabulary):
            found.setdefault(self.family(word), []).append(token)
        return found

    def save(self) -> bytes:
        """As JSON."""
        return json.dumps({"kind": self.kind, **self.saved()}, ensure_ascii=False).encode()


def stretches(text: str, least: int = 100_000) -> Iterator[str]:
    """A text in stretches, so that a library need not hold all of it at once.

    Cuts lie before a single space between two words: there no tokenizer of ours joins anything.
    """
    begin = 0
    while (cut := CUT.search(text, begin + least)) is not None:
        yield text[begin : cut.start()]
        begin = cut.start()
    yield text[begin:]


def sized(kind: str, entries: int | None, least: int) -> int:
    """A vocabulary size that can hold at least what must be in it."""
    if entries is None or entries < least:
        raise CallError(f"data.entries = {entries} is too small for tokenizer {kind!r}; the least here is {least}")
    return entries


def check_tokens(tokens: Collection[Any]) -> None:
    """Check that a vocabulary is a set of texts of sane number and length; otherwise raise a ValueError."""
    if not 0 < len(tokens) <= MOST_ENTRIES:
        raise ValueError(f"it has {len(tokens):,} tokens, and there must be 1 to {MOST_ENTRIES:,}")
    if {*map(type, tokens)} != {str} or len(set(tokens)) < len(tokens):
        raise ValueError("its tokens are not distinct texts")
    lengths = {*map(len, tokens)}
    if min(lengths) == 0 or max(lengths) > MOST_LENGTH:
        raise ValueError(f"one of its tokens has {min(lengths) and max(lengths):,} characters")
