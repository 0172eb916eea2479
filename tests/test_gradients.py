"""C2: gradients are gradients: JAX in float64 against central differences of the NumPy pass."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from architectures import architectures
from glassformer import model, reference
from glassformer.architecture import nest

STEP = 1e-5


def cost(logits: np.ndarray, targets: np.ndarray) -> float:
    """Mean nats, written out anew in NumPy."""
    shifted = logits - logits.max(-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return float(-np.take_along_axis(logs, targets[..., None], -1).mean())


@settings(max_examples=2, deadline=None)
@given(architectures(), st.integers(0, 10_000))
def test_gradients_are_finite_differences(architecture, seed):
    rng = np.random.default_rng(seed)
    start = {name: np.float64(value) + rng.normal(0, 0.3, value.shape)
             for name, value in model.init(architecture, rng).items()}  # fmt: skip
    tokens = rng.integers(0, architecture.vocabulary, (2, architecture.context))
    targets = rng.integers(0, architecture.answers, (2, architecture.context))

    def fast(flat):
        logits, _ = model.forward(nest(flat), jnp.asarray(tokens), architecture)
        return model.loss(logits, jnp.asarray(targets)).mean()

    with jax.enable_x64(True):
        gradients = jax.tree.map(np.asarray, jax.grad(fast)({name: jnp.asarray(v) for name, v in start.items()}))

    def slow(name, place, change):
        moved = {**start, name: start[name].copy()}
        moved[name][place] += change
        logits, trace = reference.forward(nest(moved), tokens, architecture)
        firing = trace["hidden_in"] > 0 if "hidden_in" in trace else np.zeros(1)
        return cost(logits, targets), firing

    for name, value in start.items():
        places = list(np.ndindex(value.shape))
        for i in rng.choice(len(places), min(len(places), 6), replace=False):
            costs, firing = zip(*(slow(name, places[i], s * STEP) for s in (2, 1, -1, -2)), strict=True)
            if architecture.activation == "relu" and not all(np.array_equal(firing[0], each) for each in firing):
                continue  # a neuron switches on or off in between: no derivative there
            measured = float(np.dot((-1, 8, -8, 1), costs)) / (12 * STEP)  # to the fourth order
            np.testing.assert_allclose(gradients[name][places[i]], measured, rtol=1e-6, atol=1e-9, err_msg=name)
