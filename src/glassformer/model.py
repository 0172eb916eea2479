"""The whole transformer in one file, in the order of the mathematics.

Axes: batch stands for any number of leading axes, none included; then position, feature, head, query_position,
key_position, neuron, token. The points of the trace have the names of docs/glossary.md.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from glassformer import cache
from glassformer.architecture import Architecture, sinusoids
from glassformer.reference import recorder

# Here, before anything is computed: whoever comes first, a training or an analysis, every core is a device.
with suppress(RuntimeError):  # where JAX is already running, it keeps the devices it has
    jax.config.update("jax_num_cpu_devices", os.cpu_count() or 1)  # type: ignore[no-untyped-call]
cache.use()

Array = jax.Array
Params = Mapping[str, Any]  # nested by block: params["blocks"][0]["query"]
Edit = Callable[[Any, int | None], Any]  # (value, block) → what goes on in its place
Edits = Mapping[str, Edit]
Trace = dict[str, Array]
See = Callable[..., Array]


def forward(
    params: Params,
    tokens: Array,  # (batch, position)
    architecture: Architecture,
    edits: Edits | None = None,
    key: Array | None = None,  # randomness for dropout; None: nothing is dropped
) -> tuple[Array, Trace]:
    """Logits for every position, and the trace: each value on the way, under its name, stacked over blocks."""
    see, trace = recorder(edits, tokens.ndim - 1, jnp.stack)  # what training does not use, the compiler removes
    return _forward(params, tokens, architecture, see, key, slice(None)), trace()


def answers(params: Params, tokens: Array, architecture: Architecture, key: Array | None = None) -> Array:
    """The logits where answers are read: at every position, or at `read_position` alone, (batch, place, token).

    What only other positions would need of the last block is not computed.
    """
    place = architecture.read_position
    asked = slice(None) if place is None else slice(place, place + 1)
    return _forward(params, tokens, architecture, lambda name, value, block=None: value, key, asked)  # noqa: ARG005


def _forward(
    params: Params, tokens: Array, architecture: Architecture, see: "See", key: Array | None, asked: slice
) -> Array:
    a = architecture
    drop = dropper(a.dropout, key)
    pre, post = a.norm_place == "pre", a.norm_place == "post"

    x = see("token_embedding", lookup(params["token"], tokens))  # (batch, position, feature)
    if a.positions in ("learned", "sinusoidal"):
        table = params["position"] if a.positions == "learned" else jnp.asarray(sinusoids(a.context, a.width), x.dtype)
        x = x + see("position_embedding", table[: tokens.shape[-1]])  # (position, feature)
    x = drop(see("embedded", x))  # (batch, position, feature)

    for block, w in enumerate(params["blocks"]):
        here = asked if block == a.blocks - 1 else slice(None)  # positions that anyone will look at
        if a.attention != "off":
            read = see("normed_1", normalise(x, w, "norm_1", a), block) if pre else x
            attended = see("attended", attend(read, w, a, see, drop, block, here), block)  # (batch, position, feature)
            x = x[..., here, :] + drop(attended) if a.residual else drop(attended)
        else:
            x = x[..., here, :]
        x = see("middle", x, block)  # (batch, position, feature)
        if post and a.attention != "off":
            x = see("normed_1", normalise(x, w, "norm_1", a), block)

        if a.feed_forward:
            read = see("normed_2", normalise(x, w, "norm_2", a), block) if pre else x
            hidden_in = see("hidden_in", linear(read, w, "expand"), block)  # (batch, position, neuron)
            hidden = see("hidden", ACTIVATION[a.activation](hidden_in), block)  # (batch, position, neuron)
            fed = drop(see("fed", linear(hidden, w, "contract"), block))  # (batch, position, feature)
            x = x + fed if a.residual else fed
        x = see("out", x, block)  # (batch, position, feature)
        if post and a.feed_forward:
            x = see("normed_2", normalise(x, w, "norm_2", a), block)

    if not params["blocks"]:  # without attention, feed-forward and norms a block holds nothing and does nothing
        x = x[..., asked, :]
    final = see("final", normalise(x, params, "norm", a) if a.final_norm else x)  # (batch, position, feature)
    logits = final @ params["token"].T if a.tied_embedding else final @ params["read_out"]  # (batch, position, token)
    logits = see("logits", logits + params["read_out_bias"] if "read_out" in a.biases else logits)
    see("probabilities", jax.nn.softmax(logits))
    return logits


def attend(
    read: Array, w: Params, a: Architecture, see: See, drop: Callable[[Array], Array], block: int, here: slice
) -> Array:
    """Every position asks, every position in view answers: the values, weighted by attention."""
    length = read.shape[-2]
    allowed = jnp.tri(length, dtype=bool) if a.causal else jnp.ones((length, length), bool)
    value = see("value", split_heads(linear(read, w, "value"), a.heads), block)  # (batch, head, key_position, feature)
    if a.attention == "on":
        query = split_heads(linear(read, w, "query"), a.heads)  # (batch, head, query_position, feature)
        key = split_heads(linear(read, w, "key"), a.heads)  # (batch, head, key_position, feature)
        if a.positions == "rotary":
            query, key = rotate(query), rotate(key)
        query, key = see("query", query[..., here, :], block), see("key", key, block)
        scale = (a.per_head if a.score_scale == "head" else a.width) ** -0.5
        scores = see("scores", product(query, key.mT) * scale, block)  # (batch, head, query_position, key_position)
    else:
        scores = jnp.zeros((*value.shape[:-2], *allowed[here].shape), value.dtype)  # all in view count the same
    attention = see("attention", jax.nn.softmax(jnp.where(allowed[here], scores, -jnp.inf)), block)  # rows sum to 1
    mixed = see("mixed", product(drop(attention), value), block)  # (batch, head, query_position, feature)
    together = jnp.moveaxis(mixed, -3, -2)  # (batch, position, head, feature)
    together = together.reshape(*together.shape[:-2], a.inner)  # (batch, position, feature)
    return linear(together, w, "output") if a.output_projection else together


def linear(x: Array, w: Params, name: str) -> Array:
    """Times the matrix, plus the bias where there is one."""
    y: Array = x @ w[name]
    return y + w[f"{name}_bias"] if f"{name}_bias" in w else y


def lookup(table: Array, tokens: Array) -> Array:
    """The row of each token."""
    return _lookup(table, tokens) if jax.default_backend() == "gpu" else table[tokens]


@jax.custom_vjp
def _lookup(table: Array, tokens: Array) -> Array:
    """On a GPU the gradient adds up rows by a matrix product: adding them one by one takes nine tenths of a step."""
    return table[tokens]


def _lookup_forward(table: Array, tokens: Array) -> tuple[Array, tuple[Array, int]]:
    return table[tokens], (tokens, table.shape[0])


def _lookup_backward(saved: tuple[Array, int], gradient: Array) -> tuple[Array, None]:
    tokens, size = saved
    which = jax.nn.one_hot(tokens.reshape(-1), size, dtype=gradient.dtype)  # (place, token)
    return which.T @ gradient.reshape(-1, gradient.shape[-1]), None


_lookup.defvjp(_lookup_forward, _lookup_backward)


@jax.custom_vjp
def product(a: Array, b: Array) -> Array:
    """Matrix product whose gradient turns `a` round before multiplying.

    Left to itself the compiler multiplies by columns, which costs tiny models a quarter of their time.
    """
    return a @ b


def _product_forward(a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
    return a @ b, (a, b)


def _product_backward(saved: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    a, b = saved
    return gradient @ b.mT, jax.lax.optimization_barrier(a.mT) @ gradient  # type: ignore[no-untyped-call]


product.defvjp(_product_forward, _product_backward)


def split_heads(x: Array, heads: int) -> Array:
    """(batch, position, feature) → (batch, head, position, feature)."""
    return jnp.moveaxis(x.reshape(*x.shape[:-1], heads, -1), -2, -3)


def rotate(x: Array) -> Array:
    """Turn each pair of features (i, i + half) by an angle that grows with the position."""
    length, width = x.shape[-2:]
    angle = jnp.arange(length)[:, None] * 10_000.0 ** (-jnp.arange(width // 2) / (width // 2))
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    first, second = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def normalise(x: Array, w: Params, name: str, a: Architecture) -> Array:
    """Bring the features of each position to unit size, then scale (and shift) each by a learned amount."""
    if a.norm == "none":
        return x
    if a.norm == "layer":
        x = x - x.mean(-1, keepdims=True)
    x = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + a.norm_epsilon) * w[name]
    return x + w[f"{name}_bias"] if f"{name}_bias" in w else x


ACTIVATION = {"relu": jax.nn.relu, "gelu": lambda x: jax.nn.gelu(x, approximate=False), "tanh": jnp.tanh}


def dropper(rate: float, key: Array | None) -> Callable[[Array], Array]:
    """A function that drops features at random; each call of it draws anew."""
    if rate == 0.0 or key is None:
        return lambda x: x
    calls = iter(range(1_000_000))

    def drop(x: Array) -> Array:
        kept = jax.random.bernoulli(jax.random.fold_in(key, next(calls)), 1 - rate, x.shape)
        return jnp.where(kept, x / (1 - rate), 0)

    return drop


def loss(logits: Array, targets: Array) -> Array:
    """What each token that came costs, in nats."""
    logits = logits.astype(jnp.promote_types(logits.dtype, jnp.float32))  # whatever the products were computed in
    return jax.nn.logsumexp(logits, axis=-1) - jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]


def init(architecture: Architecture, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Fresh parameters by name. Drawn with NumPy, so that no engine or device has a say in where training begins."""
    return {name: _draw(name, shape, architecture, rng) for name, shape in architecture.shapes().items()}


def _draw(name: str, shape: tuple[int, ...], a: Architecture, rng: np.random.Generator) -> np.ndarray:
    leaf = name.rpartition(".")[2]
    if leaf in ("token", "position"):
        return rng.normal(0, a.embedding_init, shape).astype(np.float32)
    if leaf in ("norm", "norm_1", "norm_2"):
        return np.ones(shape, np.float32)
    if leaf.startswith("norm"):
        return np.zeros(shape, np.float32)
    if leaf.endswith("_bias"):
        inputs = {"contract_bias": a.feed_forward, "output_bias": a.inner}.get(leaf, a.width)
        reach = inputs**-0.5 if a.linear_init == "fan_in" else 0.0
        return rng.uniform(-reach, reach, shape).astype(np.float32)
    if a.linear_init in ("normal", "plain_normal"):
        last = a.linear_init == "normal" and leaf in ("output", "contract")  # written into the stream
        spread = 0.02 / (2 * a.blocks) ** 0.5 if last else 0.02
        return rng.normal(0, spread, shape).astype(np.float32)
    reach = (6 / sum(shape)) ** 0.5 if a.linear_init == "xavier" else shape[0] ** -0.5
    return rng.uniform(-reach, reach, shape).astype(np.float32)
