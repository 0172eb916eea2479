"""From scores to probabilities: softmax, and what temperature does to it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._primer import short
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, percent, result
from glassformer.errors import CallError

ORDER = 60
ANSWERS = ("1.Q48", "0.V3")
COST = "a"
NEEDS = "nothing"

NEEDS = "nothing"
POINTS = 121
MOST = 12  # scores


@result
class Softmax(Result):
    """Probabilities of the same scores at several temperatures, and their entropy at all between."""

    scores: Labelled  # (score,)
    probabilities: Labelled  # (temperature, score)
    entropy: Labelled  # (temperature,)
    curve: Labelled  # (temperature,): the entropy, from far below the coldest to far above the hottest
    highest: float  # ln of how many scores there are


def softmax(*, scores: Sequence[float] = (2.0, 1.0, 0.5), temperatures: Sequence[float] = (0.1, 1.0, 10.0)) -> Softmax:
    """What softmax makes of some scores at some temperatures."""
    s = np.array(_primer.several("scores", scores, least=2, most=MOST))
    heat = _primer.several("temperatures", temperatures)
    if min(heat) <= 0:
        raise CallError(f"temperatures = {list(heat)} must all be above 0")
    names = {"score": tuple(f"{k + 1}" for k in range(len(s)))}
    chances = np.stack([_chances(s, t) for t in heat])
    along = np.geomspace(min(0.05, *heat) / 1.5, max(20.0, *heat) * 1.5, POINTS)
    levels = {"temperature": tuple(f"{t:g}" for t in heat)}
    return Softmax(
        scores=Labelled(s, names),
        probabilities=Labelled(chances, levels | names, "probability"),
        entropy=Labelled(_entropy(chances), levels, "nats"),
        curve=Labelled(
            _entropy(np.stack([_chances(s, t) for t in along])),
            {"temperature": tuple(f"{t:.6g}" for t in along)},
            "nats",
        ),
        highest=float(np.log(len(s))),
    )


def _chances(scores: Array, temperature: float) -> Array:
    powers = np.exp((scores - scores.max()) / temperature)  # subtracting the highest keeps the powers finite
    return powers / powers.sum()  # type: ignore[no-any-return]


def _entropy(chances: Array) -> Array:
    """(...): in nats; 0 for 0."""
    logs = np.log(np.where(chances > 0, chances, 1.0))
    return -(chances * logs).sum(axis=-1)  # type: ignore[no-any-return]


def say(seen: Softmax) -> Words:
    """What the highest score gets when cold and when hot."""
    top = int(np.argmax(seen.scores.values))
    heat = seen.probabilities.axes["temperature"].labels
    order = sorted(range(len(heat)), key=lambda k: float(heat[k]))
    gets = [f"{percent(float(seen.probabilities.values[k, top]))} at T = {heat[k]}" for k in order]
    cold, hot = order[0], order[-1]
    among = f"of {listed([short(s) for s in seen.scores.values])}"
    title = f"The highest score {among} gets {listed(gets)}"
    if cold != hot:
        title += f"; entropy goes from {seen.entropy.values[cold]:.2f} to {seen.entropy.values[hot]:.2f} nats"
    caption = (
        "Bars: the probability of each score, which is exp(score / T) over the sum of these: the Boltzmann "
        "distribution of physics with energy = minus the score. T = 1 is plain softmax. Cold (small T) the highest "
        f"score takes all and the entropy goes to 0; hot, all become alike and it goes to ln {len(seen.scores.values)} "
        f"= {seen.highest:.3f} nats. Below: entropy against temperature (logarithmic axis), with these temperatures "
        "marked. Exact. Adding one number to every score would change nothing."
    )
    return Words(title, caption, f"Bar charts of probabilities at several temperatures. {title}.")
