"""Lines of text: how wide they are, and where they break."""

import re
from functools import lru_cache

from matplotlib.axes import Axes as Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from glassformer.figures._draw.glyphs import FAMILY, drawable


def text_width(text: str, points: float) -> float:
    """Width of a line in inches, in the font of the figures."""
    return _width(text) * points / 72


@lru_cache(maxsize=8192)
def _width(text: str) -> float:
    """Width in ems: of several lines, that of the longest."""
    if "\n" in text:
        return max(map(_width, text.split("\n")))
    width, _, _ = text_to_path.get_text_width_height_descent(
        drawable(text) or " ", FontProperties(family=FAMILY, size=100), False
    )
    return float(width) / 100


def wrap(text: str, points: float, inches: float, first: float | None = None) -> list[str]:
    """A text as lines that fit a width, about equally long; a word that is too long stays whole.

    `first`: the width of the first line, where it has less room than the others.
    """
    lines = _filled(text, points, inches, first)
    low, high = 0.5 * inches, inches
    while len(lines) > 1 and high - low > 0.02 * inches:  # the narrowest column that needs no more lines
        middle = (low + high) / 2
        if len(_filled(text, points, middle, first)) > len(lines):
            low = middle
        else:
            high = middle
    return _filled(text, points, high, first)


def _filled(text: str, points: float, inches: float, first: float | None = None) -> list[str]:
    lines: list[str] = []
    for word in re.split(r" (?![%×]|· 10|10[⁻⁰-⁹¹²³])", text):  # percent, times and powers stay with their number
        room = min(inches, first) if first is not None and len(lines) == 1 else inches
        if lines and _fits(f"{lines[-1]} {word}", points, room):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [line.strip() for line in lines]


def _fits(line: str, points: float, room: float) -> bool:
    """Whether a line is no wider than this; measured as a whole only where the sum of its words is near it."""
    sum_of_words = sum(text_width(word, points) for word in line.split(" ")) + 0.32 * line.count(" ") * points / 72
    near = (0.01 * len(line) + 0.5) * points / 72
    if abs(sum_of_words - room) > near:
        return sum_of_words < room
    return text_width(line, points) <= room
