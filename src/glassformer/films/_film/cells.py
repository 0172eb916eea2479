"""Cells with a token and a verdict each, for sequences that change with every frame."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgb

from glassformer.analyses._result import Array
from glassformer.analyses._verdicts import CODES, VERDICTS
from glassformer.figures import _style
from glassformer.films._film.pasted import Stamps

if TYPE_CHECKING:
    from glassformer.films._film.stage import Stage

GLYPHS = [_style.GLYPH.get(verdict, "") for verdict in VERDICTS]  # by code
WASH = 0.3  # how much of the verdict's colour is in a cell
GAP, HATCH = 2, 9  # pixels around a cell, and from one line of its hatching to the next


class Cells(Artist):
    """Rows of tokens, each on the colour of its verdict; a cell is drawn once and pasted from then on."""

    def __init__(self, stage: "Stage", ax: Axes, rows: int, columns: int, words: list[str]) -> None:
        super().__init__()
        t, box = stage.theme, ax.get_window_extent()
        self.words, self.theme, self.text = words, t, (stage.size.text, stage.figure.dpi)
        self.size = int(box.height) // rows, int(box.width) // columns
        paper = np.array(to_rgb(t.paper))
        judged = {each: paper + WASH * (np.array(to_rgb(t[each])) - paper) for each in ("right", "wrong")}
        grounds = {"none": paper} | judged
        free = np.array(to_rgb(t.unconstrained))
        self.grounds = [
            self._ground(grounds.get(verdict, free), hatched=verdict == "not_in_view") for verdict in VERDICTS
        ]
        self.kept: dict[tuple[int, int], Array] = {}
        self.image: Array = np.zeros((1, 1, 4), dtype=np.uint8)
        ax.add_artist(self)
        stage.moving(self)

    def show(self, codes: Array, ids: Array) -> None:
        """Put together the cells of these verdicts and tokens, (row, column) each."""
        lines = [
            np.hstack([self._cell(int(code), int(token)) for code, token in zip(some, words, strict=True)])
            for some, words in zip(codes, ids, strict=True)
        ]
        self.image = np.ascontiguousarray(np.vstack(lines)[::-1])

    def draw(self, renderer: RendererAgg) -> None:
        """Paste them all at once."""
        assert self.axes is not None
        gc = renderer.new_gc()
        renderer.draw_image(gc, round(self.axes.bbox.x0), round(self.axes.bbox.y1) - len(self.image), self.image)
        gc.restore()

    def _ground(self, colour: Array, hatched: bool) -> Array:
        """A cell without its token: a gap around it in the colour of the paper, diagonal lines if it is hatched."""
        high, wide = self.size
        cell = np.ones((high, wide, 4))
        cell[..., :3] = to_rgb(self.theme.paper)
        cell[GAP:-GAP, GAP:-GAP, :3] = colour
        if hatched:
            down, across = np.indices((high - 2 * GAP, wide - 2 * GAP))
            cell[GAP:-GAP, GAP:-GAP, :3][(down + across) % HATCH < 1] = to_rgb(self.theme.masked)
        return cell

    def _cell(self, code: int, token: int) -> Array:
        if (code, token) not in self.kept:
            ground = self.grounds[code]
            sign = f"\u2009{GLYPHS[code]}" if GLYPHS[code] else ""
            halo = self.theme.unconstrained if code == CODES["not_in_view"] else None
            stamp = Stamps([self.words[token] + sign], self.theme.ink, *self.text, halo).images[0][::-1] / 255
            high, wide = min(len(stamp), len(ground)), min(stamp.shape[1], ground.shape[1])
            top, left = (len(ground) - high) // 2, (ground.shape[1] - wide) // 2
            made = ground.copy()
            share, under = stamp[:high, :wide, 3:], made[top : top + high, left : left + wide]
            under[..., :3] = share * stamp[:high, :wide, :3] + (1 - share) * under[..., :3]
            self.kept[code, token] = (made * 255).round().astype(np.uint8)
        return self.kept[code, token]
