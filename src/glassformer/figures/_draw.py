"""The shared parts of all figures: a sheet with fixed margins, heat maps, planes, labels, verdicts, legends, files."""

import csv
import io
import json
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias

import matplotlib
import numpy as np
from matplotlib.axes import Axes as Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PatchCollection, PathCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter

from glassformer import __version__, storage
from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._plane import PairPlane, Plane
from glassformer.analyses._result import Array, Result, Words, thousands
from glassformer.figures import _style

Host: TypeAlias = Figure | SubFigure | Axes | None
P = ParamSpec("P")

MOST_ROWS = 200_000  # numbers beyond this go to an .npz instead of a .csv
MOST_NAMED = 100  # labels of an axis repeated in a .json; the .csv has them all
MOST_LABELS = 32  # places along an axis; beyond, every n-th is labelled


@dataclass(frozen=True)
class Drawn:
    """What a figure shows: the numbers and the words. The gallery writes them beside it, tests compare them with it."""

    result: Result
    words: Words
    theme: str
    size: str
    options: dict[str, Any] = field(default_factory=dict)


def drawing(plot: Callable[P, Figure]) -> Callable[P, Figure]:
    """Run a figure's function with Matplotlib's defaults for its theme and size, and leave them as they were."""
    names = signature(plot)

    @wraps(plot)
    def within(*args: P.args, **kwargs: P.kwargs) -> Figure:
        given = names.bind(*args, **kwargs)
        given.apply_defaults()
        with matplotlib.rc_context(_style.rc(given.arguments["theme"], given.arguments["size"])):
            return plot(*args, **kwargs)

    return within


def of(figure: Figure) -> Drawn:
    """What a figure shows."""
    found: Drawn = figure.glassformer
    return found


# ---- the sheet -------------------------------------------------------------------------------------------------------


