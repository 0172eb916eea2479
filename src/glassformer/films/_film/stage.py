"""The stage of a film: what stands still, and what moves."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from glassformer.analyses import _clock
from glassformer.analyses._reel import Strip
from glassformer.analyses._result import Array, Words
from glassformer.figures import _draw, _style
from glassformer.films._film.pasted import Picture, Stamps
from glassformer.films._film.strip import loss_curves


class Stage(_draw.Sheet):
    """A sheet with the clock at the top and the loss along the bottom; the rest is the film's."""

    foot = 8.0
    edges = 5.0, 14.0  # ems left of the strip, and right of it for the names of its lines

    def __init__(self, life: Strip, words: Words, theme: str, width: int) -> None:
        self.life = life
        self._pixels, self._moving = width, list[Any]()
        self._now: Text
        super().__init__(None, theme, "film", words, "step 00 000 of 00 000 · loss ≈ 0.00 · excess ≈ 0.00")
        self._strip()

    def moving(self, artist: Any) -> Any:
        """Draw this artist anew in every frame; all others stand still."""
        artist.set_animated(True)
        self._moving.append(artist)
        return artist

    def labels(
        self, ax: Axes, texts: Sequence[str], colours: Any, scale: float = 1.0, halo: str | None = None
    ) -> "Stamps":
        """Texts that move: drawn once, then pasted. `move(xy)` puts each one's centre at its point."""
        made = Stamps(texts, colours, self.size.text * scale, self.figure.dpi, halo)
        ax.add_artist(made)
        self.moving(made)
        return made

    def picture(
        self, ax: Axes, *, kind: str, limit: tuple[float, float] | None = None, smooth: bool = False
    ) -> "Picture":
        """A matrix in colours that fills a panel. `show(values)` changes it; NaN lets what is below shine through."""
        low, high = limit or _style.RANGES[kind] or (0.0, 1.0)
        made = Picture(_style.colormap(kind, self.theme.name), low, high, smooth)
        ax.add_artist(made)
        self.moving(made)
        return made

    def text(self, ax: Axes, x: float, y: float, **more: Any) -> Text:
        """A line that changes with every frame: `set_text`. In the panel's data unless a transform is given."""
        return self.moving(ax.text(x, y, "", **more))

    def tick(self, step: int, clock: str) -> None:
        """Move the clock and the mark on the loss."""
        self._now.set_text(clock)
        self._line.set_xdata([step, step])
        self._dot.set_data([step], [_clock.between(*self._curve, step)[0] if len(self._curve[0]) else np.nan])

    def draw(self) -> Array:
        """(height, width, 3): the frame as it stands."""
        canvas = self.figure.canvas
        assert isinstance(canvas, FigureCanvasAgg)
        if not hasattr(self, "_still"):
            canvas.draw()
            self._still = canvas.copy_from_bbox(self.figure.bbox)
            self._moving.sort(key=lambda artist: artist.get_zorder())
        canvas.restore_region(self._still)
        renderer = canvas.get_renderer()
        for artist in self._moving:
            artist.draw(renderer)
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    def _new(self, height: float) -> Figure:
        figure = super()._new(height)
        figure.set_dpi(self._pixels / self.size.width)
        return figure

    def _clock(self, x: float, y: float, clock: str) -> None:  # noqa: ARG002
        self._now = self.moving(self._text(x, y, "", va="top", ha="right", color=self.theme.ink))

    def _strip(self) -> None:
        """The loss on its ladder; a line and a dot say where the film is."""
        width, height = (inches / self.em for inches in self.inches)
        edge, names = self.edges
        ax = self.place((edge / width, 2.0 / height, 1 - (edge + names) / width, (self.foot - 3.2) / height))
        self.strip = ax
        self._curve: tuple[Array, Array] = np.zeros(0), np.zeros(0)
        if len(self.life.main.values):
            self._curve = loss_curves(ax, self.life, self.theme)
        _draw.steps_axis(ax, "", self.life.scale)
        ax.annotate("step", (1, 0), xycoords="axes fraction", xytext=(2.6 * self.size.text, -0.6 * self.size.text),
                    textcoords="offset points", va="top", ha="left", color=self.theme.quiet)  # fmt: skip
        ax.set_ylabel("loss (nats)")
        ax.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(3))
        self._line = self.moving(ax.axvline(0, color=self.theme.ink, linewidth=0.6 * self.size.line, clip_on=False))
        (dot,) = ax.plot(
            [], [], marker="o", color=self.theme.validation, markeredgecolor=self.theme.ink, zorder=6, clip_on=False
        )
        self._dot = self.moving(dot)
