"""A lesson's Markdown as HTML that can only be read: nothing in it is run, loaded or led to."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from glassformer.words import shown

NUMBER = re.compile(r"[-−+]?\d[\d,.\u202f]*([ \u202f]?%)?")
SUM = re.compile(r'<p class="work"><code>[^<]*[=≈][^<]*</code></p>')
ALONE = re.compile(r"^<p>(<code>[^<]*</code>)</p>$", re.MULTILINE)


def text(markdown: str) -> str:
    """Paragraphs, lists, tables and code. A line of code that stands alone is arithmetic, and is set off."""
    return ALONE.sub(r'<p class="work">\1</p>', str(_reader().render(shown(markdown)))).strip()


def is_sum(html: str) -> bool:
    """Whether a text is such a line of arithmetic, and nothing else."""
    return SUM.fullmatch(html) is not None


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
    found.add_render_rule("th_close", _head_end)
    return found


def _nothing(*_: Any) -> str:
    return ""


def _cell(_: Any, tokens: Sequence[Token], place: int, *__: Any) -> str:
    """The beginning of a cell. Numbers, and what stands above them, stand to the right.

    They do so by a class: the page's policy refuses styles in texts.
    """
    below = place if tokens[place].tag == "td" else _below(tokens, place)
    number = NUMBER.fullmatch(tokens[below + 1].content.strip("`*"))
    tag = tokens[place].tag if tokens[place + 1].content else "td"  # a heading without words heads nothing
    return f'<{tag} class="number">' if number else f"<{tag}>"


def _head_end(_: Any, tokens: Sequence[Token], place: int, *__: Any) -> str:
    return "</th>\n" if tokens[place - 1].content else "</td>\n"


def _below(tokens: Sequence[Token], place: int) -> int:
    """The first cell under a heading, or the heading itself where there is none."""
    row = max(k for k in range(place) if tokens[k].type == "tr_open")
    column = sum(token.type == "th_open" for token in tokens[row:place])
    end = next(k for k in range(place, len(tokens)) if tokens[k].type == "table_close")
    cells = [k for k in range(place, end) if tokens[k].type == "td_open"]
    return cells[column] if column < len(cells) else place