class Sheet:
    """A page for one figure: title and clock at the top, panels below, all margins in ems, the size of the text.

    It draws on a new figure, or inside the Figure, SubFigure or Axes that was given.
    """

    foot = 0.0  # ems kept free at the bottom

    def __init__(self, ax: Host, theme: str, size: str, words: Words, clock: str = "", height: float = 6.0) -> None:
        self.theme, self.size, self.words = _style.theme(theme), _style.size(size), words
        self.host: Figure | SubFigure | Axes = self._new(height) if ax is None else ax
        self.figure: Figure = self.host if isinstance(self.host, Figure) else self.host.get_figure(root=True)
        self.rects: dict[Axes, tuple[float, float, float, float]] = {}  # where each panel lies, as shares of the sheet
        if isinstance(self.host, (Figure, SubFigure)):
            self.host.set_facecolor(self.theme.paper)
        else:
            self.host.set_axis_off()
            paper = Rectangle((0, 0), 1, 1, transform=self.host.transAxes, facecolor=self.theme.paper, zorder=-10)
            self.host.add_patch(paper)
        self._top = self._title(words.title, clock)

    @property
    def em(self) -> float:
        """The size of the text in inches."""
        return self.size.text / 72

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height of what is drawn on."""
        if isinstance(self.host, Figure):
            width, height = self.host.get_size_inches()
            return float(width), float(height)
        box = self.host.get_window_extent() if isinstance(self.host, Axes) else self.host.bbox
        return float(box.width / self.figure.dpi), float(box.height / self.figure.dpi)

    @property
    def room(self) -> tuple[float, float]:
        """Width and height under the title, in ems."""
        width, height = self.inches
        return width / self.em, height / self.em - self._top - self.foot

    def panels(
        self,
        rows: int = 1,
        columns: int = 1,
        *,
        widths: Sequence[float] | None = None,
        heights: Sequence[float] | None = None,
        left: float = 5.0,
        right: float = 1.5,
        bottom: float = 3.6,
        top: float = 2.0,
        gap: float | tuple[float, float] = (4.5, 4.5),
        within: tuple[float, float, float, float] = (0, 0, 1, 1),
        square: bool = False,
    ) -> Array:
        """(rows, columns) of axes. Margins and gaps (between columns, between rows) in ems; `top` is below the title.

        `within` is the part of the sheet under the title to fill, as (left, bottom, right, top) shares.
        `square` shrinks the panels to equal sides, kept at the left and top of their place.
        """
        across, down = gap if isinstance(gap, tuple) else (gap, gap)
        room_x, room_y = self.room
        x0, x1 = within[0] * room_x, within[2] * room_x
        y0, y1 = self.foot + within[1] * room_y, self.foot + within[3] * room_y
        wide = np.asarray(widths if widths is not None else [1.0] * columns, dtype=float)
        high = np.asarray(heights if heights is not None else [1.0] * rows, dtype=float)
        space_x = max(x1 - x0 - left - right - across * (columns - 1), columns * 0.5)
        space_y = max(y1 - y0 - bottom - top - down * (rows - 1), rows * 0.5)
        each_x, each_y = space_x * wide / wide.sum(), space_y * high / high.sum()
        if square:
            side = min(float(each_x.min()), float(each_y.min()))
            each_x, each_y = np.full(columns, side), np.full(rows, side)
        whole_x, whole_y = room_x, room_y + self._top + self.foot
        found = np.empty((rows, columns), dtype=object)
        for row in range(rows):
            for column in range(columns):
                begin = x0 + left + each_x[:column].sum() + across * column
                end = y1 - top - each_y[: row + 1].sum() - down * row
                found[row, column] = self.place(
                    (begin / whole_x, end / whole_y, each_x[column] / whole_x, each_y[row] / whole_y),
                )
        return found

    def beside(self, panel: Axes, *, begin: float, end: float = 1.0, left: float = 5.0, right: float = 1.5) -> Axes:
        """A further panel at the height of another, from `begin` to `end` (shares of the sheet); margins in ems."""
        _, y, _, height = self.rects[panel]
        em = self.em / self.inches[0]
        return self.place((begin + left * em, y, end - begin - (left + right) * em, height))

    def place(self, rect: tuple[float, float, float, float]) -> Axes:
        """A panel at (left, bottom, width, height), in shares of the sheet; `rects[panel]` tells it for any panel."""
        made: Axes = self.host.inset_axes(rect) if isinstance(self.host, Axes) else self.host.add_axes(rect)
        self.rects[made] = rect
        return made

    def legend(
        self, entries: Iterable[Any], *, x: float = 1.0, y: float = 0.0, columns: int = 8, loc: str = ""
    ) -> Legend:
        """A key of meanings: see `handle` for what an entry may be. By default at the bottom right of the sheet."""
        handles = [each if isinstance(each, (Line2D, Patch)) else handle(each, self.theme) for each in entries]
        inside = self.host
        where = loc or f"{'lower' if y < 0.5 else 'upper'} {'left' if x < 0.34 else 'right' if x > 0.66 else 'center'}"
        transform = inside.transAxes if isinstance(inside, Axes) else inside.transSubfigure
        made: Legend = inside.legend(
            handles=handles, loc=where, bbox_to_anchor=(x, y), bbox_transform=transform, ncols=columns,
            columnspacing=1.4, handletextpad=0.5, borderaxespad=0.4,
        )  # fmt: skip
        for text in made.get_texts():
            text.set_parse_math(False)
        return made

    def note(self, text: str, *, x: float = 0.0, y: float = 0.0, **more: Any) -> Text:
        """A small line at the foot of the sheet (x, y as shares of it)."""
        inset = 0.8 * self.em / self.inches[0]
        more = {"color": self.theme.quiet, "ha": "left", "va": "bottom"} | more
        return self._text(x + (inset if x < 0.5 else -inset), y + 0.4 * self.em / self.inches[1], text, **more)

    def done(self, result: Result, **options: Any) -> Figure:
        """The figure, with what it shows attached to it; `options` are what the caller chose, for the .json."""
        setattr(self.figure, "glassformer", Drawn(result, self.words, self.theme.name, self.size.name, options))  # noqa: B010
        return self.figure

    def _new(self, height: float) -> Figure:
        s = self.size
        figure = Figure(figsize=(s.width, s.fixed or min(height * s.tall, s.most)), dpi=s.dpi, layout=None)
        FigureCanvasAgg(figure)
        return figure

    def _text(self, x: float, y: float, text: str, **more: Any) -> Text:
        if isinstance(self.host, Axes):
            return self.host.text(x, y, text, transform=self.host.transAxes, **more)
        return self.host.text(x, y, text, **more)

    def _title(self, title: str, clock: str) -> float:
        """Write title and clock; how many ems they take from the top."""
        s, (width, height) = self.size, self.inches
        edge = 0.8 * self.em
        room = width - 2 * edge
        beside = clock and text_width(clock, s.text) + 2 * self.em
        own_line = beside and beside > 0.4 * room
        lines = wrap(title, s.title, room - (0 if own_line else beside or 0))
        line = s.title * 1.25 / 72
        y = 1 - 0.7 * self.em / height
        self._text(edge / width, y, "\n".join(lines), fontsize=s.title, va="top", ha="left", linespacing=1.2,
                   gid="title", color=self.theme.ink)  # fmt: skip
        used = len(lines) * line
        if clock:
            at = y - (used + 0.2 * self.em) / height if own_line else y - 0.12 * self.em / height
            self._clock(1 - edge / width, at, clock)
            used += 1.5 * self.em if own_line else 0
        return used / self.em + 0.9

    def _clock(self, x: float, y: float, clock: str) -> None:
        self._text(x, y, clock, va="top", ha="right", color=self.theme.quiet, gid="clock")


def text_width(text: str, points: float) -> float:
    """Width of a line in inches, in the font of the figures."""
    return _width(text) * points / 72


@lru_cache(maxsize=8192)
def _width(text: str) -> float:
    """Width of a line in ems."""
    width, _, _ = text_to_path.get_text_width_height_descent(
        text or " ", FontProperties(family=["DejaVu Sans"], size=100), False
    )
    return float(width) / 100


def wrap(text: str, points: float, inches: float) -> list[str]:
    """A text as lines that fit a width, about equally long; a word that is too long stays whole."""
    lines = _filled(text, points, inches)
    low, high = 0.5 * inches, inches
    while len(lines) > 1 and high - low > 0.02 * inches:  # the narrowest column that needs no more lines
        middle = (low + high) / 2
        if len(_filled(text, points, middle)) > len(lines):
            low = middle
        else:
            high = middle
    return _filled(text, points, high)


def _filled(text: str, points: float, inches: float) -> list[str]:
    lines: list[str] = []
    for word in re.split(r" (?!%)", text):  # a percent sign stays with its number
        if lines and text_width(f"{lines[-1]} {word}", points) <= inches:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


# ---- axes ------------------------------------------------------------------------------------------------------------


def heading(ax: Axes, text: str) -> None:
    """A panel's title, wrapped to its width."""
    size = float(matplotlib.rcParams["axes.titlesize"])
    ax.set_title("\n".join(wrap(text, size, ax.get_window_extent().width / ax.figure.dpi)), parse_math=False)


