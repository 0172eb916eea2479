"""From scores to probabilities: softmax, and what temperature does to it."""

from typing import Annotated

import numpy as np

from glassformer import reference
from glassformer.analyses import _primer
from glassformer.analyses._options import Option
from glassformer.analyses._primer import LARGE, short
from glassformer.analyses._result import Array, Axis, Labelled, Result, listed, numbers, percent, result
from glassformer.errors import CallError

ORDER = 60
ANSWERS = ("1.Q48", "0.V3")
COST = "a"
NEEDS = "nothing"

POINTS = 121
MOST = 12  # scores
COLDEST, HOTTEST = 1e-3, 1e6


@result
class Softmax(Result):
    """Probabilities of the same scores at several temperatures, and their entropy at all between."""

    scores: Labelled  # (part,)
    probabilities: Labelled  # (temperature, part)
    entropy: Labelled  # (temperature,)
    curve: Labelled  # (temperature,): the entropy, from far below the coldest to far above the hottest
    highest: float  # ln of how many scores there are

    @property
    def title(self) -> str:
        """What the highest score gets when cold and when hot."""
        heat, top = np.array(self.entropy.axes["temperature"].values), int(np.argmax(self.scores.values))
        order = np.argsort(heat, kind="stable")
        gets = [f"{percent(float(self.probabilities.values[k, top]))} at T = {heat[k]:g}" for k in order]
        title = f"The highest score of {listed([short(s) for s in self.scores.values])} gets {listed(gets)}"
        if len(order) == 1:
            return title
        cold, hot = self.entropy.values[order[[0, -1]]]
        return f"{title}; entropy goes from {cold:.2f} to {hot:.2f} nats"


def softmax(
    *,
    scores: Annotated[tuple[float, ...], Option("what becomes probabilities", least=-LARGE, most=LARGE)] = (
        2.0,
        1.0,
        0.5,
    ),
    temperatures: Annotated[
        tuple[float, ...], Option("by which the scores are divided", least=COLDEST, most=HOTTEST)
    ] = (0.1, 1.0, 10.0),
) -> Softmax:
    """What softmax makes of some scores at some temperatures."""
    s = np.array(_primer.several("scores", scores, least=2, most=MOST))
    heat = _primer.several("temperatures", temperatures)
    if not COLDEST <= min(heat) <= max(heat) <= HOTTEST:
        raise CallError(f"temperatures = {list(heat)} are not all between {COLDEST:g} and {HOTTEST:g}")
    names = {"part": Axis(numbers(len(s)))}
    chances = reference.softmax(s / np.array(heat)[:, None])
    along = np.geomspace(min(0.05, *heat) / 1.5, max(20.0, *heat) * 1.5, POINTS)
    levels = {"temperature": Axis(heat)}
    return Softmax(
        scores=Labelled(s, names),
        probabilities=Labelled(chances, levels | names, "probability"),
        entropy=Labelled(_entropy(chances), levels, "nats"),
        curve=Labelled(_entropy(reference.softmax(s / along[:, None])), {"temperature": along}, "nats"),
        highest=float(np.log(len(s))),
    )


def _entropy(chances: Array) -> Array:
    """(...): in nats; 0 for 0."""
    logs = np.log(np.where(chances > 0, chances, 1.0))
    return -(chances * logs).sum(axis=-1)
