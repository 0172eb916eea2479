"""How large the steps may be: the learning rate from a thousandth to a hundred times the experiment's."""

import math

import numpy as np

from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.studies import _measure
from glassformer.studies._say import best
from glassformer.study import Cell, Floats, Metric, Study

FIGURE = "study_rates"
FACTORS = (0.001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100)
MAIN = "excess"
METRICS = {"jump": Metric("largest jump", "nats")}


def rate(experiment: Experiment) -> list[Cell]:
    """Nine rates around the experiment's own."""
    rates = [float(f"{factor * experiment.train.rate:.3g}") for factor in FACTORS]
    return [Cell(name=f"rate {r:g}", settings=(f"train.rate={r!r}",), x=r) for r in rates]


def measure(run: Run) -> dict[str, Floats]:
    """How unsteadily the loss falls."""
    return {"jump": _measure.largest_jump(run)}


def conclude(study: Study) -> str:
    """The best rate, and where training stops working on either side."""
    rows = sorted(study.rows(), key=lambda row: row.cell.x or 0)
    top = best(study, rows, "excess")
    text = f"The lowest excess, {study.shown(top, 'excess')} nats, is reached at {top.cell.name}"
    ladder = study.experiment.task.ladder(study.experiment.architecture.context)
    floor = study.experiment.floor
    rung = min((r.nats - floor for r in ladder[1:] if r.nats - floor > 0.05), default=math.inf)
    works = [row for row in rows if np.nan_to_num(study.spread(row, "excess").median, nan=np.inf) < rung]
    if works and len(works) < len(rows):
        text += f"; the model gets past the last rung before the rule from {works[0].cell.x:g} to {works[-1].cell.x:g}"
    broken = [f"{len(row.diverged)} of {len(row.seeds)} seeds at {row.cell.name}" for row in rows if row.diverged]
    return f"{text}; no longer a number: {', '.join(broken)}." if broken else f"{text}; no seed diverged."
