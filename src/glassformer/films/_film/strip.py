"""The loss along the bottom of a film."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses import _clock
from glassformer.analyses._result import Array
from glassformer.figures import _style
from glassformer.run import Run


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
    mean = np.nanmedian(many, axis=1) if member is None else many[:, member if many.shape[1] > 1 else 0]
    ax.plot(steps, mean, color=theme.validation, linewidth=0.9 * line)
    finite = mean[np.isfinite(mean)]
    top = max([rungs[0].nats, *finite[:1]])
    low = min([rungs[-1].nats, *finite])
    ax.set_ylim(low - 0.12 * (top - low), top + 0.08 * (top - low))
    dot = float(matplotlib.rcParams["font.size"]) * ax.figure.dpi / 72
    free = np.inf
    for rung in [rungs[-1], *rungs[:-1][::-1]]:  # names beside their rungs, the floor's first, none over another
        y = ax.transData.transform((0, rung.nats))[1]
        if free == np.inf or y - free > 1.1 * dot:
            free = y
            ax.annotate(_short(rung.name), (1, rung.nats), xycoords=("axes fraction", "data"), xytext=(8, 0),
                        va="center", textcoords="offset points", color=theme.ink if rung is rungs[-1] else theme.quiet,
                        annotation_clip=False)  # fmt: skip
    return steps, mean


def _short(name: str) -> str:
    return name if len(name) <= 20 else name.rpartition(" = ")[2]
