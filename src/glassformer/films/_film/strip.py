"""The loss along the bottom of a film."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._reel import Strip
from glassformer.analyses._result import Array
from glassformer.figures import _draw, _style

APART = 0.015  # of the strip's height, from which the floor of the windows is drawn beside that of the task


def loss_curves(ax: Axes, life: Strip, theme: _style.Theme) -> tuple[Array, Array]:
    """Validation loss by step in front of the ladder, for the strip; of several members, all and their median.

    The steps and losses of the thick curve come back.
    """
    steps, line = np.array(life.main.axes["step"].values), float(matplotlib.rcParams["lines.linewidth"])
    rungs, names, curve = life.rungs.values, life.rungs.axes["rung"].values, life.main.values
    for k, nats in enumerate(rungs):
        last = k == len(rungs) - 1
        ax.axhline(
            nats,
            color=theme.ink if last else theme.rung,
            linestyle="--",
            linewidth=line * (0.7 if last else 0.4),
            zorder=1,
        )
    if life.losses.values.shape[1] > 1:
        ax.plot(steps, life.losses.values, color=theme.validation, linewidth=0.4 * line, alpha=0.6)
    ax.plot(steps, curve, color=theme.validation, linewidth=0.9 * line)
    finite, own = curve[np.isfinite(curve)], life.own_floor
    top = max([rungs[0], *finite[:1]])
    low = min([rungs[-1], *finite])
    top = top if top > low else low + 1.0  # a loss that has nowhere to go
    ax.set_ylim(low - 0.12 * (top - low), top + 0.08 * (top - low))
    told = [(float(rungs[-1]), str(names[-1]), theme.ink)]
    if abs(own - rungs[-1]) > APART * (top - low):
        ax.axhline(own, color=theme.ink, linestyle=":", linewidth=0.6 * line, zorder=1)
        told.append((own, "floor of these windows", theme.ink))
    _name(ax, told, life, theme)
    return steps, curve


def _name(ax: Axes, told: list[tuple[float, str, str]], life: Strip, theme: _style.Theme) -> None:
    """Names beside their lines: the floor's, the highest rung's, and those between that have room."""
    box, line = ax.get_window_extent().height, float(matplotlib.rcParams["font.size"]) * ax.figure.dpi / 72
    low, high = ax.get_ylim()
    near = 1.25 * line / box * (high - low)
    rungs, names = life.rungs.values.tolist(), life.rungs.axes["rung"].values
    for k in [0, *range(len(rungs) - 2, 0, -1)] if len(rungs) > 1 else []:
        if k == 0 or all(abs(rungs[k] - taken) > near for taken, _, _ in told):
            told.append((rungs[k], str(names[k]), theme.quiet))
    _draw.beside(ax, told, most=12.3)
