"""Questions that take many trainings: one file per study.

A file `studies/NAME.py` holds `NAME(experiment)`, which gives its cells (each a name and the settings that differ), and
`conclude(study)`, a sentence computed from the table. It may also hold `needs(experiment)` (why it cannot be asked of
this experiment), `METRICS`, or `metrics(experiment)` where they depend on it, and `measure(run)` (numbers of its own),
`MAIN` (the metric that answers its question), `follow(experiment, study)` (cells that depend on the results of the
first ones) and `FIGURE` (who draws it; `study_cells` if none). All the rest is shared.
"""

from types import ModuleType

from glassformer.studies._run import find, run

__all__ = ["find", "names", "run"]


def names() -> list[str]:
    """Every study."""
    import sys

    from glassformer import _discover

    here: ModuleType = sys.modules[__name__]
    return _discover.names(here)
