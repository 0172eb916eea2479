"""Some of the windows behind the logged loss, so few that a life can be looked at with them, and yet alike."""

from dataclasses import fields, replace
from functools import lru_cache

import numpy as np

from glassformer.counted import counted
from glassformer.run import Run
from glassformer.tasks import Examples


@lru_cache(maxsize=16)
def windows(run: Run, most: int) -> Examples:
    """At most so many of the held-out windows on which a training was judged, spaced evenly by their difficulty.

    Drawn blindly, a hundred windows may be harder or easier than all by more than a model still has to learn. Ordered
    by what the exact predictor pays on each and taken at even distances, they have almost the floor of all.
    """
    every = run.task.examples(run.architecture.context, "validation", run.experiment.train.judged)
    many = len(every.windows)
    if many <= most:
        return every
    hard = np.argsort(every.truth[:, counted(run.architecture, run.task.skip).came].mean(axis=1), kind="stable")
    chosen = np.sort(hard[((np.arange(most) + 0.5) * many / most).astype(int)])
    return replace(every, **{field.name: getattr(every, field.name)[chosen] for field in fields(every)})
