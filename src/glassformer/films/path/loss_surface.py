"""The point that walks over the loss surface."""

import numpy as np

from glassformer.analyses._reel import Reel
from glassformer.analyses._result import thousands
from glassformer.analyses.path.loss_surface import Here, LossSurface
from glassformer.figures import _style
from glassformer.figures.path import loss_surface as still
from glassformer.films._film import Stage, Update


def caption(reel: Reel) -> str:
    """How to read the map and the point on it."""
    return still.caption(reel.still["surface"]) + (
        " Between the steps at which the path was measured, the point is put on a straight line. "
        "Its colour is the loss of the weights themselves, which lie off the plane; where the map around it has "
        "another, the plane does not show what training met there."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Training as a walk on the loss over the plane of its own path; the plane stays as it is."""
    seen: LossSurface = reel.still["surface"]
    at, way = np.array(seen.looked_at), seen.path.values
    ax = still.lay_out(stage, foot=0.0)
    still.relief(ax, seen, stage)
    line, size = stage.size.line, stage.size.text
    ax.plot(*way.T, color=still.LIGHT, linewidth=0.5 * line, alpha=0.6, zorder=2)
    (dark,) = ax.plot([], [], color=still.DARK, linewidth=2.4 * line, solid_joinstyle="round", zorder=3)
    (trail,) = ax.plot([], [], color=still.LIGHT, linewidth=1.1 * line, solid_joinstyle="round", zorder=4)
    (dot,) = ax.plot([], [], marker="o", markeredgecolor=still.LIGHT, markeredgewidth=line, markersize=1.3 * size,
                     zorder=5)  # fmt: skip
    moving = [stage.moving(artist) for artist in (dark, trail, dot)]
    said = stage.text(ax, 0.012, 0.975, transform=ax.transAxes, va="top", ha="left", color=still.LIGHT,
                      bbox={"facecolor": still.DARK, "alpha": 0.75, "linewidth": 0, "pad": 3})  # fmt: skip
    palette, (low, high) = _style.colormap("entropy", stage.theme.name), still.limits(seen)
    told = f"{thousands(seen.windows)} windows"

    def update(now: Here) -> None:
        here = now.place.values
        gone = np.vstack([way[at < (now.step or 0)], here])
        for artist in moving[:2]:
            artist.set_data(*gone.T)
        true, map_ = now.loss.values
        dot.set_data([here[0]], [here[1]])
        dot.set_markerfacecolor(palette((true - low) / ((high - low) or 1)))
        said.set_text(f"dot: loss {true:.2f} of the weights; the map below it: {map_:.2f} (both on {told})")

    return update
