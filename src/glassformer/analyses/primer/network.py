"""A small network by hand: two inputs, a hidden row, one output, and every number on the way."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._primer import short, subscript
from glassformer.analyses._result import Labelled, Result, Words, listed, result

ORDER = 20
ANSWERS = ("3.§3.1.2",)
COST = "a"
NEEDS = "nothing"

NEEDS = "nothing"


@result
class Network(Result):
    """The parameters, and the sum and the activation of every neuron."""

    inputs: Labelled  # (input,)
    hidden: Labelled  # (neuron, input): weights, the last column biases
    last: Labelled  # (neuron,): weights of the output neuron, then its bias
    sums: Labelled  # (neuron,): of the hidden neurons, then of the output neuron
    active: Labelled  # (neuron,): what ReLU leaves
    parameters: Labelled  # (parameter,)
    output: float


def network(
    *,
    inputs: Sequence[float] = _primer.INPUTS,
    hidden: Sequence[Sequence[float]] = _primer.HIDDEN,
    output: Sequence[float] = _primer.OUTPUT,
) -> Network:
    """A forward pass. `hidden` lists each hidden neuron's weights and bias, `output` those of the last neuron."""
    x, net = _primer.net(inputs, hidden, output)
    there = _primer.forward(x, net)
    ins = tuple(f"x{k + 1}" for k in range(len(x)))
    neurons = tuple(f"h{k + 1}" for k in range(len(net.hidden)))
    return Network(
        inputs=Labelled(x, {"input": ins}),
        hidden=Labelled(net.hidden, {"neuron": neurons, "input": (*ins, "bias")}),
        last=Labelled(net.output, {"from": (*neurons, "bias")}),
        sums=Labelled(np.append(there.sums, there.sum), {"neuron": (*neurons, "output")}),
        active=Labelled(np.append(there.active, there.out), {"neuron": (*neurons, "output")}),
        parameters=Labelled(net.flat, {"parameter": net.names}),
        output=there.out,
    )


def say(seen: Network) -> Words:
    """From what to what, and who is off."""
    off = [subscript(name) for name, z in zip(seen.sums.axes["neuron"].labels, seen.sums.values, strict=True) if z <= 0]
    who = f"; {listed(off)} {'is' if len(off) == 1 else 'are'} off" if off else "; every neuron is on"
    given = listed([short(x) for x in seen.inputs.values])
    title = f"{len(seen.parameters.values)} parameters turn {given} into {short(seen.output)}{who}"
    caption = (
        "Inputs at the left, hidden neurons in the middle, the output at the right. Each edge carries its weight: the "
        "wider the larger, solid red positive, dashed blue negative. In each neuron stand its sum z (weights times "
        "inputs, plus its bias) and below it what ReLU leaves of that; a hatched neuron is off: its sum is not above "
        "0, so it passes nothing on, and no change of its own weights shows in the output. The table lists every "
        "parameter, which is all that training can change."
    )
    return Words(title, caption, f"Diagram of a small network with a table of its parameters. {title}.")
