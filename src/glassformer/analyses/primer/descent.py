"""Going downhill: a weight that follows the negative gradient, at three rates, and a small network that learns."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._options import Option
from glassformer.analyses._primer import LARGE, LEAST_RATE, MOST_RATE, short
from glassformer.analyses._result import Array, Labelled, Result, numbers, result
from glassformer.errors import CallError

ORDER = 50
ANSWERS = ("3.§3.1.4.1", "3.§3.1.4.2", "3.§3.1.5", "1.P8")
COST = "b"
NEEDS = "nothing"

POINTS = 161
MOST_STEPS = 60


@result
class Descent(Result):
    """(w − best)² and the way down it, at the rate asked for, at one too small and at one too large."""

    bowl: Labelled  # (argument,): the loss of each weight
    path: dict[str, Labelled]  # (step,): weight, loss, gradient; at the rate asked for
    rates: Labelled  # (rate, step): the weight
    losses: Labelled  # (rate, step)
    network: dict[str, Labelled]  # (step,): prediction, loss of the small network, pass after pass
    best: float
    rate: float
    uphill: float  # the loss after one step up the gradient instead of down
    wanted: float

    @property
    def title(self) -> str:
        """Where the weight ends, and what is left of the loss."""
        w, losses = self.path["weight"].values, self.path["loss"].values
        return (
            f"In {len(w) - 1} steps at rate {self.rate:g} the weight goes from {short(w[0])} to {short(w[-1])} and the "
            f"loss from {short(losses[0])} to {short(losses[-1])}; the best weight is {short(self.best)}"
        )


def descent(
    *,
    begin: Annotated[float, Option("where the weight begins", least=-LARGE, most=LARGE)] = 0.0,
    best: Annotated[float, Option("the weight with the least loss", least=-LARGE, most=LARGE)] = 3.0,
    rate: _primer.Rate = 0.1,
    steps: Annotated[int, Option("how many steps the weight takes", least=1, most=MOST_STEPS)] = 8,
    slow: Annotated[float, Option("a rate that is too small", least=LEAST_RATE, most=MOST_RATE)] = 0.01,
    fast: Annotated[float, Option("a rate that is too large", least=LEAST_RATE, most=MOST_RATE)] = 1.05,
    passes: Annotated[int, Option("how many passes the network makes", least=1, most=MOST_STEPS)] = 10,
) -> Descent:
    """Gradient descent on (w − best)² from `begin`, and on the small network of the primer for some passes."""
    begin, best = _primer.one("begin", begin), _primer.one("best", best)
    every = (("rate", rate), ("slow", slow), ("fast", fast))
    all_rates = tuple(_primer.rated(name, value) for name, value in every)
    for name, many in (("steps", steps), ("passes", passes)):
        if not isinstance(many, int) or not 1 <= many <= MOST_STEPS:
            raise CallError(f"{name} = {many!r} is not a whole number between 1 and {MOST_STEPS}")
    ways = np.stack([_way(begin, best, each, steps) for each in all_rates])
    w, at = ways[0], {"step": numbers(steps + 1)}
    reach = max(abs(begin - best), 1.0) * 1.35
    along = np.linspace(best - reach, best + reach, POINTS)
    first = begin + rate * 2 * (begin - best)
    axes = {"rate": all_rates, **at}
    predictions = _learn(rate, passes)
    passed = {"step": numbers(passes + 1)}
    return Descent(
        bowl=Labelled((along - best) ** 2, {"argument": along}, "loss"),
        path={
            "weight": Labelled(w, at),
            "loss": Labelled((w - best) ** 2, at, "loss"),
            "gradient": Labelled(2 * (w - best), at, "loss per unit"),
        },
        rates=Labelled(ways, axes, "weight"),
        losses=Labelled((ways - best) ** 2, axes, "loss"),
        network={
            "prediction": Labelled(predictions, passed),
            "loss": Labelled((_primer.WANTED - predictions) ** 2, passed, "loss"),
        },
        best=best,
        rate=float(rate),
        uphill=(first - best) ** 2,
        wanted=_primer.WANTED,
    )


def _way(w: float, best: float, rate: float, steps: int) -> Array:
    """(step,): the weight before and after each step."""
    path = [w]
    for _ in range(steps):
        w = w - rate * 2 * (w - best)
        path.append(w)
    return np.array(path)


def _learn(rate: float, passes: int) -> Array:
    """(step,): the small network's prediction while all of its parameters go downhill together."""
    x, net = _primer.net(_primer.INPUTS, _primer.HIDDEN, _primer.OUTPUT)
    found = [_primer.forward(x, net).out]
    for _ in range(passes):
        net = net.like(net.flat - rate * _primer.backward(x, net, _primer.WANTED))
        found.append(_primer.forward(x, net).out)
    return np.array(found)
