"""The loss behind every logged number, against the same sum in float64."""

import jax.numpy as jnp
import numpy as np
import pytest

from glassformer import model
from glassformer.judge import fine_loss


def exact(logits: np.ndarray, target: int) -> float:
    """−ln of the target's chance, by the weight of all others, in float64."""
    away = np.delete(logits, target).astype(np.float64) - float(logits[target])
    return float(np.log1p(np.exp(away).sum()))


@pytest.mark.parametrize("ahead", [-30, -3, 0, 5, 15, 22, 40])
def test_the_judged_loss_keeps_its_digits_however_small_it_is(ahead):
    logits = np.random.default_rng(abs(ahead)).normal(0, 1, 113).astype(np.float32)
    logits[7] += np.float32(ahead)
    found = float(fine_loss(jnp.array([logits]), jnp.array([7]))[0])
    assert found == pytest.approx(exact(logits, 7), rel=2e-5)


def test_the_judged_loss_is_the_trained_one_where_both_have_digits():
    rng = np.random.default_rng(1)
    logits, targets = rng.normal(0, 3, (40, 20)).astype(np.float32), rng.integers(0, 20, 40)
    np.testing.assert_allclose(fine_loss(jnp.array(logits), targets), model.loss(jnp.array(logits), targets), atol=2e-6)


def test_the_difference_of_two_large_numbers_has_lost_them():
    logits = np.zeros(113, np.float32)
    logits[0] = 22.5
    lost, kept = (float(f(jnp.array([logits]), jnp.array([0]))[0]) for f in (model.loss, fine_loss))
    assert kept == pytest.approx(exact(logits, 0), rel=1e-5)
    assert abs(lost - kept) > 0.5 * kept  # why the judge has a formula of its own


def test_logits_that_are_no_numbers_give_a_loss_that_is_none():
    assert np.isnan(fine_loss(jnp.array([[np.nan, 1.0]]), jnp.array([1])))[0]
    assert np.isnan(fine_loss(jnp.array([[np.inf, 1.0]]), jnp.array([0])))[0]
