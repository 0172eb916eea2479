"""What both encodings by pairs share: they are trained by the `tokenizers` library and kept as its own file."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from glassformer.tokenizers._tokenizer import IntArray, Tokenizer, stretches


class Trained(Tokenizer):
    """A tokenizer of the library's, with our names around it."""

    def __init__(self, trained: Any) -> None:
        self._trained = trained

    @classmethod
    def restore(cls, saved: Mapping[str, Any]) -> Self:
        """From the library's own JSON."""
        from tokenizers import Tokenizer as Library

        try:
            return cls(Library.from_str(saved["library"]))
        except Exception as problem:  # the library raises nothing narrower
            raise ValueError(str(problem)) from None

    def saved(self) -> dict[str, Any]:
        """The library's own JSON, as text: older runs keep it like this, with our name for the kind beside it."""
        return {"library": self._trained.to_str()}

    def save(self) -> bytes:
        """The library's own file: `tokenizers.Tokenizer.from_file` opens it."""
        data: bytes = self._trained.to_str().encode()
        return data

    def read(self, text: str) -> IntArray:
        """The pieces of a whole text, stretch by stretch."""
        return np.concatenate([self.encode(stretch) for stretch in stretches(text)])
