"""Neurons as circles and weights as edges, on a page measured in ems."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle

from glassformer.figures import _draw, _style

RADIUS = 2.6  # ems of a neuron
LINE = 1.25  # ems from one line of text to the next


def node(
    ax: Axes,
    at: tuple[float, float],
    lines: Sequence[str],
    sheet: _draw.Sheet,
    *,
    off: bool = False,
    given: bool = False,
) -> None:
    """A neuron with its numbers inside; hatched where it is off, thin where it is only an input."""
    t = sheet.theme
    ax.add_patch(
        Circle(
            at,
            RADIUS,
            facecolor=t.paper,
            edgecolor=t.masked if off else t.ink,
            hatch="////" if off else None,
            linewidth=sheet.size.line * (0.6 if given else 1),
            zorder=3,
        )
    )
    behind = {"facecolor": t.paper, "edgecolor": "none", "pad": 0.6} if off else None
    for k, line in enumerate(lines):
        y = at[1] + (k - (len(lines) - 1) / 2) * LINE
        ax.text(at[0], y, line, ha="center", va="center", zorder=4, bbox=behind, parse_math=False)


def edge(
    ax: Axes,
    begin: tuple[float, float],
    end: tuple[float, float],
    weight: float,
    text: str,
    sheet: _draw.Sheet,
    *,
    largest: float,
    along: float = 0.42,
) -> None:
    """A weight from one neuron to the next: width by size, colour and dashes by sign, its words on the line."""
    a, b = np.array(begin), np.array(end)
    away = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)
    a, b = a + RADIUS * away, b - RADIUS * away
    wide = sheet.size.line * (0.4 + 2.6 * abs(weight) / max(largest, 1e-9))
    ax.plot(*zip(a, b, strict=True), color=sign(sheet.theme, weight), linewidth=wide, zorder=1,
            linestyle="-" if weight >= 0 else (0, (2, 1)))  # fmt: skip
    x, y = a + along * (b - a)
    paper = {"facecolor": sheet.theme.paper, "edgecolor": "none", "pad": 1.2}
    ax.text(x, y, text, ha="center", va="center", bbox=paper, zorder=2, parse_math=False)


def sign(theme: _style.Theme, weight: float) -> Any:
    """The colour of a positive or a negative number."""
    return _style.colormap("signed", theme.name)(0.88 if weight >= 0 else 0.12)


def column(count: int, x: float, middle: float, room: float) -> list[tuple[float, float]]:
    """So many neurons above each other, around the middle, as far apart as there is room."""
    apart = min(6.5 * RADIUS, (room - 2 * RADIUS - 3) / max(count - 1, 1))  # a bias may stand under the lowest
    return [(x, middle + (k - (count - 1) / 2) * apart) for k in range(count)]


def framed(ax: Axes, x: float, y: float, wide: float, high: float, colour: Any, line: float) -> None:
    """A box around a point."""
    ax.add_patch(Rectangle((x - wide / 2, y - high / 2), wide, high, fill=False, edgecolor=colour, linewidth=line))
