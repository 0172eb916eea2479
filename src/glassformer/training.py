"""The training loop: carry out a plan from a step on, and write down what happens.

Python is kept out of the steps: a stretch of them is one compiled call, for all members at once. Every number is a
function of the settings, the seed and the step, so that a resumed training continues to the same bits.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import jax
import numpy as np

from glassformer import changed
from glassformer.engine import Engine, State, in_32_bits
from glassformer.errors import CallError, DamagedError, DivergedError, LimitError
from glassformer.experiment import Experiment
from glassformer.folder import RESUME
from glassformer.notes import Notes, Progress
from glassformer.record import Recorder, free_name, is_free
from glassformer.run import Run
from glassformer.run import open as open_run

MOST_NUMBERS = 1 << 28  # parameters times members: the optimiser holds three of each


@dataclass(frozen=True)
class Outcome:
    """How a training ended."""

    run: Run
    interrupted: bool
    seconds: float  # compilation included
    compile_seconds: float
    loop_seconds: float  # steps, judgements and writing; neither compilation nor data
    steps: int  # taken now
    device: str
    notices: tuple[str, ...] = ()  # what was found and mended on the way, and what may differ

    @property
    def steps_per_second(self) -> float:
        """After compilation; one step moves all members."""
        return self.steps / max(self.loop_seconds, 1e-9)


@in_32_bits
def begin(
    experiment: Experiment,
    *,
    seeds: int = 1,
    out: str | Path | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Train from the beginning, into a new folder."""
    first = experiment.train.seed
    if not 1 <= seeds <= 65_536:
        raise CallError(f"seeds = {seeds} members cannot be trained together; allowed are 1 to 65,536")
    if first + seeds - 1 > 2**31 - 1:
        raise CallError(f"seed = {first} leaves no room for seeds = {seeds}; the largest seed is {2**31 - 1:,}")
    if experiment.architecture.parameters * seeds > MOST_NUMBERS:
        raise LimitError(
            f"seeds = {seeds} members of {experiment.architecture.parameters:,} parameters are more than "
            f"{MOST_NUMBERS:,} numbers; train fewer together"
        )
    if out is not None and not is_free(Path(out)):
        if not Path(out).is_dir():
            raise CallError(f"{out} is not a folder; a training begins in a new one: choose another")
        raise CallError(f"{out} is not empty, and a training begins in a new folder; choose another, or --resume")
    started = monotonic()
    engine = Engine(experiment, list(range(first, first + seeds)))  # before the folder: a wrong setting leaves none
    name = changed.run_name(experiment, seeds)
    folder = free_name(Path("runs"), name) if out is None else Path(out)
    recorder = Recorder.create(folder, experiment, engine.seeds, engine.facts())
    return _drive(engine, recorder, None, 0, started, progress, stop)


@in_32_bits
def resume(
    folder: str | Path,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Go on with an interrupted run; the result is bit for bit that of an uninterrupted one."""
    started = monotonic()
    run = open_run(folder)
    run.must_resume()
    if run.status not in ("running", "interrupted"):
        raise CallError(f"{run.path} is {run.status} at step {run.last_step}; there is nothing to resume")
    engine = Engine(run.experiment, list(run.seeds))
    recorder, state, step = Recorder.resume(Path(folder))
    then, now = run.about.get("hardware", {}), engine.facts()["hardware"]
    if then != now:
        recorder.notices.append(f"begun on {then}, resumed on {now}: the same bits are not to be expected")
    return _drive(engine, recorder, state, step, started, progress, stop)


def _drive(
    engine: Engine,
    recorder: Recorder,
    saved: dict[str, np.ndarray] | None,
    step: int,
    started: float,
    progress: Callable[[Progress], None],
    stop: Callable[[], bool],
) -> Outcome:
    """Carry out the plan from a step on, and write down what happens."""
    writer = ThreadPoolExecutor(1)
    try:
        notes = Notes(engine, recorder, progress, started, writer)
        state = engine.start()
        first, looping = step, monotonic()
        if saved is None:
            notes.keep(np.array([0]), np.array(state.flat)[None])  # a copy: the first stretch uses the state up
            notes.log(0, state, None, 0)
        else:
            state = State(*engine.place(_restored(state, saved)))
            notes.recall(open_run(recorder.path).lines, state)
        status, logged, saved_at = notes.status, int(engine.plan.logged[engine.plan.logged <= step].max()), -1
        for begin, end in engine.plan.stretches(step) if status == "finished" else ():
            state, weights, sizes = engine.stretch(state, begin, end)
            notes.keep(engine.plan.rows(begin, end), weights)
            step = end
            if end in engine.plan.logged:
                state = notes.log(end, state, sizes, end - logged)
                logged = end
            if end in engine.plan.safe:
                notes.save(end, state)  # which also looks at the newest line
                saved_at = end
            status = notes.status
            if status == "finished" and saved_at == end and stop() and end != engine.plan.stops[-1]:
                status = "interrupted"
            if status != "finished":
                break
        if status != "interrupted" and saved_at != step:  # a training that ends early does so between two safe points
            notes.save(step, state)
        notes.written()
        if status != "interrupted":
            recorder.finish(status, **notes.facts(step))
        loop_seconds = monotonic() - looping
    finally:
        writer.shutdown()  # whatever happened: what is being written is whole before the folder is let go of
        recorder.close()
    run = open_run(recorder.path)
    run.experiment = engine.experiment  # the same, with its data at hand: a large text is not cut again
    if status == "diverged":
        raise DivergedError(
            f"the loss stopped being a number by step {notes.diverged}; all that came before is in {run.path}. "
            f"Try a lower rate than train.rate = {engine.experiment.train.rate:g}, or train.clip = 1.0"
        )
    seconds, stopped = monotonic() - started, status == "interrupted"
    return Outcome(
        run,
        stopped,
        seconds,
        engine.compile_seconds,
        loop_seconds,
        step - first,
        engine.device,
        tuple(recorder.notices),
    )


def _restored(fresh: State, saved: dict[str, np.ndarray]) -> State:
    """The state of a resume point; `fresh` gives the shape of what the optimiser remembers."""
    leaves, structure = jax.tree.flatten(fresh.optimiser)
    others: dict[str, Any] = {name: getattr(fresh, name) for name in State._fields if name != "optimiser"}
    expected = others | {f"optimiser.{i}": leaf for i, leaf in enumerate(leaves)}
    wanted = {name: (np.shape(each), np.asarray(each).dtype) for name, each in expected.items()}
    if {name: (each.shape, each.dtype) for name, each in saved.items()} != wanted:
        raise DamagedError(f"{RESUME} holds another state than this model and optimiser have; put back the file")
    memory = jax.tree.unflatten(structure, [saved[f"optimiser.{i}"] for i in range(len(leaves))])
    return State(optimiser=memory, **{name: saved[name] for name in others})  # type: ignore[arg-type]
