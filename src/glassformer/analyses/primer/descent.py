"""Going downhill: a weight that follows the negative gradient, at three rates, and a small network that learns."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._primer import short
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, result
from glassformer.errors import CallError

ORDER = 50
ANSWERS = ("3.§3.1.4.1", "3.§3.1.4.2", "3.§3.1.5", "1.P8")
COST = "b"
NEEDS = "nothing"

NEEDS = "nothing"
POINTS = 161
MOST_STEPS = 60
ENDS = 50.0  # paths are drawn no further from the minimum than this many times the first distance


@result
class Descent(Result):
    """(w − best)² and the way down it, at the rate asked for, at one too small and at one too large."""

    bowl: Labelled  # (weight,)
    path: dict[str, Labelled]  # (step,): weight, loss, gradient; at the rate asked for
    rates: Labelled  # (rate, step): the weight
    losses: Labelled  # (rate, step)
    network: dict[str, Labelled]  # (pass,): prediction, loss of the small network
    best: float
    rate: float
    uphill: float  # the loss after one step up the gradient instead of down
    wanted: float


def descent(
    *,
    begin: float = 0.0,
    best: float = 3.0,
    rate: float = 0.1,
    steps: int = 8,
    slow: float = 0.01,
    fast: float = 1.05,
    passes: int = 10,
) -> Descent:
    """Gradient descent on (w − best)² from `begin`, and on the small network of the primer for some passes."""
    begin, best = _primer.one("begin", begin), _primer.one("best", best)
    for name, value in (("rate", rate), ("slow", slow), ("fast", fast)):
        if not 0 < _primer.one(name, value) <= 10:
            raise CallError(f"{name} = {value!r} is not above 0 and up to 10")
    for name, many in (("steps", steps), ("passes", passes)):
        if not isinstance(many, int) or not 1 <= many <= MOST_STEPS:
            raise CallError(f"{name} = {many!r} is not a whole number between 1 and {MOST_STEPS}")
    all_rates = (rate, slow, fast)
    ways = np.stack([_way(begin, best, each, steps) for each in all_rates])
    w, at = ways[0], {"step": numbers(steps + 1)}
    reach = max(abs(begin - best), 1.0) * 1.35
    along = np.linspace(best - reach, best + reach, POINTS)
    first = begin + rate * 2 * (begin - best)
    axes = {"rate": tuple(f"{each:g}" for each in all_rates), **at}
    predictions = _learn(rate, passes)
    passed = {"pass": numbers(passes + 1)}
    return Descent(
        bowl=Labelled((along - best) ** 2, {"weight": tuple(f"{v:.6g}" for v in along)}, "loss"),
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
    """(pass,): the small network's prediction while all of its parameters go downhill together."""
    x, net = _primer.net(_primer.INPUTS, _primer.HIDDEN, _primer.OUTPUT)
    found = [_primer.forward(x, net).out]
    for _ in range(passes):
        net = net.like(net.flat - rate * _primer.backward(x, net, _primer.WANTED))
        found.append(_primer.forward(x, net).out)
    return np.array(found)


def say(seen: Descent) -> Words:
    """Where the weight ends, and what the network learned."""
    w, losses = seen.path["weight"].values, seen.path["loss"].values
    guesses = seen.network["prediction"].values
    steps, passes = len(w) - 1, len(guesses) - 1
    slow, fast = seen.rates.axes["rate"].labels[1:]
    title = (
        f"In {steps} steps at rate {seen.rate:g} the weight goes from {short(w[0])} to {short(w[-1])} and the loss "
        f"from {short(losses[0])} to {short(losses[-1])}; the best weight is {short(seen.best)}"
    )
    caption = (
        "Top left: the loss of one weight is a bowl; each step subtracts the rate times the gradient, so it goes "
        "downhill, in smaller steps as the slope lessens. Adding the gradient instead would raise the loss in the "
        f"first step from {short(losses[0])} to {short(seen.uphill)}. Top right: every step in numbers. Bottom left: "
        f"the same at a small rate ({slow}: the loss ends at {short(seen.losses.values[1, -1])}) and at a large one "
        f"({fast}: it ends at {short(seen.losses.values[2, -1])}); with this loss any rate above 1 runs away. Bottom "
        f"middle: the same rule on all parameters of the small network; in {passes} passes over its one example the "
        f"prediction goes from {short(guesses[0])} to {short(guesses[-1])} (wanted {short(seen.wanted)}). Bottom "
        "right: what one step of training consists of, for this network as for a transformer: take a batch of "
        "examples, predict (forward), measure the loss, find every gradient (backward), move every weight (update)."
    )
    return Words(title, caption, f"A bowl with a path down to its bottom, a table, three small charts. {title}.")
