"""The same forward pass in plain NumPy: the judge of the fast one, and what analyses and figures look through.

It follows model.py name by name and works in the precision of the parameters it is given.
"""

from collections.abc import Callable, Mapping
from math import erf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.architecture import Architecture, sinusoids
from glassformer.glossary import WHOLE

Array = NDArray[Any]
Params = Mapping[str, Any]  # nested by block: params["blocks"][0]["query"]
Edit = Callable[[Array, int | None], Array]  # (value, block) → what goes on in its place
Edits = Mapping[str, Edit]
Trace = dict[str, Array]
See = Callable[..., Array]


def forward(
    params: Params, tokens: Array, architecture: Architecture, edits: Edits | None = None
) -> tuple[Array, Trace]:
    """Logits for every position, and the trace: each value on the way, under its name, stacked over blocks."""
    a = architecture
    tokens = np.asarray(tokens)  # (batch, position); batch stands for any number of axes, none included
    see, trace = recorder(edits, tokens.ndim - 1, np.stack)

    x = see("token_embedding", params["token"][tokens])  # (batch, position, feature)
    if a.positions in ("learned", "sinusoidal"):
        table = params["position"] if a.positions == "learned" else sinusoids(a.context, a.width).astype(x.dtype)
        x = x + see("position_embedding", table[: tokens.shape[-1]])  # (position, feature)
    x = see("embedded", x)  # (batch, position, feature)

    for block, w in enumerate(params["blocks"]):
        if a.attention != "off":
            read = see("normed_1", normalise(x, w, "norm_1", a), block) if a.norm_place == "pre" else x
            attended = see("attended", attend(read, w, a, see, block), block)  # (batch, position, feature)
            x = x + attended if a.residual else attended
        x = feed(see("middle", x, block), w, a, see, block)  # (batch, position, feature)
    final = see("final", normalise(x, params, "norm", a) if a.final_norm else x)  # (batch, position, feature)
    logits = read_out(final, params, a, see)  # (batch, position, token)
    see("probabilities", softmax(logits))
    return logits, trace()


def feed(middle: Array, w: Params, a: Architecture, see: See, block: int) -> Array:
    """From `middle` of a block to the stream that leaves it; each position goes on by itself."""
    pre, post, x = a.norm_place == "pre", a.norm_place == "post", middle
    if post and a.attention != "off":
        x = see("normed_1", normalise(x, w, "norm_1", a), block)
    if a.feed_forward:
        read = see("normed_2", normalise(x, w, "norm_2", a), block) if pre else x
        hidden_in = see("hidden_in", linear(read, w, "expand"), block)  # (batch, position, neuron)
        hidden = see("hidden", ACTIVATION[a.activation](hidden_in), block)  # (batch, position, neuron)
        fed = see("fed", linear(hidden, w, "contract"), block)  # (batch, position, feature)
        x = x + fed if a.residual else fed
    x = see("out", x, block)  # (batch, position, feature)
    return see("normed_2", normalise(x, w, "norm_2", a), block) if post and a.feed_forward else x


def read_out(final: Array, params: Params, a: Architecture, see: See) -> Array:
    """From `final` to the logits."""
    logits = product(final, params["token"].T if a.tied_embedding else params["read_out"])  # (batch, position, token)
    return see("logits", logits + params["read_out_bias"] if "read_out" in a.biases else logits)


def attend(read: Array, w: Params, a: Architecture, see: See, block: int) -> Array:
    """Every position asks, every position in view answers: the values, weighted by attention."""
    length = read.shape[-2]
    allowed = np.tri(length, dtype=bool) if a.causal else np.ones((length, length), bool)
    value = see("value", split_heads(linear(read, w, "value"), a.heads), block)  # (batch, head, key_position, feature)
    if a.attention == "on":
        query = split_heads(linear(read, w, "query"), a.heads)  # (batch, head, query_position, feature)
        key = split_heads(linear(read, w, "key"), a.heads)  # (batch, head, key_position, feature)
        if a.positions == "rotary":
            query, key = rotate(query), rotate(key)
        query, key = see("query", query, block), see("key", key, block)
        scale = (a.per_head if a.score_scale == "head" else a.width) ** -0.5
        scores = see("scores", query @ key.swapaxes(-1, -2) * scale, block)  # (…, head, query_position, key_position)
    else:
        scores = np.zeros((*value.shape[:-1], length), value.dtype)  # nothing is asked: all in view count the same
    attention = see("attention", softmax(np.where(allowed, scores, -np.inf)), block)  # each row sums to 1
    mixed = see("mixed", attention @ value, block)  # (batch, head, query_position, feature)
    together = np.moveaxis(mixed, -3, -2).reshape(*read.shape[:-1], a.inner)  # (batch, position, feature)
    return linear(together, w, "output") if a.output_projection else together


