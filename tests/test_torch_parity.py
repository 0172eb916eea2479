"""Another engine agrees: the same weights and windows give PyTorch our logits, our gradients and our steps."""

import importlib
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from glassformer import model, optimiser
from glassformer.architecture import nest
from glassformer.experiment import Training

torch = pytest.importorskip(
    "torch", reason="comparing with PyTorch needs it; it comes with `pip install 'glassformer[benchmark]'`"
)
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
contestants, torch_models = (importlib.import_module(name) for name in ("contestants", "torch_models"))

RULE, MARY, FIVE, TEXT = "plus_last_even_as_published", "mary_as_published", "five_operations", "shakespeare"
STEPS, PIECES = 6, 2  # PIECES: tensors that the weights are cut into, to see that they are clipped together


def find(name):
    """One of the benchmark's experiments."""
    return contestants.experiment(contestants.Contestant("engine", name))


def some_windows(experiment, batch, rng):
    """(batch, context + 1): windows of the task's own data."""
    part = experiment.task.data(experiment.architecture.context).train
    begin = rng.choice(part.starts, batch) + rng.integers(0, part.windows.min(), batch)
    return np.asarray(part.tokens)[begin[:, None] + np.arange(experiment.architecture.context + 1)]


def ours(params, windows, a):
    """Logits, and the gradient of the batch loss by name."""

    def cost(flat):
        logits, _ = model.forward(nest(flat), jnp.asarray(windows[:, :-1]), a)
        if a.read_position is None:
            return model.loss(logits, jnp.asarray(windows[:, 1:])).mean(), logits
        return model.loss(logits[:, a.read_position], jnp.asarray(windows[:, -1])).mean(), logits

    with jax.enable_x64(True):
        gradients, logits = jax.jit(jax.grad(cost, has_aux=True))({name: jnp.asarray(v) for name, v in params.items()})
        return np.asarray(logits), {name: np.asarray(g) for name, g in gradients.items()}


def theirs(params, a):
    """The benchmark's PyTorch model with our weights."""
    twin = torch_models.Transformer(a).to(getattr(torch, params["token"].dtype.name))
    torch_models.copy_in(twin, params)
    return twin


def loss_of(twin, windows, a):
    """The batch loss as the benchmark computes it."""
    x, y = torch.tensor(windows[:, :-1]).long(), torch.tensor(windows[:, 1:]).long()
    return torch_models.batch_loss(twin, x, y if a.read_position is None else y[:, -1], a.read_position)


@pytest.mark.parametrize("name", [RULE, MARY, FIVE, TEXT])
def test_logits_and_gradients_are_those_of_pytorch(name):
    experiment, rng = find(name), np.random.default_rng(5)
    a = experiment.architecture
    # Moved off their start, so that no bias is zero and no norm is one.
    params = {key: value + rng.normal(0, 0.1, value.shape) for key, value in model.init(a, rng).items()}
    windows = some_windows(experiment, 4, rng)
    twin = theirs(params, a)
    assert sum(p.numel() for p in twin.parameters()) == a.parameters
    logits, gradients = ours(params, windows, a)
    assert_allclose(logits, twin(torch.tensor(windows[:, :-1]).long()).detach().numpy(), rtol=1e-5, atol=1e-6)
    loss_of(twin, windows, a).backward()
    other = torch_models.read_off(twin, lambda parameter: parameter.grad)
    assert other.keys() == gradients.keys()
    for key, gradient in gradients.items():
        assert_allclose(gradient, other[key], rtol=1e-5, atol=1e-6, err_msg=key)


SETTINGS = [
    {"optimiser": "adamw", "decay": 0.01},
    {"optimiser": "adamw", "decay": 0.3, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-3},
    {"optimiser": "adamw", "decay": 0.1, "clip": 0.05},
    {"optimiser": "adam"},
    {"optimiser": "adam", "clip": 0.05},
    {"optimiser": "sgd"},
    {"optimiser": "sgd", "clip": 0.05},
    {"optimiser": "momentum", "momentum": 0.9},
    {"optimiser": "momentum", "momentum": 0.5, "clip": 0.05},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: " ".join(f"{k}={v}" for k, v in s.items()))
def test_steps_are_those_of_pytorch(settings):
    """From given gradients, so that the optimisers alone are compared."""
    train = Training(steps=STEPS, rate=0.01, **settings)
    a, rng = find(RULE).architecture, np.random.default_rng(6)
    start = rng.normal(size=a.parameters)
    twin = torch.nn.ParameterList(torch.tensor(piece) for piece in np.split(start, PIECES))
    judge = torch_models.optimizer(twin, train)
    with jax.enable_x64(True):
        rule, rate, flat = optimiser.direction(train, a), optimiser.schedule(train), jnp.asarray(start)
        memory = rule.init(flat)
        for step in range(STEPS):
            gradient = rng.normal(0, 0.03, flat.shape) * (rng.random(flat.shape) < 0.8)  # some weights have none
            direction, memory = rule.update(jnp.asarray(gradient), memory, flat)
            flat = flat - rate(jnp.int32(step)) * direction
            given = [torch.tensor(piece) for piece in np.split(gradient, PIECES)]
            loss = sum((p * g).sum() for p, g in zip(twin, given, strict=True))  # whose gradient is the given one
            torch_models.update(twin, judge, loss, train.clip)
            other = torch.cat(list(twin)).detach().numpy()
            # PyTorch adds 1e-6 to the norm before it clips, and our rate is a float32.
            assert_allclose(flat, other, rtol=1e-5, atol=1e-7, err_msg=f"after step {step + 1}")


@pytest.mark.parametrize("name", [RULE, FIVE])
def test_the_compiled_loop_trains_as_pytorch_does(name):
    """All parts together, in float32 and over several steps: batches, gradients, optimiser, kept weights."""
    experiment = find(name)
    a, train = experiment.architecture, experiment.train
    windows, weights = contestants.engine_steps(experiment, STEPS)
    twin = theirs(model.init(a, np.random.default_rng(train.seed)), a)
    judge = torch_models.optimizer(twin, train)
    for step in range(STEPS):
        torch_models.update(twin, judge, loss_of(twin, windows[step], a), train.clip)
        other = torch_models.read_off(twin, lambda parameter: parameter.data)
        flat = np.concatenate([value.ravel() for value in other.values()])
        apart = np.abs(weights[step + 1] - flat)
        # Adam divides by the size of the gradient: where that is almost nothing, rounding shares in the direction.
        assert np.mean(apart <= 1e-5) >= 0.999, f"after step {step + 1}"
        assert apart.max() <= 0.5 * train.rate, f"after step {step + 1}"
