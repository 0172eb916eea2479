"""The one-layer model gives the published program's numbers, and its gradients are those of its loss."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize_scalar

from glassformer import canonical
from glassformer.errors import CallError
from glassformer.physics._facts import Facts
from glassformer.physics.models.boltzmann_memory import boltzmann_memory
from glassformer.physics.models.one_layer import (
    MATRICES,
    MEASURES,
    OneLayer,
    error,
    first_weights,
    forward,
    gradients,
    heuristic_changes,
    measured,
    one_layer,
    true_changes,
)
from glassformer.physics.models.short_cut import short_cut
from glassformer.reference import softmax


@pytest.fixture(scope="module")
def life():
    return one_layer()


def transcribed(n, context, steps, seed, target, temperatures, output_rate, rate):
    """The published arithmetic once more, column vectors and loops as there, sharing nothing with the package."""
    rng = np.random.default_rng(seed)
    o, q, k, v = (0.05 * (rng.random((n, n)) - 0.5) for _ in range(4))
    a = 0.05 * (rng.random((2 * n, n)) - 0.5)
    b = 0.05 * (rng.random((n, 2 * n)) - 0.5)
    x = np.zeros((n, context))
    x[0, -1] = 1
    soft = lambda z: np.exp(z - z.max()) / np.exp(z - z.max()).sum()  # noqa: E731
    norm = lambda z: (z - z.mean()) / np.sqrt(((z - z.mean()) ** 2).mean() + 1e-8)  # noqa: E731
    out = {name: [] for name in ("H", "L", "train", "max", "right", "kl", "attention", "path")}
    before = None
    for t in range(steps):
        ask = x[:, [-1]]
        weigh = soft(((q @ ask).T @ (k @ x)).ravel() / np.sqrt(n))
        middle = norm(ask + ((v @ x) * weigh).sum(axis=1, keepdims=True))
        last = norm(middle + b @ np.tanh(a @ middle))
        z = (o @ last).ravel()
        p = soft(z)
        heat = [soft(z / each) for each in temperatures]
        out["H"].append([-(w * np.log(w + 1e-300)).sum() for w in heat])
        out["L"].append([-np.log(w[target] + 1e-300) for w in heat])
        out["train"].append(-(p * np.log(p + 1e-300)).sum())
        out["max"].append(p.max())
        out["right"].append(p[target])
        out["attention"].append(weigh)
        out["path"].append(p.argmax())
        if before is not None:
            out["kl"].append((p * np.log((p + 1e-12) / (before + 1e-12))).sum())
        before = p
        g = p.copy()
        g[target] -= 1
        o -= output_rate * g[:, None] @ last.T
        d = o.T @ g[:, None]
        q -= rate * d @ ask.T
        for j in range(context):
            k -= rate * d @ x[:, [j]].T * weigh[j]
            v -= rate * d @ x[:, [j]].T * weigh[j]
        if t < steps - 1:
            x = np.column_stack([x[:, 1:], np.eye(n)[:, p.argmax()]])
    return {name: np.array(values) for name, values in out.items()}


def test_the_published_numbers(life):
    assert_allclose(
        life.training_entropy[[0, 1, 10, 30, 59]],
        [4.37432463, 4.37358027, 4.3733527, 0.41572593, 0.10819234],
        atol=1e-6,
    )
    assert_allclose(life.p_target[[0, 10, 30, 59]], [0.01477688, 0.00975751, 0.95012744, 0.98903943], atol=1e-6)
    near = life.nearest_one
    assert life.temperatures[near] == pytest.approx(0.99655, abs=1e-5)
    assert_allclose(life.loss[near][[0, 59]], [4.21413918, 0.0106899], atol=1e-6)
    assert_allclose(life.mean_entropy[[0, near, -1]], [1.40107377, 1.89360376, 4.28814003], atol=1e-6)


@pytest.mark.parametrize(
    "size",
    [
        {},
        {"tokens": 60, "context": 80, "steps": 120},
        {"tokens": 7, "context": 3, "steps": 25, "seed": 4, "target": 3, "projection_rate": 0.2, "output_rate": 0.2},
    ],
    ids=["program", "summary", "small"],
)
def test_every_array_is_that_of_the_published_arithmetic(size):
    s = OneLayer(**size)
    ours = one_layer(s)
    heat = np.linspace(s.coldest, s.hottest, s.temperatures)
    right = transcribed(s.tokens, s.context, s.steps, s.seed, s.target, heat, s.output_rate, s.projection_rate)
    close = {"rtol": 0, "atol": 1e-9}
    assert_allclose(ours.entropy, right["H"].T, **close)
    assert_allclose(ours.loss, right["L"].T, **close)
    assert_allclose(ours.training_entropy, right["train"], **close)
    assert_allclose(ours.p_max, right["max"], **close)
    assert_allclose(ours.p_target, right["right"], **close)
    assert_allclose(ours.kl, right["kl"], **close)
    assert_allclose(ours.attention, right["attention"], **close)
    assert_allclose(ours.mean_attention, right["attention"].mean(axis=0), **close)
    assert (ours.tokens == right["path"]).all()
    assert (ours.inputs[1:] == right["path"][:-1]).all()
    assert ours.inputs[0] == 0


def test_what_the_published_pictures_call_t_1(life):
    assert life.temperatures[life.farthest_from_one] == 3.5
    assert abs(life.temperatures[life.nearest_one] - 1) < 0.06


def loss_of(s, weights, window):
    return -np.log(softmax(forward(weights, window).logits)[s.target])


def sharp(seed):
    """Weights large enough that attention, norms and neurons all bend what goes through them."""
    s = OneLayer(tokens=9, context=5, target=4, seed=seed, scale=2.0, feed_forward=7, projection_rate=0.3)
    rng = np.random.default_rng(seed)
    weights = first_weights(s, rng)
    return s, weights, np.eye(9)[:, rng.integers(0, 9, size=5)]


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gradients_are_those_of_finite_differences(name, seed):
    s, weights, window = sharp(seed)
    seen = forward(weights, window)
    found = gradients(weights, seen, error(s, softmax(seen.logits)))[name]
    by_difference, h = np.empty_like(found), 1e-5
    for at in np.ndindex(found.shape):
        nudge = np.zeros_like(found)
        nudge[at] = h
        up, down = (loss_of(s, weights | {name: weights[name] + sign * nudge}, window) for sign in (1, -1))
        by_difference[at] = (up - down) / (2 * h)
    assert np.abs(by_difference).max() > 1e-4
    assert_allclose(found, by_difference, atol=3e-8, rtol=1e-6)


def test_a_true_change_is_minus_rate_times_gradient_and_lowers_the_loss():
    s, weights, window = sharp(5)
    seen = forward(weights, window)
    chances = softmax(seen.logits)
    changes = true_changes(s, weights, seen, chances)
    found = gradients(weights, seen, error(s, chances))
    assert_allclose(changes["output"], -s.output_rate * found["output"])
    assert_allclose(changes["feed_in"], -s.projection_rate * found["feed_in"])
    small = {name: weights[name] + 1e-4 * changes[name] for name in MATRICES}
    expected = sum((1e-4 * changes[name] * found[name]).sum() for name in MATRICES)
    assert loss_of(s, small, window) - loss_of(s, weights, window) == pytest.approx(expected, rel=1e-2)


def test_the_short_cut_is_exact_for_the_output_and_silent_for_the_feed_forward(life):
    s, weights, window = sharp(6)
    seen = forward(weights, window)
    chances = softmax(seen.logits)
    made, true = heuristic_changes(s, weights, seen, chances), true_changes(s, weights, seen, chances)
    assert_allclose(made["output"], true["output"])
    assert set(made) == {"output", "query", "key", "value"}
    columns = dict(zip(MATRICES, life.cosines.T, strict=True))
    assert_allclose(columns["output"], 1)
    assert np.isnan(columns["feed_in"]).all()
    assert np.isnan(columns["feed_out"]).all()
    assert np.nanmax(np.abs(columns["query"])) < 0.5
    assert columns["value"].min() > 0.3
    moved = dict(zip(MATRICES, life.moved, strict=True))
    assert moved["feed_in"] == moved["feed_out"] == 0
    assert moved["query"] > 0


def test_with_true_gradients_every_matrix_moves_along_its_gradient():
    true = one_layer(OneLayer(gradients="true"))
    known = np.isfinite(true.cosines)
    assert_allclose(true.cosines[known], 1)
    assert (true.moved > 0).all()
    assert true.training_loss[-1] < 0.02


def test_what_the_short_cut_costs():
    found = short_cut()
    by_hand = one_layer(OneLayer(gradients="true")).p_target
    assert found.steps["true"] == int(np.flatnonzero(by_hand < 0.95)[-1]) + 1
    assert found.output_only.moved[1:].max() == 0
    # At the published rate the inner matrices hardly matter; at the output's rate only true gradients make use of them.
    assert abs(found.steps["heuristic"] - found.steps["output_only"]) <= 2
    assert found.steps["equal_true"] <= found.steps["equal_heuristic"] - 5
    assert found.last_loss["equal_true"] < found.last_loss["equal_heuristic"]


def test_a_life_that_does_not_learn_says_so():
    still = one_layer(OneLayer(output_rate=0, projection_rate=0, steps=5))
    assert still.reached() is None
    assert_allclose(still.alike, 0, atol=1e-12)
    assert one_layer(OneLayer(tokens=2, target=1, context=1, steps=40, output_rate=5)).reached(0.5) is not None


def test_sampled_feedback_leaves_the_weights_and_changes_the_path(life):
    drawn = one_layer(OneLayer(feedback="sampled"))
    assert_allclose(drawn.logits[0], life.logits[0])
    assert (drawn.tokens != life.tokens).any()
    assert (drawn.tokens == one_layer(OneLayer(feedback="sampled")).tokens).all()


sizes = st.builds(
    OneLayer,
    tokens=st.integers(5, 14),
    context=st.integers(1, 6),
    steps=st.integers(2, 12),
    temperatures=st.integers(1, 6),
    coldest=st.floats(0.01, 1),
    hottest=st.floats(1, 1000),
    output_rate=st.floats(0, 2),
    projection_rate=st.floats(0, 2),
    target=st.integers(0, 4),
    start=st.integers(0, 4),
    seed=st.integers(0, 2**32),
    scale=st.floats(0.01, 3),
    feedback=st.sampled_from(["argmax", "sampled"]),
    gradients=st.sampled_from(["heuristic", "true"]),
)


@given(sizes)
@settings(deadline=None, max_examples=60)
def test_whatever_the_settings_the_laws_hold(s):
    life = one_layer(s)
    most = np.log(s.tokens)
    assert_allclose(life.probabilities.sum(axis=-1), 1)
    assert_allclose(life.attention.sum(axis=-1), 1)
    assert (life.entropy >= -1e-12).all()
    assert (life.entropy <= most + 1e-9).all()
    assert (np.diff(life.entropy, axis=0) >= -1e-9).all()  # hotter is never surer
    assert (life.kl >= -1e-9).all()
    assert (life.p_max >= life.p_target).all()
    free = canonical.free_energy(life.logits, life.temperatures)
    energy = canonical.energy(life.probabilities, life.logits)
    assert_allclose(free, energy - life.temperatures[:, None] * life.entropy, atol=1e-6, rtol=1e-9)
    again = one_layer(replace(s))
    assert (again.logits == life.logits).all()


def test_specific_heat_is_the_slope_of_the_energy():
    logits, heat = np.random.default_rng(0).normal(size=(3, 6)), np.array([0.3, 1.0, 4.0])
    h = 1e-5
    up, down = (canonical.energy(canonical.boltzmann(logits, heat + each), logits) for each in (h, -h))
    found = canonical.specific_heat(canonical.boltzmann(logits, heat), logits, heat)
    assert found.min() > 1e-3
    assert_allclose(found, (up - down) / (2 * h), rtol=1e-6)


def test_the_peak_of_the_specific_heat_is_a_root_of_its_slope(life):
    """One state below g equal ones: with x = gap / T and u = g exp(−x) the slope is 0 where 2/x = (1 − u)/(1 + u)."""
    last = life.logits[-1]
    others = np.delete(last, life.target)
    gap, g = last[life.target] - others.mean(), len(others)
    x = brentq(lambda x: 2 / x - (1 - g * np.exp(-x)) / (1 + g * np.exp(-x)), 2.01, 40, xtol=1e-14)
    u = g * np.exp(-x)
    schottky = canonical.heat_peak(np.append(np.zeros(g), gap))
    assert schottky == pytest.approx((gap / x, x**2 * u / (1 + u) ** 2), rel=1e-12)

    def minus_heat(t):
        p = np.exp((last - last.max()) / t)
        p /= p.sum()
        return -((p * last**2).sum() - (p * last).sum() ** 2) / t**2

    best = minimize_scalar(minus_heat, bounds=(1, 3), method="bounded", options={"xatol": 1e-11})
    assert canonical.heat_peak(last) == pytest.approx((best.x, -best.fun), rel=1e-7)
    assert canonical.heat_peak(last)[0] == pytest.approx(1.7123, abs=5e-5)
    assert schottky[0] == pytest.approx(1.71285, abs=5e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_the_peak_moves_with_the_levels(scale):
    logits = np.random.default_rng(3).normal(size=20)
    at, high = canonical.heat_peak(logits)
    assert canonical.heat_peak(scale * logits + 5 * scale) == pytest.approx((scale * at, high), rel=1e-6)
    assert canonical.heat_peak(np.zeros(4))[1] == 0


def test_what_the_parts_of_the_layer_do_is_measured_right():
    _, weights, window = sharp(8)
    seen = forward(weights, window)
    found = dict(zip(MEASURES, measured(weights, seen), strict=True))
    ask = window[:, -1]
    scores = [(weights["query"] @ ask) @ (weights["key"] @ column) / 3 for column in window.T]  # √9 tokens
    assert found["score"] == pytest.approx(max(map(abs, scores)))
    values = [weights["value"] @ column for column in window.T]
    brought = sum(a * v for a, v in zip(np.exp(scores) / np.exp(scores).sum(), values, strict=True))
    assert found["brought"] == pytest.approx(np.linalg.norm(brought))
    mean = sum(values) / 5
    assert found["apart"] == pytest.approx(np.linalg.norm(brought - mean) / np.linalg.norm(mean))
    u, into = seen.middle, weights["feed_in"] @ seen.middle
    added = weights["feed_out"] @ np.tanh(into)
    assert found["added"] == pytest.approx(np.linalg.norm(added) / np.linalg.norm(u))
    assert found["bent"] == pytest.approx(np.linalg.norm(np.tanh(into) - into) / np.linalg.norm(into))
    v = u + added - (u + added).mean()
    cosine = (u @ v) / np.linalg.norm(u) / np.linalg.norm(v)
    assert found["turned"] == pytest.approx(np.degrees(np.arccos(cosine)))
    assert found["middle"] == pytest.approx(1, abs=1e-6)
    assert found["final"] == pytest.approx(1, abs=1e-6)


def test_the_start_the_windows_and_the_places_are_counted_right(life):
    facts = Facts(life, short_cut(), boltzmann_memory())
    read = [0, *life.tokens[:-1].tolist()]
    padded = [-1] * 7 + read
    assert facts.visited == len({tuple(padded[t : t + 8]) for t in range(60)})
    assert facts.on_nothing == pytest.approx(7 / 8, abs=1e-4)  # seven of eight places are empty
    assert facts.windows == pytest.approx(np.log(80.0**8))
    assert 0 < facts.shuffled < 1e-15  # a sum in another order, and nothing else
    assert [len(facts.cosines(name)) for name in ("output", "query", "key", "value")] == [60, 29, 29, 60]
    alike = [t for t in range(60) if len(set(padded[t : t + 8])) == 1]
    assert alike == list(range(29, 60))  # where all tokens in view are the same, no query or key can matter
    energy = -(life.trained * life.logits).sum(axis=1)
    assert facts.identity < 1e-14
    assert energy[-1] < energy[0] - 5  # the energy is not what the norm keeps


REFUSED = [
    ("coldest", 0), ("coldest", 0.0), ("coldest", -1.0), ("coldest", float("nan")), ("hottest", float("inf")),
    ("hottest", 0.1), ("hottest", -3), ("tokens", 1), ("tokens", 8.5), ("tokens", True), ("tokens", "80"),
    ("context", 0), ("steps", 1), ("steps", -5), ("temperatures", 0), ("output_rate", -0.1),
    ("output_rate", float("nan")), ("projection_rate", float("nan")), ("projection_rate", 1e9), ("target", 80),
    ("target", -1), ("start", 99), ("seed", -1), ("seed", 10**400), ("scale", 0), ("scale", float("nan")),
    ("feed_forward", 0), ("gradients", "exact"), ("feedback", "greedy"), ("tokens", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_value_that_is_not_allowed_is_refused_with_a_sentence(name, value):
    with pytest.raises(CallError) as told:
        OneLayer(**{name: value})
    sentence = str(told.value)
    assert f"one_layer.{name}" in sentence
    assert repr(value) in sentence or f"{value:g}" in sentence
    assert "; " in sentence
    assert "\n" not in sentence


def test_more_than_can_be_kept_is_refused():
    with pytest.raises(CallError, match="temperatures × steps × tokens = 10,000,000,000"):
        OneLayer(tokens=1000, steps=10_000, temperatures=1000)
