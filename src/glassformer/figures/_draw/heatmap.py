"""Heat maps: matrices in colours by meaning, their frames, hatches and colour bars."""

from collections.abc import Iterable, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes as Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colors import Normalize
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.path import Path

from glassformer.analyses._result import Array, Axis
from glassformer.figures import _style
from glassformer.figures._draw.axes import places
from glassformer.figures._draw.sheet import Sheet
from glassformer.figures._draw.text import text_width

CORNERS = (Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY)


def limits(kind: str, *values: Array) -> tuple[float, float]:
    """The limits of a map for all panels that are compared: fixed, or ±max |x|, or 0 to the largest."""
    fixed = _style.RANGES[kind]
    if fixed is not None:
        return fixed
    sizes = [float(np.nanmax(np.abs(each[np.isfinite(each)]))) for each in values if np.isfinite(each).any()]
    most = max(sizes, default=1.0) or 1.0
    return (-most, most) if kind == "signed" else (0.0, most)


def heat(
    ax: Axes,
    values: Array,
    *,
    kind: str,
    theme: _style.Theme,
    limit: tuple[float, float] | None = None,
    rows: Axis | Sequence[str] = (),
    columns: Axis | Sequence[str] = (),
    row_name: str = "",
    column_name: str = "",
    numbers: bool | None = None,
    digits: int = 2,
    masked: Array | None = None,
    equal: bool = False,
) -> AxesImage:
    """A matrix in colours by meaning: `kind` is signed, share, probability, entropy or error (see `_style.RANGES`).

    Numbers are written where there is room (or always, or never); `masked` cells are cross-hatched, NaN left empty.
    """
    values = np.asarray(values, dtype=float)
    low, high = limit or limits(kind, values)
    palette = _style.colormap(kind, theme.name)
    hidden = np.isnan(values) if masked is None else masked
    aspect = "equal" if equal else "auto"
    seen = np.ma.array(values, mask=hidden)
    image = ax.imshow(seen, cmap=palette, vmin=low, vmax=high, aspect=aspect, interpolation="none")
    if masked is not None and masked.any():
        hatch(ax, masked, theme)
    for side in ax.spines.values():
        side.set_visible(False)
    places(ax, rows, "y", name=row_name)
    places(ax, columns, "x", name=column_name)
    if numbers is None:
        numbers = numbers_fit(ax, np.where(hidden, 0, values), digits)
    if numbers:
        for (row, column), value in np.ndenumerate(values):
            if not hidden[row, column]:
                colour = palette((value - low) / ((high - low) or 1))
                ax.text(column, row, number(value, digits), ha="center", va="center", color=_style.on(colour),
                        fontsize=matplotlib.rcParams["font.size"], clip_on=True)  # fmt: skip
    return image


def numbers_fit(ax: Axes, values: Array, digits: int) -> bool:
    """Whether numbers with so many digits have room in the cells of a matrix."""
    box, points = ax.get_window_extent(), float(matplotlib.rcParams["font.size"])
    wide, high = (length / ax.figure.dpi for length in (box.width, box.height))
    need = max((text_width(number(value, digits), points) for value in np.ravel(values)[:200]), default=0)
    return bool(wide / max(values.shape[1], 1) > 1.25 * need and high / max(values.shape[0], 1) > 1.2 * points / 72)


def number(value: float, digits: int = 2) -> str:
    """A number as it is written in a cell, with a true minus sign and none before zero."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\u2212")


def hatch(ax: Axes, cells: Array, theme: _style.Theme, pattern: str = "xxxx") -> PathCollection:
    """Cross-hatch cells (row, column) that are not allowed; pale cells are merely zero."""
    boxes = [
        Path([(begin, row - 0.5), (end, row - 0.5), (end, row + 0.5), (begin, row + 0.5), (begin, row - 0.5)], CORNERS)
        for row, line in enumerate(cells)
        for begin, end in _stretches(line)
    ]  # one path for all of them: Matplotlib hatches path by path, which takes seconds for the cells of a long input
    whole = [Path.make_compound_path(*boxes)] if boxes else []
    made = PathCollection(whole, facecolor=theme.paper, edgecolor=theme.masked, hatch=pattern, linewidth=0)
    ax.add_collection(made, autolim=False)
    return made


def _stretches(line: Array) -> list[tuple[float, float]]:
    """Where the cells of a row that are chosen begin and end, neighbours together."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(line, dtype=int), [0]])))
    return [(begin - 0.5, end - 0.5) for begin, end in edges.reshape(-1, 2)]


def outline(ax: Axes, cells: Iterable[tuple[int, int]], colour: str, width: float = 1.6) -> None:
    """Frame cells (row, column) of a heat map."""
    line = width * float(matplotlib.rcParams["lines.linewidth"])
    for row, column in cells:
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=colour, linewidth=line, zorder=4))


def bar(
    sheet: Sheet,
    kind: str,
    limit: tuple[float, float],
    label: str,
    *,
    beside: Axes | Sequence[Axes],
    wide: float = 1.0,
    gap: float = 1.0,
    beyond: bool = False,
) -> Axes:
    """A colour bar that says what is coloured, to the right of some panels (which do not move: leave `right` ems).

    `beyond`: some values lie outside the limits; the bar ends in points.
    """
    panels = [beside] if isinstance(beside, Axes) else list(beside)
    rects = [sheet.rects[panel] for panel in panels]
    width, _ = sheet.inches
    x = max(rect[0] + rect[2] for rect in rects) + gap * sheet.em / width
    low, high = min(rect[1] for rect in rects), max(rect[1] + rect[3] for rect in rects)
    made = sheet.place((x, low, wide * sheet.em / width, high - low))
    made.set_label("<colorbar>")
    colours = ScalarMappable(Normalize(*limit), _style.colormap(kind, sheet.theme.name))
    shown_bar = sheet.figure.colorbar(colours, cax=made, label=label, extend="both" if beyond else "neither")
    shown_bar.outline.set_visible(False)
    shown_bar.locator = matplotlib.ticker.MaxNLocator(5, steps=[1, 2, 5, 10])  # 0.025 would need a digit more
    shown_bar.update_ticks()
    return made
