"""What counts as never seen: questions kept apart one by one, or whole sets of digits in every order."""

from typing import get_args, get_type_hints

from glassformer.experiment import Experiment
from glassformer.studies._say import compare_and_time
from glassformer.study import Cell, Study

WAYS = ("question", "multiset")


def needs(experiment: Experiment) -> str | None:
    """Why it cannot be asked."""
    known = get_args(get_type_hints(type(experiment.task)).get("split"))
    return None if {*WAYS} <= {*known} else f"task {experiment.task_name} is not split by {' and by '.join(WAYS)}"


def split(experiment: Experiment) -> list[Cell]:  # noqa: ARG001
    """By question: another order of the same digits may have been trained on. By multiset: it may not."""
    return [Cell(name=f"by {way}", settings=(f"data.split={way}",)) for way in WAYS]


def conclude(study: Study) -> str:
    """Whether digits that were never seen together are harder."""
    return compare_and_time(study, study.main, study.row("by question"))
