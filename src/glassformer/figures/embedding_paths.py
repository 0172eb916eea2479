"""How the embeddings came to lie where they do: the trail of every token and position."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.analyses.embedding_paths import EmbeddingPaths, embedding_paths, say
from glassformer.figures import _draw, _style
from glassformer.figures.embeddings import keys, named
from glassformer.run import Run

SECTION = "path"
ORDER = 80
ANSWERS = ("4.D1", "1.P7")
COST = "b"


@_draw.drawing
def plot_embedding_paths(
    run: Run, *, step: int = -1, member: int = 0, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """Trails of the token and position vectors from the first kept step on; rings mark starts, labels ends."""
    seen = embedding_paths(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=7, least=60)
    kinds = list(seen.drawn)
    panels = sheet.panels(1, len(kinds), left=6, right=7.5, bottom=5.8, top=2.2, gap=(6, 0))[0]
    for panel, kind in zip(panels, kinds, strict=True):
        panel.set_title({"token": "tokens", "position": "positions"}[kind])
        _trails(panel, seen, kind, sheet)
    steps = [int(each) for each in seen.drawn["token"].axes["step"]]
    if len(steps) > 1:
        bar = _draw.bar(sheet, "time", (steps[0], steps[-1]), "step", beside=panels[-1])
        bar.yaxis.set_major_formatter(FuncFormatter(lambda value, _: thousands(round(value))))
    sheet.legend(
        [
            *(keys(seen.groups, sheet.theme) if len(seen.groups) > 1 else []),
            Line2D([], [], linestyle="", marker="o", markerfacecolor="none", color=sheet.theme.quiet, label="start"),
        ]
    )
    return sheet.done(seen)


def _trails(ax: Axes, seen: EmbeddingPaths, kind: str, sheet: _draw.Sheet) -> None:
    t, way, words = sheet.theme, seen.drawn[kind].values, seen.drawn[kind].axes[kind]
    _draw.plane_axes(ax, seen.planes[kind], way, theme=t)
    steps = np.array([int(each) for each in seen.drawn[kind].axes["step"]], dtype=float)
    palette = _style.colormap("time", t.name)
    if len(steps) > 1:
        shade = (steps[1:] - steps[0]) / max(steps[-1] - steps[0], 1)
        segments = np.stack([way[:-1], way[1:]], axis=2)  # (step, word, end, axis)
        lines = LineCollection(
            segments.swapaxes(0, 1).reshape(-1, 2, 2).tolist(), colors=palette(np.tile(shade, way.shape[1])),
            linewidths=0.5 * sheet.size.line, zorder=2,
        )  # fmt: skip
        ax.add_collection(lines, autolim=False)
    ax.scatter(
        *way[0].T,
        s=(0.7 * sheet.size.text) ** 2,
        facecolors="none",
        edgecolors=t.quiet,
        linewidths=0.5 * sheet.size.line,
        zorder=3,
    )
    sign = {
        word: m
        for own, m in zip(seen.groups.values(), _style.markers(seen.groups).values(), strict=True)
        for word in own
    }
    for word, end in zip(words, way[-1], strict=True):
        _draw.dots(ax, end[None], colour=t.ink, marker=sign.get(word, "o") if kind == "token" else "o", zorder=4)
    named(ax, way[-1], [shown(word) for word in words], t.ink)
    for text in ax.texts:
        text.set_bbox({"facecolor": t.paper, "edgecolor": "none", "alpha": 0.8, "pad": 0.4})