def steps_axis(ax: Axes, label: str = "step") -> None:
    """An x axis of training steps: 5 000, never 5e3."""
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: thousands(round(value)) if value == round(value) else "")
    )
    ax.set_xlabel(label)


def places(ax: Axes, labels: Sequence[str], which: str, *, most: int = MOST_LABELS, name: str = "") -> None:
    """Labels along a heat map's axis (`which` is x or y), drawn as tokens; beyond `most` places every n-th."""
    shown_labels, every = drawn(labels), max(1, -(-len(labels) // most))
    ticks = list(range(0, len(labels), every))
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(ticks, [shown_labels[tick] for tick in ticks])
    for text in axis.get_ticklabels():
        text.set_parse_math(False)
    axis.set_tick_params(length=0)
    if which == "x" and _crowded(ax, [shown_labels[tick] for tick in ticks]):
        for text in axis.get_ticklabels():
            text.set_rotation(90)
    if name:
        (ax.set_xlabel if which == "x" else ax.set_ylabel)(name)


def _crowded(ax: Axes, labels: Sequence[str]) -> bool:
    widest = max((text_width(label, matplotlib.rcParams["font.size"]) for label in labels), default=0)
    return bool(widest > 0.95 * ax.get_window_extent().width / ax.figure.dpi / max(len(labels), 1))


def beside(ax: Axes, names: Sequence[tuple[float, str, str]], most: float = 14.0) -> None:
    """Direct labels to the right of a chart: (height in data, text, colour) each, wrapped at `most` ems, apart.

    A label that had to move is joined to its height by a thin line.
    """
    size = float(matplotlib.rcParams["font.size"])
    dot = size * ax.figure.dpi / 72
    box = ax.get_window_extent()
    texts = [wrap(text, size, most * size / 72) for _, text, _ in names]
    wanted = [float(np.clip(ax.transData.transform((0, height))[1], box.y0, box.y1)) for height, _, _ in names]
    half = [0.62 * dot * len(lines) for lines in texts]
    order = sorted(range(len(names)), key=lambda k: wanted[k])
    at = _apart([wanted[k] for k in order], [half[k] for k in order], box.y0 - dot, box.y1 + dot)
    for k, y in zip(order, at, strict=True):
        real = ax.transAxes.inverted().transform((box.x1, wanted[k]))[1]
        moved = ax.transAxes.inverted().transform((box.x1, y))[1]
        gap = 1.6 * dot / max(box.width, 1)
        thin = 0.4 * float(matplotlib.rcParams["lines.linewidth"])
        ends = [1 + 0.15 * gap, 1 + 0.85 * gap]
        ax.plot(ends, [real, moved], transform=ax.transAxes, color=names[k][2], clip_on=False, linewidth=thin)
        ax.text(1 + gap, moved, "\n".join(texts[k]), transform=ax.transAxes, va="center", ha="left", color=names[k][2],
                linespacing=1.15, parse_math=False)  # fmt: skip


def _apart(wanted: Sequence[float], half: Sequence[float], low: float, high: float) -> list[float]:
    """Heights near the wanted ones (which rise) at which boxes of these half heights do not overlap."""
    at = list(wanted)
    for _ in range(200):
        moved = False
        for k in range(len(at) - 1):
            over = half[k] + half[k + 1] - (at[k + 1] - at[k])
            if over > 0.01:
                at[k], at[k + 1], moved = at[k] - over / 2, at[k + 1] + over / 2, True
        at = [float(np.clip(y, low + h, max(high - h, low + h))) for y, h in zip(at, half, strict=True)]
        if not moved:
            break
    return at


def bare(ax: Axes) -> None:
    """No ticks, no frame."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


# ---- heat maps -------------------------------------------------------------------------------------------------------


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
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
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
    places(ax, rows, "y", name=row_name) if len(rows) else ax.set_yticks([])
    places(ax, columns, "x", name=column_name) if len(columns) else ax.set_xticks([])
    if numbers is None:
        numbers = _numbers_fit(ax, values, digits)
    if numbers:
        for (row, column), value in np.ndenumerate(values):
            if not hidden[row, column]:
                colour = palette((value - low) / ((high - low) or 1))
                ax.text(column, row, number(value, digits), ha="center", va="center", color=_style.on(colour),
                        fontsize=matplotlib.rcParams["font.size"], clip_on=True)  # fmt: skip
    return image


def _numbers_fit(ax: Axes, values: Array, digits: int) -> bool:
    box, points = ax.get_window_extent(), float(matplotlib.rcParams["font.size"])
    wide, high = (length / ax.figure.dpi for length in (box.width, box.height))
    need = max((text_width(number(value, digits), points) for value in np.ravel(values)[:200]), default=0)
    return bool(wide / max(values.shape[1], 1) > 1.1 * need and high / max(values.shape[0], 1) > 1.2 * points / 72)


def number(value: float, digits: int = 2) -> str:
    """A number as it is written in a cell, with a true minus sign and none before zero."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\u2212")


def hatch(ax: Axes, cells: Array, theme: _style.Theme, pattern: str = "xxxx") -> PatchCollection:
    """Cross-hatch cells (row, column) that are not allowed; pale cells are merely zero."""
    boxes = [Rectangle((column - 0.5, row - 0.5), 1, 1) for row, column in np.argwhere(cells)]
    made = PatchCollection(boxes, facecolor=theme.paper, edgecolor=theme.masked, hatch=pattern, linewidth=0)
    ax.add_collection(made, autolim=False)
    return made


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
) -> Axes:
    """A colour bar that says what is coloured, to the right of some panels (which do not move: leave `right` ems)."""
    panels = [beside] if isinstance(beside, Axes) else list(beside)
    rects = [sheet.rects[panel] for panel in panels]
    width, _ = sheet.inches
    x = max(rect[0] + rect[2] for rect in rects) + gap * sheet.em / width
    low, high = min(rect[1] for rect in rects), max(rect[1] + rect[3] for rect in rects)
    made = sheet.place((x, low, wide * sheet.em / width, high - low))
    made.set_label("<colorbar>")
    colours = ScalarMappable(Normalize(*limit), _style.colormap(kind, sheet.theme.name))
    shown_bar = sheet.figure.colorbar(colours, cax=made, label=label)
    shown_bar.outline.set_visible(False)
    shown_bar.locator = matplotlib.ticker.MaxNLocator(5)
    shown_bar.update_ticks()
    return made


