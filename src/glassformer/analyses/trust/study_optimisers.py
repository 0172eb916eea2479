"""Four optimisers, each at its best rate, and what each makes of one and the same sequence of gradients."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Labelled, Result, Words, result
from glassformer.analyses.trust.study_rates import _middle
from glassformer.analyses.path.ten_gradients import GRADIENTS, KINDS, RATE, fed
from glassformer.errors import CallError
from glassformer.study import Study

ORDER = 70
ANSWERS = ("1.P8",)
COST = "d"
NEEDS = "study"


@result
class Optimisers(Result):
    """The optimisers at their best rates, the search for these, and the worked example."""

    excess: Labelled  # (cell, seed)
    spread: Labelled  # (cell, statistic)
    steps_to_95: Labelled  # (cell, seed)
    curve: dict[str, Labelled]  # cell → (step,): median excess
    search: dict[str, Labelled]  # optimiser → (rate,): median excess of the search
    fed: Labelled  # (optimiser, update): how far one number has moved after so many gradients
    conclusion: str
    footing: str


def study_optimisers(study: Study) -> Optimisers:
    """A study of optimisers."""
    rows = study.rows()
    if not rows:
        raise CallError(f"no optimiser of {study.path} is trained at its best rate yet")
    train = study.experiment.train
    moved = np.stack([np.cumsum(fed(GRADIENTS, kind, train)) for kind in KINDS])
    return Optimisers(
        clock=_study.clock(study),
        excess=_study.values(study, "excess", rows),
        spread=_study.spreads(study, "excess", rows),
        steps_to_95=_study.values(study, "steps_to_95", rows),
        curve={name: _middle(each) for name, each in _study.curves("excess", rows).items()},
        search={title: each for kind, title in KINDS.items() if (each := _searched(study, kind)) is not None},
        fed=Labelled(moved, {"optimiser": tuple(KINDS.values()),
                             "update": tuple(str(k + 1) for k in range(len(GRADIENTS)))}, "change"),
        conclusion=str(study.result.get("conclusion", "")),
        footing=_study.footing(study),
    )  # fmt: skip


def _searched(study: Study, kind: str) -> Labelled | None:
    rows = [row for row in study.rows("search") if f"train.optimiser={kind}" in row.cell.settings]
    rows.sort(key=lambda row: row.cell.x or 0)
    if not rows:
        return None
    middle = np.array([study.spread(row, "excess").median for row in rows])
    return Labelled(middle, {"rate": tuple(f"{row.cell.x:g}" for row in rows)}, "nats per token")


def say(seen: Optimisers) -> Words:
    """Who ends lowest."""
    middle, names = seen.spread.values[:, 0], seen.spread.axes["cell"].labels
    if np.isfinite(middle).any():
        order = list(np.argsort(np.nan_to_num(middle, nan=np.inf), kind="stable"))
        top, last = order[0], order[-1]
        title = f"{names[top][0].upper()}{names[top][1:]} ends lowest, with an excess of {middle[top]:.2g} nats"
        if len(order) > 1 and np.isfinite(middle[last]):
            title += f"; {names[last]} ends with {middle[last]:.2g}"
    else:
        title = f"None of {len(names)} optimisers has a number left for its loss"
    ratio = seen.fed.values[2, -1] / seen.fed.values[0, -1]
    caption = (
        "Top left: the search, median excess of few seeds against the rate. Top right: the median excess on the way, "
        "each at its best rate. Bottom left: where every seed ends. Bottom right: the ten gradients of the worked "
        f"example, about {np.mean(GRADIENTS):.4f} each, fed to all four at a rate of {RATE:g}: the sum of their steps. "
        f"Adam has moved {ratio:.0f} times as far as SGD, because it divides by the size of the gradients. "
        f"{seen.footing} {seen.conclusion}"
    )
    return Words(title, caption.strip(), f"Four charts of optimisers. {title}.")
