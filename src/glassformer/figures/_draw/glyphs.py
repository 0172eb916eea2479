"""Any text as the figures can draw it: nothing in it is obeyed, and every letter that the font lacks has a stand-in."""

import re
from functools import cache, lru_cache
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.font_manager import FontProperties, findfont, get_font

from glassformer.words import shown

FAMILY = ["DejaVu Sans"]  # comes with Matplotlib, so that a figure looks the same everywhere
TAB = "⇥"
NO_LETTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")  # code points that no file of XML may hold


def visible(text: str) -> str:
    r"""Controls and marks that turn the direction of writing as \uXXXX; letters as they are, whoever draws them."""
    if text.isascii() and text.isprintable():
        return text
    return NO_LETTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", shown(text)).replace("\t", TAB)


@lru_cache(maxsize=8192)
def drawable(text: str) -> str:
    """The same, and letters that our font lacks by their number: U+1F680."""
    known = letters()
    return "".join(letter if letter == "\n" or ord(letter) in known else _code(letter) for letter in visible(text))


@cache
def letters() -> frozenset[int]:
    """The code points that our font can draw."""
    return frozenset(get_font(findfont(FontProperties(family=FAMILY))).get_charmap())


def _code(letter: str) -> str:
    return f"U+{ord(letter):04X}"


class Legible:
    """A renderer that draws and measures texts as `drawable` has them."""

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        """As Matplotlib measures it."""
        return super().get_text_width_height_descent(drawable(s), prop, ismath)  # type: ignore[misc]

    def draw_text(self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False,
                  mtext: Any = None) -> None:  # fmt: skip
        """As Matplotlib draws it."""
        super().draw_text(gc, x, y, drawable(s), prop, angle, ismath, mtext)  # type: ignore[misc]


class LegibleAgg(Legible, RendererAgg):  # type: ignore[misc]
    """Pixels."""


class Canvas(FigureCanvasAgg):  # type: ignore[misc]
    """What a new figure is measured and shown on; files have their own."""

    renderer: LegibleAgg | None = None

    def get_renderer(self) -> LegibleAgg:
        """The same one as long as the size is the same."""
        wide, high = self.get_width_height(physical=True)
        found = self.renderer
        if found is None or (found.width, found.height, found.dpi) != (wide, high, self.figure.dpi):
            found = self.renderer = LegibleAgg(wide, high, self.figure.dpi)
        return found


def legible(host: Any) -> bool:
    """Whether a figure, or the one that something is part of, is ours; another is drawn as Matplotlib draws."""
    return isinstance(host.get_figure(root=True).canvas, Canvas)