# ---- planes ----------------------------------------------------------------------------------------------------------


def plane_axes(
    ax: Axes,
    plane: Plane | PairPlane | None,
    points: Array,
    *,
    theme: _style.Theme,
    margin: float = 0.08,
    names: bool = True,
    origin: bool = True,
) -> None:
    """Make axes a plane: equal aspect, limits around the points (..., 2), marked origin, axis names from the plane."""
    frame(ax, points if not origin else np.vstack([np.reshape(points, (-1, 2)), _zero(plane)]), margin)
    if origin:
        x, y = _zero(plane)
        ax.axhline(y, color=theme.faint, linewidth=0.6 * matplotlib.rcParams["axes.linewidth"], zorder=0)
        ax.axvline(x, color=theme.faint, linewidth=0.6 * matplotlib.rcParams["axes.linewidth"], zorder=0)
        ax.plot(
            [x], [y], marker="+", color=theme.quiet, markersize=matplotlib.rcParams["font.size"], zorder=1, gid="origin"
        )
    if plane is not None and names:
        ax.set_xlabel(plane.labels[0])
        ax.set_ylabel(plane.labels[1])
    box, em = ax.get_window_extent(), matplotlib.rcParams["font.size"] * ax.get_figure(root=True).dpi / 72
    across, up = (int(np.clip(length / (share * em), 2, 5)) for length, share in ((box.width, 4.5), (box.height, 2.5)))
    ax.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(across))  # as many numbers as fit side by side
    ax.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(up))


