"""Ten gradients by hand: what the training's own optimisers do with them, and not what the source says of them."""

import jax.numpy as jnp
import numpy as np
import optax
import pytest
from numpy.testing import assert_allclose

from glassformer import optimiser
from glassformer.analyses.path.ten_gradients import GRADIENTS, KINDS, RATE, START, fed, ten_gradients
from glassformer.errors import CallError
from glassformer.experiment import load
from glassformer.figures import _draw, plot_ten_gradients


@pytest.mark.parametrize("kind", KINDS)
def test_each_optimiser_does_what_it_does_in_training(kind):
    """Other settings than the usual ones, so that each of them counts."""
    other = ["momentum=0.7", "beta_1=0.8", "beta_2=0.95", "epsilon=0.001", "decay=0.3"]
    experiment = load("plus_last_even", [f"train.optimiser={kind}", *(f"train.{each}" for each in other)])
    rule = optimiser.direction(experiment.train, experiment.architecture)
    weight = jnp.full(experiment.architecture.parameters, START, jnp.float32)
    state, found = rule.init(weight), []
    for gradient in GRADIENTS:
        direction, state = rule.update(jnp.full_like(weight, gradient), state, weight)
        weight = weight - RATE * direction
        found.append(float(-RATE * direction[0]))
    assert_allclose(fed(GRADIENTS, kind, experiment.train), found, rtol=2e-4)


@pytest.mark.parametrize(("name", "rule"), [("SGD", optax.sgd(RATE)), ("Adam", optax.adam(RATE)),
                                            ("AdamW", optax.adamw(RATE, weight_decay=0.01))])  # fmt: skip
def test_the_curves_are_those_of_optax_as_it_comes(name, rule):
    seen = ten_gradients()
    weight = np.float32(START)
    state = rule.init(weight)
    curve = seen.moved.values[seen.moved.axes["optimiser"].values.index(name)]
    for gradient, moved in zip(GRADIENTS, curve, strict=True):
        step, state = rule.update(np.float32(gradient), state, weight)
        weight = weight + step
        assert_allclose(moved, float(weight) - START, rtol=5e-3)


def test_the_source_is_told_what_its_own_numbers_give():
    seen = ten_gradients()
    ends = dict(zip(seen.moved.axes["optimiser"].labels, seen.moved.values[:, -1], strict=True))
    assert ends["SGD"] == pytest.approx(0.001 * 0.045)  # the ten gradients sum to −0.045
    assert round(ends["Adam"], 5) == 0.00987
    rows = dict(zip(seen.adam.axes["quantity"].labels, seen.adam.values[:, -1], strict=True))
    assert round(rows["mean"], 5) == -0.00295
    assert round(rows["mean_corrected"], 5) == -0.00453
    assert round(rows["square_corrected"], 7) == 2.09e-5
    assert "+0.000045" in seen.title
    assert "219 times" in seen.title
    assert "−0.0045 and −0.0062" in _draw.of(plot_ten_gradients()).words.caption


def test_other_gradients_are_nobodys_claim():
    seen = ten_gradients(gradients=[0.5, -0.5], rate=0.1)
    assert_allclose(seen.moved.values[0], [-0.05, 0.0], atol=1e-15)
    assert not len(seen.claimed.values)
    assert "published" not in _draw.of(plot_ten_gradients(seen)).words.caption
    assert seen.title.startswith("After the same 2 gradients, plain descent (SGD) has moved the weight by 0,")


@pytest.mark.parametrize(
    ("options", "field"), [({"gradients": []}, "gradients"), ({"gradients": [1.0] * 17}, "gradients"),
                           ({"gradients": ["a"]}, "gradients"), ({"rate": 0}, "rate"), ({"start": 1e9}, "start")]
)  # fmt: skip
def test_what_cannot_be_followed_by_hand_is_refused(options, field):
    with pytest.raises(CallError, match=f"^{field} = "):
        ten_gradients(**options)
