"""The loss being drawn, rung after rung."""

from collections.abc import Iterable

import numpy as np

from glassformer.analyses._result import Result
from glassformer.analyses.loss import loss, now, say, steps_of
from glassformer.figures import _draw, _style
from glassformer.films._film import Film, Pace, Stage, Update, film
from glassformer.run import Run

ANSWERS = ("4.02",)


def applies(run: Run) -> str | None:
    """Why there is nothing to show."""
    return None if len(run.metrics["step"]) else "nothing was logged during this training"


@film
def film_loss(
    run: Run,
    *,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Iterable[int] | None = None,
    theme: str = "light",
) -> Film:
    """The loss being drawn, each rung of the ladder lighting up as it is passed."""
    seen = loss(run, member=member)
    at, words = steps_of(seen), say(seen)

    def scene(stage: Stage) -> Update:
        t, line = stage.theme, stage.size.line
        ax = stage.panels(1, 1, left=5, right=16, bottom=3.6, top=1.5)[0, 0]
        prices, crossed = seen.rungs.values, seen.crossed.values
        ax.set_xlim(0, max(seen.steps, 1))
        _draw.steps_axis(ax)
        ax.set_ylabel("loss (nats per token)")
        finite = [v for name in ("train", "validation") for v in seen.curves[name].values if np.isfinite(v)]
        low, high = min([*finite, *prices]), max([*finite, *prices])
        ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        names = seen.rungs.axes["rung"]
        _draw.beside(
            ax,
            [(float(p), f"{n.rpartition(' = ')[2]}  {p:.3f}", t.quiet) for n, p in zip(names, prices, strict=True)],
            most=13,
        )
        ax.legend(handles=[_draw.handle(part, t) for part in ("train", "validation")], loc="lower right",
                  bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.2)  # fmt: skip
        for price in prices:
            ax.axhline(price, color=t.rung, linestyle="--", linewidth=0.5 * line, zorder=1)
        lit = [
            stage.moving(ax.axhline(price, color=t.ink, linestyle="--", linewidth=0.8 * line, zorder=2, visible=False))
            for price in prices
        ]
        curves = {
            part: stage.moving(ax.plot([], [], color=t[part], linestyle=_style.LINE[part], zorder=3)[0])
            for part in ("train", "validation")
        }

        def update(step: int) -> Result:
            so_far = at <= step
            for part, curve in curves.items():
                curve.set_data(at[so_far], seen.curves[part].values[so_far])
            for rung, when in zip(lit, crossed, strict=True):
                rung.set_visible(bool(when <= step))
            return now(run, step=step, member=member)

        return update

    return Film(
        run, scene, title=words.title, caption=words.caption, alt=words.alt, steps=steps, frames=frames, pace=pace,
        theme=theme, member=member,
    )  # fmt: skip
