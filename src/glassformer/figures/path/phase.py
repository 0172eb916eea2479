"""Sure and right are two things: the path on the plane of entropy and loss, past the rungs of the ladder."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses.decide.attribution import signed
from glassformer.analyses.path.phase import Phase
from glassformer.figures import _draw, _life, _uncertain
from glassformer.words import thousands


def draw(seen: Phase, look: _draw.Look) -> Figure:
    """Entropy against loss, one dot per step, the line on which they are equal, and their difference by step."""
    shows = "A path on the plane of entropy and loss"
    sheet = look.sheet(seen, caption(seen), shows, height=11 if look.size == "print_narrow" else 6.4, least=0)
    narrow = sheet.room[0] < _uncertain.NARROW
    left = (0, 0.36, 1, 1) if narrow else (0, 0, 0.66, 1)
    right = (0, 0, 1, 0.36) if narrow else (0.66, 0, 1, 1)
    names = 0.0 if not seen.ladder else 7.0 if narrow else 11.0
    path = sheet.panels(1, 1, left=5, right=9.5 + names, bottom=3.8, top=1.6, within=left)[0, 0]
    gap = sheet.panels(1, 1, left=6, right=2.8, bottom=3.8, top=3.6, within=right)[0, 0]
    _uncertain.phase(path, seen, sheet, names=names)
    last = max(len(seen.looked_at) - 1, 1)
    bar = _draw.bar(sheet, "time", (0, last), "step", beside=path, gap=names + 2.2)
    _round_steps(bar, seen)
    _uncertain.life(gap, seen, sheet)
    _uncertain.gap(gap, seen, sheet)
    for panel in (path, gap):
        _life.plain_powers(panel.yaxis)
    band = _uncertain.band(seen)
    _draw.heading(gap, f"loss minus entropy (band: {band})" if band else "loss minus entropy")
    return sheet.done()


def caption(seen: Phase) -> str:
    """How to read the plane, also in the film."""
    rungs = ""
    if seen.ladder and seen.exact:
        rungs = (
            " Rings are partial understandings of the task: each is exactly as sure as it is right, so it lies "
            "on the line, and the lower, the more is understood."
        )
    elif seen.ladder:
        rungs = " Rings are tables of counts: the price of each against its entropy, measured on a few inputs."
    exact = (
        f"; thick dashes: of the exact predictor, {signed(seen.calibrated, 3)} on these inputs and 0 on endless ones"
        if seen.subject == "run" and seen.known and seen.exact
        else ""
    )
    return (
        f"Entropy (how unsure the model says it is) against loss (how wrong it is) at T = {seen.temperature:.4g}, one "
        f"dot for each of {len(seen.looked_at)} steps, dark to light in time, arrow heads along the way; "
        f"{_uncertain.means(seen)} On the dashed line loss equals entropy: on average the model is as right as it "
        f"says. Above it, it is too sure; below, too cautious.{rungs} Second chart: the distance from the line, loss "
        f"minus entropy, by step{exact}. A path along the line from rung to rung would be a learner that always knows "
        "how much it knows."
    )


def _round_steps(bar: Axes, seen: Phase) -> None:
    """Round steps beside the colours, of which each step looked at has an equal share."""
    steps, last = seen.looked_at, max(len(seen.looked_at) - 1, 1)
    wanted = [step for step in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, int(steps[-1])) if step < steps[-1]]
    ticks: dict[float, int] = {}
    for step in [int(steps[-1]), *(round(each) for each in reversed(wanted) if each >= steps[0])]:
        place = float(np.interp(step, steps, np.arange(len(steps))))
        if all(abs(place - other) > 0.07 * last for other in ticks):
            ticks[place] = step
    bar.set_yticks(list(ticks), [thousands(step) for step in ticks.values()])
