"""Byte-pair encoding of bytes, white space included: every text comes back as it was."""

from functools import cached_property
from itertools import islice
from typing import Any, Self

import numpy as np

from glassformer.tokenizers._library import Trained
from glassformer.tokenizers._tokenizer import IntArray, sized, stretches

TOGETHER = 16  # stretches: what the library notes beside the ids is large
PLAIN = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes that the library writes as they are
OTHERS = sorted({*range(256)} - {*PLAIN})  # the others are written as the characters from 256 on
BYTES = {chr(byte): byte for byte in PLAIN} | {chr(256 + k): byte for k, byte in enumerate(OTHERS)}


class ByteBpe(Trained):
    """Lossless; no text holds anything it cannot write."""

    kind, lossless, entries = "byte_bpe", True, 512
    alphabet = frozenset(BYTES)

    def __init__(self, trained: Any) -> None:
        super().__init__(trained)
        self.vocabulary = tuple(_shown(piece) for piece in self._pieces)

    @staticmethod
    def build(**model: Any) -> Any:
        """Merges of bytes."""
        from tokenizers import Tokenizer as Library
        from tokenizers import decoders, models, pre_tokenizers

        library = Library(models.BPE(**model))
        library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        library.decoder = decoders.ByteLevel()
        return library

    @classmethod
    def learn(cls, text: str, entries: int | None) -> Self:
        """All 256 bytes, then the most frequent pairs, merged one after the other."""
        from tokenizers import trainers

        library, size = cls.build(), sized("byte_bpe", entries, 257)
        trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=list(BYTES), show_progress=False)
        library.train_from_iterator(stretches(text), trainer)
        return cls(library)

    def encode(self, text: str) -> IntArray:
        """The pieces of a text."""
        return np.array(self._trained.encode(text).ids, dtype=np.int32)

    def read(self, text: str) -> IntArray:
        """The same for a whole text: many stretches at a time, on all cores."""
        rest, found = stretches(text), []
        while some := list(islice(rest, TOGETHER)):
            found += [np.array(each.ids, dtype=np.int32) for each in self._trained.encode_batch_fast(some)]
        return np.concatenate(found)

    def decode(self, ids: IntArray) -> str:
        """Exactly the text, if the ids came from one; half a character is shown as �."""
        return b"".join(self._pieces[token] for token in np.asarray(ids)).decode("utf-8", errors="replace")

    @staticmethod
    def family(token: str) -> str:
        """Pieces that begin a word, pieces that go on, marks, white space, bytes that are no character."""
        if token.startswith("\\x"):
            return "byte"
        if token.isspace():
            return "space"
        if not any(character.isalnum() for character in token):
            return "punctuation"
        return "begins a word" if token[0].isspace() else "goes on"

    @cached_property
    def _pieces(self) -> list[bytes]:
        """The bytes of each token; the library writes each byte as one printable character."""
        tokens = (self._trained.id_to_token(token) for token in range(self._trained.get_vocab_size()))
        return [bytes(BYTES[character] for character in token) for token in tokens]


def _shown(piece: bytes) -> str:
    """A token as text; bytes that are no character by their number."""
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"\\x{byte:02x}" for byte in piece)