def _zero(plane: Plane | PairPlane | None) -> Array:
    return plane.zero if isinstance(plane, Plane) else np.zeros(2)


def frame(ax: Axes, points: Array, margin: float = 0.08) -> None:
    """Limits around points (..., 2) with both axes to the same scale, filling the panel as it is."""
    flat = np.reshape(points, (-1, 2))
    flat = flat[np.isfinite(flat).all(axis=1)]
    low, high = (flat.min(axis=0), flat.max(axis=0)) if len(flat) else (np.zeros(2), np.ones(2))
    centre, reach = (low + high) / 2, np.maximum((high - low) * (0.5 + margin), 1e-9)
    if not reach.max() > 1e-8:
        reach = np.ones(2)
    box = ax.get_window_extent()
    shape = np.array([box.width, box.height]) / max(box.height, 1e-9)
    scale = float(np.max(reach / shape))
    ax.set_xlim(centre[0] - scale * shape[0], centre[0] + scale * shape[0])
    ax.set_ylim(centre[1] - scale * shape[1], centre[1] + scale * shape[1])
    ax.set_aspect("equal", adjustable="box")


def dots(
    ax: Axes,
    points: Array,
    *,
    colour: Any,
    marker: str = "o",
    scale: float = 1.0,
    alpha: Any = 1.0,
    zorder: float = 2,
    **more: Any,
) -> PathCollection:
    """Points (n, 2); `scale` 1 is a marker of about half the text's height; `alpha` may be one number per point."""
    flat = np.reshape(points, (-1, 2))
    more = {"linewidths": 0, "s": (0.5 * float(matplotlib.rcParams["font.size"]) * scale) ** 2} | more
    faded = np.clip(np.nan_to_num(alpha), 0, 1)
    return ax.scatter(flat[:, 0], flat[:, 1], c=colour, marker=marker, alpha=faded if np.ndim(alpha) else float(faded),
                      zorder=zorder, **more)  # fmt: skip


