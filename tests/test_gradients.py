"""C2: gradients are right: JAX in float64 agrees with central differences of the NumPy pass, for every parameter."""

from random import Random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from architectures import every_value, quick_jit, sampled, values_in_use
from glassformer import model, reference
from glassformer.architecture import Architecture, nest

STEP = 1e-5


def cost(logits: np.ndarray, targets: np.ndarray) -> float:
    """The mean cross-entropy in nats, written independently in NumPy."""
    shifted = logits - logits.max(-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return float(-np.take_along_axis(logs, targets[..., None], -1).mean())


RANDOM = [sampled(Random(number), tiny=True) for number in range(30)]


def test_the_random_architectures_use_every_value_of_every_switch():
    assert every_value() - set().union(*map(values_in_use, RANDOM)) == set()
    assert len(set(RANDOM)) == len(RANDOM)


@pytest.mark.parametrize("number", range(len(RANDOM)))
def test_the_gradient_of_every_parameter_is_a_central_difference(number):
    """Only a parameter whose change switches a ReLU neuron is left out: the loss has no derivative there."""
    architecture, rng = RANDOM[number], np.random.default_rng(number)
    read = slice(None) if architecture.read_position is None else [architecture.read_position]
    start = {name: np.float64(value) + rng.normal(0, 0.3, value.shape)
             for name, value in model.init(architecture, rng).items()}  # fmt: skip
    tokens = rng.integers(0, architecture.vocabulary, (2, architecture.context))
    targets = rng.integers(0, architecture.answers, (2, architecture.context))[:, read]

    def fast(flat):
        return model.loss(model.answers(nest(flat), tokens, architecture), jnp.asarray(targets)).mean()

    with jax.enable_x64(True):
        gradients = jax.tree.map(np.asarray, quick_jit(jax.grad(fast))(start))

    def slow(name, place, change):
        moved = {**start, name: start[name].copy()}
        moved[name][place] += change
        logits, trace = reference.forward(nest(moved), tokens, architecture)
        return cost(logits[:, read], targets), trace.get("hidden_in", np.zeros(1)) > 0

    left_out = 0
    for name, value in start.items():
        assert gradients[name].dtype == np.float64
        measured = np.array(gradients[name])
        for place in np.ndindex(value.shape):
            costs, firing = zip(*(slow(name, place, times * STEP) for times in (2, 1, -1, -2)), strict=True)
            if architecture.activation == "relu" and any((firing[0] != each).any() for each in firing):
                left_out += 1
            else:
                measured[place] = np.dot((-1, 8, -8, 1), costs) / (12 * STEP)  # of fourth order in the step
        np.testing.assert_allclose(gradients[name], measured, rtol=1e-6, atol=1e-9, err_msg=f"{name} of {architecture}")
    assert left_out <= architecture.parameters // 20


# ---- the token embedding on a GPU ------------------------------------------------------------------------------------

# Of these five tokens, the fourth never occurs, and the others occur several times where there is a batch.
TOKENS = {
    (): np.array([4, 0, 4, 1]),
    (3,): np.array([[4, 0, 4, 1], [2, 2, 2, 2], [0, 1, 0, 4]]),
    (2, 3): np.array([[[4, 0], [4, 1], [2, 2]], [[2, 2], [0, 1], [0, 4]]]),
}
TABLE = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)


def added_up(tokens: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The gradient of a table of which each token has read its row, in float64."""
    found = np.zeros(TABLE.shape)
    np.add.at(found, tokens, np.float64(gradient))
    return found


def gradient_of_table(lookup, table, tokens, gradient):
    """What a gradient of the rows that were looked up says about the table."""
    return jax.vjp(lambda each: lookup(each, tokens), table)[1](gradient)[0]


@pytest.mark.parametrize("batch", TOKENS, ids=str)
def test_the_lookup_for_gpus_has_the_gradient_of_the_plain_one(batch):
    tokens = TOKENS[batch]
    gradient = np.random.default_rng(2).normal(size=(*tokens.shape, 3)).astype(np.float32)
    np.testing.assert_array_equal(model._lookup(TABLE, tokens), TABLE[tokens])
    found, plain = (gradient_of_table(each, TABLE, tokens, gradient) for each in (model._lookup, lambda t, i: t[i]))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, plain, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found, added_up(tokens, gradient), rtol=1e-6, atol=1e-6)
    assert not found[3].any()


def test_the_lookup_for_gpus_keeps_the_members_of_a_population_apart():
    rng, tokens = np.random.default_rng(3), np.stack([TOKENS[3,], TOKENS[3,][::-1] // 2])
    tables, gradients = (rng.normal(size=(2, *shape)).astype(np.float32) for shape in (TABLE.shape, (3, 4, 3)))
    together = jax.jit(jax.vmap(lambda *given: gradient_of_table(model._lookup, *given)))(tables, tokens, gradients)
    for member in range(2):
        expected = added_up(tokens[member], gradients[member])
        np.testing.assert_allclose(together[member], expected, rtol=1e-6, atol=1e-6)


def test_the_lookup_for_gpus_rounds_once_in_bfloat16():
    """A row that a thousand tokens share is added up more precisely than bfloat16 could hold the sums on the way."""
    tokens = np.tile(TOKENS[()], 500)
    gradient = jnp.asarray(np.random.default_rng(4).uniform(0, 1, (2000, 3)), jnp.bfloat16)
    found = gradient_of_table(model._lookup, jnp.asarray(TABLE, jnp.bfloat16), tokens, gradient)
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(np.float64(found), added_up(tokens, gradient), rtol=2**-8)


@pytest.mark.parametrize(("platform", "operation"), [("cpu", "scatter-add"), ("gpu", "dot_general")])
def test_only_on_a_gpu_is_the_gradient_of_the_lookup_a_product(platform, operation, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: platform)
    traced = str(jax.make_jaxpr(jax.grad(lambda table: model.lookup(table, TOKENS[()]).sum()))(TABLE))
    assert [each for each in ("scatter-add", "dot_general") if each in traced] == [operation]


def test_the_whole_gradient_is_the_same_with_the_lookup_for_gpus(monkeypatch):
    """Also with the token embedding in two places: a tied read-out uses it a second time."""
    a = Architecture(vocabulary=5, context=4, width=4, heads=2, tied_embedding=True)
    params = model.init(a, np.random.default_rng(5))
    tokens = TOKENS[3,]

    def gradients():
        return quick_jit(jax.grad(lambda flat: model.loss(model.answers(nest(flat), tokens, a), tokens).mean()))(params)

    plain = gradients()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    for name, found in gradients().items():
        np.testing.assert_allclose(found, plain[name], rtol=1e-5, atol=1e-7, err_msg=name)
