"""What each part of a model is worth: trained again without it, over seeds."""

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Axis, Labelled, capital, listed, result
from glassformer.analyses.trust.study_cells import StudyCells, study_cells
from glassformer.study import Study

ORDER = 50
ANSWERS = ("1.P10", "1.A")
COST = "d"
NEEDS = "study"

MOST_NAMED = 3  # parts in a title


@result
class StudyParts(StudyCells):
    """The cells in order of harm; the whole model first."""

    harmed: tuple[str, ...]  # cells whose interval lies wholly on the worse side of the whole model's
    main: str

    @property
    def title(self) -> str:
        """What is lost without which part."""
        metric, middle = self.metrics[self.main], self.spreads[self.main]
        labels, first = middle.axes["cell"].labels, capital(metric.title)
        number = dict(zip(labels, map(metric.text, middle.values[:, 0]), strict=True))
        whole = number[labels[0]]
        if len(labels) == 1:
            return f"{first} of the whole model is {whole}"
        if not self.harmed:
            return f"No part is missed: {metric.title} is {whole} for the whole model and for those without a part"
        worst = self.harmed[-MOST_NAMED:]  # the last are the worst
        rest, more = len(labels) - 1 - len(self.harmed), len(self.harmed) - len(worst)
        said = f"{first}: {whole} for the whole model, {listed([f'{number[name]} {_part(name)}' for name in worst])}"
        said += f"; {more} more {'is' if more == 1 else 'are'} worse" if more else ""
        return said + (f"; the other {rest} are not worse than the whole model" if rest > 1 else "")


def study_parts(study: Study) -> StudyParts:
    """An ablation by retraining, the least harmful part first."""
    seen = study_cells(study, metrics=tuple(dict.fromkeys([study.main, "steps_to_95"])))
    rows = study.rows()
    metric = study.metrics[study.main]
    middle = seen.spreads[study.main].values[:, 0]
    harm = np.where(np.isnan(middle), np.inf, -middle if metric.higher else middle)
    slow = np.nan_to_num(seen.spreads["steps_to_95"].values[:, 0], nan=np.inf)
    first = np.array([bool(row.cell.settings) for row in rows])  # what leaves nothing out is the whole model
    order = sorted(range(len(rows)), key=lambda k: (first[k], harm[k], slow[k], k))
    whole = next((row for row in rows if not row.cell.settings), None)
    harmed = tuple(rows[k].cell.name for k in order if whole and study.better(study.main, whole, rows[k]))
    return StudyParts(
        **_study.about(study),
        values={name: _taken(each, order) for name, each in seen.values.items()},
        spreads={name: _taken(each, order) for name, each in seen.spreads.items()},
        metrics=seen.metrics,
        bounds=_taken(seen.bounds, order),
        harmed=harmed,
        main=study.main,
    )


def _taken(each: Labelled, order: list[int]) -> Labelled:
    cells = {"cell": Axis(tuple(each.axes["cell"].values[k] for k in order))}
    return Labelled(each.values[order], each.axes | cells, each.unit)


def _part(name: str) -> str:
    if name.startswith("without"):
        return name
    return f"with the {name}" if name.startswith("mean") else f"with {name}"
