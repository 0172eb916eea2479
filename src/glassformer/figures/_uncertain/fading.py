"""A fading memory: its entropies, what it holds, and the tape it reads."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._result import Labelled
from glassformer.analyses._uncertain import Uncertainty
from glassformer.figures import _draw, _style
from glassformer.figures._uncertain.parts import level, life, reach


def at_temperatures(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, name: str) -> None:
    """A quantity by step at some temperatures, cold to hot in shade."""
    found, cold = seen.maps[name].values, seen.temperatures
    near = int(np.argmin(np.abs(cold - seen.temperature)))
    picked = sorted({0, near, len(cold) // 2, len(cold) - 1})
    palette = _style.colormap("time", sheet.theme.name)
    for k in picked:
        ax.plot(seen.looked_at, found[k], color=palette(k / max(len(cold) - 1, 1)), label=f"T = {cold[k]:.3g}")
    level(ax, seen.highest, sheet)
    reach(ax, found[picked], seen.highest)
    ax.set_ylabel(f"{name} (nats)")
    rows = -(-len(picked) // 2)
    share = (1.3 * rows + 1) * sheet.em * ax.figure.dpi / ax.get_window_extent().height  # that the key takes
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + (high - low) * share / max(1 - share, 0.2))  # above all curves, so that none crosses it
    ax.legend(loc="upper left", ncols=2, labelspacing=0.25, borderaxespad=0, columnspacing=1.2)
    life(ax, seen, sheet)


def memory(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> tuple[float, float]:
    """The memory by step: one row per token."""
    found = seen.maps["memory"]
    limit = (0.0, float(found.values.max(initial=1.0)))
    _draw.heat(
        ax,
        found.values,
        kind="entropy",
        theme=sheet.theme,
        limit=limit,
        rows=found.axes["feature"].labels,
        numbers=False,
    )
    _steps_below(ax, found)
    ax.set_ylabel("token in memory")
    return limit


def tape(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> tuple[float, float]:
    """The tokens read, one row per temperature, hot at the top."""
    found = seen.maps["tape"]
    limit = (0.0, float(max(seen.tokens - 1, 1)))
    _draw.heat(ax, found.values, kind="probability", theme=sheet.theme, limit=limit, numbers=False)
    ax.invert_yaxis()
    cold = seen.temperatures
    ticks = sorted({0, len(cold) // 2, len(cold) - 1})
    ax.set_yticks(ticks, [f"{cold[k]:.2g}" for k in ticks])
    _steps_below(ax, found)
    ax.set_ylabel("temperature T")
    return limit


def _steps_below(ax: Axes, found: Labelled) -> None:
    steps = found.axes["step"].labels
    every = max(1, round(len(steps) / 6 / 10) * 10) if len(steps) > 12 else max(1, len(steps) // 4)
    ax.set_xticks(range(0, len(steps), every), steps[::every])
    ax.set_xlabel("step")
