"""How the embeddings came to lie where they do: the trail of every token and position."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, thousands
from glassformer.analyses.path.embedding_paths import HALF, EmbeddingPaths
from glassformer.figures import _draw, _style
from glassformer.figures.know.embeddings import keys, named, of_tokens

SPACED = {
    "linear": "about evenly apart",
    "log": "about evenly apart in the logarithm of the step",
    "learning": "about evenly apart in time and in what the loss gains",
}
PALE = 0.5  # of all trails but the longest


def draw(seen: EmbeddingPaths, look: _draw.Look) -> Figure:
    """Trails of the token and position vectors from the first kept step on; rings mark starts, labels ends."""
    shows = "Trails of all token and position embeddings through training"
    sheet = look.sheet(seen, _caption(seen), shows, height=_height(seen))
    kinds, marks = list(seen.drawn), _style.markers(seen.task_groups)
    panels = sheet.panels(1, len(kinds), left=6, right=7.5, bottom=5.8, top=2.2, gap=(6, 0))[0]
    for panel, kind in zip(panels, kinds, strict=True):
        panel.set_title({"token": "tokens", "position": "positions"}[kind])
        _trails(panel, seen, kind, sheet, marks)
    steps = np.array(seen.drawn["token"].axes["step"].values)
    if len(steps) > 1:
        bar = _draw.bar(sheet, "time", (0, 1), "step", beside=panels[-1])
        low, high = seen.scale.place(steps[[0, -1]])
        between = [float(f"{at:.2g}") for at in seen.scale.step(np.linspace(low, high, 5)[1:-1])]
        ticks = sorted({int(steps[0]), *map(int, between), int(steps[-1])})
        bar.set_yticks(shades(seen, ticks), [thousands(at) for at in ticks])
    sheet.legend(
        [
            *(keys(seen.groups, marks, sheet.theme) if len(seen.groups) > 1 else []),
            Line2D([], [], linestyle="", marker="o", markerfacecolor="none", color=sheet.theme.quiet, label="start"),
        ]
    )
    return sheet.done()


def _caption(seen: EmbeddingPaths) -> str:
    many, tokens = len(seen.drawn["token"].axes["step"]), len(seen.drawn["token"].axes["token"])
    squares = "positions are empty squares, " if "position" in seen.drawn else ""
    few = f"Drawn are the {tokens} most frequent of {thousands(seen.vocabulary)} tokens; rarer ones may go farther. "
    some = few if tokens < seen.vocabulary else ""
    return (
        f"The way of each vector over {many} kept steps, {SPACED[seen.scale.kind]}, shaded as the bar says, "
        f"each place between start and end the mean of up to {2 * HALF + 1} of them, so that the direction shows and "
        f"not every swing; a ring marks the start, the label the end, {squares}and the way of the token that ends "
        f"farthest from its start is heavy. {some}Every plane is fitted once, on the last kept "
        "step, so nothing moves because the view does; the cross is zero. Distances are exact and counted in all "
        "features. A vector that training never needed to move would end inside its ring."
    )


def shades(seen: EmbeddingPaths, steps: Sequence[Any]) -> Array:
    """Steps → 0 to 1 on the bar, from the first that is drawn to the last, as the scale spaces them."""
    drawn = seen.drawn["token"].axes["step"].values
    low, high, *found = seen.scale.place(np.array([drawn[0], drawn[-1], *steps]))
    return (np.array(found) - low) / max(high - low, 1e-9)


def _height(seen: EmbeddingPaths) -> float:
    """Inches of a sheet whose panels have about the shape of what they hold."""
    shapes = []
    for trail in seen.trails.values():
        flat = np.vstack([trail.values[np.isfinite(trail.values).all(axis=-1)], np.zeros((1, 2))])
        across, up = np.ptp(flat, axis=0)
        shapes.append(up / max(float(across), 1e-9))
    side = (10.8 - 0.75 * (len(shapes) - 1)) / len(shapes)
    return 1.7 + float(np.clip(side * max(shapes), 3.0, 5.3))


def _trails(ax: Axes, seen: EmbeddingPaths, kind: str, sheet: _draw.Sheet, marks: dict[str, str]) -> None:
    t, way, words = sheet.theme, seen.trails[kind].values, seen.drawn[kind].axes[kind].labels
    _draw.plane_axes(ax, seen.planes[kind], way, theme=t)
    steps = seen.drawn[kind].axes["step"].values
    palette = _style.colormap("time", t.name)
    hero = int(np.nan_to_num(seen.moved[kind].values).argmax()) if kind == "token" else -1
    wide = np.where(np.arange(way.shape[1]) == hero, 1.4, 0.6) * sheet.size.line
    pale = np.where(np.arange(way.shape[1]) == hero, 1.0, PALE)
    if len(steps) > 1:
        shade = shades(seen, steps[1:])
        segments = np.stack([way[:-1], way[1:]], axis=2)  # (step, word, end, direction)
        lines = LineCollection(
            segments.swapaxes(0, 1).reshape(-1, 2, 2).tolist(), colors=palette(np.tile(shade, way.shape[1])),
            alpha=np.repeat(pale, len(steps) - 1), linewidths=np.repeat(wide, len(steps) - 1), zorder=2,
        )  # fmt: skip
        ax.add_collection(lines, autolim=False)
    ax.scatter(
        *way[0].T,
        s=(0.7 * sheet.size.text) ** 2,
        facecolors="none",
        edgecolors=t.quiet,
        linewidths=0.5 * wide,
        zorder=3,
    )
    if kind == "position":
        _draw.squares(ax, way[-1], theme=t, zorder=4)
    else:
        sign = of_tokens(seen.groups, marks)
        for word, end in zip(words, way[-1], strict=True):
            _draw.dots(ax, end[None], colour=t.ink, marker=sign[word], zorder=4)
    named(ax, way[-1], [shown(word) for word in words], t.ink)
    for text in ax.texts:
        text.set_path_effects([withStroke(linewidth=0.25 * sheet.size.text, foreground=t.paper)])
