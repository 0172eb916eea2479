"""Four optimisers, each at its best rate, and what each makes of one and the same sequence of gradients."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _study
from glassformer.analyses._result import Array, Labelled, Result, Words
from glassformer.analyses.rates import _middle
from glassformer.errors import CallError
from glassformer.experiment import Training
from glassformer.study import Study

# The worked example of the source on training dynamics: ten gradients of one embedding number, at a rate of 0.001.
GRADIENTS = (-0.004, -0.005, -0.003, -0.006, -0.004, -0.005, -0.004, -0.005, -0.004, -0.005)
RATE, START = 0.001, 0.1
KINDS = {"sgd": "SGD", "momentum": "momentum", "adam": "Adam", "adamw": "AdamW"}


@dataclass(frozen=True, kw_only=True)
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


def optimisers(study: Study) -> Optimisers:
    """A study of optimisers."""
    rows = study.rows()
    if not rows:
        raise CallError(f"no optimiser of {study.path} is trained at its best rate yet")
    train = study.experiment.train
    moved = np.stack([np.cumsum(updates(GRADIENTS, kind, train)) for kind in KINDS])
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


def updates(
    gradients: tuple[float, ...], kind: str, train: Training, rate: float = RATE, start: float = START
) -> Array:
    """(update,): what an optimiser adds to one number that starts at `start`, gradient by gradient."""
    first = second = 0.0
    weight, found = start, []
    for t, gradient in enumerate(gradients, 1):
        if kind == "sgd":
            direction = gradient
        elif kind == "momentum":
            first = train.momentum * first + gradient
            direction = first
        else:
            first = train.beta_1 * first + (1 - train.beta_1) * gradient
            second = train.beta_2 * second + (1 - train.beta_2) * gradient**2
            mean, square = first / (1 - train.beta_1**t), second / (1 - train.beta_2**t)
            direction = mean / (np.sqrt(square) + train.epsilon)
            if kind == "adamw":
                direction += train.decay * weight
        found.append(-rate * direction)
        weight += found[-1]
    return np.array(found)


def say(seen: Optimisers) -> Words:
    """Who ends lowest."""
    middle, names = seen.spread.values[:, 0], seen.spread.axes["cell"]
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
