"""A training done again from its first step: same batches, same optimiser, and on the same machine the same bits.

Only weights are kept along the way, and what the optimiser remembers only at the newest resume point, so a step in the
middle is reached from the beginning: 20 000 steps of a 250-parameter model take a second or two after compilation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.analyses._result import Array, shared
from glassformer.counted import counted
from glassformer.run import Run

if TYPE_CHECKING:
    from glassformer.engine import Engine


@dataclass(frozen=True)
class Move:
    """One update of one member, from the weights before to the weights after, with all that the optimiser knew."""

    step: int  # the age it leads to; the first update leads to step 1
    before: Array  # (parameter,)
    after: Array  # (parameter,)
    first: Array  # (parameter,) the optimiser's running mean of gradients after the step; zeros where it keeps none
    first_before: Array  # (parameter,)
    second: Array  # (parameter,) its running mean of squares after the step; zeros where it keeps none
    early: tuple[float, float]  # what Adam divides its two means by, as they began at zero; as rounded in training
    rate: float  # the rate of this step, schedule and plateaus included
    windows: Array  # (example, token): the batch
    gradients: Array  # (example, parameter) of each example's share of the batch loss; their sum is the gradient


def moves(run: Run, begin: int, end: int, member: int = 0) -> Iterator[Move]:
    """The updates that lead to steps `begin` … `end`, replayed from step 0."""
    import jax

    from glassformer.engine import in_32_bits

    engine = _engine(run)
    state = engine.start()
    notes, pull = _notes(run, engine), in_32_bits(_pull(run, engine))
    batch, early = in_32_bits(_batch), in_32_bits(_early)
    now = 0
    for first, last in engine.plan.stretches(0):
        for stop in _stops(first, last, begin, end):
            if stop < begin:
                state, _, _ = engine.stretch(state, now, stop)
                now = stop
                continue
            old = jax.device_get(state)  # the state given to a stretch is used up
            state, _, _ = engine.stretch(state, now, stop)
            new, now = jax.device_get(state), stop
            rate = float(engine.rate_at(stop, state.scale)[member])
            windows = batch(run, engine, stop - 1, member)
            gradients = pull(old.flat[member], windows, engine.keys[member], np.int32(stop - 1))
            yield Move(
                step=stop,
                before=np.asarray(old.flat[member], np.float64),
                after=np.asarray(new.flat[member], np.float64),
                first=_remembered(new.optimiser, ("mu", "trace"), member, run.parameters),
                first_before=_remembered(old.optimiser, ("mu", "trace"), member, run.parameters),
                second=_remembered(new.optimiser, ("nu",), member, run.parameters),
                early=early(run, stop),
                rate=rate,
                windows=np.asarray(windows),
                gradients=np.asarray(gradients, np.float64),
            )
        if now >= end:
            return
        if notes is not None and last in engine.plan.logged:
            state = notes(last, state)


def _stops(first: int, last: int, begin: int, end: int) -> list[int]:
    """Where a compiled stretch is cut: before the first update that is asked for, and after each of those."""
    cuts = [step for step in range(begin - 1, end + 1) if first < step <= last]
    return cuts if cuts and cuts[-1] == end else [*cuts, *([last] if not cuts or cuts[-1] < last else [])]


@shared
def _engine(run: Run) -> "Engine":
    """The engine of the training, compiled once per opened run; judging, which only plateaus need, only for them."""
    from glassformer.engine import Engine

    engine = Engine(run.experiment, list(run.seeds))
    engine.needed = engine.needed if _judges(run) else ("stretch", "rate")
    return engine


def _judges(run: Run) -> bool:
    return run.experiment.train.schedule == "plateau"


def _notes(run: Run, engine: "Engine") -> Callable[[int, Any], Any] | None:
    """Where plateaus lower the rate, what a logged step does to the state; nothing is written."""
    from glassformer.notes import Notes

    if not _judges(run):
        return None
    nobody: Any = SimpleNamespace(path=run.path)  # nothing is saved: the recorder is asked for its folder and no more
    notes = Notes(engine, nobody, lambda _: None, 0.0)
    return lambda step, state: notes.log(step, state, None, 1)


def _early(run: Run, step: int) -> tuple[float, float]:
    """1 − β^t of both means, by the same 32-bit power: 1 − 0.999 is off by parts in 100 000, and must be equally so."""
    import jax
    import jax.numpy as jnp

    train = run.experiment.train
    one, two = (jax.jit(lambda t, b=beta: 1 - b**t)(jnp.int32(step)) for beta in (train.beta_1, train.beta_2))
    return float(one), float(two)


def _remembered(memory: Any, names: tuple[str, ...], member: int, parameters: int) -> Array:
    """(parameter,): one of the vectors the optimiser keeps, or zeros."""
    for part in memory:
        for name in names:
            if hasattr(part, name):
                return np.asarray(getattr(part, name)[member], np.float64)
    return np.zeros(parameters)


def _batch(run: Run, engine: "Engine", step: int, member: int) -> Any:
    """(example, token): the windows of a step, drawn again; a pure function of seed and step."""
    import jax

    from glassformer import batches

    size, span = run.experiment.train.batch, run.architecture.context + 1
    at = batches.place(step, size, len(engine.source.starts))
    key = jax.random.wrap_key_data(engine.keys[member])
    return batches.draw(key, at, engine.source, 1, size, span, engine.order)[0]


@shared
def _pull(run: Run, engine: "Engine") -> Callable[..., Any]:
    """A function of weights and batch: (example, parameter) gradients of loss / batch, dropout as in training."""
    import jax
    import jax.numpy as jnp

    from glassformer import batches, model

    a, came = run.architecture, counted(run.architecture, run.task.skip).came

    def gradients(flat: Any, windows: Any, key_data: Any, step: Any) -> Any:
        key = jax.random.wrap_key_data(key_data)

        def losses(flat: Any) -> Any:
            chance = jax.random.fold_in(jax.random.fold_in(key, batches.DROPOUT), step) if a.dropout else None
            logits = model.answers(engine.unravel(flat), windows[:, :-1], a, key=chance)[:, came]
            each = model.loss(logits, windows[:, 1:][:, came])
            return each.mean(axis=-1) / len(windows)

        _, back = jax.vjp(losses, flat)
        return jax.lax.map(lambda one: back(one)[0], jnp.eye(len(windows), dtype=flat.dtype))

    return jax.jit(gradients)
