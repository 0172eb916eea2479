"""Some of the windows behind the logged loss, so few that a life can be looked at with them, and yet alike."""

from dataclasses import fields, replace
from functools import lru_cache

from glassformer.counted import as_hard_as_all, counted
from glassformer.run import Run
from glassformer.tasks import Examples


@lru_cache(maxsize=16)
def windows(run: Run, most: int) -> Examples:
    """At most so many of the held-out windows on which a training was judged, as hard on average as all of them."""
    every = run.task.examples(run.architecture.context, "validation", run.experiment.train.windows)
    chosen = as_hard_as_all(every, counted(run.architecture, run.task.skip).came, most)
    if len(chosen) == len(every.windows):
        return every
    return replace(every, **{field.name: getattr(every, field.name)[chosen] for field in fields(every)})
