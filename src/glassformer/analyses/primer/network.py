"""A small network by hand: two inputs, a hidden row, one output, and every number on the way."""

import numpy as np

from glassformer.analyses import _primer
from glassformer.analyses._primer import short, subscript
from glassformer.analyses._result import Axis, Labelled, Result, listed, result

ORDER = 20
ANSWERS = ("3.§3.1.2",)
COST = "a"
NEEDS = "nothing"


@result
class Network(Result):
    """The parameters, and the sum and the activation of every neuron."""

    inputs: Labelled  # (part,)
    hidden: Labelled  # (neuron, part): weights, the last column biases
    last: Labelled  # (part,): weights of the output neuron, then its bias
    sums: Labelled  # (neuron,): of the hidden neurons, then of the output neuron
    active: Labelled  # (neuron,): what ReLU leaves
    parameters: Labelled  # (parameter,)
    output: float

    @property
    def title(self) -> str:
        """From what to what, and who is off."""
        neurons = zip(self.sums.axes["neuron"].labels, self.sums.values, strict=True)
        off = [subscript(name) for name, z in neurons if z <= 0]
        who = f"; {listed(off)} {'is' if len(off) == 1 else 'are'} off" if off else "; every neuron is on"
        given = listed([short(x) for x in self.inputs.values])
        return f"{len(self.parameters.values)} parameters turn {given} into {short(self.output)}{who}"


def network(
    *,
    inputs: _primer.Inputs = _primer.INPUTS,
    hidden: _primer.Hidden = _primer.HIDDEN,
    output: _primer.Output = _primer.OUTPUT,
) -> Network:
    """A forward pass. `hidden` lists each hidden neuron's weights and bias, `output` those of the last neuron."""
    x, net = _primer.net(inputs, hidden, output)
    there = _primer.forward(x, net)
    ins = tuple(f"x{k + 1}" for k in range(len(x)))
    names = tuple(f"h{k + 1}" for k in range(len(net.hidden)))
    inner, every = (Axis(tuple(range(len(words))), words) for words in (names, (*names, "output")))
    return Network(
        inputs=Labelled(x, {"part": ins}),
        hidden=Labelled(net.hidden, {"neuron": inner, "part": (*ins, "bias")}),
        last=Labelled(net.output, {"part": (*names, "bias")}),
        sums=Labelled(np.append(there.sums, there.sum), {"neuron": every}),
        active=Labelled(np.append(there.active, there.out), {"neuron": every}),
        parameters=Labelled(net.flat, {"parameter": net.names}),
        output=there.out,
    )
