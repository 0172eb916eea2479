"""Ten gradients of one weight by hand: how far plain descent, momentum, Adam and AdamW move it."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._options import Option
from glassformer.analyses._result import Array, Labelled, Result, result
from glassformer.errors import CallError
from glassformer.experiment import Training

ORDER = 68  # before `one_update`, which shows the same with the gradients of a real batch
ANSWERS = ("1.P2", "1.P8")
COST = "a"
EDITS = "training"
NEEDS = "nothing"

# The worked example of the source on training dynamics: ten gradients of one embedding number, its rate and start.
GRADIENTS = (-0.004, -0.005, -0.003, -0.006, -0.004, -0.005, -0.004, -0.005, -0.004, -0.005)
RATE, START = 0.001, 0.1
CLAIMED = {"SGD": -0.0045, "Adam": -0.0062}  # the changes the source gives for them
KINDS = {"sgd": "SGD", "momentum": "momentum", "adam": "Adam", "adamw": "AdamW"}
PLAIN = Training(steps=1)  # Adam's usual 0.9 and 0.999, momentum 0.9, decay 0.01
MOST = 16  # gradients that the table holds


@result
class TenGradients(Result):
    """What four optimisers make of the same gradients, and Adam's own numbers on the way."""

    gradients: Labelled  # (step,): update by update
    moved: Labelled  # (optimiser, step): how far the weight is from its start
    adam: Labelled  # (quantity, step): its two running means, plain and corrected, and the step made of them
    claimed: Labelled  # (optimiser,): the source's changes; nothing where other gradients are asked for
    rate: float
    start: float
    beta_1: float
    beta_2: float

    @property
    def many(self) -> str:
        """How many gradients, in words."""
        count = len(self.gradients.values)
        return f"{count} gradients" if count > 1 else "one gradient"

    @property
    def title(self) -> str:
        """How much further Adam goes."""
        ends = dict(zip(self.moved.axes["optimiser"].labels, self.moved.values[:, -1].tolist(), strict=True))
        plain, adam = ends["SGD"], ends["Adam"]
        title = f"After the same {self.many}, plain descent (SGD) has moved the weight by {signed(plain)}, Adam by "
        return title + signed(adam) + (f", {abs(adam / plain):.3g} times as far" if plain else "")


def ten_gradients(
    *,
    gradients: Annotated[tuple[float, ...], Option("the gradients of the weight, one per update")] = GRADIENTS,
    rate: Annotated[float, Option("the learning rate, above 0", least=0, most=10)] = RATE,
    start: Annotated[float, Option("where the weight begins")] = START,
) -> TenGradients:
    """Feed `gradients` to all four at the same rate; the weight begins at `start` (only AdamW's decay looks at it)."""
    given = _primer.several("gradients", gradients, most=MOST)
    if not 0 < _primer.one("rate", rate) <= 10:
        raise CallError(f"rate = {rate!r} is not above 0 and up to 10")
    begin = _primer.one("start", start)
    moved = np.stack([np.cumsum(fed(given, kind, PLAIN, rate, begin)) for kind in KINDS])
    at = {"step": range(1, len(given) + 1)}
    means = adam_means(given, PLAIN)
    rows = {**means, "step": fed(given, "adam", PLAIN, rate, begin)}
    claimed = CLAIMED if (given, rate) == (GRADIENTS, RATE) else {}
    return TenGradients(
        gradients=Labelled(np.array(given), at),
        moved=Labelled(moved, {"optimiser": tuple(KINDS.values()), **at}, "change of the weight"),
        adam=Labelled(np.stack(list(rows.values())), {"quantity": tuple(rows), **at}),
        claimed=Labelled(np.array(list(claimed.values())), {"optimiser": tuple(claimed)}, "change of the weight"),
        rate=float(rate),
        start=begin,
        beta_1=PLAIN.beta_1,
        beta_2=PLAIN.beta_2,
    )


def fed(
    gradients: Sequence[float], kind: str, train: Training, rate: float = RATE, start: float = START
) -> Array:  # fmt: skip
    """(update,): what an optimiser adds to one weight that begins at `start`, gradient by gradient."""
    if kind == "sgd":
        return -rate * np.array(gradients)
    if kind == "momentum":
        carried = 0.0
        return -rate * np.array([carried := train.momentum * carried + each for each in gradients])
    means = adam_means(gradients, train)
    directions = means["mean_corrected"] / (np.sqrt(means["square_corrected"]) + train.epsilon)
    if kind == "adam":
        return -rate * directions
    weight, found = start, []
    for direction in directions:
        found.append(-rate * (direction + train.decay * weight))
        weight += found[-1]
    return np.array(found)


def adam_means(gradients: Sequence[float], train: Training) -> dict[str, Array]:
    """(update,) each: Adam's two running means, and the same divided by what their start at zero has cost."""
    mean = square = 0.0
    rows = []
    for t, gradient in enumerate(gradients, 1):
        mean = train.beta_1 * mean + (1 - train.beta_1) * gradient
        square = train.beta_2 * square + (1 - train.beta_2) * gradient**2
        rows.append((mean, square, mean / (1 - train.beta_1**t), square / (1 - train.beta_2**t)))
    return dict(zip(("mean", "square", "mean_corrected", "square_corrected"), np.array(rows).T, strict=True))


def signed(value: float) -> str:
    """+0.0099, +0.000045, −0.002, 0."""
    if not value:
        return "0"
    text = f"{value:+.2g}" if abs(value) < 1e-5 or abs(value) >= 1e5 else f"{value:+.{_places(value)}f}"
    return text.replace("-", "−")


def _places(value: float) -> int:
    """Decimal places that leave two digits that count."""
    return max(0, 1 - int(np.floor(np.log10(abs(value)))))
