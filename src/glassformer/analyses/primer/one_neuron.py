"""One neuron by hand: inputs times weights, plus a bias, through an activation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._primer import bracketed, short
from glassformer.analyses._result import Labelled, Result, Words, result
from glassformer.errors import CallError

ORDER = 10
ANSWERS = ("3.§3.1.1",)
COST = "a"
NEEDS = "nothing"

NEEDS = "nothing"
POINTS = 121  # of the activation's curve


@result
class Neuron(Result):
    """Every number on the way from the inputs to the output."""

    inputs: Labelled  # (input,)
    weights: Labelled  # (input,)
    products: Labelled  # (input,)
    curve: Labelled  # (sum,): what the activation makes of each sum
    bias: float
    sum: float
    output: float
    activation: str


def one_neuron(
    *,
    inputs: Sequence[float] = _primer.INPUTS,
    weights: Sequence[float] = (0.6, 0.4),
    bias: float = 0.1,
    activation: str = "relu",
) -> Neuron:
    """What one neuron computes. `activation`: relu, gelu or none."""
    x, w, b = _primer.several("inputs", inputs), _primer.several("weights", weights), _primer.one("bias", bias)
    if len(x) != len(w):
        raise CallError(f"inputs has {len(x)} numbers and weights {len(w)}; a neuron has one weight for each input")
    bend = _primer.activation(activation)
    names = {"input": tuple(f"x{k + 1}" for k in range(len(x)))}
    products = np.array(x) * np.array(w)
    total = float(products.sum() + b)
    reach = max(1.5 * abs(total), 1.0)
    sums = np.linspace(-reach, reach, POINTS)
    return Neuron(
        inputs=Labelled(np.array(x), names),
        weights=Labelled(np.array(w), names),
        products=Labelled(products, names),
        curve=Labelled(np.array([bend(s) for s in sums]), {"sum": tuple(f"{s:.6g}" for s in sums)}),
        bias=b,
        sum=total,
        output=bend(total),
        activation=activation,
    )


def say(seen: Neuron) -> Words:
    """The sum written out, and what the activation makes of it."""
    pairs = zip(seen.inputs.values, seen.weights.values, strict=True)
    terms = [f"{bracketed(x)} × {bracketed(w)}" for x, w in pairs]
    bias = f" − {short(-seen.bias)}" if seen.bias < 0 else f" + {short(seen.bias)}" if seen.bias else ""
    total, out = short(seen.sum), short(seen.output)
    end = {
        "relu": f"ReLU lets it pass: the output is {out}" if seen.sum > 0 else "ReLU makes that 0: the neuron is off",
        "gelu": f"GELU makes that {out}",
        "none": f"without an activation that is the output, {out}",
    }[seen.activation]
    title = f"{' + '.join(terms)}{bias} = {total}, and {end}"
    caption = (
        "Left: each input travels along an edge and is multiplied by that edge's weight; the products and the bias, a "
        "number of the neuron's own and not an input, are added up; the activation bends the sum. Edges are as wide "
        "as their weight is large, and solid where it is positive, dashed where negative. Right: the activation for "
        "every sum, with the point at which this neuron works. All numbers are exact up to the digits shown."
    )
    return Words(title, caption, f"Diagram of one neuron beside the curve of its activation. {title}.")
