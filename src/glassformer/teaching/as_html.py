"""A lesson's Markdown as HTML that can only be read: nothing in it is run, loaded or led to."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from glassformer.words import shown

NUMBER = re.compile(r"[-−+]?\d[\d,.\u202f]*([ \u202f]?%)?")
ALONE = re.compile(r"^<p>(<code>[^<]*</code>)</p>$", re.MULTILINE)


def text(markdown: str) -> str:
    """Paragraphs, lists, tables and code. A line of code that stands alone is arithmetic, and is set off."""
    return ALONE.sub(r'<p class="work">\1</p>', str(_reader().render(shown(markdown)))).strip()


def line(markdown: str) -> str:
    """The same of a text without paragraphs."""
    return str(_reader().renderInline(shown(markdown))).strip()


@cache
def _reader() -> MarkdownIt:
    """HTML in a text stays text; a link keeps its words alone, as a file that travels has nothing beside it."""
    found = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_block", "html_inline"])
    for mark in ("link_open", "link_close"):
        found.add_render_rule(mark, _nothing)
    for mark in ("th_open", "td_open"):
        found.add_render_rule(mark, _cell)
    return found


def _nothing(*_: Any) -> str:
    return ""


def _cell(_: Any, tokens: Sequence[Token], place: int, *__: Any) -> str:
    """The beginning of a cell: numbers stand to the right, by a class, as the page's policy refuses styles in texts."""
    number = NUMBER.fullmatch(tokens[place + 1].content.strip("`*"))
    return f'<{tokens[place].tag} class="number">' if number else f"<{tokens[place].tag}>"
