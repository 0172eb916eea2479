"""What counts as never seen: questions kept apart one by one, or whole sets of digits in every order."""

from glassformer.experiment import Experiment
from glassformer.studies._say import compared, quickest
from glassformer.study import Cell, Study


def needs(experiment: Experiment) -> str | None:
    """Why it cannot be asked."""
    return None if hasattr(experiment.task, "split") else f"task {experiment.task_name} has one way to be split"


def split(experiment: Experiment) -> list[Cell]:  # noqa: ARG001
    """By question: another order of the same digits may have been trained on. By multiset: it may not."""
    return [
        Cell(name="by question", settings=("data.split=question",)),
        Cell(name="by multiset", settings=("data.split=multiset",)),
    ]


def conclude(study: Study) -> str:
    """Whether digits that were never seen together are harder."""
    text = compared(study, study.main, study.row("by question"))
    return text[0].upper() + text[1:] + " " + quickest(study)
