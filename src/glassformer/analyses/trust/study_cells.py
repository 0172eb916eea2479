"""Every cell of a study, seed by seed: its metrics side by side."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Labelled, Result, Words, result
from glassformer.errors import CallError
from glassformer.study import Metric, Study

ORDER = 90
ANSWERS = ("new",)
COST = "d"
NEEDS = "study"

MOST = 4  # metrics shown side by side


@result
class Cells(Result):
    """The table of a study, seed by seed."""

    values: dict[str, Labelled]  # metric → (cell, seed)
    spreads: dict[str, Labelled]  # metric → (cell, statistic)
    metrics: dict[str, Metric]
    bounds: Labelled  # (cell,): the best accuracy no training can beat; NaN: none is known
    conclusion: str
    footing: str


def study_cells(study: Study, *, metrics: tuple[str, ...] = ()) -> Cells:
    """The metrics named, or those that answer the study's question."""
    rows = study.rows()
    if not rows:
        raise CallError(f"no cell of {study.path} is trained yet")
    chosen = metrics or _chosen(study)
    bounds = np.array([np.nan if row.cell.bound is None else row.cell.bound for row in rows])
    return Cells(
        clock=_study.clock(study),
        values={name: _study.values(study, name, rows) for name in chosen},
        spreads={name: _study.spreads(study, name, rows) for name in chosen},
        metrics={name: study.metrics[name] for name in chosen},
        bounds=Labelled(bounds, {"cell": _study.cells(rows)}, "share"),
        conclusion=str(study.result.get("conclusion", "")),
        footing=_study.footing(study),
    )


def _chosen(study: Study) -> tuple[str, ...]:
    own = [name for name in study.metrics if name not in _study.COMMON]
    main = study.main
    if main in own:
        return tuple(own[:MOST])
    return tuple(dict.fromkeys([main, "excess", "steps_to_95", *own]))[:MOST]


def say(seen: Cells) -> Words:
    """The spread of the first metric over the cells."""
    name, metric = next(iter(seen.metrics.items()))
    middle, labels = seen.spreads[name].values[:, 0], seen.spreads[name].axes["cell"].labels
    known = np.where(np.isnan(middle), -np.inf if metric.higher else np.inf, middle)
    top, least = (int(np.argmax(known)), int(np.argmin(known)))
    if not metric.higher:
        top, least = least, top
    first = metric.title[0].upper() + metric.title[1:]
    if len(labels) == 1:
        title = f"{first}: {metric.text(middle[0])} in the median of {seen.values[name].values.shape[1]} seeds"
    elif metric.text(middle[top]) == metric.text(middle[least]):
        title = f"{first}: {metric.text(middle[top])} in the median of every cell"
    else:
        low, high = (f"{metric.text(middle[k])} ({labels[k]})" for k in (least, top))
        title = f"{first}: from {low} to {high}"
    caption = f"One row per cell, one panel per metric. {seen.footing} {seen.conclusion}".strip()
    return Words(title, caption, f"Dots for every seed of {len(labels)} cells. {title}.")
