"""The chain rule by hand: how one weight's change reaches the loss, factor by factor."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._options import Option
from glassformer.analyses._primer import LARGE, Net, Pass, bracketed, short, subscript
from glassformer.analyses._result import Array, Labelled, Result, result
from glassformer.errors import check_name

ORDER = 40
ANSWERS = ("3.§3.1.4",)
COST = "a"
NEEDS = "nothing"


@result
class ChainRule(Result):
    """The local derivatives on the way from the loss to one weight, their product, and all gradients checked."""

    factors: Labelled  # (part,): in the order in which the backward pass multiplies them
    reasons: tuple[str, ...]  # where each comes from
    gradients: Labelled  # (parameter,): by the chain rule
    differences: Labelled  # (parameter,): by nudging each parameter
    parameters: Labelled  # (parameter,)
    weight: str
    gradient: float
    checked: float  # the same by nudging
    worst: float  # largest gap between the two, over all parameters
    wanted: float
    output: float
    loss: float
    rate: float
    moved: float  # the weight after one step against its gradient, all others left as they are
    output_then: float
    loss_then: float

    @property
    def title(self) -> str:
        """The product written out, and which way the weight should move."""
        product = " × ".join(bracketed(v) for v in self.factors.values)
        which = "raising" if self.gradient < 0 else "lowering"
        move = f"{which} {subscript(self.weight)} lowers the loss" if self.gradient else "moving it changes nothing"
        if self.loss == 0:
            move = "the loss is 0 and nothing needs to move"
        return f"∂L/∂{subscript(self.weight)} = {product} = {short(self.gradient)}: {move}"


def chain_rule(
    *,
    weight: Annotated[str, Option("the parameter whose gradient is followed, such as v1, w12, b1 or c")] = "v1",
    rate: _primer.Rate = 0.1,
    wanted: Annotated[float, Option("the output that is wanted", least=-LARGE, most=LARGE)] = _primer.WANTED,
    inputs: _primer.Inputs = _primer.INPUTS,
    hidden: _primer.Hidden = _primer.HIDDEN,
    output: _primer.Output = _primer.OUTPUT,
) -> ChainRule:
    """The gradient of the squared error with respect to one `weight`, such as v1 or w12, and one step against it."""
    x, net = _primer.net(inputs, hidden, output)
    wanted, rate = _primer.one("wanted", wanted), _primer.rated("rate", rate)
    check_name(weight, "the parameters", net.names)
    there = _primer.forward(x, net)
    chain = _factors(weight, x, net, there, wanted)
    gradients, differences = _primer.backward(x, net, wanted), _primer.by_difference(x, net, wanted)
    axes, k = {"parameter": net.names}, net.names.index(weight)
    stepped = net.flat - rate * np.where(np.arange(len(net.flat)) == k, gradients, 0)
    then = _primer.forward(x, net.like(stepped)).out
    return ChainRule(
        factors=Labelled(np.array([value for _, value, _ in chain]), {"part": tuple(name for name, _, _ in chain)}),
        reasons=tuple(reason for _, _, reason in chain),
        gradients=Labelled(gradients, axes, "loss per unit"),
        differences=Labelled(differences, axes, "loss per unit"),
        parameters=Labelled(net.flat, axes),
        weight=weight,
        gradient=float(np.prod([value for _, value, _ in chain])),
        checked=float(differences[k]),
        worst=float(np.abs(gradients - differences).max()),
        wanted=wanted,
        output=there.out,
        loss=(wanted - there.out) ** 2,
        rate=rate,
        moved=float(stepped[k]),
        output_then=then,
        loss_then=(wanted - then) ** 2,
    )


def _factors(weight: str, x: Array, net: Net, there: Pass, wanted: float) -> list[tuple[str, float, str]]:
    """(name, value, reason) of every local derivative from the loss to the weight."""
    chain = [
        ("∂L/∂y", -2 * (wanted - there.out), f"−2 × ({short(wanted)} − {short(there.out)})"),
        ("∂y/∂z", float(there.sum > 0), f"ReLU, {'on' if there.sum > 0 else 'off'}"),
    ]
    name = subscript(weight)
    if weight == "c":
        return [*chain, ("∂z/∂c", 1.0, "a bias is added as it is")]
    j = int(weight[1]) - 1
    h = subscript(f"h{j + 1}")
    if weight[0] == "v":
        return [*chain, (f"∂z/∂{name}", float(there.active[j]), f"its input, {h}")]
    inner = subscript(f"z{j + 1}")
    on = there.sums[j] > 0
    chain += [
        (f"∂z/∂{h}", float(net.output[j]), f"the weight {subscript(f'v{j + 1}')}"),
        (f"∂{h}/∂{inner}", float(on), f"ReLU, {'on' if on else 'off'}"),
    ]
    if weight[0] == "b":
        return [*chain, (f"∂{inner}/∂{name}", 1.0, "a bias is added as it is")]
    i = int(weight[2]) - 1
    return [*chain, (f"∂{inner}/∂{name}", float(x[i]), f"its input, {subscript(f'x{i + 1}')}")]
