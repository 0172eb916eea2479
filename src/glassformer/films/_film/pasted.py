"""Texts and pictures that move: drawn once or looked up, then pasted."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from PIL import Image

from glassformer.analyses._result import Array
from glassformer.figures import _draw

RIM = [(right, down) for right in (-2, -1, 0, 1, 2) for down in (-2, -1, 0, 1, 2) if 0 < right**2 + down**2 <= 5]


class Stamps(Artist):
    """Texts at moving points, each drawn once as a small image and pasted from then on."""

    def __init__(self, texts: Sequence[str], colours: Any, points: float, dpi: float, halo: str | None = None) -> None:
        super().__init__()
        self._look = points, dpi, halo
        self.write(texts, colours)
        self.alpha: Array | None = None
        self.set_zorder(5)

    def write(self, texts: Sequence[str], colours: Any) -> None:
        """Other texts from now on, hidden until they are moved; colours one for all, or one for each."""
        one = isinstance(colours, str)
        self.images = [_stamp(text, colours if one else colours[k], *self._look) for k, text in enumerate(texts)]
        self.points: Array = np.full((len(texts), 2), np.nan)

    def move(self, points: Array) -> None:
        """Put each text's centre at its point, (text, 2) in the panel's data; NaN hides it."""
        self.points = np.reshape(points, (-1, 2))

    def draw(self, renderer: RendererAgg) -> None:
        """Paste those whose point is inside the panel; one that would be cut at the edge moves in."""
        if not self.get_visible() or self.axes is None:
            return
        box, gc = self.axes.bbox, renderer.new_gc()
        gc.set_clip_rectangle(box)
        for (x, y), image in zip(self.axes.transData.transform(self.points), self.images, strict=True):
            if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1:
                high, wide = image.shape[:2]
                left = min(max(round(x - wide / 2), int(box.x0)), max(int(box.x1) - wide, int(box.x0)))
                low = min(max(round(y - high / 2), int(box.y0)), max(int(box.y1) - high, int(box.y0)))
                renderer.draw_image(gc, left, low, image)
        gc.restore()


@lru_cache(maxsize=4096)
def _stamp(text: str, colour: Any, points: float, dpi: float, halo: str | None = None) -> Array:
    """A text as a small picture with a clear background, bottom row first; `halo` colours a rim around the letters."""
    font = FontProperties(family=["DejaVu Sans"], size=points)
    probe = _draw.LegibleAgg(8, 8, dpi)
    wide, high, below = probe.get_text_width_height_descent(text, font, False)
    renderer = _draw.LegibleAgg(int(wide) + 4, int(high) + 4, dpi)
    gc = renderer.new_gc()
    if halo is not None:
        gc.set_foreground(halo)
        for right, down in RIM:
            renderer.draw_text(gc, 2 + right, int(high) + 2 + down - below, text, font, 0)
    gc.set_foreground(colour)
    renderer.draw_text(gc, 2, int(high) + 2 - below, text, font, 0)
    return np.ascontiguousarray(np.asarray(renderer.buffer_rgba())[::-1])


class Picture(Artist):
    """A matrix in colours filling a panel, row 0 at the top (`origin` "upper") or at the bottom ("lower")."""

    def __init__(self, palette: Any, low: float, high: float, smooth: bool) -> None:
        super().__init__()
        self.low, self.high, self.smooth, self.origin = low, high, smooth, "upper"
        self.values: Array = np.full((1, 1), np.nan)
        self._table = (palette(np.linspace(0, 1, 256)) * 255).round().astype(np.uint8)
        self.set_zorder(0.5)

    def show(self, values: Array) -> None:
        """Draw these from now on, (row, column)."""
        self.values = np.asarray(values, dtype=float)

    def draw(self, renderer: RendererAgg) -> None:
        """Look the colours up, enlarge, paste."""
        if not self.get_visible() or self.axes is None:
            return
        box = self.axes.bbox
        x0, x1, y0, y1 = round(box.x0), round(box.x1), round(box.y0), round(box.y1)
        share = (self.values - self.low) / ((self.high - self.low) or 1)
        place = np.clip(np.nan_to_num(share) * 255, 0, 255)
        if self.smooth:  # enlarge the numbers, not the colours: the map stays true between the cells
            place = np.asarray(
                Image.fromarray(place.astype(np.float32)).resize((x1 - x0, y1 - y0), Image.Resampling.BILINEAR)
            )
            image = self._table[place.round().astype(np.uint8)]
        else:
            small = self._table[place.round().astype(np.uint8)]
            small[~np.isfinite(self.values), 3] = 0
            rows = np.arange(y1 - y0) * small.shape[0] // (y1 - y0)
            columns = np.arange(x1 - x0) * small.shape[1] // (x1 - x0)
            image = small[rows][:, columns]
        gc = renderer.new_gc()
        upright = image[::-1] if self.origin == "upper" else image
        renderer.draw_image(gc, x0, y0, np.ascontiguousarray(upright))
        gc.restore()
