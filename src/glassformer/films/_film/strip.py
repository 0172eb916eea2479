"""The loss along the bottom of a film."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses import _clock
from glassformer.analyses._result import Array
from glassformer.figures import _draw, _style
from glassformer.run import Run
from glassformer.tasks import Rung

APART = 0.015  # of the strip's height, from which the floor of the windows is drawn beside that of the task


def loss_curves(ax: Axes, run: Run, theme: _style.Theme, member: int | None) -> tuple[Array, Array]:
    """Validation loss by step in front of the ladder, for the strip; without a member, all and their median.

    The steps and losses of the thick curve come back.
    """
    steps, line = run.metrics["step"], float(matplotlib.rcParams["lines.linewidth"])
    losses = run.metrics["validation_loss"]
    many = losses if losses.ndim == 2 else losses[:, None]
    rungs = [rung for rung in _clock.ladder(run) if rung.reachable]
    for rung in rungs:
        last = rung is rungs[-1]
        ax.axhline(
            rung.nats,
            color=theme.ink if last else theme.rung,
            linestyle="--",
            linewidth=line * (0.7 if last else 0.4),
            zorder=1,
        )
    if member is None and many.shape[1] > 1:
        ax.plot(steps, many, color=theme.validation, linewidth=0.4 * line, alpha=0.6)
    curve = np.nanmedian(many, axis=1) if member is None else many[:, member if many.shape[1] > 1 else 0]
    ax.plot(steps, curve, color=theme.validation, linewidth=0.9 * line)
    finite, own = curve[np.isfinite(curve)], _clock.window_floor(run, member or 0) if run.task.exact else np.nan
    top = max([rungs[0].nats, *finite[:1]])
    low = min([rungs[-1].nats, *finite])
    ax.set_ylim(low - 0.12 * (top - low), top + 0.08 * (top - low))
    if apart := abs(own - rungs[-1].nats) > APART * (top - low):
        ax.axhline(own, color=theme.ink, linestyle=":", linewidth=0.6 * line, zorder=1)
    names = [(rungs[-1].nats, _short(rungs[-1].name), theme.ink)]
    names += [(own, "floor of these windows", theme.ink)] if apart else []
    _name(ax, names, rungs, theme)
    return steps, curve


def _name(ax: Axes, names: list[tuple[float, str, str]], rungs: list[Rung], theme: _style.Theme) -> None:
    """Names beside their lines: the floor's, the highest rung's, and those between that have room."""
    box, line = ax.get_window_extent().height, float(matplotlib.rcParams["font.size"]) * ax.figure.dpi / 72
    low, high = ax.get_ylim()
    near = 1.25 * line / box * (high - low)
    for rung in [rungs[0], *rungs[1:-1][::-1]] if len(rungs) > 1 else []:
        if rung is rungs[0] or all(abs(rung.nats - taken) > near for taken, _, _ in names):
            names.append((rung.nats, _short(rung.name), theme.quiet))
    _draw.beside(ax, names, most=12.3)


def _short(name: str) -> str:
    return name if len(name) <= 20 else name.rpartition(" = ")[2]
