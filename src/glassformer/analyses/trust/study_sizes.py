"""How good a model is by the number of different examples it was trained on."""

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Labelled, capital, result, thousands
from glassformer.errors import CallError
from glassformer.study import Metric, Study

ORDER = 60
ANSWERS = ("1.P9",)
COST = "d"
NEEDS = "study"


@result
class StudySizes(_study.OfStudy):
    """The cells by size, the smallest first."""

    values: dict[str, Labelled]  # metric → (cell, member)
    spreads: dict[str, Labelled]  # metric → (cell, statistic)
    examples: Labelled  # (cell,): different training examples
    share: Labelled  # (cell,): of all there could be; NaN where they cannot be listed
    metrics: dict[str, Metric]
    what: str  # questions or sequences

    @property
    def title(self) -> str:
        """From the fewest to the most."""
        name, metric = next(iter(self.metrics.items()))
        middle = self.spreads[name].values[:, 0]
        first, last = (thousands(round(self.examples.values[k])) for k in (0, -1))
        said = f"{capital(metric.title)}: {metric.text(middle[0])} with {first} {self.what}"
        return said + (f", {metric.text(middle[-1])} with {last}" if len(middle) > 1 else "")


def study_sizes(study: Study) -> StudySizes:
    """A study of the training set's size."""
    rows = sorted((row for row in study.rows() if row.cell.x is not None), key=lambda row: row.cell.x or 0)
    if not rows:
        raise CallError(f"no cell of {study.path} is trained yet, or its cells are no sizes")
    chosen = tuple(dict.fromkeys([study.main, "excess"]))
    sizes = np.array([row.cell.x for row in rows], dtype=float)
    task = study.experiment.task
    questions = getattr(task, "questions", None)
    whole = len(questions()[0]) if questions is not None else np.nan
    labels = {"cell": _study.cells(rows)}
    return StudySizes(
        **_study.about(study),
        values={name: _study.values(study, name, rows) for name in chosen},
        spreads={name: _study.spreads(study, name, rows) for name in chosen},
        examples=Labelled(sizes, labels, "examples"),
        share=Labelled(sizes / whole, labels, "share"),
        metrics={name: study.metrics[name] for name in chosen},
        what=rows[0].cell.name.rpartition(" ")[2],
    )
