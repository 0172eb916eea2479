"""How the learning rate decides: where a training ends, how it gets there, and how unsteadily."""

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Labelled, power, result
from glassformer.errors import CallError
from glassformer.study import Study

ORDER = 80
ANSWERS = ("1.P8", "2.§5.2")
COST = "d"
NEEDS = "study"

OPTIMISERS = {"sgd": "SGD", "momentum": "SGD with momentum", "adam": "Adam", "adamw": "AdamW"}


@result
class StudyRates(_study.OfStudy):
    """The cells by rate, the smallest first."""

    rate: Labelled  # (cell,)
    excess: Labelled  # (cell, member): at the end
    spread: Labelled  # (cell, statistic)
    jump: Labelled  # (cell, member): largest rise of the loss between two logged steps
    jumps: Labelled  # (cell, statistic)
    curve: dict[str, Labelled]  # cell → (step,): median excess over the seeds that still have one
    rungs: Labelled  # (rung,): the ladder, as excess
    diverged: tuple[int, ...]  # (cell,): seeds
    seeds: int
    steps: int  # after which the excess is that of the end
    optimiser: str
    schedule: str

    @property
    def title(self) -> str:
        """The best rate, and what lies beyond it."""
        middle, at = self.spread.values[:, 0], self.rate.values
        gone = [named(at[k]) for k, many in enumerate(self.diverged) if many]
        if np.isfinite(middle).any():
            top = int(np.nanargmin(middle))
            said = (
                f"Of {len(at)} learning rates of {self.optimiser}, {named(at[top])} ends lowest, with an excess of "
                f"{named(middle[top])} nats"
            )
            if top in (0, len(at) - 1) and len(at) > 1:
                said += f", and it is the {'lowest' if top == 0 else 'highest'} tried"
        else:
            said = f"No training is left with a number for its loss, at any of {len(at)} learning rates"
        return said + (f"; seeds diverge at {', '.join(gone)}" if gone else "")


def study_rates(study: Study) -> StudyRates:
    """A study of the learning rate."""
    rows = sorted((row for row in study.rows() if row.cell.x is not None), key=lambda row: row.cell.x or 0)
    if not rows or "jump" not in study.metrics:
        raise CallError(f"no cell of {study.path} is trained yet, or its cells are no rates")
    ladder = [r for r in study.experiment.task.ladder(study.experiment.architecture.context) if r.reachable]
    labels = {"cell": _study.cells(rows)}
    return StudyRates(
        **_study.about(study),
        rate=Labelled(np.array([row.cell.x for row in rows], dtype=float), labels, "rate"),
        excess=_study.values(study, "excess", rows),
        spread=_study.spreads(study, "excess", rows),
        jump=_study.values(study, "jump", rows),
        jumps=_study.spreads(study, "jump", rows),
        curve={name: middle_of(each) for name, each in _study.curves("excess", rows).items()},
        rungs=Labelled(np.array([r.nats - ladder[-1].nats for r in ladder]), {"rung": tuple(r.name for r in ladder)},
                       "nats per token"),
        diverged=tuple(len(row.diverged) for row in rows),
        seeds=study.seeds,
        steps=max(int(row.curves["step"][-1]) for row in rows),
        optimiser=OPTIMISERS.get(study.experiment.train.optimiser, study.experiment.train.optimiser),
        schedule=study.experiment.train.schedule,
    )  # fmt: skip


def middle_of(each: Labelled) -> Labelled:
    """The median over seeds; NaN where none has a number left."""
    rows = [row[np.isfinite(row)] for row in each.values]
    middle = np.array([np.median(row) if len(row) else np.nan for row in rows])
    return Labelled(middle, {"step": each.axes["step"]}, each.unit)


def named(value: float) -> str:
    """0.003, 10⁻⁵: plain while there are few zeros."""
    if value <= 0 or value >= 1e-4:
        return f"{value:.2g}"
    return power(value) if float(f"{value:.0e}") == float(f"{value:.1e}") else power(value, 2)
