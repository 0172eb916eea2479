"""The small network that the primer follows by hand: inputs, one hidden row of ReLU neurons, one output neuron.

Its default numbers are those of a worked example with two inputs and two hidden neurons: nine parameters, of which
one hidden neuron is off. Everything else is computed from them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt, tanh
from typing import Annotated, Any

import numpy as np

from glassformer.analyses._options import Option
from glassformer.analyses._result import Array
from glassformer.errors import CallError, check_name

INPUTS = (0.8, 0.2)
HIDDEN = (0.5, 0.3, 0.1, -0.2, 0.8, -0.1)  # of each hidden neuron: its weights, then its bias
OUTPUT = (0.7, 0.4, 0.05)  # weights, then bias
WANTED = 1.0
MOST = 4  # inputs and hidden neurons that a drawing holds
LARGE = 1e6  # numbers beyond are refused: nobody follows them by hand
NUDGE = 1e-5  # for derivatives by difference
LEAST_RATE, MOST_RATE = 1e-6, 10.0

Inputs = Annotated[tuple[float, ...], Option("the inputs", least=-LARGE, most=LARGE)]
Hidden = Annotated[
    tuple[float, ...],
    Option("of each hidden neuron its weights, then its bias; neuron after neuron", least=-LARGE, most=LARGE),
]
Output = Annotated[
    tuple[float, ...], Option("the weights of the output neuron, then its bias", least=-LARGE, most=LARGE)
]
Rate = Annotated[float, Option("the learning rate: how far a step goes", least=LEAST_RATE, most=MOST_RATE)]

ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: 0.5 * x * (1 + tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "none": lambda x: x,
}


@dataclass(frozen=True)
class Net:
    """The numbers of a network: `hidden` (neuron, weights and bias), `output` (weights and bias)."""

    hidden: Array
    output: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Of every parameter: w21 leads from input 1 to hidden neuron 2, v2 from there to the output; b, c: biases."""
        neurons, wide = self.hidden.shape
        inner = [f"w{j + 1}{i + 1}" if i < wide - 1 else f"b{j + 1}" for j in range(neurons) for i in range(wide)]
        return (*inner, *(f"v{j + 1}" for j in range(neurons)), "c")

    @property
    def flat(self) -> Array:
        """(parameter,): in the order of the names."""
        return np.concatenate([self.hidden.ravel(), self.output])

    def like(self, flat: Array) -> "Net":
        """The same network with other numbers."""
        cut = self.hidden.size
        return Net(flat[:cut].reshape(self.hidden.shape), flat[cut:])


@dataclass(frozen=True)
class Pass:
    """What each neuron made on the way: its sum, and what ReLU left of it."""

    sums: Array  # (hidden neuron,)
    active: Array
    sum: float
    out: float


def net(inputs: Sequence[float], hidden: Sequence[float], output: Sequence[float]) -> tuple[Array, Net]:
    """Inputs and network, checked to fit together."""
    x = several("inputs", inputs)
    wide = len(x) + 1
    rows = several("hidden", hidden, most=MOST * wide)
    if len(rows) % wide:
        raise CallError(f"hidden has {len(rows)} numbers, but {len(x)} inputs need {wide} for each hidden neuron")
    last = several("output", output, most=MOST + 1)
    if len(last) != len(rows) // wide + 1:
        many = len(rows) // wide
        raise CallError(f"output has {len(last)} numbers, but {many} hidden neurons need {many + 1}")
    return np.array(x), Net(np.array(rows).reshape(-1, wide), np.array(last))


def forward(inputs: Array, net: Net) -> Pass:
    """From the inputs to the output."""
    sums = net.hidden[:, :-1] @ inputs + net.hidden[:, -1]
    active = np.maximum(sums, 0)
    total = float(net.output[:-1] @ active + net.output[-1])
    return Pass(sums, active, total, max(total, 0.0))


def backward(inputs: Array, net: Net, wanted: float) -> Array:
    """(parameter,): the gradient of the squared error by the chain rule."""
    there = forward(inputs, net)
    at_sum = -2 * (wanted - there.out) * (there.sum > 0)
    at_hidden = at_sum * net.output[:-1] * (there.sums > 0)
    hidden = np.column_stack([np.outer(at_hidden, inputs), at_hidden])
    return np.concatenate([hidden.ravel(), at_sum * np.append(there.active, 1.0)])


def by_difference(inputs: Array, net: Net, wanted: float) -> Array:
    """(parameter,): the same gradient, by nudging each parameter up and down; knows nothing of the chain rule."""
    found = np.zeros(net.flat.size)
    for k in range(net.flat.size):
        nudge = np.zeros(net.flat.size)
        nudge[k] = NUDGE
        up, down = (forward(inputs, net.like(net.flat + sign * nudge)).out for sign in (1, -1))
        found[k] = ((wanted - up) ** 2 - (wanted - down) ** 2) / (2 * NUDGE)
    return found


# ---- arguments and words ---------------------------------------------------------------------------------------------


def several(name: str, given: Any, least: int = 1, most: int = MOST) -> tuple[float, ...]:
    """A short list of numbers, checked."""
    wrong = CallError(f"{name} = {given!r} is not a list of {least} to {most} numbers, such as [0.8, 0.2]")
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or not least <= len(given) <= most:
        raise wrong
    return tuple(one(name, value, wrong) for value in given)


def one(name: str, value: Any, wrong: CallError | None = None) -> float:
    """A number of a size that can be followed."""
    fits = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not fits or not isfinite(value) or abs(value) > LARGE:
        raise wrong or CallError(f"{name} = {value!r} is not a number between -{LARGE:g} and {LARGE:g}")
    return float(value)


def rated(name: str, value: Any) -> float:
    """A learning rate, checked."""
    if not LEAST_RATE <= one(name, value) <= MOST_RATE:
        raise CallError(f"{name} = {value!r} is not between {LEAST_RATE:g} and {MOST_RATE:g}")
    return float(value)


def activation(name: str) -> Callable[[float], float]:
    """The function of a neuron by its name."""
    return ACTIVATIONS[check_name(name, "the activations", ACTIVATIONS)]


def short(value: float, digits: int = 4) -> str:
    """0.66, −0.1, 0.442, 1.2e−7: as many digits as count, and a true minus sign."""
    if (value != 0 and abs(value) < 0.5 * 10**-digits) or abs(value) >= 1e5:
        return f"{value:.2g}".replace("-", "−")
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:.0f}"
    return "0" if text in ("-0", "") else text.replace("-", "−")


def bracketed(value: float) -> str:
    """As `short`, a negative number in brackets, so that it can follow a sign."""
    return f"({short(value)})" if value < 0 else short(value)


def subscript(name: str) -> str:
    """w21 as it is drawn: w₂₁."""
    return name.translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
