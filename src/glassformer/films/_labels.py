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


class Calm:
    """Moving labels: those that would cover another are left out, and one that is shown stays as long as it can."""

    def __init__(
        self, stage: Stage, ax: Axes, texts: Sequence[str], colours: Sequence[str], side: tuple[float, float]
    ) -> None:
        self.ax, self.stamps = ax, stage.labels(ax, texts, colours, halo=stage.theme.paper)
        dot = stage.size.text * ax.figure.dpi / 72
        self.halves = _halves(stage, ax, texts)
        self.aside = np.array(side) * (self.halves + 0.45 * dot)
        self.shown: list[int] = []

    def move(self, points: Array) -> None:
        """Put the labels beside their points."""
        at = self.ax.transData.transform(np.reshape(points, (-1, 2))) + self.aside
        order = [*self.shown, *(k for k in range(len(at)) if k not in self.shown)]
        kept: list[int] = []
        for k in order:
            if np.isfinite(at[k]).all() and not any(
                (np.abs(at[k] - at[j]) < self.halves[k] + self.halves[j]).all() for j in kept
            ):
                kept.append(k)
        self.shown = kept
        hidden = np.full_like(at, np.nan)
        hidden[kept] = self.ax.transData.inverted().transform(at[kept]) if kept else hidden[kept]
        self.stamps.move(hidden)


class Spread:
    """Moving labels that are all shown: where points coincide, their labels stand around them, tied by thin lines."""

    def __init__(self, stage: Stage, ax: Axes, texts: Sequence[str], colour: str, scale: float = 1.0) -> None:
        self.ax, t = ax, stage.theme
        self.ties = stage.moving(LineCollection([], colors=t.quiet, linewidths=0.4 * stage.size.line, zorder=4))
        ax.add_collection(self.ties, autolim=False)
        self.ends = stage.moving(_draw.dots(ax, np.zeros((0, 2)), colour=t.quiet, scale=0.4, zorder=4))
        self.stamps = stage.labels(ax, texts, colour, scale, halo=t.paper)
        self.halves = _halves(stage, ax, texts, scale)

    def move(self, points: Array) -> None:
        """Put the labels at their points, or as near as there is room."""
        flat = np.reshape(points, (-1, 2))
        here = np.isfinite(flat).all(axis=1)
        at = self.ax.transData.transform(flat)
        to = np.full_like(at, np.nan)
        to[here] = apart(at[here], self.halves[here])
        places = self.ax.transData.inverted().transform(to)
        self.stamps.move(places)
        moved = here & (np.hypot(*(to - at).T) > FAR * 2 * self.halves[:, 1])
        self.ties.set_segments(list(np.stack([flat, places], axis=1)[moved]))
        self.ends.set_offsets(flat[moved])


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
    found: Array = np.array([[_draw.text_width(each, points) * dpi / 2 + 1, 0.5 * points * dpi / 72] for each in texts])
    return found
