"""How wrong is a prediction? Squared error and surprise, as functions of what was predicted."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._primer import short
from glassformer.analyses._result import Array, Labelled, Result, Words, result
from glassformer.errors import CallError

ORDER = 30
ANSWERS = ("3.§3.1.3",)
COST = "a"
NEEDS = "nothing"

NEEDS = "nothing"
POINTS = 201
ROWS = (1.0, 0.9, 0.6, 0.5, 0.1)  # predictions of the table, beside the one looked at


@result
class ErrorCurve(Result):
    """Two measures of error over the prediction, and a table of some predictions."""

    curves: dict[str, Labelled]  # (prediction,): squared error, surprise (NaN outside 0 to 1)
    rows: dict[str, Labelled]  # (prediction,): the same at a few predictions
    wanted: float
    got: float
    squared: float
    surprise: float  # NaN where the prediction is no probability


def error_curve(
    *,
    wanted: float = _primer.WANTED,
    got: float | None = None,
    inputs: Sequence[float] = _primer.INPUTS,
    hidden: Sequence[Sequence[float]] = _primer.HIDDEN,
    output: Sequence[float] = _primer.OUTPUT,
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
    axes = {"prediction": tuple(f"{g:.6g}" for g in got)}
    return {
        "squared": Labelled((wanted - got) ** 2, axes, "squared error"),
        "surprise": Labelled(_surprise(got, wanted), axes, "nats"),
    }


def _surprise(got: Array, wanted: float) -> Array:
    """−ln of the probability given to what is true; NaN where the prediction is no probability, or gives it none."""
    true = got if wanted else 1 - got
    fits = (true > 0) & (true <= 1)
    return np.where(fits, -np.log(np.where(fits, true, 1.0)), np.nan)


def say(seen: ErrorCurve) -> Words:
    """The error of the prediction, both ways."""
    other = (
        f"taken as a probability it would cost −ln {short(seen.got if seen.wanted else 1 - seen.got)} = "
        f"{short(seen.surprise)} nats"
        if np.isfinite(seen.surprise)
        else "as a probability it makes no sense"
    )
    title = (
        f"Wanted {short(seen.wanted)}, got {short(seen.got)}: the squared error is "
        f"{short(seen.wanted - seen.got)}² = {short(seen.squared)}; {other}"
    )
    caption = (
        "Solid: the squared difference between what was wanted and the prediction. Dashed: the surprise, minus the "
        "natural logarithm of the probability that the prediction gives to what is true; this is what language models "
        "are trained on. Both are 0 for a perfect prediction. The squared error of a probability never exceeds 1; the "
        "surprise grows without bound "
        f"as what is true is held impossible (at a probability of 0.01 it is {log(100):.2f}). The dots are the "
        "prediction looked at, in the chart and in the table. A row without a surprise is no probability."
    )
    return Words(title, caption, f"Two curves of error against the prediction, and a table. {title}.")
