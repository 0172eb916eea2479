"""Whether one operation teaches another: trained on some of them, tested on the rest."""

import numpy as np

from glassformer.analyses._result import listed
from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.studies import _measure
from glassformer.study import Cell, Floats, Metric, Study

MAIN = "accuracy_rest"
METRICS = {
    "accuracy_rest": Metric("accuracy, the rest", "share", higher=True),
    "accuracy_trained": Metric("accuracy, trained", "share", higher=True),
    "coincidence": Metric("by coincidence", "share", higher=True),
}


def needs(experiment: Experiment) -> str | None:
    """Why it cannot be asked."""
    return None if hasattr(experiment.task, "operations") else f"task {experiment.task_name} has no operations"


def transfer(experiment: Experiment) -> list[Cell]:
    """Each operation left out in turn, then the two families apart."""
    kinds = experiment.task.kinds
    cells = [_cell(f"without {kind}", [each for each in kinds if each != kind]) for kind in kinds]
    places, sizes = [k for k in kinds if k not in ("Max", "Min")], ["Max", "Min"]
    return [*cells, _cell(f"only {listed(places)}", places), _cell(f"only {listed(sizes)}", sizes)]


def _cell(name: str, trained: list[str]) -> Cell:
    return Cell(name=name, settings=(f"data.operations={trained!r}".replace("'", '"'),))


def measure(run: Run) -> dict[str, Floats]:
    """Accuracy on unseen questions of the trained operations and of the others, and what luck would give the latter.

    By coincidence: the largest share of questions of the other operations that the answer of a single trained one
    gets right, over all questions there are.
    """
    task = run.task
    trained = list(task.operations)  # type: ignore[attr-defined]
    rest = [kind for kind in task.kinds if kind not in trained]
    last = {kind: _measure.column(run, f"accuracy_by_kind.{kind}")[-1] for kind in task.kinds}
    every = task.questions()[1].reshape(len(task.kinds), -1)  # type: ignore[attr-defined]
    answers = dict(zip(task.kinds, every, strict=True))
    luck = [np.mean([np.mean(answers[one] == answers[other]) for other in rest]) for one in trained]
    return {
        "accuracy_trained": np.mean([last[kind] for kind in trained], axis=0),
        "accuracy_rest": np.mean([last[kind] for kind in rest], axis=0),
        "coincidence": np.full(run.members, max(luck)),
    }


def conclude(study: Study) -> str:
    """Whether anything beyond coincidence reaches an operation that was never trained."""
    beyond = []
    trained = [study.spread(row, "accuracy_trained").median for row in study.rows()]
    if np.isnan(trained).all():
        return "In every cell half of the seeds or more diverged, so nothing follows about what was not trained."
    for row in study.rows():
        found, luck = study.spread(row, "accuracy_rest"), study.spread(row, "coincidence").median
        if found.low > luck:
            beyond.append(f"{row.cell.name}, {study.shown(row, 'accuracy_rest')} against {100 * luck:.1f} %")
    text = "An operation whose word was never trained is answered no better than by coincidence with a trained one"
    if beyond:
        text = f"Better than by coincidence with any one trained operation: {listed(beyond)}"
    text += f"; the trained ones are answered at {100 * np.nanmin(trained):.1f} % or more in the median"
    lost = [row.cell.name for row, median in zip(study.rows(), trained, strict=True) if np.isnan(median)]
    return f"{text}, but for half of the seeds or more that diverged {listed(lost)}." if lost else f"{text}."
