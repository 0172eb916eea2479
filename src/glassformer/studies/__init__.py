"""Questions that take many trainings: one file per study.

A file `studies/NAME.py` holds `NAME(experiment)`, which gives its cells (each a name and the settings that differ). It
may also hold `conclude(study)` (a sentence computed from the table, if it is not to compare the cells), `MAIN` (the
metric that answers its question), `needs(experiment)` (why it cannot be asked of this experiment), `METRICS`, or
`metrics(experiment)` where they depend on it, and `measure(run)` (numbers of its own), `follow(experiment, study)`
(cells that depend on the results of the first ones) and `FIGURE` (who draws it; `study_cells` if none).
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
