"""Every cell of a study, seed by seed: its metrics side by side."""

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Labelled, capital, result
from glassformer.errors import CallError
from glassformer.study import Metric, Study

ORDER = 90
ANSWERS = ("new",)
COST = "d"
NEEDS = "study"

MOST = 4  # metrics shown side by side


@result
class StudyCells(_study.OfStudy):
    """The table of a study, seed by seed."""

    values: dict[str, Labelled]  # metric → (cell, member)
    spreads: dict[str, Labelled]  # metric → (cell, statistic)
    metrics: dict[str, Metric]
    bounds: Labelled  # (cell,): the best accuracy no training can beat; NaN: none is known

    @property
    def title(self) -> str:
        """The spread of the first metric over the cells."""
        name, metric = next(iter(self.metrics.items()))
        middle, labels = self.spreads[name].values[:, 0], self.spreads[name].axes["cell"].labels
        first = capital(metric.title)
        if len(labels) == 1:
            many = self.values[name].values.shape[1]
            return f"{first}: {metric.text(middle[0])} in the median of {many} seed{'s' * (many > 1)}"
        known = np.where(np.isnan(middle), -np.inf if metric.higher else np.inf, middle)
        ends = [int(np.argmin(known)), int(np.argmax(known))]
        low, high = (f"{metric.text(middle[k])} ({labels[k]})" for k in (ends if metric.higher else ends[::-1]))
        if metric.text(middle[ends[0]]) == metric.text(middle[ends[1]]):
            return f"{first}: {metric.text(middle[ends[0]])} in the median of every cell"
        return f"{first}: from {low} to {high}"


def study_cells(study: Study, *, metrics: tuple[str, ...] = ()) -> StudyCells:
    """The metrics named, or those that answer the study's question."""
    rows = study.rows()
    if not rows:
        raise CallError(f"no cell of {study.path} is trained yet")
    chosen = metrics or _chosen(study)
    bounds = np.array([np.nan if row.cell.bound is None else row.cell.bound for row in rows])
    return StudyCells(
        **_study.about(study),
        values={name: _study.values(study, name, rows) for name in chosen},
        spreads={name: _study.spreads(study, name, rows) for name in chosen},
        metrics={name: study.metrics[name] for name in chosen},
        bounds=Labelled(bounds, {"cell": _study.cells(rows)}, "share"),
    )


def _chosen(study: Study) -> tuple[str, ...]:
    own = [name for name in study.metrics if name not in _study.COMMON]
    main = study.main
    if main in own:
        return tuple(own[:MOST])
    return tuple(dict.fromkeys([main, "excess", "steps_to_95", *own]))[:MOST]
