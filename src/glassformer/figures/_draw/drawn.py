"""What a figure shows, attached to it, and Matplotlib's defaults while it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.axes import Axes as Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import Result, Words
from glassformer.figures import _style

if TYPE_CHECKING:
    from glassformer.figures._draw.look import Look


@dataclass(frozen=True)
class Drawn:
    """What a figure shows: the numbers and the words. The gallery writes them beside it, tests compare them with it."""

    result: Result
    words: Words
    theme: str
    size: str
    options: dict[str, Any] = field(default_factory=dict)
    pages: int = 1  # that the figure has at this size

    @property
    def page(self) -> int:
        """Which of them this is, counted from 0."""
        return int(self.options.get("page", 0))


def drawn(draw: Callable[[Any, "Look"], Figure], seen: Result, look: "Look") -> Figure:
    """Draw a result with Matplotlib's defaults for its theme and size, and leave them as they were.

    The figure can be drawn again for another place: `figure.redrawn(size="print")`.
    """
    with matplotlib.rc_context(_style.rc(look.theme, look.size)):
        figure = draw(seen, look)
    setattr(figure, "redrawn", lambda **other: drawn(draw, seen, replace(look, **other)))  # noqa: B010
    return figure


def of(figure: Figure) -> Drawn:
    """What a figure shows."""
    return figure.glassformer