CENTRE = ((0.0, 0.0),)
AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8))


def labels(
    ax: Axes,
    points: Array,
    texts: Sequence[str],
    *,
    colours: Any,
    first: Sequence[int] | None = None,
    around: bool = True,
    keep_clear: Array | None = None,
    scale: float = 1.0,
    most: int = 10_000,
    zorder: float = 5,
) -> list[int]:
    """Write labels beside points (n, 2), or on them (`around=False`), and leave out those that would cover another.

    `first`: order of importance (indices; those not named come after). `keep_clear`: other points not to cover.
    The indices that were written come back, so that the rest can be counted or shown as dots.
    """
    flat = np.reshape(points, (-1, 2))
    at = ax.transData.transform(flat)
    size = float(matplotlib.rcParams["font.size"]) * scale
    dot = size * ax.figure.dpi / 72
    box = ax.get_window_extent()
    clear = (
        ax.transData.transform(np.reshape(keep_clear, (-1, 2))) if keep_clear is not None else at if around else at[:0]
    )
    order = list(dict.fromkeys([*(first or ()), *range(len(flat))]))
    taken: list[tuple[float, float, float, float]] = []
    written: list[int] = []
    one = isinstance(colours, str) or (
        isinstance(colours, tuple) and len(colours) in (3, 4) and not isinstance(colours[0], str)
    )
    for index in order:
        if len(written) >= most or not np.isfinite(at[index]).all():
            continue
        half_w, half_h = text_width(texts[index], size) * ax.figure.dpi / 2 + 0.08 * dot, 0.52 * dot
        for dx, dy in AROUND if around else CENTRE:
            x = at[index, 0] + dx * (half_w + 0.4 * dot)
            y = at[index, 1] + dy * (half_h + 0.35 * dot)
            if not (box.x0 <= x - half_w and x + half_w <= box.x1 and box.y0 <= y - half_h and y + half_h <= box.y1):
                continue
            spot = (x - half_w, y - half_h, x + half_w, y + half_h)
            if taken and _hits(spot, np.array(taken)):
                continue
            if len(clear) and _covers(spot, clear, index if keep_clear is None else -1):
                continue
            taken.append(spot)
            written.append(index)
            where = ax.transData.inverted().transform((x, y))
            ax.text(where[0], where[1], texts[index], color=colours if one else colours[index], fontsize=size,
                    ha="center", va="center", zorder=zorder, parse_math=False, clip_on=True)  # fmt: skip
            break
    return written


def _hits(spot: tuple[float, float, float, float], taken: Array) -> bool:
    x0, y0, x1, y1 = spot
    return bool(((taken[:, 0] < x1) & (taken[:, 2] > x0) & (taken[:, 1] < y1) & (taken[:, 3] > y0)).any())


