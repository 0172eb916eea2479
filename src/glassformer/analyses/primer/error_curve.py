"""How wrong is a prediction? Squared error and surprise, as functions of what was predicted."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._options import Option
from glassformer.analyses._primer import LARGE, short
from glassformer.analyses._result import Array, Labelled, Result, result
from glassformer.errors import CallError

ORDER = 30
ANSWERS = ("3.§3.1.3",)
COST = "a"
NEEDS = "nothing"

POINTS = 201
ROWS = (1.0, 0.9, 0.6, 0.5, 0.1)  # predictions of the table, beside the one looked at


@result
class ErrorCurve(Result):
    """Two measures of error over the prediction, and a table of some predictions."""

    curves: dict[str, Labelled]  # (argument,): squared error, surprise (NaN outside 0 to 1)
    rows: dict[str, Labelled]  # (argument,): the same at a few predictions
    wanted: float
    got: float
    squared: float
    surprise: float  # NaN where the prediction is no probability

    @property
    def title(self) -> str:
        """The error of the prediction, both ways."""
        other = (
            f"taken as a probability it would cost −ln {short(self.got if self.wanted else 1 - self.got)} = "
            f"{short(self.surprise)} nats"
            if np.isfinite(self.surprise)
            else "as a probability it makes no sense"
        )
        return (
            f"Wanted {short(self.wanted)}, got {short(self.got)}: the squared error is "
            f"{short(self.wanted - self.got)}² = {short(self.squared)}; {other}"
        )


def error_curve(
    *,
    wanted: Annotated[float, Option("what is true", choices=(0.0, 1.0))] = _primer.WANTED,
    got: Annotated[
        float | None, Option("what was predicted; none: what the small network predicts", least=-LARGE, most=LARGE)
    ] = None,
    inputs: _primer.Inputs = _primer.INPUTS,
    hidden: _primer.Hidden = _primer.HIDDEN,
    output: _primer.Output = _primer.OUTPUT,
) -> ErrorCurve:
    """The error of a prediction `got` where `wanted` (0 or 1) is true; None: what the small network predicts."""
    if wanted not in (0, 1):
        raise CallError(f"wanted = {wanted!r} is neither 0 nor 1")
    x, net = _primer.net(inputs, hidden, output)
    there = _primer.one("got", got) if got is not None else _primer.forward(x, net).out
    along = np.linspace(min(0.0, there), max(1.0, there), POINTS)
    some = np.array(sorted({*(r if wanted else 1 - r for r in ROWS), there}, reverse=bool(wanted)))
    return ErrorCurve(
        curves=_both(along, wanted),
        rows=_both(some, wanted),
        wanted=float(wanted),
        got=there,
        squared=(wanted - there) ** 2,
        surprise=float(_surprise(np.array([there]), wanted)[0]),
    )


def _both(got: Array, wanted: float) -> dict[str, Labelled]:
    axes = {"argument": got}
    return {
        "squared": Labelled((wanted - got) ** 2, axes, "squared error"),
        "surprise": Labelled(_surprise(got, wanted), axes, "nats"),
    }


def _surprise(got: Array, wanted: float) -> Array:
    """−ln of the probability given to what is true; NaN where the prediction is no probability, or gives it none."""
    true = got if wanted else 1 - got
    fits = (true > 0) & (true <= 1)
    return np.where(fits, -np.log(np.where(fits, true, 1.0)), np.nan)
