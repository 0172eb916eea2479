"""Every character is a token; ids in code-point order."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from glassformer.errors import CallError
from glassformer.tokenizers._tokenizer import IntArray, Tokenizer, check_tokens


class Characters(Tokenizer):
    """The simplest tokenizer, and a lossless one."""

    kind, lossless = "characters", True

    def __init__(self, characters: Sequence[str]) -> None:
        self.vocabulary = tuple(characters)
        self._codes = np.array([ord(character) for character in characters], dtype=np.int64)  # ascending

    @classmethod
    def learn(cls, text: str, entries: int | None) -> Self:
        """All characters of the text; there is no choice."""
        found = sorted(set(text))
        if entries is not None and entries < len(found):
            raise CallError(f"data.entries = {entries}, but the text has {len(found)} characters; leave it out")
        return cls(found)

    @classmethod
    def restore(cls, saved: Mapping[str, Any]) -> Self:
        """From the list of characters."""
        characters = saved["characters"]
        if not isinstance(characters, str) or list(characters) != sorted(set(characters)):
            raise ValueError("its characters are not in code-point order")
        check_tokens(characters)
        return cls(characters)

    def saved(self) -> dict[str, Any]:
        """The characters, one after the other."""
        return {"characters": "".join(self.vocabulary)}

    def encode(self, text: str) -> IntArray:
        """One id per character."""
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
        ids = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        unknown = np.flatnonzero(self._codes[ids] != codes)
        if len(unknown):
            place = int(unknown[0])
            raise CallError(
                f"character {text[place]!r} at position {place} is not in the vocabulary: "
                f"{''.join(self.vocabulary)!r:.300}"
            )
        return ids.astype(np.int32)

    def decode(self, ids: IntArray) -> str:
        """The characters, one after the other."""
        return "".join(self.vocabulary[token] for token in np.asarray(ids))

    @staticmethod
    def family(character: str) -> str:
        """Letters, digits, spaces, and the rest."""
        if character.isspace():
            return "space"
        if character.isalpha():
            return "letter"
        return "digit" if character.isdigit() else "punctuation"
