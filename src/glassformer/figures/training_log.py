"""The training in a table: a dozen lines of its log."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._judged import exactly
from glassformer.analyses._result import thousands
from glassformer.analyses.training_log import say, training_log
from glassformer.figures import _draw, _table
from glassformer.run import Run

SECTION = "learn"
ORDER = 15
ANSWERS = ("1.A", "3.§10")
COST = "a"
SHORT = {"training loss": "train", "held-out loss": "held out", "update / weights": "update", "gradient": "grad."}


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return None if len(run.metrics["step"]) else "nothing was logged during this training"


@_draw.drawing
def plot_training_log(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Step, epoch, losses, right answers, gradient, updates and rate at a dozen logged steps."""
    seen = training_log(run, step=step, member=member)
    steps, names = seen.log.axes["step"], seen.log.axes["quantity"]
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=1.2 + 0.24 * len(steps))
    panel = sheet.panels(1, 1, left=1.2, right=1.2, bottom=0.8, top=1.6)[0, 0]
    narrow = sheet.room[0] < 60
    shown = [k for k, name in enumerate(names) if not narrow or name not in ("excess", "rate", "update / weights")]
    header = ["step", *(SHORT.get(names[k], names[k]) if narrow else names[k] for k in shown)]
    rows = [
        [thousands(int(at)), *(_cell(names[k], float(values[k])) for k in shown)]
        for at, values in zip(steps, seen.log.values, strict=True)
    ]
    nearest = int(np.argmin([abs(int(at) - (seen.step or 0)) for at in steps])) if seen.step is not None else -1
    colours = [sheet.theme.query if k == nearest else sheet.theme.ink for k in range(len(rows))]
    _table.table(panel, sheet.em, header, rows, theme=sheet.theme, align="r" * len(header), colours=colours)
    return sheet.done(seen, member=member)


def _cell(name: str, value: float) -> str:
    if not np.isfinite(value):
        return "–"
    if name == "right":
        return exactly(value)
    if name == "epoch":
        return f"{value:.1f}"
    small = name in ("update / weights", "rate") and value != 0
    return f"{value:.1e}".replace("e-0", "e-") if small else _draw.number(value, 3 if value < 10 else 1)
