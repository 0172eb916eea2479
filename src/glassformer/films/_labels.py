"""Labels that move without covering one another."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from glassformer.analyses._result import Array
from glassformer.figures import _draw
from glassformer.films._film import Stage

ROUNDS = 60  # of pushing labels apart
FAR = 0.7  # text heights from which a label is tied to its point by a line


class Spread:
    """Moving labels that are all shown: where points coincide, their labels stand around them, tied by thin lines.

    `above`: text heights between a point, which then has a mark of its own, and its label.
    """

    def __init__(
        self,
        stage: Stage,
        ax: Axes,
        texts: Sequence[str],
        colour: str,
        scale: float = 1.0,
        *,
        above: float = 0.0,
        halo: str | None = None,
    ) -> None:
        self.ax, self.above, self._look, t = ax, above, (stage, scale), stage.theme
        tied = t.quiet if halo is None else colour
        self.ties = stage.moving(LineCollection([], colors=tied, linewidths=0.4 * stage.size.line, zorder=4))
        ax.add_collection(self.ties, autolim=False)
        self.ends = stage.moving(_draw.dots(ax, np.zeros((0, 2)), colour=tied, scale=0.4, zorder=4))
        self.stamps = stage.labels(ax, texts, colour, scale, halo=halo or t.paper)
        self.halves = _halves(stage, ax, texts, scale)

    def write(self, texts: Sequence[str], colours: Sequence[str]) -> None:
        """Other texts from now on, as many as before."""
        stage, scale = self._look
        self.stamps.write(texts, colours)
        self.halves = _halves(stage, self.ax, texts, scale)

    def move(self, points: Array) -> Array:
        """Put the labels at their points, or as near as there is room; where they stand comes back, (label, 2)."""
        flat = np.reshape(points, (-1, 2))
        here = np.isfinite(flat).all(axis=1)
        at = self.ax.transData.transform(flat)
        wanted = at + np.array([0, 2 * self.above]) * self.halves
        to = np.full_like(at, np.nan)
        to[here] = apart(wanted[here], self.halves[here])
        low, high = np.array(self.ax.bbox.get_points())
        inside = here & ((at >= low) & (at <= high)).all(axis=1)
        to[inside] = np.clip(to, low + self.halves, high - self.halves)[inside]  # none beyond the panel
        places: Array = self.ax.transData.inverted().transform(to)
        self.put(flat, places, here & (np.hypot(*(to - wanted).T) > FAR * 2 * self.halves[:, 1]))
        return places

    def put(self, points: Array, places: Array, tied: Array) -> None:
        """Labels at places, and lines from the points of those that are `tied` to theirs."""
        self.now = points, places, tied
        self.stamps.move(places)
        self.ties.set_segments(list(np.stack([points, places], axis=1)[tied]))
        self.ends.set_offsets(points[tied])


def few(points: Array, most: int, among: Sequence[int] | None = None) -> list[int]:
    """Up to so many of some points (n, 2), those farthest from one another, the outermost first."""
    left = [k for k in (range(len(points)) if among is None else among) if np.isfinite(points[k]).all()]
    if not left:
        return []
    away = np.linalg.norm(points - points[left].mean(axis=0), axis=1)
    found = [max(left, key=lambda k: away[k])]
    while len(found) < min(most, len(left)):
        nearest = np.linalg.norm(points[left][:, None] - points[found], axis=-1).min(axis=1)
        found.append(left[int(nearest.argmax())])
    return sorted(set(found))


def apart(at: Array, halves: Array) -> Array:
    """Move boxes with these middles and half sides, (box, 2), the little that is needed for none to cover another.

    Boxes push each other along the line between their middles, so that small moves of the points make small moves of
    the boxes; two at the same place part in a direction of their own.
    """
    many = len(at)
    turn = 2.4 * np.arange(many)[:, None]  # the golden angle: no two directions are alike
    to: Array = at + 0.01 * halves * np.hstack([np.cos(turn), np.sin(turn)])
    room = halves[:, None] + halves[None]
    for _ in range(ROUNDS):
        between = (to[:, None] - to[None]) / room  # in units in which touching boxes are 1 apart along an axis
        near = np.maximum(np.abs(between).max(axis=-1), 1e-6)
        if near.min(initial=1, where=~np.eye(many, dtype=bool)) > 0.98:
            break
        push = np.where(near < 1, (1 - near) / near, 0)[..., None] * between * room
        to = to + 0.6 * push.sum(axis=1) / np.maximum((near < 1).sum(axis=1) - 1, 1)[:, None]  # itself does not count
    return to


def _halves(stage: Stage, ax: Axes, texts: Sequence[str], scale: float = 1.0) -> Array:
    """(text, 2): half the width and half the height of each text, in pixels."""
    points = stage.size.text * scale
    dpi = ax.figure.dpi
    sizes = [(_draw.text_width(each, points) * dpi / 2 + 1, 0.5 * points * dpi / 72) for each in texts]
    return np.reshape(sizes, (-1, 2))  # of no texts, too
