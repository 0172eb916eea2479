"""How much depends on chance: the same training with many seeds."""

import numpy as np

from glassformer.experiment import Experiment
from glassformer.study import Cell, Study


def seeds(experiment: Experiment) -> list[Cell]:  # noqa: ARG001
    """One cell; its seeds are the study."""
    return [Cell(name="all seeds")]


def conclude(study: Study) -> str:
    """How many come through, and how far apart they are."""
    row = study.rows()[0]
    goal = next(name for name in reversed(study.metrics) if name.startswith("steps_to_"))
    first = row.measured[goal]
    good = int(np.isfinite(first).sum())
    text = f"{good} of {len(first)} seeds {'gets' if good == 1 else 'get'} to {goal.removeprefix('steps_to_')} %"
    if good == 1:
        text += f", by step {np.nanmin(first):,.0f}"
    elif good:
        text += f", the first by step {np.nanmin(first):,.0f} and the last by step {np.nanmax(first):,.0f}"
    text += f"; {study.metrics[study.main].title} {study.shown(row, study.main)}"
    return f"{text}; {len(row.diverged)} diverged." if row.diverged else f"{text}."
