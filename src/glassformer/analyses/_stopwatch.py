"""What one training step really costs on this machine: seconds and bytes, whole and part by part."""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from glassformer.architecture import Architecture, nest

REPEATS = 5  # of a measured step; the quickest counts

Costs = tuple[float, float]  # seconds, bytes


def whole(a: Architecture, batch: int) -> Costs:
    """A gradient step of the model with random weights, without the optimiser."""
    import jax.numpy as jnp

    from glassformer import model

    rng = np.random.default_rng(0)
    params = {name: _random(rng, *shape) for name, shape in a.shapes().items()}
    tokens = jnp.asarray(rng.integers(0, a.vocabulary, (batch, a.context)))
    target = jnp.asarray(rng.integers(0, a.answers, (batch, a.context if a.read_position is None else 1)))

    def loss(flat: Mapping[str, Any]) -> Any:
        return model.loss(model.answers(nest(flat), tokens, a), target).mean()

    return _timed(loss, params)


def parts(a: Architecture, batch: int) -> dict[str, Costs]:
    """Each part alone, forwards and backwards, on random numbers of the shapes it has; over all blocks."""
    import jax.numpy as jnp

    from glassformer import model

    rng = np.random.default_rng(0)
    stream = _random(rng, batch, a.context, a.width)
    mixed = _random(rng, batch, a.context, a.inner)
    target = jnp.asarray(rng.integers(0, a.answers, (batch, a.context)))

    def projections(given: Any) -> Any:
        (query, key, value, output), x, y = given
        return sum(((x @ w) ** 2).sum() for w in (query, key, value)) + ((y @ output) ** 2).sum()

    def feed_forward(given: Any) -> Any:
        (expand, contract), x = given
        return ((model.ACTIVATION[a.activation](x @ expand) @ contract) ** 2).sum()

    def logits(given: Any) -> Any:
        read_out, x = given
        return model.loss(x @ read_out, target).mean()

    square = [_random(rng, a.width, a.inner) for _ in range(3)]
    back = _random(rng, a.inner, a.width)
    found = {
        "queries, keys, values": _timed(projections, ([*square, back], stream, mixed)),
        "attention": attention(a, batch),
    }
    if a.feed_forward:
        wide = [_random(rng, a.width, a.feed_forward), _random(rng, a.feed_forward, a.width)]
        found["feed-forward"] = _timed(feed_forward, (wide, stream))
    found = {name: (a.blocks * seconds, a.blocks * held) for name, (seconds, held) in found.items()}
    return found | {"logits": _timed(logits, (_random(rng, a.width, a.answers), stream))}


def attention(a: Architecture, batch: int) -> Costs:
    """Scores, shares and mix of one block alone, forwards and backwards, on random queries, keys and values."""
    import jax
    import jax.numpy as jnp

    from glassformer import model

    rng = np.random.default_rng(0)
    heads = [_random(rng, batch, a.heads, a.context, a.per_head) for _ in range(3)]
    in_view = jnp.tri(a.context, dtype=bool) if a.causal else jnp.ones((a.context, a.context), bool)

    def mixed(given: Any) -> Any:
        query, key, value = given
        scores = model.product(query, key.mT) * a.per_head**-0.5
        shares = jax.nn.softmax(jnp.where(in_view, scores, -jnp.inf))
        return (model.product(shares, value) ** 2).sum()

    return _timed(mixed, heads)


def _random(rng: np.random.Generator, *shape: int) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(rng.normal(0, 0.1, shape), jnp.float32)


def _timed(loss: Callable[[Any], Any], given: Any) -> Costs:
    """Seconds of the quickest of a few gradients, and the bytes that the compiled gradient sets aside."""
    import jax

    step = jax.jit(jax.grad(loss)).lower(given).compile()
    jax.block_until_ready(step(given))  # type: ignore[no-untyped-call]
    spent = []
    for _ in range(REPEATS):
        begin = perf_counter()
        jax.block_until_ready(step(given))  # type: ignore[no-untyped-call]
        spent.append(perf_counter() - begin)
    found = step.memory_analysis()
    return min(spent), float(found.temp_size_in_bytes) if found is not None else float("nan")
