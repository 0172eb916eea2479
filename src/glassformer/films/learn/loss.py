"""The loss being drawn, rung after rung."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from glassformer.analyses import _clock
from glassformer.analyses._reel import Reel
from glassformer.analyses._result import Array
from glassformer.analyses.learn.loss import Loss, Now
from glassformer.figures import _draw, _style
from glassformer.figures.learn.loss import APART
from glassformer.figures.learn.loss import caption as how
from glassformer.films._film import Stage, Update

PARTS = ("train", "validation")


def caption(reel: Reel) -> str:
    """How to read the curves."""
    return how(reel.still["loss"])


def scene(stage: Stage, reel: Reel) -> Update:
    """The loss being drawn; a tick appears on each rung of the ladder as it is passed."""
    whole: Loss = reel.still["loss"]
    left, right = stage.edges  # as the strip below: a step stands above itself
    ax = stage.panels(1, 1, left=left, right=right, bottom=3.6, top=1.5)[0, 0]
    ticks = _ladder(ax, whole, stage, right - 1.7)
    shown = {part: _curve(ax, part, stage) for part in PARTS if part in whole.curves}

    def update(seen: Now) -> None:
        step = seen.step or 0
        for part, (curve, head) in shown.items():
            x, y = _so_far(whole.at, whole.curves[part].values, step)
            curve.set_data(x, y)
            head.set_data(x[-1:], y[-1:])
        for tick in ticks:
            tick.set_visible(bool(tick.get_xdata()[0] <= step))

    return update


def _ladder(ax: Axes, seen: Loss, stage: Stage, wide: float) -> list[Line2D]:
    """Axes, rungs and their names, which stand still; the ticks that mark what is passed come back."""
    t, line, size = stage.theme, stage.size.line, stage.size.text
    names, prices = seen.rungs.axes["rung"].values, seen.rungs.values
    _draw.steps_axis(ax, scale=seen.scale)
    ax.set_ylabel("loss (nats per token)")
    finite = [v for part in PARTS if part in seen.curves for v in seen.curves[part].values if np.isfinite(v)]
    low, high = min([*finite, *prices]), max([*finite, *prices])
    high = high if high > low else low + 1.0  # a loss that has nowhere to go
    ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    floor, said = seen.lowest, []
    for k, (name, price) in enumerate(zip(names, prices, strict=True)):
        colour, width = (t.ink, 1.1) if k == floor else (t.rung, 0.5)
        ax.axhline(price, color=colour, linestyle="--", linewidth=width * line, zorder=1)
        said.append((float(price), f"{name}  {price:.3f}", t.ink if k == floor else t.quiet))
    here = seen.window_floor
    if seen.truth_known and abs(here - prices[floor]) > APART * (high - low):
        ax.axhline(here, color=t.ink, linestyle=":", linewidth=0.8 * line, zorder=1)
        said.append((here, f"floor of these windows  {here:.3f}", t.ink))
    _draw.beside(ax, said, most=wide)
    tick = Line2D([], [], color=t.ink, linestyle="", marker="|", markersize=size, label="on a rung by this step")
    ax.legend(handles=[*(_draw.handle(part, t) for part in PARTS), tick], loc="lower right", bbox_to_anchor=(1, 1),
              ncols=3, borderaxespad=0.2)  # fmt: skip
    return [
        stage.moving(ax.plot([x], [price], marker="|", color=t.ink, markersize=1.1 * size, zorder=4, clip_on=False)[0])
        for x, price in zip(seen.crossed.values, prices, strict=True)
    ]


def _curve(ax: Axes, part: str, stage: Stage) -> tuple[Line2D, Line2D]:
    """A curve and the dot at its end."""
    colour = stage.theme[part]
    (curve,) = ax.plot([], [], color=colour, linestyle=_style.LINE[part], zorder=3)
    (head,) = ax.plot([], [], color=colour, marker="o", zorder=5, clip_on=False)
    return stage.moving(curve), stage.moving(head)


def _so_far(at: Array, values: Array, step: int) -> tuple[Array, Array]:
    """A curve up to a step, its end on the straight line between two logged points."""
    before = at < step
    end = _clock.between(at, values, step)[0]
    return np.append(at[before], step), np.append(values[before], end)
