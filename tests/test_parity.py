"""C1: the fast forward pass and the plain one agree at every named point, for every switch."""

from dataclasses import replace
from random import Random

import jax
import numpy as np
import pytest

from architectures import every_value, quick_jit, sampled, values_in_use
from glassformer import model, reference
from glassformer.architecture import Architecture, nest
from glassformer.glossary import POINTS


def parameters(architecture: Architecture, seed: int) -> dict[str, np.ndarray]:
    """Parameters that are nowhere zero or one, so that no bias or scale can hide."""
    rng = np.random.default_rng(seed)
    return {name: value + rng.normal(0, 0.3, value.shape).astype(np.float32)
            for name, value in model.init(architecture, rng).items()}  # fmt: skip


def inputs(architecture, seed, batch=()):
    """Parameters nested by block, and random tokens with the given batch axes."""
    rng = np.random.default_rng(seed + 1)
    return nest(parameters(architecture, seed)), rng.integers(
        0, architecture.vocabulary, (*batch, architecture.context)
    )


def both(architecture, seed, edits=None):
    """The logits and the trace of the fast pass, and those of the plain one."""
    params, tokens = inputs(architecture, seed)
    with jax.disable_jit():  # these tests share their shapes, so that running each operation by itself is faster
        fast = model.forward(jax.tree.map(jax.numpy.asarray, params), jax.numpy.asarray(tokens), architecture, edits)
    return fast, reference.forward(params, tokens, architecture, edits)


RANDOM = [sampled(Random(number)) for number in range(60)]


def test_the_random_architectures_use_every_value_of_every_switch():
    assert every_value() - set().union(*map(values_in_use, RANDOM)) == set()
    assert len(set(RANDOM)) == len(RANDOM)


