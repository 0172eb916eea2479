"""How good a model is by the number of different examples it was trained on."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Labelled, Result, Words, percent, thousands, result
from glassformer.errors import CallError
from glassformer.study import Metric, Study

ORDER = 60
ANSWERS = ("1.P9",)
COST = "d"
NEEDS = "study"


@result
class DataSize(Result):
    """The cells by size, the smallest first."""

    values: dict[str, Labelled]  # metric → (cell, seed)
    spreads: dict[str, Labelled]  # metric → (cell, statistic)
    examples: Labelled  # (cell,): different training examples
    share: Labelled  # (cell,): of all there could be; NaN where they cannot be listed
    metrics: dict[str, Metric]
    what: str  # questions or sequences
    conclusion: str
    footing: str


def study_sizes(study: Study) -> DataSize:
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
    return DataSize(
        clock=_study.clock(study),
        values={name: _study.values(study, name, rows) for name in chosen},
        spreads={name: _study.spreads(study, name, rows) for name in chosen},
        examples=Labelled(sizes, labels, "examples"),
        share=Labelled(sizes / whole, labels, "share"),
        metrics={name: study.metrics[name] for name in chosen},
        what=rows[0].cell.name.rpartition(" ")[2],
        conclusion=str(study.result.get("conclusion", "")),
        footing=_study.footing(study),
    )


def say(seen: DataSize) -> Words:
    """From the fewest to the most."""
    name, metric = next(iter(seen.metrics.items()))
    middle = seen.spreads[name].values[:, 0]
    first, last = thousands(round(seen.examples.values[0])), thousands(round(seen.examples.values[-1]))
    title = f"{metric.title[0].upper()}{metric.title[1:]}: {metric.text(middle[0])} with {first} {seen.what}"
    if len(middle) > 1:
        title += f", {metric.text(middle[-1])} with {last}"
    known = np.isfinite(seen.share.values[-1])
    caption = (
        f"Left: {metric.title}. Right: excess over the floor. The number of steps is the same for all. "
        + (f"The most, {last}, are {percent(seen.share.values[-1])} of all {seen.what} there are. " if known else "")
        + f"{seen.footing} {seen.conclusion}"
    )
    return Words(title, caption.strip(), f"Dots for every seed against the size of the training set. {title}.")
