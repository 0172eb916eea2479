"""Labels that move without covering one another."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._result import Array
from glassformer.figures import _draw
from glassformer.films._film import Stage


class Calm:
    """Moving labels: those that would cover another are left out, and one that is shown stays as long as it can."""

    def __init__(
        self, stage: Stage, ax: Axes, texts: Sequence[str], colours: Sequence[str], side: tuple[float, float]
    ) -> None:
        self.ax, self.stamps = ax, stage.labels(ax, texts, colours)
        dot = stage.size.text * ax.figure.dpi / 72
        self.halves = np.array(
            [[_draw.text_width(text, stage.size.text) * ax.figure.dpi / 2 + 1, 0.5 * dot] for text in texts]
        )
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
