"""Byte-pair encoding inside words and runs of punctuation; white space is thrown away."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from glassformer.errors import CallError
from glassformer.tokenizers._library import Trained
from glassformer.tokenizers._tokenizer import IntArray, sized, stretches

SPECIAL = ("[PAD]", "[UNK]")  # neither ever occurs: all characters of the text are in the vocabulary


class Bpe(Trained):
    """The tokenizer of the published Shakespeare model: a text cannot be restored from its tokens."""

    kind, lossless, entries, special = "bpe", False, 500, SPECIAL

    def __init__(self, trained: Any) -> None:
        super().__init__(trained)
        size = trained.get_vocab_size()
        self.vocabulary = tuple(trained.id_to_token(token) for token in range(size))

    @staticmethod
    def build(**model: Any) -> Any:
        """Merges inside words and runs of punctuation."""
        from tokenizers import Tokenizer as Library
        from tokenizers import models, pre_tokenizers

        library = Library(models.BPE(unk_token=SPECIAL[1], **model))
        library.pre_tokenizer = pre_tokenizers.Whitespace()
        library.add_special_tokens(list(SPECIAL))
        return library

    @classmethod
    def learn(cls, text: str, entries: int | None) -> Self:
        """The most frequent pairs of the text, merged one after the other."""
        from tokenizers import trainers

        library, size = cls.build(), sized("bpe", entries, len(set(text)) + len(SPECIAL))
        library.train_from_iterator(
            stretches(text), trainers.BpeTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
        )
        return cls(library)

    def encode(self, text: str) -> IntArray:
        """The pieces of a text; a character that never occurred in training is refused."""
        found = self._trained.encode(text)
        if SPECIAL[1] in found.tokens:
            place = found.offsets[found.tokens.index(SPECIAL[1])][0]
            raise CallError(f"character {text[place]!r} at position {place} does not occur in the training text")
        return np.array(found.ids, dtype=np.int32)

    def decode(self, ids: IntArray) -> str:
        """The pieces with spaces between them: where words ended is not known."""
        return " ".join(self.vocabulary[token] for token in np.asarray(ids))

    def places(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Where each piece lies."""
        found = self._trained.encode(text)
        return ((token, *place) for token, place in zip(found.ids, found.offsets, strict=True))

    @staticmethod
    def family(token: str) -> str:
        """Single letters, longer pieces, marks, and the two that never occur."""
        if token in SPECIAL:
            return "special"
        if not any(character.isalnum() for character in token):
            return "punctuation"
        return "letter" if len(token) == 1 else "piece"
