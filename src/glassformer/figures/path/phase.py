"""Sure and right are two things: the path on the plane of entropy and loss, past the rungs of the ladder."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import thousands
from glassformer.analyses._uncertain import Uncertainty
from glassformer.analyses._uncertain_words import say_phase
from glassformer.analyses.path.uncertainty import Subject, uncertainty
from glassformer.figures import _draw, _uncertain


@_draw.drawing
def plot_phase(
    run: Subject,
    *,
    temperature: float = 1.0,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Entropy against loss, one dot per step, the line on which they are equal, and their difference by step."""
    seen = uncertainty(run, temperature=temperature, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say_phase(seen), seen.clock, height=11 if size == "print_narrow" else 6.4)
    narrow = sheet.room[0] < _uncertain.NARROW
    left = (0, 0.36, 1, 1) if narrow else (0, 0, 0.66, 1)
    right = (0, 0, 1, 0.36) if narrow else (0.66, 0, 1, 1)
    names = 0.0 if not any(seen.reachable) else 7.0 if narrow else 11.0
    path = sheet.panels(1, 1, left=5, right=9.5 + names, bottom=3.8, top=1.6, within=left)[0, 0]
    gap = sheet.panels(1, 1, left=6, right=2.8, bottom=3.8, top=3.6, within=right)[0, 0]
    _uncertain.phase(path, seen, sheet, names=names)
    last = max(len(seen.looked_at) - 1, 1)
    bar = _draw.bar(sheet, "time", (0, last), "step", beside=path, gap=names + 2.2)
    _round_steps(bar, seen)
    _uncertain.life(gap, seen, sheet)
    _uncertain.gap(gap, seen, sheet)
    _draw.heading(gap, "loss minus entropy" + (" (band: 8 windows in 10)" if seen.inputs > 1 else ""))
    shown = seen.only("by_step.entropy_at", "by_step.loss_at", "by_step.gap")
    return sheet.done(shown, temperature=temperature, member=member)


def _round_steps(bar: Axes, seen: Uncertainty) -> None:
    """Round steps beside the colours, of which each step looked at has an equal share."""
    steps, last = seen.looked_at, max(len(seen.looked_at) - 1, 1)
    wanted = [step for step in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, int(steps[-1])) if step < steps[-1]]
    ticks: dict[float, int] = {}
    for step in [int(steps[-1]), *(round(each) for each in reversed(wanted) if each >= steps[0])]:
        place = float(np.interp(step, steps, np.arange(len(steps))))
        if all(abs(place - other) > 0.07 * last for other in ticks):
            ticks[place] = step
    bar.set_yticks(list(ticks), [thousands(step) for step in ticks.values()])
