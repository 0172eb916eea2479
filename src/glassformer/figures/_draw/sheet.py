"""The sheet of a figure: title and clock at the top, panels below, all margins in ems."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes as Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text

from glassformer.analyses._result import Array, Result, Words
from glassformer.errors import CallError
from glassformer.figures import _style
from glassformer.figures._draw.drawn import Drawn
from glassformer.figures._draw.files import Displayed
from glassformer.figures._draw.glyphs import Canvas, drawable, legible
from glassformer.figures._draw.legend import handle
from glassformer.figures._draw.text import text_width, wrap

Host: TypeAlias = Figure | SubFigure | Axes | None


class Sheet:
    """A page for one figure: title and clock at the top, panels below, all margins in ems, the size of the text.

    It draws on a new figure, or inside the Figure, SubFigure or Axes that was given. `least` says how many ems its
    panels need side by side: where a narrow page has fewer, it takes the width of a whole one.
    """

    foot = 0.0  # ems kept free at the bottom
    seen: Result  # what is drawn
    page = 0
    options: Mapping[str, Any] = {}

    def __init__(
        self, ax: Host, theme: str, size: str, words: Words, clock: str = "", height: float = 6.0, least: float = 0.0
    ) -> None:
        self.theme, self.size, self.words = _style.theme(theme), _style.size(size), words
        if ax is None and self.size.wider and least * self.em > self.size.width:
            self.size = _style.size(self.size.wider)
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
        square: bool | float = False,
    ) -> Array:
        """(rows, columns) of axes. Margins and gaps (between columns, between rows) in ems; `top` is below the title.

        `within` is the part of the sheet under the title to fill, as (left, bottom, right, top) shares.
        `square` shrinks the panels to equal sides, or to that width over height, at the left and top of their place.
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
            side = min(float(each_x.min()) / square, float(each_y.min()))
            each_x, each_y = np.full(columns, side * square), np.full(rows, side)
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
        if x < 0.5:  # as many lines as it needs, none over the edge
            room = (1 - x) * self.inches[0] - 1.6 * self.em
            text = "\n".join(line for part in text.split("\n") for line in wrap(part, self.size.text, room))
        more = {"color": self.theme.quiet, "ha": "left", "va": "bottom"} | more
        return self._text(x + (inset if x < 0.5 else -inset), y + 0.4 * self.em / self.inches[1], text, **more)

    def note_page(self, pages: int, more: str = "") -> None:
        """A note that tells which page this is, where there are several."""
        if pages > 1:
            self.note(f"page {self.page + 1} of {pages}{more}")

    def mark_step(self, panel: Axes, step: int | None) -> None:
        """A thin line behind the rest, at the step that was asked for."""
        if step is not None:
            panel.axvline(step, color=self.theme.quiet, linewidth=0.5 * self.size.line, zorder=0)

    def done(self, result: Result | None = None, *, pages: int = 1, **options: Any) -> Figure:
        """The figure, with what it shows attached to it."""
        if not 0 <= self.page < pages:
            raise CallError(f"page = {self.page} is not {'0' if pages == 1 else f'between 0 and {pages - 1}'}")
        asked = {**self.options, **({"page": self.page} if self.page else {}), **options}
        drawn = Drawn(result or self.seen, self.words, self.theme.name, self.size.name, asked, pages)
        if pages > 1:
            told = f"{self.words.caption} Page {drawn.page + 1} of {pages}."
            drawn = replace(drawn, words=replace(self.words, caption=told))
        setattr(self.figure, "glassformer", drawn)  # noqa: B010
        if not legible(self.host):
            for text in self.host.findobj(Text):
                text.set_text(drawable(text.get_text()))
        for ax in self.figure.axes:
            for axis in (ax.xaxis, ax.yaxis):
                if not axis.get_label_text():
                    axis.set_label_coords(0, 0)  # else Matplotlib measures every tick to find a place for no name
        return self.figure

    def _new(self, height: float) -> Figure:
        s = self.size
        figure = Displayed(figsize=(s.width, s.fixed or min(height * s.tall, s.most)), dpi=s.dpi, layout=None)
        Canvas(figure)
        return figure

    def _text(self, x: float, y: float, text: str, **more: Any) -> Text:
        if isinstance(self.host, Axes):
            return self.host.text(x, y, text, transform=self.host.transAxes, **more)
        return self.host.text(x, y, text, **more)

    def _title(self, title: str, clock: str) -> float:
        """Write title and clock; how many ems they take from the top."""
        s, (width, height) = self.size, self.inches
        edge = 0.8 * self.em
        room = 0.98 * (width - 2 * edge)  # a screen's hinting makes letters a little wider
        beside = clock and text_width(clock, s.text) + 2 * self.em
        own_line = beside and beside > 0.4 * room
        lines = wrap(title, s.title, room - (0 if own_line else beside or 0))
        if beside and not own_line and len(lines) > 2:  # under the clock the lines may be as long as the sheet is wide
            fewer = wrap(title, s.title, room, first=room - beside)
            lines = fewer if len(fewer) < len(lines) else lines
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
