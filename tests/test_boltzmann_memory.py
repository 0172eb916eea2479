"""The Boltzmann memory model does its six steps in order, and its limits are those of statistical mechanics."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from glassformer import canonical
from glassformer.errors import CallError
from glassformer.physics.models.boltzmann_memory import BoltzmannMemory, boltzmann_memory
from glassformer.reference import softmax


def one_temperature(s, temperature):
    """One learner, token by token with plain loops, sharing nothing with the package."""
    rng = np.random.default_rng(s.seed)
    w = [[s.scale * (x - 0.5) for x in row] for row in rng.random((s.tokens, s.tokens))]
    table, m, c, kept = rng.random(s.steps), [0.0] * s.tokens, s.start, []
    for t in range(s.steps):
        m = [s.decay * x + (j == c) for j, x in enumerate(m)]
        z = [sum(wij * mj for wij, mj in zip(row, m, strict=True)) for row in w]
        e = [np.exp((x - max(z)) / temperature) for x in z]
        p = [x / sum(e) for x in e]
        kept.append((c, m, z, p))
        for i in range(s.tokens):
            for j in range(s.tokens):
                w[i][j] -= s.rate * (p[i] - (i == s.target)) * m[j]
        c, passed = 0, p[0]
        while passed <= table[t] and c < s.tokens - 1:
            c += 1
            passed += p[c]
    return kept, w


@pytest.mark.parametrize("given_", [{}, {"tokens": 3, "target": 1, "decay": 0.95, "rate": 0.4, "seed": 3, "steps": 25}])
def test_every_array_is_that_of_plain_loops(given_):
    s = BoltzmannMemory(**given_)
    seen = boltzmann_memory(s)
    for k in (0, 7, s.temperatures - 1):
        kept, weights = one_temperature(s, seen.temperatures[k])
        tokens, memory, logits, chances = zip(*kept, strict=True)
        assert (seen.tape[k] == tokens).all()
        assert_allclose(seen.memory[k], memory, atol=1e-9)
        assert_allclose(seen.logits[k], logits, atol=1e-9)
        assert_allclose(seen.probabilities[k], chances, atol=1e-9)
        assert_allclose(seen.last[k], weights, atol=1e-9)
        assert_allclose(seen.loss[k], [-np.log(p[s.target]) for p in chances], atol=1e-9)
        assert_allclose(seen.entropy[k], [-sum(x * np.log(x) for x in p) for p in chances], atol=1e-9)


def test_it_learns_at_every_temperature():
    seen = boltzmann_memory()
    assert (seen.loss[:, -10:].mean(axis=1) < 0.5 * seen.loss[:, :10].mean(axis=1)).all()
    assert (seen.entropy[:, -1] < seen.entropy[:, 0]).all()
    assert np.log(5) - 0.3 < seen.mean_entropy[-1] < np.log(5)
    assert seen.mean_entropy[0] < 0.3


def test_the_tape_is_drawn_by_its_chances():
    """Without learning and memory the chances are fixed: over many steps the tape must have their frequencies."""
    s = BoltzmannMemory(steps=10_000, temperatures=2, rate=0, decay=1e-9, scale=4.0, coldest=0.8)
    seen = boltzmann_memory(s)
    for k in range(2):
        law = canonical.boltzmann(seen.first.T, seen.temperatures)[k]  # (token before, token after)
        for before in range(s.tokens):
            after = seen.tape[k][1:][seen.tape[k][:-1] == before]
            share = np.bincount(after, minlength=s.tokens) / len(after)
            assert len(after) > 100
            assert (np.abs(share - law[before]) <= 4.5 * np.sqrt(law[before] * (1 - law[before]) / len(after))).all()


def test_the_true_gradient_has_the_factor_that_the_published_rule_lacks():
    published = boltzmann_memory(BoltzmannMemory(steps=2))
    true = boltzmann_memory(BoltzmannMemory(steps=2, gradients="true"))
    h, k = 1e-6, 0
    memory, temperature = published.memory[k, 0], published.temperatures[k]

    def loss(weights):
        return canonical.loss(softmax(weights @ memory / temperature), published.target)

    slope = np.zeros((5, 5))
    for at in np.ndindex(5, 5):
        nudge = np.zeros((5, 5))
        nudge[at] = h
        slope[at] = (loss(published.first + nudge) - loss(published.first - nudge)) / (2 * h)
    one_step = lambda seen: boltzmann_memory(seen.settings).logits[k, 1] - seen.first @ seen.memory[k, 1]  # noqa: E731
    moved = -0.05 * slope @ published.memory[k, 1]
    assert_allclose(one_step(true), -0.05 * slope @ true.memory[k, 1], atol=1e-7)
    assert_allclose(one_step(published), moved * temperature, atol=1e-7)


def test_argmax_feedback_reads_the_likeliest_token():
    seen = boltzmann_memory(BoltzmannMemory(feedback="argmax"))
    assert (seen.tape[:, 1:] == seen.probabilities.argmax(axis=-1)[:, :-1]).all()


ensembles = st.builds(
    BoltzmannMemory,
    tokens=st.integers(2, 9),
    steps=st.integers(2, 20),
    temperatures=st.integers(1, 8),
    coldest=st.floats(0.01, 1),
    hottest=st.floats(1, 100),
    decay=st.floats(0.01, 0.99),
    rate=st.floats(0, 2),
    target=st.integers(0, 1),
    start=st.integers(0, 1),
    seed=st.integers(0, 2**40),
    scale=st.floats(0.01, 5),
    feedback=st.sampled_from(["argmax", "sampled"]),
    gradients=st.sampled_from(["heuristic", "true"]),
)
calm = settings(deadline=None, max_examples=80)


@given(ensembles)
@calm
def test_memory_chances_and_entropies_keep_their_bounds(s):
    seen = boltzmann_memory(s)
    assert_allclose(seen.probabilities.sum(axis=-1), 1)
    assert (seen.entropy >= -1e-12).all()
    assert (seen.entropy <= np.log(s.tokens) + 1e-9).all()
    assert (seen.loss >= -1e-12).all()
    assert (seen.memory >= 0).all()
    # What was read adds up: after t steps the memory holds 1 + α + ... + α^(t−1), whatever the tokens were.
    assert_allclose(
        seen.memory.sum(axis=-1), np.tile((1 - s.decay ** (seen.steps + 1)) / (1 - s.decay), (s.temperatures, 1))
    )
    assert (seen.tape[:, 0] == s.start).all()
    assert ((seen.tape >= 0) & (seen.tape < s.tokens)).all()


@given(ensembles, st.integers(0, 2**32))
@calm
def test_learning_never_raises_the_loss_of_a_given_memory(s, seed):
    """For any memory that could be met, the last weights are no worse than the first, at every temperature."""
    seen = boltzmann_memory(s)
    memory = np.random.default_rng(seed).random(s.tokens) * 3

    def loss(weights):
        return canonical.loss(softmax(weights @ memory / seen.temperatures[:, None]), s.target)

    assert (loss(seen.last) <= loss(np.tile(seen.first, (s.temperatures, 1, 1))) + 1e-9).all()


@given(ensembles)
@calm
def test_hot_is_uniform_and_cold_is_certain(s):
    logits = boltzmann_memory(s).logits.reshape(-1, s.tokens)
    spread = np.ptp(logits, axis=1).max()
    hot = canonical.entropy(canonical.boltzmann(logits, np.array([1e6])))
    # ln N − H ≤ Var(E) / (2 T²) ≤ spread² / (8 T²) to leading order
    assert (np.log(s.tokens) - hot <= spread**2 / 1e12 + 1e-9).all()
    top = np.sort(logits, axis=1)
    gap = top[:, -1] - top[:, -2]
    assume((gap > 1e-6).all())
    cold = 1e-3 * gap.min()
    assert (canonical.entropy(canonical.boltzmann(logits, np.array([cold]))) < 1e-9).all()


@given(ensembles, st.floats(-50, 50))
@calm
def test_the_zero_of_energy_does_not_matter(s, shift):
    logits = boltzmann_memory(s).logits[0]
    heat = np.array([0.5, 2.0])
    assert_allclose(canonical.boltzmann(logits + shift, heat), canonical.boltzmann(logits, heat), atol=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [("coldest", 0), ("coldest", -1), ("coldest", float("nan")), ("decay", 0), ("decay", 1), ("decay", float("nan")),
     ("rate", -1), ("rate", float("nan")), ("target", 5), ("start", 5), ("scale", -1), ("tokens", 1), ("steps", 0),
     ("gradients", True), ("hottest", 0.01)],
)  # fmt: skip
def test_a_value_that_is_not_allowed_is_refused_with_a_sentence(name, value):
    with pytest.raises(CallError, match=rf"boltzmann_memory\.{name} = .*; "):
        BoltzmannMemory(**{name: value})
