"""What the published account gets wrong, each beside the number that this run measured."""

import numpy as np

from glassformer.physics._facts import FLAT, Facts
from glassformer.physics._tell import degrees, nats, number
from glassformer.physics.models.one_layer import ATTENDING, MATRICES
from glassformer.words import listed, percent


def temperature(f: Facts) -> str:
    """The index of the temperature "1" is taken at the largest distance instead of the smallest."""
    life, near, far = f.life, f.life.nearest_one, f.life.farthest_from_one
    if near == far:
        return ""
    return (
        f"The published pictures headed “T = 1.00” are drawn at the temperature <em>farthest</em> from 1: the program "
        f"takes the largest distance where it means the smallest. Among the temperatures of this run that would be T "
        f"= {degrees(life.temperatures[far])}, where the entropy goes from {nats(life.entropy[far, 0])} to "
        f"{nats(life.entropy[far, -1])}. At the nearest, T = {degrees(life.temperatures[near])}, it goes from "
        f"{nats(life.entropy[near, 0])} to {nats(life.entropy[near, -1])}."
    )


def attention(f: Facts) -> str:
    """Recent tokens are said to get more attention."""
    life = f.life
    if life.settings.context == 1:
        return ""
    last, mean = life.mean_attention[-1], life.mean_attention
    alike = len(set(np.round(mean, 4).tolist())) == 1
    spread = "the same to four digits" if alike else f"apart by up to {number(float(np.ptp(mean)), 2)}"
    why = (
        f"No weight at any step lies farther than {number(f.uneven, 2)} from even: the scores hardly differ, and "
        f"nothing tells the positions apart."
        if f.uneven < FLAT * f.even
        else f"Single weights lie up to {number(f.uneven, 2)} from even; but nothing in the layer tells positions "
        f"apart, so what is preferred is a token and not a place."
    )
    return (
        f"The published account says that recent tokens get more attention. Averaged over this run, the newest "
        f"position gets {last:.5f} and an even share would be {f.even:.5f}; the {len(mean)} means are {spread}. {why}"
    )


def feed_forward(f: Facts) -> str:
    """The feed-forward weights are drawn, used, and never changed."""
    published = f.cost.heuristic
    k = [MATRICES.index(name) for name in ("feed_in", "feed_out")]
    rate = published.settings.projection_rate
    slope = published.gradient_sizes[:, k].max() / rate if rate else None
    there = f", although the loss has a slope there (gradients up to length {number(slope, 2)})" if slope else ""
    own = ""
    if f.life.settings.gradients == "true":
        own = (
            f" With the true gradients of this run they move by {percent(float(f.life.moved[k].max()))} of their size."
        )
    return (
        f"The published rule never changes the feed-forward matrices W₁ and W₂: over the whole life they move by "
        f"{number(float(published.moved[k].max()))}{there}.{own}"
    )


def projections(f: Facts) -> str:
    """The changes of query, key and value are not gradients."""
    if not all(len(f.cosines(name)) for name in ATTENDING):
        return "In this run the published rule does not change the query, key and value matrices at all."
    said = [f"{name} {_cosine(f.cosines(name).min())} to {_cosine(f.cosines(name).max())}" for name in ATTENDING]
    steps, some = len(f.cost.heuristic.steps), [len(f.cosines(name)) for name in ("query", "key")]
    when = (
        f" Query and key have a true direction at {some[0]} of the {steps} steps only, and are measured there: where "
        f"all tokens in view are alike, neither can matter."
        if some[0] == some[1] < steps
        else ""
    )
    long = [number(float(np.median(f.oversize(name))), 2) for name in ("query", "key")]
    exact = f.cosines("output")
    return (
        f"The published changes of the query, key and value matrices are called gradient descent and are not. Over a "
        f"life with these settings their cosine with the true downhill direction is: {listed(said)} (1 is the same "
        f"direction, 0 a right angle, below 0 uphill).{when} In the median, the change of the query matrix is "
        f"{long[0]} times as long as the true one, that of the key matrix {long[1]} times."
        + (f" Only the output matrix follows its gradient (cosine {_cosine(exact.min())})." if len(exact) else "")
    )


def _cosine(x: float) -> str:
    return f"{round(x, 2) + 0.0:.2f}".replace("-", "\u2212")