def linear(x: Array, w: Params, name: str) -> Array:
    """Times the matrix, plus the bias where there is one."""
    y = product(x, w[name])
    return y + w[f"{name}_bias"] if f"{name}_bias" in w else y


def product(x: Array, matrix: Array) -> Array:
    """x @ matrix as one product: NumPy would make one of each example, each waiting for all threads."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a training that diverged: infinite, as in the model
        if x.ndim < 3:
            return x @ matrix
        flat = x.reshape(-1, x.shape[-1]) @ matrix
        return flat.reshape(*x.shape[:-1], -1)


def split_heads(x: Array, heads: int) -> Array:
    """(batch, position, feature) → (batch, head, position, feature)."""
    return np.moveaxis(x.reshape(*x.shape[:-1], heads, -1), -2, -3)


def rotate(x: Array) -> Array:
    """Turn each pair of features (i, i + half) by an angle that grows with the position."""
    length, width = x.shape[-2:]
    angle = np.arange(length)[:, None] * 10_000.0 ** (-np.arange(width // 2) / (width // 2))
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def normalise(x: Array, w: Params, name: str, a: Architecture) -> Array:
    """Bring the features of each position to unit size, then scale (and shift) each by a learned amount."""
    if a.norm == "none":
        return x
    if a.norm == "layer":
        x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(a.norm_epsilon)) * w[name]
    return x + w[f"{name}_bias"] if f"{name}_bias" in w else x


def softmax(x: Array) -> Array:
    """Positive numbers that sum to 1 along the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x: Array) -> Array:
    """Their logarithms, which stay finite where a number rounds to zero."""
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def gelu(x: Array) -> Array:
    """x times the chance that a normal number lies below x."""
    below: Array = (0.5 * (1 + _erf(x / np.sqrt(2)))).astype(x.dtype)
    return x * below


NODES, FAR = 64, 6  # per unit, and where the error function is 1 to the last digit


def _taylor(order: int) -> Array:
    """(order, node): the error function's Taylor series around each node; NumPy has no such function of its own."""
    at = np.arange(FAR * NODES + 1) / NODES
    bell = [np.exp(-at * at), -2 * at * np.exp(-at * at)]  # the series of exp(-x²), whose integral it is
    for n in range(1, order):
        bell.append(-2 * (at * bell[n] + bell[n - 1]) / (n + 1))
    rows = [2 / np.sqrt(np.pi) * bell[n] / (n + 1) for n in range(order - 1)]
    return np.stack([np.array([erf(x) for x in at]), *rows])


_SERIES = {4: _taylor(5), 8: _taylor(8)}  # by the bytes of a number: far below its last digit


def _erf(x: Array) -> Array:
    """The error function, in double precision; piece by piece, so that the numbers stay in the cache."""
    series, flat = _SERIES[4 if x.dtype.itemsize < 8 else 8], np.abs(x).ravel()
    found = np.empty(flat.size)
    for begin in range(0, flat.size, 8192):
        size = np.fmin(flat[begin : begin + 8192], FAR).astype(np.float64)
        node = np.rint(size * NODES).astype(np.intp)
        away, piece = size - node / NODES, series[-1].take(node)
        for row in series[-2::-1]:
            piece *= away
            piece += row.take(node)
        found[begin : begin + 8192] = piece
    return np.where(np.isnan(x), np.nan, np.copysign(found.reshape(x.shape), x))


ACTIVATION: dict[str, Callable[[Array], Array]] = {"relu": lambda x: np.maximum(x, 0), "gelu": gelu, "tanh": np.tanh}


def recorder(
    edits: Mapping[str, Any] | None, batch_axes: int, stack: Any
) -> tuple[Callable[..., Any], Callable[[], Any]]:
    """`see(name, value, block)` applies the edit if there is one, keeps the value and passes it on; then the trace.

    Values of the blocks are stacked on an axis after the batch axes.
    """
    edits = edits or {}
    seen: dict[str, list[Any]] = {}

    def see(name: str, value: Any, block: int | None = None) -> Any:
        value = edits[name](value, block) if name in edits else value
        seen.setdefault(name, []).append(value)
        return value

    def trace() -> dict[str, Any]:
        return {name: v[0] if name in WHOLE else stack(v, axis=batch_axes) for name, v in seen.items()}

    return see, trace
