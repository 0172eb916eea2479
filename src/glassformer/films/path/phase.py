"""The walk on the plane of entropy and loss, from rung to rung."""

import numpy as np

from glassformer.analyses._reel import Reel
from glassformer.analyses._uncertain_run import Now
from glassformer.analyses.path.phase import Phase
from glassformer.figures import _draw, _uncertain
from glassformer.figures.path import phase as still
from glassformer.films._film import Stage, Update
from glassformer.words import thousands


def scene(stage: Stage, reel: Reel) -> Update:
    """The point (entropy, loss) walking past the rungs of the ladder, each lighting up as it is reached."""
    life: Phase = reel.still["life"]
    rungs, walked, steps = _uncertain.rung_points(life), life.path, np.array(life.looked_at)
    t, line = stage.theme, stage.size.line
    ax = stage.panels(1, 1, left=6, right=12, bottom=5.2, top=2.4, within=(0, 0, 0.64, 1))[0, 0]
    beside = stage.panels(1, 1, left=7, right=3, bottom=5.2, top=2.4, within=(0.64, 0, 1, 1))[0, 0]
    _uncertain.life(beside, life, stage)
    _uncertain.gap(beside, life, stage)
    mark = stage.moving(beside.axvline(0, color=t.ink, linewidth=0.6 * line, clip_on=False))
    _uncertain.plane(ax, life, stage)
    for x, y, text, where in ((0.02, 0.97, "too sure", "left"), (0.98, 0.03, "too cautious", "right")):
        ax.text(x, y, text, transform=ax.transAxes, color=t.quiet, ha=where, va="top" if y > 0.5 else "bottom")
    lit = [stage.moving(_draw.dots(ax, at[None], colour=t.ink, scale=2, zorder=3, visible=False)) for at in rungs]
    crossed = life.ladder["crossed"].values if life.ladder else np.zeros(0)
    trail = stage.moving(ax.plot([], [], color=t.rung, linewidth=0.6 * line, zorder=2.5)[0])
    point = stage.moving(
        ax.plot([], [], marker="o", color=t.validation, markeredgecolor=t.ink, markersize=stage.size.text, zorder=6)[0]
    )
    stage.note(_key(life), y=(stage.foot + 0.1) * stage.em / stage.inches[1])
    on = f", on {thousands(life.inputs)} {life.inputs_are}" if life.subject == "run" else ""
    said = stage.text(ax, 0, 1.02, transform=ax.transAxes, va="bottom", ha="left")
    gap = stage.text(beside, 0, 1.02, transform=beside.transAxes, va="bottom", ha="left")

    def update(seen: Now) -> None:
        (entropy, loss), step = map(float, seen.point.values), seen.step or 0
        before = walked[steps < step]
        trail.set_data(np.append(before[:, 0], entropy), np.append(before[:, 1], loss))
        point.set_data([entropy], [loss])
        for dot, when in zip(lit, crossed, strict=True):
            dot.set_visible(bool(when <= step))
        mark.set_xdata([step, step])
        sound = np.isfinite([entropy, loss]).all()
        said.set_text(f"entropy {entropy:.3f}, loss {loss:.3f}{on}" if sound else "not a number")
        gap.set_text(f"loss − entropy {_draw.number(loss - entropy, 3)}")

    return update


def caption(reel: Reel) -> str:
    """How to read the plane."""
    return still.caption(reel.still["life"])


def _key(seen: Phase) -> str:
    """What the marks are that have no name on the frame."""
    band = "grey band: eight inputs in ten" if seen.inputs > 1 else ""
    known = seen.subject == "run" and seen.exact and bool(np.isfinite(seen.true("loss")))
    dashes = "dashes at the right: the exact predictor on the same inputs" if known else "dashes: as right as sure"
    return " · ".join(each for each in (dashes, band) if each)
