"""The batch at step t is a pure function of (seed, t): nothing is remembered, so any past batch can be drawn again."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from glassformer.tasks import Data

Array = jax.Array
BATCHES, DROPOUT = 1, 2  # streams of randomness under one seed; the initial weights come from NumPy


class Source(NamedTuple):
    """The training part on the device; windows are gathered from it, never laid out beforehand."""

    tokens: Array  # (n,)
    starts: Array  # (piece,)
    windows: Array  # (piece,)


class Place(NamedTuple):
    """Where a stretch of steps lies: its first step, and the same counted in passes over the pieces."""

    step: Any
    full_passes: Any
    into_pass: Any  # pieces of the current pass already seen


def source(data: Data) -> Source:
    """The training part, moved to the device."""
    part = data.train
    return Source(*(jax.device_put(np.asarray(array, np.int32)) for array in (part.tokens, part.starts, part.windows)))


def place(step: int, batch: int, pieces: int) -> Place:
    """The place of a step. Counted on the host, where whole numbers do not overflow."""
    full, into = divmod(step * batch, pieces)
    return Place(*(np.asarray(number, np.int32) for number in (step, full, into)))


def draw(seed_key: Array, at: Place, src: Source, steps: int, batch: int, span: int, order: str) -> Array:
    """(step, batch, span): the windows of so many steps from a place on."""
    key = jax.random.fold_in(seed_key, BATCHES)
    pieces = src.starts.shape[0]
    if order == "passes":
        count = at.into_pass + jnp.arange(steps * batch)  # examples since the beginning of the current pass
        passes = at.full_passes + jnp.arange(-(-steps * batch // pieces) + 1)
        orders = jax.vmap(lambda p: jax.random.permutation(jax.random.fold_in(key, p), pieces))(passes)
        piece = orders[count // pieces, count % pieces].reshape(steps, batch)
        begin = src.starts[piece]
    else:

        def one(step: Array) -> Array:
            which, where = jax.random.split(jax.random.fold_in(key, step))
            piece = jax.random.randint(which, (batch,), 0, pieces)
            return src.starts[piece] + jax.random.randint(where, (batch,), 0, src.windows[piece])

        begin = jax.vmap(one)(at.step + jnp.arange(steps))
    return src.tokens[begin[..., None] + jnp.arange(span)]
