"""A lesson's Markdown as HTML: what is foreign in it means nothing but itself."""

from functools import cache
from typing import TYPE_CHECKING

from glassformer.words import shown

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


@cache
def _reader() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.disable(["link", "image", "autolink", "html_inline", "html_block"])  # a file leads nowhere outside itself
    return made


def html(text: str) -> str:
    """A text of several paragraphs, lists and tables."""
    return str(_reader().render(shown(text))).strip()


def inline(text: str) -> str:
    """A single line: emphasis and code, no paragraph around it."""
    return str(_reader().renderInline(shown(text)))
