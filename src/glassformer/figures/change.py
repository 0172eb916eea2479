"""How much the weights change, part by part, for their size, and whether they keep going the same way."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._life import called
from glassformer.analyses._result import Labelled
from glassformer.analyses.change import Change, change, say
from glassformer.figures import _draw, _life
from glassformer.run import Run

SECTION = "path"
ORDER = 40
ANSWERS = ("1.P7", "1.Q11")
COST = "b"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return None if len(run.steps) > 1 else "only one step was kept"


@_draw.drawing
def plot_change(
    run: Run, *, step: int = -1, member: int = 0, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """Mean absolute change by part, the same relative to the weights, and the cosine of successive changes."""
    seen = change(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=8.4)
    right = 12 if sheet.room[0] > 60 else 9.5
    panels = sheet.panels(3, 1, heights=(1.3, 1.1, 1), left=6.5, right=right, bottom=5, top=2.2, gap=(0, 2.6))[:, 0]
    _curves(panels[0], seen, seen.change, sheet, log=True, wide=right - 2)
    panels[0].set_title("mean absolute change of a parameter")
    _curves(panels[1], seen, seen.relative, sheet, log=True, wide=right - 2)
    panels[1].set_title("for the size of the weights")
    _curves(panels[2], seen, seen.cosine_smooth, sheet, log=False, wide=right - 2)
    panels[2].set_title("cosine with the change before")
    for panel in panels:
        _life.steps_axis(panel, seen.steps[-1] if seen.steps else 1, seen.per_pass, panel is panels[-1], seen.step)
    return sheet.done(seen, member=member)


def _curves(ax: Axes, seen: Change, table: Labelled, sheet: _draw.Sheet, *, log: bool, wide: float) -> None:
    t, line = sheet.theme, sheet.size.line
    names = []
    single = seen.blocks == 1
    few = "o" if len(seen.steps) < 3 else ""
    for name, curve in zip(table.axes["part"], table.values, strict=True):
        colour, dashes = _life.part_style(name, t)
        whole = name == "all"
        drawn = np.where(curve > 0, curve, np.nan) if log else curve
        ax.plot(seen.steps, drawn, color=t.faint if whole else colour, linestyle=dashes, marker=few,
                linewidth=line * (3.2 if whole else 0.8), zorder=1 if whole else 2)  # fmt: skip
        finite = drawn[np.isfinite(drawn)]
        if len(finite):
            names.append((float(finite[-1]), called(name, single), t.quiet if whole else colour))
    if log:
        ax.set_yscale("log")
        ax.minorticks_off()
    else:
        ax.set_ylim(-1.05, 1.05)
        ax.set_yticks([-1, 0, 1])
        ax.axhline(0, color=t.faint, linewidth=0.5 * line, zorder=0)
    _draw.beside(ax, names, most=wide)
