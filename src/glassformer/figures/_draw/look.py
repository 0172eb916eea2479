"""How a figure is drawn: where, in which colours, how large, and which of its pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from glassformer.analyses._result import Result, Words
from glassformer.errors import CallError
from glassformer.figures._draw.sheet import Host, Sheet

T = TypeVar("T")


@dataclass(frozen=True)
class Look:
    """What every figure can be asked for beside its numbers; `options` are what the analysis was asked for."""

    ax: Host = None
    theme: str = "light"
    size: str = "screen"
    page: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def sheet(
        self, seen: Result, caption: str, shows: str = "", *, alt: str = "", title: str = "", height: float = 6.0,
        least: float = 60.0,
    ) -> Sheet:  # fmt: skip
        """A sheet for what was seen, with its title and clock; `title` where a page has a sentence of its own.

        The caption says how to read the picture, `shows` what is drawn, for readers who cannot see it; the title
        follows it there, unless `alt` is the whole text.
        """
        if "edited: " in seen.clock and "logged" in caption:
            caption += " The model is edited, so what would be logged was evaluated at saved steps instead."
        title = title or seen.title
        words = Words(title, caption, alt or f"{shows}. {title}.")
        made = Sheet(self.ax, self.theme, self.size, words, seen.clock, height, least)
        made.seen, made.page, made.options = seen, self.page, self.options
        return made


def paged(every: Sequence[T], most: int, page: int) -> tuple[list[T], int]:
    """The things on this page (counted from 0) when one has room for `most`, and how many pages there are."""
    pages = max(1, -(-len(every) // most))
    if not 0 <= page < pages:
        raise CallError(f"page = {page} is not between 0 and {pages - 1}" if pages > 1 else f"page = {page} is not 0")
    return list(every[page * most :][:most]), pages
