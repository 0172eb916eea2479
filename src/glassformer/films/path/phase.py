"""The walk on the plane of entropy and loss, from rung to rung."""

from collections.abc import Iterable
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._result import Array, Labelled, Result, thousands
from glassformer.analyses._uncertain import NATS, Uncertainty
from glassformer.analyses._uncertain_run import Now, now
from glassformer.analyses._uncertain_words import say_phase
from glassformer.analyses.path.uncertainty import Subject, uncertainty
from glassformer.figures import _draw, _uncertain
from glassformer.films import _lived
from glassformer.films._film import FPS, Film, Pace, Stage, Update, film
from glassformer.run import Run

ANSWERS = ("0.5",)


@film
def film_phase(
    run: Subject,
    *,
    temperature: float = 1.0,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Iterable[int] | None = None,
    theme: str = "light",
) -> Film:
    """The point (entropy, loss) walking past the rungs of the ladder, each lighting up as it is reached."""
    seen = uncertainty(run, temperature=temperature, member=member)
    words, walked = say_phase(seen), _uncertain.path(seen)
    rungs = _uncertain.rung_points(seen)
    crossed = np.array([c for c, ok in zip(seen.crossed.values, seen.reachable, strict=True) if ok])

    def scene(stage: Stage) -> Update:
        t, line = stage.theme, stage.size.line
        ax = stage.panels(1, 1, left=6, right=12, bottom=5.2, top=2.4, within=(0, 0, 0.64, 1))[0, 0]
        beside = stage.panels(1, 1, left=7, right=3, bottom=5.2, top=2.4, within=(0.64, 0, 1, 1))[0, 0]
        _uncertain.life(beside, seen, stage)
        _uncertain.gap(beside, seen, stage)
        mark = stage.moving(beside.axvline(0, color=t.ink, linewidth=0.6 * line, clip_on=False))
        _uncertain.plane(ax, seen, stage)
        _crop(ax, np.vstack([walked, *([rungs] if len(rungs) else [])]))
        for x, y, text, where in ((0.02, 0.97, "too sure", "left"), (0.98, 0.03, "too cautious", "right")):
            ax.text(x, y, text, transform=ax.transAxes, color=t.quiet, ha=where, va="top" if y > 0.5 else "bottom")
        lit = [stage.moving(_draw.dots(ax, at[None], colour=t.ink, scale=2, zorder=3, visible=False)) for at in rungs]
        trail = stage.moving(ax.plot([], [], color=t.rung, linewidth=0.6 * line, zorder=2.5)[0])
        point = stage.moving(
            ax.plot(
                [], [], marker="o", color=t.validation, markeredgecolor=t.ink, markersize=stage.size.text, zorder=6
            )[0]
        )
        stage.note(_key(seen), y=(stage.foot + 0.1) * stage.em / stage.inches[1])
        on = f", on {thousands(seen.inputs)} {seen.inputs_are}" if isinstance(run, Run) else ""
        said = stage.text(ax, 0, 1.02, transform=ax.transAxes, va="bottom", ha="left")
        gap = stage.text(beside, 0, 1.02, transform=beside.transAxes, va="bottom", ha="left")

        def update(step: int) -> Result:
            found = (
                now(run, step=step, temperature=seen.temperature, member=member)
                if isinstance(run, Run)
                else _lived_now(seen, step)
            )
            entropy, loss = map(float, found.point.values)
            before = walked[seen.looked_at < step]
            trail.set_data(np.append(before[:, 0], entropy), np.append(before[:, 1], loss))
            point.set_data([entropy], [loss])
            for dot, when in zip(lit, crossed, strict=True):
                dot.set_visible(bool(when <= step))
            mark.set_xdata([step, step])
            sound = np.isfinite([entropy, loss]).all()
            said.set_text(f"entropy {entropy:.3f}, loss {loss:.3f}{on}" if sound else "not a number")
            gap.set_text(f"loss − entropy {_draw.number(loss - entropy, 3)}")
            return found

        return update

    make = partial(
        Film, scene=scene, title=words.title, caption=words.caption, alt=words.alt, frames=frames, theme=theme
    )
    if isinstance(run, Run):
        return make(run, steps=steps, pace=pace, member=member)
    every = seen.looked_at[np.unique(np.linspace(0, seen.total, min(frames, seen.total + 1)).astype(int))]
    shown = every.tolist() if steps is None else [uncertainty(run, step=int(step)).step or 0 for step in steps]
    return make(
        _lived.as_run(seen),
        steps=shown,
        fps=FPS // 2,
        clock=lambda step: f"step {thousands(step)} of {thousands(seen.total)} · T = {seen.temperature:.4g}",
    )


def _crop(ax: Axes, points: Array) -> None:
    """No place for entropies below zero, which there are none of, nor far beyond the largest."""
    low, high = ax.get_xlim()
    most = float(np.nanmax(points[:, 0]))
    room = 0.04 * (high - low)
    ax.set_xlim(max(low, -room), min(high, most + 2 * room))


def _key(seen: Uncertainty) -> str:
    """What the marks are that have no name on the frame."""
    band = "grey band: eight inputs in ten" if seen.inputs > 1 else ""
    known = seen.subject == "run" and seen.exact and bool(np.isfinite(seen.true("loss")))
    dashes = "dashes at the right: the exact predictor on the same inputs" if known else "dashes: as right as sure"
    return " · ".join(each for each in (dashes, band) if each)


def _lived_now(seen: Uncertainty, step: int) -> Now:
    """The point of a physics model, which was looked at in every step."""
    point = _uncertain.path(seen)[seen.looked_at == step][0]
    return Now(step=step, point=Labelled(point, {"quantity": ("entropy", "loss")}, NATS))
