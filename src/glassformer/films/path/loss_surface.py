"""The point that walks over the loss surface."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses._result import Labelled, Result, thousands, result
from glassformer.analyses.path.loss_surface import say, loss_surface
from glassformer.figures import _style
from glassformer.figures import surface as still
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.run import Run

ANSWERS = ("1.P8",)


def applies(run: Run) -> str | None:
    """Why there is nothing to show."""
    return still.applies(run)


@result
class Here(Result):
    """Where the point stands, and what the weights cost."""

    place: Labelled  # (axis,)
    loss: Labelled  # (where,): of the weights themselves, and of the point of the plane where they are drawn


@_film.film
def film_loss_surface(
    run: Run,
    *,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "change",
    steps: Sequence[int] | None = None,
    theme: str = "light",
) -> Film:
    """Training as a walk on the loss over the plane of its own path; the plane stays as it is."""
    seen = loss_surface(run, member=member)
    at, way = np.array(seen.looked_at, dtype=float), seen.path.values
    told = f"{thousands(seen.windows)} windows"

    def scene(stage: Stage) -> Update:
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

        def update(step: int) -> Result:
            here = np.array([np.interp(step, at, side) for side in way.T])
            gone = np.vstack([way[at < step], here])
            for artist in moving[:2]:
                artist.set_data(*gone.T)
            true, map_ = (float(np.interp(step, at, losses)) for losses in seen.on_path.values)
            dot.set_data([here[0]], [here[1]])
            dot.set_markerfacecolor(palette((true - low) / ((high - low) or 1)))
            said.set_text(f"dot: loss {true:.2f} of the weights; the map below it: {map_:.2f} (both on {told})")
            losses = Labelled(np.array([true, map_]), {"where": seen.on_path.axes["where"].labels}, "nats per token")
            return Here(step=step, place=Labelled(here, {"axis": ("across", "up")}), loss=losses)

        return update

    words = say(seen)
    caption = words.caption + " Between the steps at which the path was measured, the point is put on a straight line. "
    caption += "Its colour is the loss of the weights themselves, which lie off the plane; where the map around it has "
    caption += "another, the plane does not show what training met there."
    return Film(
        run, scene, title=words.title, caption=caption, alt=words.alt, steps=steps, frames=frames, pace=pace,
        theme=theme, member=member,
    )  # fmt: skip
