"""The primer: worked numbers of a lesson, gradients by PyTorch, softmax by its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from command import call
from glassformer.analyses import _primer
from glassformer.analyses.primer.chain_rule import chain_rule
from glassformer.analyses.primer.descent import descent
from glassformer.analyses.primer.error_curve import error_curve
from glassformer.analyses.primer.network import network
from glassformer.analyses.primer.one_neuron import one_neuron
from glassformer.analyses.primer.softmax import softmax
from glassformer.errors import CallError, MissingError
from glassformer.figures import plot_chain_rule
from glassformer.figures._draw import of

PRIMER = ("one_neuron", "network", "error_curve", "chain_rule", "descent", "softmax")


def test_one_neuron():
    assert one_neuron().output == pytest.approx(0.8 * 0.6 + 0.2 * 0.4 + 0.1)
    assert one_neuron(weights=(0.6, -0.4)).output == pytest.approx(0.5)  # the source's program, with a dislike
    off = one_neuron(weights=(-1, 0), bias=0.0)
    assert (off.sum, off.output) == (pytest.approx(-0.8), 0.0)
    assert one_neuron(activation="gelu").output == pytest.approx(0.66 * 0.7454, abs=2e-4)


def test_the_small_network_and_its_error():
    seen = network()
    assert_allclose(seen.sums.values, [0.56, -0.1, 0.442], atol=1e-12)
    assert_allclose(seen.active.values, [0.56, 0, 0.442], atol=1e-12)
    assert len(seen.parameters.values) == 9
    wrong = error_curve()
    assert (wrong.got, wrong.squared) == (pytest.approx(0.442), pytest.approx(0.3114, abs=5e-5))
    assert wrong.surprise == pytest.approx(-np.log(0.442))
    assert error_curve(got=0.6).squared == pytest.approx(0.16)
    assert error_curve(wanted=0, got=0.25).surprise == pytest.approx(-np.log(0.75))
    assert np.isnan(error_curve(got=1.7).surprise)


@pytest.mark.parametrize("weight", ["w11", "w12", "b1", "w21", "w22", "b2", "v1", "v2", "c"])
def test_the_factors_multiply_to_the_gradient_that_nudging_finds(weight):
    seen = chain_rule(weight=weight)
    assert seen.gradient == pytest.approx(seen.checked, abs=1e-8)
    assert seen.gradient == pytest.approx(float(np.prod(seen.factors.values)))
    assert seen.gradients.values[seen.gradients.axes["parameter"].labels.index(weight)] == pytest.approx(seen.gradient)


def test_the_gradient_of_the_worked_example_is_the_one_of_its_own_forward_pass():
    assert chain_rule().gradient == pytest.approx(-0.6250, abs=5e-5)
    assert "raising v₁ lowers the loss" in chain_rule().title
    then = chain_rule()  # 0.7 + 0.1 × 0.625; the first neuron gives 0.56 of each unit
    assert (then.moved, then.output_then) == pytest.approx((0.7625, 0.4770), abs=5e-5)
    assert then.loss - then.loss_then == pytest.approx(0.0378, abs=5e-5)
    assert "from 0.7 to 0.7625" in of(plot_chain_rule()).words.caption
    assert chain_rule(weight="w21").gradient == 0  # that neuron is off


def test_gradients_equal_those_of_pytorch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    for _ in range(5):
        x, net = _primer.net(rng.normal(size=3).tolist(), rng.normal(size=16).tolist(), rng.normal(size=5).tolist())
        flat = torch.tensor(net.flat, requires_grad=True)
        hidden, output = flat[:16].reshape(4, 4), flat[16:]
        inner = torch.relu(hidden[:, :-1] @ torch.tensor(x) + hidden[:, -1])
        out = torch.relu(output[:-1] @ inner + output[-1])
        ((1.0 - out) ** 2).backward()
        assert_allclose(_primer.backward(x, net, 1.0), flat.grad.numpy(), atol=1e-12)


def test_descent_follows_its_closed_form_and_the_network_learns():
    seen = descent()
    steps = np.arange(9)
    assert_allclose(seen.path["weight"].values, 3 - 3 * 0.8**steps)  # each step leaves 1 - 2 × rate of the distance
    assert seen.path["weight"].values[-1] == pytest.approx(2.4967, abs=5e-5)
    assert seen.uphill == pytest.approx((3 * 1.2) ** 2)
    assert seen.losses.values[2, -1] > seen.losses.values[2, 0]  # too large a rate runs away
    one = descent(begin=1.0, steps=1)
    assert_allclose([one.path["loss"].values[-1], one.uphill], [2.56, 5.76])
    guesses = seen.network["prediction"].values
    assert guesses[0] == pytest.approx(0.442)
    assert (np.diff((1 - guesses) ** 2) < 0).all()
    first = _primer.HIDDEN, _primer.OUTPUT
    x, net = _primer.net(_primer.INPUTS, *first)
    moved = net.like(net.flat - 0.1 * _primer.by_difference(x, net, 1.0))
    assert guesses[1] == pytest.approx(_primer.forward(x, moved).out, abs=1e-8)


def test_softmax_by_its_definition():
    seen = softmax()
    for k, t in enumerate((0.1, 1.0, 10.0)):
        weights = np.exp(np.array([2, 1, 0.5]) / t)
        assert_allclose(seen.probabilities.values[k], weights / weights.sum())
    p = seen.probabilities.values
    assert_allclose(seen.entropy.values, -(p * np.log(p)).sum(axis=1))
    assert (np.diff(seen.curve.values) > 0).all()
    assert_allclose(softmax(scores=(1002, 1001, 1000.5)).probabilities.values, p)  # a shift changes nothing
    assert seen.curve.values[-1] < seen.highest


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (one_neuron, {"inputs": [1, 2, 3]}, "3 numbers and weights 2"),
        (one_neuron, {"inputs": "x"}, "list of 1 to 4 numbers"),
        (one_neuron, {"bias": float("nan")}, "bias"),
        (network, {"hidden": [1, 2]}, "2 inputs need 3"),
        (network, {"hidden": [[1, 2, 3]]}, "hidden = .* is not a list of"),
        (network, {"output": [1]}, "output has 1"),
        (error_curve, {"wanted": 0.5}, "neither 0 nor 1"),
        (descent, {"rate": -1}, "rate = -1"),
        (descent, {"steps": 0}, "steps = 0"),
        (softmax, {"temperatures": [0.0]}, "between 0.001 and"),
    ],
)
def test_what_cannot_be_drawn_is_said(make, options, said):
    with pytest.raises(CallError, match=said):
        make(**options)


def test_unknown_names_are_answered_with_the_list():
    with pytest.raises(MissingError, match="v1"):
        chain_rule(weight="v9")
    with pytest.raises(MissingError, match="relu"):
        one_neuron(activation="sine")


@pytest.mark.parametrize("name", PRIMER)
def test_the_command_draws_them_without_a_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = call("figures", name, "--format", "svg", "--out", "here")
    assert made.code == 0, made
    assert (tmp_path / "here" / f"{name}.svg").read_text("utf-8").startswith("<?xml")
