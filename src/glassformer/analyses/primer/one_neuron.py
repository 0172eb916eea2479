"""One neuron by hand: inputs times weights, plus a bias, through an activation."""

from typing import Annotated, Literal

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._options import Option
from glassformer.analyses._primer import LARGE, bracketed, short
from glassformer.analyses._result import Labelled, Result, result
from glassformer.errors import CallError

ORDER = 10
ANSWERS = ("3.§3.1.1",)
COST = "a"
NEEDS = "nothing"

POINTS = 121  # of the activation's curve


@result
class OneNeuron(Result):
    """Every number on the way from the inputs to the output."""

    inputs: Labelled  # (part,)
    weights: Labelled  # (part,)
    products: Labelled  # (part,)
    curve: Labelled  # (argument,): what the activation makes of each sum
    bias: float
    sum: float
    output: float
    activation: str

    @property
    def title(self) -> str:
        """The sum written out, and what the activation makes of it."""
        pairs = zip(self.inputs.values, self.weights.values, strict=True)
        terms = [f"{bracketed(x)} × {bracketed(w)}" for x, w in pairs]
        bias = f" − {short(-self.bias)}" if self.bias < 0 else f" + {short(self.bias)}" if self.bias else ""
        out, on = short(self.output), self.sum > 0
        end = {
            "relu": f"ReLU lets it pass: the output is {out}" if on else "ReLU makes that 0: the neuron is off",
            "gelu": f"GELU makes that {out}",
            "none": f"without an activation that is the output, {out}",
        }[self.activation]
        return f"{' + '.join(terms)}{bias} = {short(self.sum)}, and {end}"


def one_neuron(
    *,
    inputs: _primer.Inputs = _primer.INPUTS,
    weights: Annotated[tuple[float, ...], Option("one weight for each input", least=-LARGE, most=LARGE)] = (0.6, 0.4),
    bias: Annotated[float, Option("what is added to the products", least=-LARGE, most=LARGE)] = 0.1,
    activation: Annotated[Literal["relu", "gelu", "none"], Option("what bends the sum")] = "relu",
) -> OneNeuron:
    """What one neuron computes from its inputs."""
    x, w, b = _primer.several("inputs", inputs), _primer.several("weights", weights), _primer.one("bias", bias)
    if len(x) != len(w):
        raise CallError(f"inputs has {len(x)} numbers and weights {len(w)}; a neuron has one weight for each input")
    bend = _primer.activation(activation)
    names = {"part": tuple(f"x{k + 1}" for k in range(len(x)))}
    products = np.array(x) * np.array(w)
    total = float(products.sum() + b)
    reach = max(1.5 * abs(total), 1.0)
    sums = np.linspace(-reach, reach, POINTS)
    return OneNeuron(
        inputs=Labelled(np.array(x), names),
        weights=Labelled(np.array(w), names),
        products=Labelled(products, names),
        curve=Labelled(np.array([bend(s) for s in sums]), {"argument": sums}),
        bias=b,
        sum=total,
        output=bend(total),
        activation=activation,
    )
