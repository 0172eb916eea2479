"""Mixed precision: products in bfloat16 where there is a GPU; all that a training carries and stores is float32.

The tests need no GPU: the engine is told that the CPU is one, and the CPU computes in bfloat16 as a GPU would.
"""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

from architectures import quick_jit
from glassformer import engine
from glassformer.engine import Engine
from glassformer.training import begin, resume
from test_training import contents, tiny

ROUNDING = 2.0**-8  # the largest relative error of a number rounded to bfloat16
VARIED = [  # a model with many kinds of operations
    "architecture.width=8", "architecture.heads=2", "architecture.norm=layer", "architecture.final_norm=true",
    "architecture.activation=gelu", "architecture.tied_embedding=true",
]  # fmt: skip


class ReportedAsGpu(list):
    """CPU devices, on which arrays can be placed; asked for by index, each of them reports that it is a GPU."""

    def __getitem__(self, index):
        return SimpleNamespace(platform="gpu", device_kind="pretended")


@pytest.fixture
def gpu(monkeypatch):
    """Wherever the package asks for the kind of device, the answer is a GPU."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(engine, "_devices", lambda members: ReportedAsGpu(jax.devices("cpu")[:1]))  # noqa: ARG005


def step_of(precision, *settings):
    """One training step as a function that JAX can trace, and its arguments."""
    plain = ("train.optimiser=sgd", "train.rate=1.0")  # so that the update is minus the gradient
    made = Engine(tiny(*VARIED, *plain, f"train.precision={precision}", *settings), [3])
    made.needed = ()  # nothing has to be compiled
    return lambda *given: made._steps(*given), made._arguments(made.start(), 0, 1)


def traced(precision, *settings):
    """The operations of one training step."""
    step, arguments = step_of(precision, *settings)
    return jax.make_jaxpr(step)(*arguments).jaxpr


def loss_and_gradient(precision):
    """The loss and the gradient of the first batch."""
    step, arguments = step_of(precision)
    after, _, loss, _, _ = quick_jit(step)(*arguments)
    return float(loss[0]), np.array(arguments[0][0]) - np.array(after[0])


def operands(jaxpr, name):
    """The type of each operand of all operations of a name, those inside loops and functions included."""
    found = []
    for one in jaxpr.eqns:
        found += [str(each.aval.dtype) for each in one.invars if one.primitive.name == name]
        for value in jax.tree.leaves(list(one.params.values()), is_leaf=lambda each: hasattr(each, "jaxpr")):
            inner = getattr(value, "jaxpr", value)
            found += operands(inner, name) if hasattr(inner, "eqns") else []
    return found


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(("precision", "kind"), [("float32", "float32"), ("mixed", "bfloat16")])
def test_products_are_computed_in_the_type_of_the_precision(precision, kind):
    found = operands(traced(precision), "dot_general")
    assert len(found) > 2 * 3 * 8  # two operands, forward and backward, of eight products
    assert set(found) == {kind}


@pytest.mark.usefixtures("gpu")
def test_the_loss_and_the_update_are_computed_in_float32():
    step = traced("mixed", "train.optimiser=adamw")
    assert set(operands(step, "log")) == {"float32"}  # the logarithm is that of the cross-entropy
    assert set(operands(step, "sqrt")) == {"float32"}  # the roots are those of Adam and of the logged sizes
    assert {str(each.aval.dtype) for each in step.outvars} == {"float32", "int32"}  # steps are counted in int32


@pytest.mark.usefixtures("gpu")
def test_the_loss_and_the_gradient_are_those_of_float32_up_to_rounding():
    (loss, gradient), (rounded_loss, rounded) = map(loss_and_gradient, ("float32", "mixed"))
    assert 0 < abs(rounded_loss - loss) < ROUNDING * loss
    away = np.linalg.norm(rounded - gradient) / np.linalg.norm(gradient)
    assert ROUNDING / 4 < away < 8 * ROUNDING  # about ten roundings lie between the batch and its gradient
    assert rounded_loss != float(jnp.bfloat16(rounded_loss))


def test_without_a_gpu_mixed_precision_is_float32(monkeypatch):
    monkeypatch.setattr(engine, "_devices", lambda members: jax.devices("cpu")[:1])  # noqa: ARG005
    assert str(traced("mixed")) == str(traced("float32"))


@pytest.mark.usefixtures("gpu")
def test_a_training_in_mixed_precision_learns_as_in_float32_and_is_reproducible(tmp_path, monkeypatch):
    """Its weights and the optimiser's memory are float32, the same bits each time, also where it was interrupted."""
    monkeypatch.setattr("glassformer.plan.SAFE_BYTES", 200_000)
    settings = ("train.rate=0.01", "train.log_every=100")

    def trained(name, precision="mixed", **options):
        made = tiny(*settings, f"train.precision={precision}", steps=400)
        return begin(made, out=tmp_path / name, **options).run

    full, mixed, again = trained("full", "float32"), trained("mixed"), trained("again")
    cut = trained("cut", stop=lambda: True)
    assert 0 < cut.last_step < 400
    for path in cut.path.rglob("*.safetensors"):
        assert {str(value.dtype) for value in load_file(path).values()} <= {"float32", "int32"}, path
    assert contents(again.path) == contents(mixed.path) == contents(resume(cut.path).run.path)

    losses, rounded = full.metrics["validation_loss"], mixed.metrics["validation_loss"]
    assert losses[0] == rounded[0]  # it is judged in float32
    assert losses[-1] < losses[0] - 0.5
    assert 0 < abs(rounded[-1] - losses[-1]) < 0.05
    for value in mixed.weights(400).values():
        assert value.dtype == np.float32
        assert (value != np.float32(value.astype(jnp.bfloat16))).mean() > 0.9  # updates are added up in float32
