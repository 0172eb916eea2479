"""All seeds' embeddings finding their places, aligned once at the last step."""

import numpy as np

from glassformer.analyses._pairs import drawn
from glassformer.analyses._reel import Reel
from glassformer.analyses.trust.seeds_aligned import SeedsAligned, pairs
from glassformer.figures import _draw, _style
from glassformer.films._film import Stage, Update
from glassformer.films._labels import Spread


def caption(reel: Reel) -> str:  # noqa: ARG001
    """How to read plane and strip."""
    return (
        "Token embeddings of all seeds (marks, shape by token group) and their mean (labels); the rotation, "
        "reflection and scale of each seed are those that fit best at the last step and do not change. Right: the "
        "distance of every two seeds after the best turn at that very step (dashes, median as a diamond), with the "
        "middle 90 % of random embeddings in grey."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Token embeddings of all seeds, each turned, mirrored and scaled as fits best at the last step."""
    end: SeedsAligned = reel.still["last"]
    t = stage.theme
    ax = stage.panels(1, 1, left=6, right=1, bottom=3.6, top=1.8, within=(0, 0, 0.6, 1))[0, 0]
    strip = stage.panels(1, 1, left=6, right=2, bottom=3.6, top=1.8, within=(0.6, 0, 1, 1))[0, 0]
    _draw.plane_axes(ax, end.plane, reel.still["extent"].corners["token"].values, theme=t, origin=False)
    ax.set_xlabel("aligned axis 1" if end.plane.lossless else end.plane.labels[0])
    ax.set_ylabel("aligned axis 2" if end.plane.lossless else end.plane.labels[1])
    marks = _style.markers(end.groups)
    look = {"linestyle": "", "color": t.masked, "markersize": 0.5 * stage.size.text}
    seeds = [
        (list(tokens), stage.moving(ax.plot([], [], marker=marks[group], **look)[0]))
        for group, tokens in end.groups.items()
    ]
    shapes = [_draw.handle((group, marks[group], t.masked), t) for group in end.groups]
    ax.legend(handles=shapes, loc="upper left", borderaxespad=0.2)
    names = Spread(stage, ax, drawn(end.mean.axes["token"]), t.ink, 1.2)
    low, half, high = end.random.values
    strip.axhspan(low, high, color=t.unconstrained, linewidth=0)
    strip.axhline(half, color=t.quiet, linestyle="--")
    strip.set(ylim=(0, 1), xlim=(-1, 1), xticks=[], ylabel="distance between two seeds after the best turn")
    strip.text(0.98, low - 0.01, "random embeddings", ha="right", va="top", color=t.quiet)
    dashes = stage.moving(strip.plot([], [], linestyle="", marker="_", color=t.ink, markersize=2 * stage.size.text)[0])
    diamond = stage.moving(strip.plot([], [], linestyle="", marker="D", color=t.ink)[0])

    def update(seen: SeedsAligned) -> None:
        for tokens, dots in seeds:
            xy = seen.points.values[:, tokens].reshape(-1, 2)
            dots.set_data(xy[:, 0], xy[:, 1])
        names.move(seen.mean.values)
        found = pairs(seen.distance)
        dashes.set_data(np.zeros(len(found)), found)
        diamond.set_data([0], [seen.median])

    return update
