"""The claims about the physics of learning: what they find, held against the source's program as it is printed.

The program is written out here in its own few lines of algebra, apart from the model of the package.
"""

import numpy as np
import pytest

from glassformer.claims import physics_of_learning as claims


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def norm(x):
    return (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean() + 1e-8)


@pytest.fixture(scope="module")
def told():
    """Training entropy, loss at the temperature nearest to 1, mean entropy by temperature, mean attention."""
    n, steps, window, target = 80, 60, 8, 10
    temperatures = np.linspace(0.2, 3.5, 30)
    rng = np.random.default_rng(12345)
    out, q, k, v = (0.05 * (rng.random((n, n)) - 0.5) for _ in range(4))
    up, down = 0.05 * (rng.random((2 * n, n)) - 0.5), 0.05 * (rng.random((n, 2 * n)) - 0.5)
    x = np.zeros((n, window))
    x[0, -1] = 1
    entropies, losses, means, looks = [], [], [], []
    for _ in range(steps):
        a = softmax((q @ x[:, -1]) @ (k @ x) / np.sqrt(n))
        h = norm(x[:, -1] + v @ x @ a)
        h = norm(h + down @ np.tanh(up @ h))
        logits = out @ h
        p = softmax(logits)
        hot = [softmax(logits / t) for t in temperatures]
        entropies.append(-(p * np.log(p)).sum())
        losses.append(-np.log(hot[7][target]))
        means.append([-(each * np.log(each + 1e-300)).sum() for each in hot])
        looks.append(a)
        wrong = p - np.eye(n)[target]
        out = out - 0.03 * np.outer(wrong, h)
        signal = out.T @ wrong
        q = q - 0.001 * np.outer(signal, x[:, -1])
        k, v = k - 0.001 * np.outer(signal, x @ a), v - 0.001 * np.outer(signal, x @ a)
        x = np.roll(x, -1, axis=1)
        x[:, -1] = np.eye(n)[p.argmax()]
    return np.array(entropies), np.array(losses), np.mean(means, axis=0), np.mean(looks, axis=0)


def test_the_numbers_are_those_of_the_printed_program(told):
    entropies, losses, means, looks = told
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
