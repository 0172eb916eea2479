"""The chain rule by hand: how one weight's change reaches the loss, factor by factor."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._primer import Net, Pass, bracketed, short, subscript
from glassformer.analyses._result import Array, Labelled, Result, Words, result
from glassformer.errors import unknown

ORDER = 40
ANSWERS = ("3.§3.1.4",)
COST = "a"
NEEDS = "nothing"

NEEDS = "nothing"


@result
class ChainRule(Result):
    """The local derivatives on the way from the loss to one weight, their product, and all gradients checked."""

    factors: Labelled  # (factor,): in the order in which the backward pass multiplies them
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


def chain_rule(
    *,
    weight: str = "v1",
    rate: float = 0.1,
    wanted: float = _primer.WANTED,
    inputs: Sequence[float] = _primer.INPUTS,
    hidden: Sequence[Sequence[float]] = _primer.HIDDEN,
    output: Sequence[float] = _primer.OUTPUT,
) -> ChainRule:
    """The gradient of the squared error with respect to one `weight`, such as v1 or w12, and one step against it."""
    x, net = _primer.net(inputs, hidden, output)
    wanted, rate = _primer.one("wanted", wanted), _primer.one("rate", rate)
    if weight not in net.names:
        raise unknown(weight, "the parameters", net.names)
    there = _primer.forward(x, net)
    chain = _factors(weight, x, net, there, wanted)
    gradients, differences = _primer.backward(x, net, wanted), _primer.by_difference(x, net, wanted)
    axes, k = {"parameter": net.names}, net.names.index(weight)
    stepped = net.flat - rate * np.where(np.arange(len(net.flat)) == k, gradients, 0)
    then = _primer.forward(x, net.like(stepped)).out
    return ChainRule(
        factors=Labelled(np.array([value for _, value, _ in chain]), {"factor": tuple(name for name, _, _ in chain)}),
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


def say(seen: ChainRule) -> Words:
    """The product written out, and which way the weight should move."""
    product = " × ".join(bracketed(v) for v in seen.factors.values)
    which = "raising" if seen.gradient < 0 else "lowering"
    move = f"{which} {subscript(seen.weight)} lowers the loss" if seen.gradient else "moving it changes nothing"
    if seen.loss == 0:
        move = "the loss is 0 and nothing needs to move"
    before = dict(zip(seen.parameters.axes["parameter"].labels, seen.parameters.values, strict=True))[seen.weight]
    title = f"∂L/∂{subscript(seen.weight)} = {product} = {short(seen.gradient)}: {move}"
    caption = (
        "Above, from right to left as the backward pass goes: how the loss depends on the prediction, the prediction "
        "on its sum, and so on down to the weight; the derivative of the whole is the product of these local "
        f"derivatives. Below, the gradient of all {len(seen.gradients.values)} parameters by the chain rule (bars) and "
        f"by moving each parameter up and down by {_primer.NUDGE:g} and looking at the loss (circles), which knows "
        f"nothing of the rule; the two differ by at most {seen.worst:.0e}. All factors are of one and the same forward "
        "pass: to mix in another prediction would give another number. Parameters of a neuron that is off have "
        f"gradient 0. One step at rate {short(seen.rate)} moves {subscript(seen.weight)} from {short(before)} to "
        f"{short(seen.moved)}; the prediction goes from {short(seen.output)} to {short(seen.output_then)} and the loss "
        f"from {short(seen.loss)} to {short(seen.loss_then)}."
    )
    return Words(title, caption, f"A chain of boxes with local derivatives, and bars of all gradients. {title}.")
