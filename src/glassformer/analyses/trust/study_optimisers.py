"""Four optimisers, each at its best rate, and what each makes of one and the same sequence of gradients."""

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Labelled, capital, result
from glassformer.analyses.path.ten_gradients import GRADIENTS, KINDS, fed
from glassformer.analyses.trust.study_rates import middle_of
from glassformer.errors import CallError
from glassformer.study import Study

ORDER = 70
ANSWERS = ("1.P8",)
COST = "d"
NEEDS = "study"


@result
class StudyOptimisers(_study.OfStudy):
    """The optimisers at their best rates, the search for these, and the worked example."""

    excess: Labelled  # (cell, member)
    spread: Labelled  # (cell, statistic)
    curve: dict[str, Labelled]  # cell → (step,): median excess
    search: dict[str, Labelled]  # optimiser → (rate,): median excess of the search
    fed: Labelled  # (optimiser, step): how far one number has moved after so many gradients

    @property
    def title(self) -> str:
        """Who ends lowest."""
        middle, names = self.spread.values[:, 0], self.spread.axes["cell"].labels
        if not np.isfinite(middle).any():
            return f"None of {len(names)} optimisers has a number left for its loss"
        order = np.argsort(np.nan_to_num(middle, nan=np.inf), kind="stable")
        top, last = order[0], order[-1]
        said = f"{capital(names[top])} ends lowest, with an excess of {middle[top]:.2g} nats"
        more = len(order) > 1 and np.isfinite(middle[last])
        return f"{said}; {names[last]} ends with {middle[last]:.2g}" if more else said


def study_optimisers(study: Study) -> StudyOptimisers:
    """A study of optimisers."""
    rows = study.rows()
    if not rows:
        raise CallError(f"no optimiser of {study.path} is trained at its best rate yet")
    train = study.experiment.train
    moved = np.stack([np.cumsum(fed(GRADIENTS, kind, train)) for kind in KINDS])
    return StudyOptimisers(
        **_study.about(study),
        excess=_study.values(study, "excess", rows),
        spread=_study.spreads(study, "excess", rows),
        curve={name: middle_of(each) for name, each in _study.curves("excess", rows).items()},
        search={title: each for kind, title in KINDS.items() if (each := _searched(study, kind)) is not None},
        fed=Labelled(moved, {"optimiser": tuple(KINDS.values()), "step": range(1, len(GRADIENTS) + 1)}, "change"),
    )  # fmt: skip


def _searched(study: Study, kind: str) -> Labelled | None:
    rows = [row for row in study.rows("search") if f"train.optimiser={kind}" in row.cell.settings]
    rows.sort(key=lambda row: row.cell.x or 0)
    if not rows:
        return None
    middle = np.array([study.spread(row, "excess").median for row in rows])
    return Labelled(middle, {"rate": [row.cell.x for row in rows]}, "nats per token")
