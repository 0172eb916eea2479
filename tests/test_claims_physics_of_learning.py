"""The claims about the physics of learning: what they find, held against the source's program as it is printed.

The program is written out here in its own few lines of algebra, apart from the model of the package.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from glassformer.claims import physics_of_learning as claims
from glassformer.claims._claim import verdict


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def norm(x):
    return (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean() + 1e-8)


@pytest.fixture(scope="module")
def told():
    """Training entropy, loss at T nearest to 1, mean entropy by temperature, mean attention, training loss."""
    n, steps, window, target = 80, 60, 8, 10
    temperatures = np.linspace(0.2, 3.5, 30)
    rng = np.random.default_rng(12345)
    out, q, k, v = (0.05 * (rng.random((n, n)) - 0.5) for _ in range(4))
    up, down = 0.05 * (rng.random((2 * n, n)) - 0.5), 0.05 * (rng.random((n, 2 * n)) - 0.5)
    x = np.zeros((n, window))
    x[0, -1] = 1
    entropies, losses, means, looks, trained = [], [], [], [], []
    for _ in range(steps):
        a = softmax((q @ x[:, -1]) @ (k @ x) / np.sqrt(n))
        h = norm(x[:, -1] + v @ x @ a)
        h = norm(h + down @ np.tanh(up @ h))
        logits = out @ h
        p = softmax(logits)
        hot = [softmax(logits / t) for t in temperatures]
        entropies.append(-(p * np.log(p)).sum())
        losses.append(-np.log(hot[7][target]))
        trained.append(-np.log(p[target]))
        means.append([-(each * np.log(each + 1e-300)).sum() for each in hot])
        looks.append(a)
        wrong = p - np.eye(n)[target]
        out = out - 0.03 * np.outer(wrong, h)
        signal = out.T @ wrong
        q = q - 0.001 * np.outer(signal, x[:, -1])
        k, v = k - 0.001 * np.outer(signal, x @ a), v - 0.001 * np.outer(signal, x @ a)
        x = np.roll(x, -1, axis=1)
        x[:, -1] = np.eye(n)[p.argmax()]
    return np.array(entropies), np.array(losses), np.mean(means, axis=0), np.mean(looks, axis=0), np.array(trained)


def test_the_numbers_are_those_of_the_printed_program(told):
    entropies, losses, means, looks, _ = told
    falls = claims.entropy_falls.measure().numbers
    assert falls["first"] == pytest.approx(entropies[0], rel=1e-9)
    assert falls["last"] == pytest.approx(entropies[-1], rel=1e-6)
    found = claims.loss_declines.measure().numbers
    assert (found["first"], found["largest"], found["last"]) == pytest.approx(
        (losses[0], losses.max(), losses[-1]), rel=1e-6
    )
    assert found["at"] == losses.argmax()
    over = claims.crossover.measure().numbers
    assert (over["coldest"], over["hottest"]) == pytest.approx((means[0], means[-1]), rel=1e-6)
    recent = claims.recent.measure().numbers
    assert (recent["newest"], recent["oldest"]) == pytest.approx((looks[-1], looks[0]), rel=1e-9)


def test_the_update_is_too_long_by_the_temperature():
    """d(−ln p_target)/dW = (p − y) mᵀ / T: by algebra, not by differences."""
    found = claims.missing_factor.measure().numbers
    assert [found[f"ratio_at_{t:g}"] for t in (0.2, 1.0, 3.5)] == pytest.approx([0.2, 1.0, 3.5], rel=1e-5)


def test_the_printed_program_says_at_which_temperature_it_draws():
    """Its lines, as they are printed: the index, and the title made with it."""
    Tvec = np.linspace(0.2, 3.5, 30)
    k0 = int(np.argmax(np.abs(Tvec - 1.0)))
    assert f"Entropy vs Step at T={Tvec[k0]:.2f}" == "Entropy vs Step at T=3.50"
    found = claims.temperature_of_the_curves.measure()
    assert found.numbers["temperature"] == Tvec[k0]
    assert "its titles say T=3.50. The figures titled 1.00 come from another version of it" in found.truth
    assert verdict(claims.temperature_of_the_curves, found) == "corrected"


def test_steps_that_lower_both_are_counted_from_the_printed_program(told):
    entropies, _, _, _, losses = told
    lower = [int(b < a and d < c) for a, b, c, d in zip(entropies, entropies[1:], losses, losses[1:], strict=False)]
    turn = int(np.argmax(losses))
    found = claims.together.measure()
    assert found.numbers["turn"] == turn == 20
    assert found.numbers["before"] == sum(lower[:turn]) / turn == 0.15
    assert found.numbers["whole"] == sum(lower) / 59
    assert verdict(claims.together, found) == "corrected"  # as S0-05 and S0-06, which say the same of each curve


@pytest.mark.parametrize(
    ("entropy", "loss", "expected"),
    [
        ([4, 3, 2, 1], [4, 3, 2, 1], "reproduced"),  # straight down, from the first step on
        ([4, 4, 4, 1], [3, 4, 5, 1], "corrected"),  # sideways and up, then down
        ([1, 2, 3, 4], [1, 2, 3, 4], "refuted"),
    ],
)
def test_a_path_is_judged_wherever_its_loss_is_largest(monkeypatch, entropy, loss, expected):
    life = SimpleNamespace(training_entropy=np.array(entropy, float), training_loss=np.array(loss, float))
    monkeypatch.setattr(claims, "one_layer", lambda: life)
    found = claims.together.measure()
    assert np.isfinite(list(found.numbers.values())).all()
    assert verdict(claims.together, found) == expected