def _covers(spot: tuple[float, float, float, float], points: Array, own: int) -> bool:
    x0, y0, x1, y1 = spot
    inside = (points[:, 0] > x0) & (points[:, 0] < x1) & (points[:, 1] > y0) & (points[:, 1] < y1)
    if own >= 0:
        inside[own] = False
    return bool(inside.any())


def arrows(ax: Axes, begin: Array, end: Array, *, colours: Any, width: float = 1.0, zorder: float = 3) -> None:
    """Arrows from points (n, 2) to points (n, 2)."""
    line = width * float(matplotlib.rcParams["lines.linewidth"])
    many = [colours] * len(begin) if isinstance(colours, str) else colours
    for a, b, colour in zip(begin, end, many, strict=True):
        if np.isfinite([*a, *b]).all():
            ax.annotate("", xy=tuple(b), xytext=tuple(a), zorder=zorder, annotation_clip=False, arrowprops={
                "arrowstyle": "-|>", "color": colour, "linewidth": line, "shrinkA": 0, "shrinkB": 0,
                "mutation_scale": float(matplotlib.rcParams["font.size"]) * 1.1})  # fmt: skip


# ---- tokens and verdicts ---------------------------------------------------------------------------------------------

VERDICTS = ("unconstrained", "right", "wrong", "not_in_view")


def cells(
    ax: Axes,
    tokens: Sequence[Sequence[str]],
    verdicts: Sequence[Sequence[str | None]],
    *,
    theme: _style.Theme,
    row_names: Sequence[str] = (),
    glyphs: bool = True,
) -> None:
    """Sequences as rows of cells, each by its verdict (`VERDICTS`; None: a plain cell, such as a prompt)."""
    columns, line = max(map(len, tokens), default=1), float(matplotlib.rcParams["lines.linewidth"])
    size = float(matplotlib.rcParams["font.size"])
    ax.set_xlim(-0.5, columns - 0.5)
    ax.set_ylim(len(tokens) - 0.5, -0.5)
    for row, (words, said) in enumerate(zip(tokens, verdicts, strict=True)):
        for column, (word, verdict) in enumerate(zip(words, said, strict=True)):
            cell(ax, column, row, word, verdict, theme=theme, size=size, line=line, glyph=glyphs)
    bare(ax)
    if row_names:
        places(ax, row_names, "y", most=1000)


def cell(ax: Axes, x: float, y: float, word: str, verdict: str | None, *, theme: _style.Theme, size: float, line: float,
         glyph: bool = True) -> None:  # fmt: skip
    """One token in a box coloured, outlined, hatched and signed by its verdict."""
    judged = verdict in ("right", "wrong")
    grey = theme.unconstrained if verdict in ("unconstrained", "not_in_view") else theme.paper
    face: Any = (theme[verdict], 0.22) if judged and verdict else grey
    edge = theme[verdict] if judged and verdict else theme.masked if verdict == "not_in_view" else theme.faint
    ax.add_patch(Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, facecolor=face, edgecolor=edge,
                           linewidth=line * (1 if judged else 0.4),
                           hatch="////" if verdict == "not_in_view" else None))  # fmt: skip
    sign = _style.GLYPH.get(verdict or "", "") if glyph else ""
    ax.text(x - (0.12 if sign else 0), y, shown(word), ha="center", va="center", fontsize=size, color=theme.ink,
            parse_math=False, clip_on=True)  # fmt: skip
    if sign:
        colour = theme[verdict] if judged and verdict else theme.quiet
        ax.text(x + 0.26, y, sign, ha="center", va="center", fontsize=size, color=colour, clip_on=True)


