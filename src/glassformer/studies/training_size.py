"""How many different examples it takes: the same model and the same steps, on a part of the training set."""

import math

from glassformer.experiment import Experiment
from glassformer.study import Cell, Study

FIGURE = "study_sizes"
QUESTIONS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)  # shares of the distinct training questions
SEQUENCES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # of a rule's sequences; a tenth of them is kept for validation


def needs(experiment: Experiment) -> str | None:
    """Why it cannot be asked."""
    known = hasattr(experiment.task, "fraction") or hasattr(experiment.task, "sequences")
    return None if known else f"task {experiment.task_name} has no number of training examples to change"


def training_size(experiment: Experiment) -> list[Cell]:
    """Parts of the distinct questions, each within the next; for a rule, more and fewer sequences."""
    task, context = experiment.task, experiment.architecture.context
    if hasattr(task, "fraction"):
        whole = len(task.data(context).train.starts) / task.fraction
        many = {share: round(share * whole) for share in QUESTIONS}
        return [Cell(name=f"{many[s]:,} questions", settings=(f"data.fraction={s}",), x=many[s]) for s in QUESTIONS]
    counts = sorted({max(20, round(share * task.sequences)) for share in SEQUENCES})  # type: ignore[attr-defined]
    return [Cell(name=f"{n:,} sequences", settings=(f"data.sequences={n}",), x=n) for n in counts]


def conclude(study: Study) -> str:
    """The least number of examples with which nothing is lost."""
    rows, metric = sorted(study.rows(), key=lambda row: row.cell.x or 0), study.main
    most = rows[-1]
    enough = next(row for k, row in enumerate(rows) if not any(study.better(metric, most, each) for each in rows[k:]))
    text = f"{study.metrics[metric].title} with {most.cell.name}: {study.shown(most, metric)}"
    fewest = rows[0]
    if enough is not most:
        text += f"; from {enough.cell.name} on it is no worse than that"
    if fewest is not enough:
        text += f"; with {fewest.cell.name} it is {study.shown(fewest, metric)}"
    good = [row for row in rows if not math.isnan(study.spread(row, "steps_to_95").median)]
    if good and good[0] is not enough:
        text += f"; 95 % is reached from {good[0].cell.name} on"
    return text[0].upper() + text[1:] + "."
