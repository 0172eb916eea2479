"""What all these drawings share: an axis over the life, curves with their spread, limits, keys."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from glassformer.analyses._result import Array, Labelled
from glassformer.analyses._uncertain import Uncertainty
from glassformer.figures import _draw

NARROW = 50  # ems under which charts stand one below the other
BAND = 0.16


def life(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, label: str = "step") -> None:
    """An x axis over the whole training, with the chosen step marked."""
    _draw.steps_axis(ax, label, seen.scale)
    if not label:
        ax.tick_params(labelbottom=False)
    sheet.mark_step(ax, seen.step)


def fitting(ax: Axes, sheet: _draw.Sheet) -> int:
    """How many numbers fit side by side."""
    wide = ax.get_window_extent().width / ax.figure.dpi / sheet.em
    return int(np.clip(wide / 5, 2, 8))


def curve(ax: Axes, lines: Labelled, colour: str, **more: Any) -> None:
    """A mean and, where there are many inputs, the band of eight in ten."""
    x = np.array(lines.axes[list(lines.axes)[-1]].values, dtype=float)
    if len(lines.values) > 1:
        ax.fill_between(x, lines.values[1], lines.values[2], color=colour, alpha=BAND, linewidth=0, zorder=1)
    ax.plot(x, lines.values[0], color=colour, marker="o" if len(x) == 1 else "", **({"zorder": 3} | more))


def level(ax: Axes, height: float, sheet: _draw.Sheet, floor: bool = False) -> None:
    """A horizontal line: the floor in thick dashes, any other limit in thin ones."""
    if np.isfinite(height):
        colour, width = (sheet.theme.ink, 1.1) if floor else (sheet.theme.rung, 0.6)
        ax.axhline(height, color=colour, linestyle="--", linewidth=width * sheet.size.line, zorder=2)


def reach(ax: Axes, *values: Array | float, zero: bool = True, close: bool = True, above: float = 0.06) -> None:
    """Limits of y around all finite values, from 0 if `zero`, unless far above it where a `close` look is allowed."""
    flat = np.concatenate([np.ravel(np.asarray(each, dtype=float)) for each in values])
    flat = flat[np.isfinite(flat)]
    low, high = (float(flat.min()), float(flat.max())) if len(flat) else (0.0, 1.0)
    low = min(low, 0.0) if zero and (low < 0.4 * high or not close) else low
    room = (high - low) or 1.0
    ax.set_ylim(low - (0.03 if zero and low == 0 else 0.06) * room, high + above * room)


def key(ax: Axes, *entries: tuple[str, str, str], loc: str = "best") -> None:
    """A small key inside a panel: (text, colour, line style) each."""
    handles = [Line2D([], [], color=colour, linestyle=style, label=text) for text, colour, style in entries]
    ax.legend(handles=handles, loc=loc, handlelength=1.8, labelspacing=0.25)


def last(lines: Labelled) -> float:
    return float(lines.values[0, -1])


def sound(lines: Labelled) -> bool:
    return bool(lines.values.size and np.isfinite(lines.values[0, -1]))