@pytest.mark.parametrize("number", range(len(RANDOM)))
def test_every_point_agrees(number):
    architecture, batch = RANDOM[number], ((), (2,), (2, 3))[number % 3]
    params, tokens = inputs(architecture, number, batch)
    fast_logits, fast = quick_jit(lambda p, t: model.forward(p, t, architecture))(params, tokens)
    slow_logits, slow = reference.forward(params, tokens, architecture)
    assert fast.keys() == slow.keys()
    assert set(fast) <= set(POINTS)
    for name in fast:
        np.testing.assert_allclose(fast[name], slow[name], atol=2e-5, rtol=2e-5, err_msg=f"{name} of {architecture}")
    np.testing.assert_array_equal(slow_logits, slow["logits"])
    np.testing.assert_allclose(fast_logits, slow_logits, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("number", range(20))
def test_answers_are_the_logits_where_they_are_read(number):
    """Leaving out the positions that are not read changes nothing at those that are."""
    architecture = RANDOM[number]
    place = number % architecture.context
    everywhere, there = (replace(architecture, read_position=read) for read in (None, place))

    def logits_and_answers(params, tokens):
        logits, _ = model.forward(params, tokens, architecture)
        return logits, model.answers(params, tokens, everywhere), model.answers(params, tokens, there)

    logits, answers, answer = quick_jit(logits_and_answers)(*inputs(architecture, number, (2,)))
    np.testing.assert_allclose(answers, logits, atol=1e-6)
    np.testing.assert_allclose(answer, logits[:, [place]], atol=2e-5)


def test_all_points_are_met():
    """Every name of the glossary is among the points that are compared."""
    seen = [reference.forward(*inputs(architecture, 0), architecture)[1] for architecture in RANDOM]
    assert set().union(*seen) == set(POINTS)


def test_a_batch_is_its_sequences_side_by_side():
    a = Architecture(vocabulary=5, context=4, width=4, heads=2, blocks=2, norm="layer")
    params, tokens = nest(parameters(a, 0)), np.array([[0, 1, 2, 3], [4, 3, 2, 1]])
    _, together = reference.forward(params, tokens, a)
    for row in range(2):
        _, alone = reference.forward(params, tokens[row], a)
        for name in alone:
            expected = together[name] if name == "position_embedding" else together[name][row]
            np.testing.assert_allclose(alone[name], expected, atol=1e-6, err_msg=name)


def test_attention_is_what_it_says():
    """Rows sum to one, the future weighs nothing, and a mean gives every position in view the same."""
    a = Architecture(vocabulary=5, context=4, width=4, heads=2)
    _, (_, seen) = both(a, 3)
    np.testing.assert_allclose(seen["attention"].sum(-1), 1, atol=1e-6)
    assert np.all(seen["attention"][..., ~np.tri(4, dtype=bool)] == 0)
    _, (_, seen) = both(Architecture(vocabulary=5, context=4, attention="mean"), 3)
    np.testing.assert_allclose(seen["attention"][0, 0], np.tri(4) / np.arange(1, 5)[:, None], atol=1e-6)


def test_the_future_has_no_influence():
    a = Architecture(vocabulary=5, context=4, width=4, heads=2, blocks=2, norm="rms", positions="rotary")
    params = nest(parameters(a, 0))
    one, _ = reference.forward(params, np.array([0, 1, 2, 3]), a)
    other, _ = reference.forward(params, np.array([0, 1, 4, 4]), a)
    np.testing.assert_array_equal(one[:2], other[:2])
    assert not np.allclose(one[2], other[2])


def test_rotary_scores_depend_on_the_distance_alone():
    a = Architecture(vocabulary=2, context=6, width=4, positions="rotary")
    _, seen = reference.forward(nest(parameters(a, 1)), np.zeros(6, int), a)
    scores = seen["scores"][0, 0]
    for distance in range(6):
        np.testing.assert_allclose(np.diagonal(scores, -distance), scores[distance, 0], atol=1e-5)


@pytest.mark.parametrize("name", POINTS)
def test_edits_replace_any_point(name):
    """C4: an edit that changes nothing changes no bit; one that changes a point changes all that follows."""
    a = Architecture(vocabulary=3, context=4, norm="layer", blocks=2)
    (plain, _), (slow_plain, _) = both(a, 5)
    (same, _), (slow_same, _) = both(a, 5, edits={name: lambda value, block: value * 1})  # noqa: ARG005
    np.testing.assert_array_equal(plain, same)
    np.testing.assert_array_equal(slow_plain, slow_same)
    halved = {name: lambda value, block: value * 0.5 if block in (None, 1) else value}
    (fast, seen), (slow, _) = both(a, 5, edits=halved)
    np.testing.assert_allclose(fast, slow, atol=2e-5)
    unchanged = both(a, 5)[0][1]
    assert not np.allclose(seen[name], unchanged[name])
    if name != "probabilities":  # the end of the line
        assert not np.allclose(fast, plain)


def test_patching_the_embedding_gives_the_other_output():
    a = Architecture(vocabulary=5, context=4, width=4, heads=2, blocks=2)
    params = nest(parameters(a, 0))
    other, seen = reference.forward(params, np.array([4, 3, 2, 1]), a)
    patched, _ = reference.forward(
        params,
        np.array([0, 1, 2, 3]),
        a,
        {"embedded": lambda value, block: seen["embedded"]},  # noqa: ARG005
    )
    np.testing.assert_array_equal(patched, other)


def test_dropout_keeps_the_mean_and_needs_a_key():
    """With a key a share of the embedding is dropped and the rest grows; without one nothing is."""
    a = Architecture(vocabulary=2, context=1, width=4000, feed_forward=0, attention="off", dropout=0.25)
    params = nest({name: np.ones(shape, np.float32) for name, shape in a.shapes().items()})
    key = jax.random.key(0)
    _, dropped = model.forward(params, jax.numpy.zeros(1, int), a, key=key)
    _, whole = model.forward(params, jax.numpy.zeros(1, int), a)
    kept = np.asarray(dropped["final"] != 0).mean()
    assert abs(kept - 0.75) < 0.03
    np.testing.assert_allclose(dropped["final"][dropped["final"] != 0], 2 / 0.75, rtol=1e-6)
    np.testing.assert_allclose(whole["final"], 2)
