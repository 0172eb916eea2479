"""Tiny Shakespeare: the next piece of a million characters of his plays."""

from dataclasses import dataclass
from functools import cached_property

from glassformer import corpora
from glassformer.tasks._text import Text

NAME = "tinyshakespeare"


@dataclass(frozen=True, kw_only=True)
class Shakespeare(Text):
    """1,115,394 characters. The text is not shipped: `glassformer data fetch tinyshakespeare`."""

    def original(self) -> bytes:
        """The text, verified by its checksum."""
        return corpora.read(NAME)

    @property
    def source(self) -> str:
        """Its name."""
        return NAME

    @cached_property
    def showcase(self) -> tuple[str, ...]:  # type: ignore[override]
        """Three speakers about to speak."""
        return ("MENENIUS:", "BRUTUS:", "CORIOLANUS:")
