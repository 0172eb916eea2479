"""From settings to updates: Optax rules on one flat vector of parameters, and the learning rate at every step."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax

from glassformer.architecture import Architecture
from glassformer.experiment import Training

Array = jax.Array


def direction(train: Training, architecture: Architecture) -> optax.GradientTransformation:
    """Gradient → direction of the step; the step is minus the rate times this.

    The parameters come as one vector: for tiny models the number of operations is what costs, not their size.
    """
    rule = {
        "sgd": optax.identity(),
        "momentum": optax.trace(train.momentum),
        "adam": optax.scale_by_adam(train.beta_1, train.beta_2, train.epsilon),
        "adamw": optax.scale_by_adam(train.beta_1, train.beta_2, train.epsilon),
    }[train.optimiser]
    parts = [rule] if train.clip is None else [optax.clip_by_global_norm(train.clip), rule]
    if train.optimiser == "adamw" and train.decay > 0:
        parts.append(_decay(train.decay, _decayed(train, architecture)))
    return optax.chain(*parts)


def schedule(train: Training) -> Callable[[Array], Array]:
    """The learning rate of step t (the first is 0), before a plateau lowers it."""
    warmup = min(train.warmup, train.steps // 2)
    after = {
        "constant": optax.constant_schedule(train.rate),
        "plateau": optax.constant_schedule(train.rate),
        "cosine": optax.cosine_decay_schedule(train.rate, train.steps - warmup, train.final),
        "step": optax.exponential_decay(train.rate, train.drop_every, train.drop, staircase=True),
    }[train.schedule]
    if warmup == 0:
        return lambda t: jnp.asarray(after(t), jnp.float32)
    rising = optax.linear_schedule(train.rate / (warmup + 1), train.rate, warmup)  # never quite zero
    both = optax.join_schedules([rising, after], [warmup])
    return lambda t: jnp.asarray(both(t), jnp.float32)


def _decayed(train: Training, architecture: Architecture) -> np.ndarray:
    """1 for every number that decays, 0 for the others."""
    shapes = architecture.shapes().values()
    return np.concatenate(
        [np.full(shape, train.decay_on == "all" or len(shape) > 1, np.float32).ravel() for shape in shapes]
    )


def _decay(strength: float, where: np.ndarray) -> optax.GradientTransformation:
    def update(updates: Array, state: optax.EmptyState, params: Array) -> tuple[Array, optax.EmptyState]:
        return updates + strength * jnp.asarray(where) * params, state

    return optax.GradientTransformation(lambda _: optax.EmptyState(), update)