def handle(meaning: Any, theme: _style.Theme) -> Line2D | Patch:
    """A legend's entry. A meaning (`query`, `right`, `train`, `masked`, ...), or (label, marker, colour)."""
    if isinstance(meaning, tuple):
        label, marker, colour = meaning
        return Line2D([], [], linestyle="", marker=marker, color=colour, label=label)
    said = _style.SAID.get(meaning, meaning.replace("_", " "))
    if meaning in _style.MARKER:
        return Line2D([], [], linestyle="", marker=_style.MARKER[meaning], color=theme[meaning], label=said)
    if meaning in _style.LINE:
        return Line2D([], [], linestyle=_style.LINE[meaning], color=theme[meaning], label=said)
    if meaning in ("right", "wrong"):
        return Patch(
            facecolor=(theme[meaning], 0.22), edgecolor=theme[meaning], label=f"{_style.GLYPH[meaning]} {said}"
        )
    if meaning == "not_in_view":
        return Patch(facecolor=theme.unconstrained, edgecolor=theme.masked, hatch="////", label=f"∅ {said}")
    if meaning == "masked":
        return Patch(facecolor=theme.paper, edgecolor=theme.masked, hatch="xxxx", label=said)
    return Patch(facecolor=theme[meaning], edgecolor=theme.faint, label=said)


# ---- files -----------------------------------------------------------------------------------------------------------

FORMATS = ("svg", "png", "pdf")


def data(figure: Figure, kind: str) -> bytes:
    """The figure as a file's bytes: svg (real text), png or pdf; the same figure gives the same bytes."""
    dates: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": "Glassformer"}, "png": {"Software": None},
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": "Glassformer", "Producer": None},
    }  # fmt: skip
    words = getattr(figure, "glassformer", None)
    if words is not None and kind in ("svg", "pdf"):
        dates[kind] |= {"Title": words.words.title} | ({"Description": words.words.alt} if kind == "svg" else {})
    out = io.BytesIO()
    fixed = {"svg.hashsalt": "glassformer", "svg.fonttype": "none", "pdf.fonttype": 42, "hatch.linewidth": 0.6}
    with matplotlib.rc_context(fixed):
        figure.savefig(out, format=kind, dpi=figure.dpi, metadata=dates[kind])
    return out.getvalue()


def save(figure: Figure, path: Path | str) -> Path:
    """Write a figure; the suffix says how."""
    path = Path(path)
    storage.replace(path, data(figure, path.suffix.removeprefix(".").lower()))
    return path


def save_numbers(figure: Figure, stem: Path, about: Mapping[str, Any] | None = None) -> list[Path]:
    """What the figure shows, beside it: .csv in long form (.npz above 200 000 numbers) and .json with the words."""
    shown_by = of(figure)
    result, arrays = shown_by.result, shown_by.result.arrays()
    written: list[Path] = []
    if result.size > MOST_ROWS:
        out = io.BytesIO()
        values: dict[str, Any] = {name: np.asarray(each.values) for name, each in arrays.items()}
        np.savez_compressed(out, **values)
        written.append(_write(stem.with_name(stem.name + ".npz"), out.getvalue()))
    elif arrays:
        text = io.StringIO()
        columns, rows = result.table()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)
        written.append(_write(stem.with_name(stem.name + ".csv"), text.getvalue().encode()))
    words = {
        "title": shown_by.words.title, "caption": shown_by.words.caption, "alt": shown_by.words.alt,
        **(about or {}),
        "step": result.step, "options": shown_by.options, "theme": shown_by.theme, "size": shown_by.size,
        "facts": result.facts(),
        "arrays": {name: {"axes": {axis: list(names) if len(names) <= MOST_NAMED else f"{len(names)} places"
                                   for axis, names in each.axes.items()}, "unit": each.unit}
                   for name, each in arrays.items()},
        "versions": {"glassformer": __version__, "matplotlib": matplotlib.__version__, "numpy": np.__version__,
                     "python": platform.python_version()},
    }  # fmt: skip
    text_json = json.dumps(_plain(words), ensure_ascii=False, indent=1, allow_nan=False)
    written.append(_write(stem.with_name(stem.name + ".json"), text_json.encode()))
    return written


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def _write(path: Path, content: bytes) -> Path:
    storage.replace(path, content)
    return path
