"""The training loop and what it records.

Python is kept out of the loop: a stretch of steps is one compiled call, for all members at once. Every number is a
function of the settings, the seed and the step, so that a resumed training continues to the same bits.
"""

import os
import platform
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import glassformer
from glassformer import batches, model, optimiser
from glassformer.architecture import nest, part
from glassformer.errors import CallError, DivergedError
from glassformer.experiment import Experiment, load
from glassformer.judge import Judged
from glassformer.notes import Notes, Progress
from glassformer.plan import Plan, plan
from glassformer.record import Recorder, free_name
from glassformer.run import Run
from glassformer.run import open as open_run

Array = jax.Array
Tree = TypeVar("Tree")


class State(NamedTuple):
    """Everything that training carries from step to step, for every member."""

    flat: Array  # (member, parameter)
    optimiser: Any  # what the optimiser remembers; member axis first
    loss_sum: Array  # (member,) batch losses since the last logged step
    scale: Array  # (member,) what plateaus have left of the rate
    best: Array  # (member,) lowest validation loss so far
    waited: Array  # (member,) judgements since then
    patience: Array  # (member,) judgements since then or since the rate last fell


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

    @property
    def steps_per_second(self) -> float:
        """After compilation; one step moves all members."""
        return self.steps / max(self.loop_seconds, 1e-9)


def train(
    experiment: str | Path | Experiment,
    *,
    seed: int | None = None,
    seeds: int = 1,
    steps: int | None = None,
    settings: Iterable[str] = (),
    out: str | Path | None = None,
) -> Run:
    """Train an experiment and open its run: `train("plus_last_even", seed=18)`."""
    if not isinstance(experiment, Experiment):
        experiment = load(experiment, settings, seed=seed, steps=steps)
    return begin(experiment, seeds=seeds, out=out).run


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
    started = monotonic()
    engine = Engine(experiment, list(range(first, first + seeds)))  # before the folder: a wrong setting leaves none
    name = f"{experiment.name}-{first}" + (f"x{seeds}" if seeds > 1 else "")
    folder = free_name(Path("runs"), name) if out is None else free_name(Path(out).parent, Path(out).name)
    recorder = Recorder.create(folder, experiment, engine.seeds, engine.facts())
    return _drive(engine, recorder, None, 0, started, progress, stop)


def resume(
    folder: str | Path,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Go on with an interrupted run; the result is bit for bit that of an uninterrupted one."""
    started = monotonic()
    run = open_run(folder)
    if run.status not in ("running", "interrupted"):
        raise CallError(f"{run.path} is {run.status} at step {run.last_step}; there is nothing to resume")
    engine = Engine(run.experiment, list(run.seeds))
    recorder, state, step = Recorder.resume(Path(folder))
    return _drive(engine, recorder, state, step, started, progress, stop)


class Engine:
    """The compiled parts of a training: a stretch of steps, and the judgement of the weights."""

    def __init__(self, experiment: Experiment, seeds: list[int]) -> None:
        self.experiment, self.seeds = experiment, seeds
        settings, a = experiment.train, experiment.architecture
        self.devices = _devices(len(seeds))
        self.plan: Plan = plan(experiment, len(seeds))
        stretches = self.plan.stretches(0)
        self.capacity = max(end - begin for begin, end in stretches)
        self.rows = max(len(self.plan.rows(begin, end)) for begin, end in stretches)
        data = experiment.task.data(a.context)
        self.order = data.order
        self.source = batches.source(data)
        self.judged = Judged(experiment.task, a, settings.judged)
        self.rule = optimiser.direction(settings, a)
        self.rate = optimiser.schedule(settings)
        self.sizes = {name: int(np.prod(shape)) for name, shape in a.shapes().items()}
        self.parts = list(dict.fromkeys(part(name) for name in self.sizes))
        self.tokens_per_step = len(seeds) * settings.batch * a.context
        self.compile_seconds = 0.0
        mesh = Mesh(np.array(self.devices), ("member",))
        self._members = PartitionSpec("member")
        self._sharding = NamedSharding(mesh, self._members)
        everywhere = PartitionSpec()
        spread = {"mesh": mesh, "check_vma": False}
        keys = [jax.random.key_data(jax.random.key(seed)) for seed in seeds]
        self.keys = jax.device_put(np.array(keys), self._sharding)
        self._stretch = jax.jit(
            jax.shard_map(
                self._steps,
                in_specs=(*[self._members] * 5, *[everywhere] * 4),
                out_specs=(*[self._members] * 3, PartitionSpec(None, "member"), self._members),
                **spread,
            ),
            donate_argnums=(0, 1),
        )
        judge = self.judged.over_members(self.unravel, -(-len(seeds) // len(self.devices)))
        self._judge = jax.jit(jax.shard_map(judge, in_specs=self._members, out_specs=self._members, **spread))
        self._compiled: dict[str, Any] = {}

    def facts(self) -> dict[str, Any]:
        """What run.json says beside the settings."""
        return {
            "floor": self.experiment.floor,
            "floors": self.judged.floors,
            "parameters": self.experiment.architecture.parameters,
            "versions": {
                "glassformer": glassformer.__version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "jax": jax.__version__,
                "optax": optax.__version__,
            },
            "hardware": {"device": self.device, "devices": len(self.devices), "cores": os.cpu_count()},
        }

    @property
    def device(self) -> str:
        """The device in words."""
        one = self.devices[0]
        name = "CPU" if one.platform == "cpu" else f"{one.platform.upper()} ({one.device_kind})"
        return name if len(self.devices) == 1 else f"{len(self.devices)} × {name}"

    def start(self) -> State:
        """The state before the first step: member k begins where the single run with its seed does."""
        a = self.experiment.architecture
        fresh = [model.init(a, np.random.default_rng(seed)) for seed in self.seeds]
        flat = np.stack([np.concatenate([value.ravel() for value in params.values()]) for params in fresh])
        nothing = np.zeros(len(self.seeds), np.float32)
        count = np.zeros(len(self.seeds), np.int32)
        memory = jax.vmap(self.rule.init)(jnp.asarray(flat))
        state = self.place(State(flat, memory, nothing, nothing + 1, nothing + np.inf, count, count))
        if not self._compiled:
            self.compile(state)
        return state

    def place(self, tree: Tree) -> Tree:
        """Arrays with a member axis, laid out over the devices."""
        placed: Tree = jax.device_put(tree, self._sharding)
        return placed

    def zeros(self) -> Array:
        """(member,) nothing yet."""
        return self.place(np.zeros(len(self.seeds), np.float32))

    def stretch(self, state: State, begin: int, end: int) -> tuple[State, Array, Array]:
        """So many steps: the new state, the kept weights on the way (then empty rows), the sizes at the last step.

        The state given is used up.
        """
        arguments = self._arguments(state, begin, end)
        flat, memory, loss_sum, weights, sizes = self._compiled["stretch"](*arguments)
        after = state._replace(flat=flat, optimiser=memory, loss_sum=loss_sum)
        return after, weights, sizes

    def _arguments(self, state: State, begin: int, end: int) -> tuple[Any, ...]:
        """What the compiled stretch takes."""
        kept = self.plan.rows(begin, end)
        rows = np.full(self.capacity, self.rows, np.int32)  # what is not kept goes to a row nobody reads
        rows[kept - begin - 1] = np.arange(len(kept))
        at = batches.place(begin, self.experiment.train.batch, len(self.source.starts))
        return (*state[:4], self.keys, self.source, at, np.int32(end - begin), rows)

    def judge(self, flat: Array) -> dict[str, Any]:
        """Sums over the judged windows, for every member."""
        judged: dict[str, Any] = self._compiled["judge"](flat)
        return judged

    def compile(self, state: State) -> None:
        """Compile both parts side by side; the state is only looked at."""
        began = monotonic()
        arguments = self._arguments(state, *self.plan.stretches(0)[0])
        lowered = {"stretch": self._stretch.lower(*arguments), "judge": self._judge.lower(state.flat)}
        with ThreadPoolExecutor() as pool:
            self._compiled = dict(zip(lowered, pool.map(lambda part: part.compile(), lowered.values()), strict=True))
        self.compile_seconds = monotonic() - began

    def _steps(
        self,
        flat: Array,
        memory: Any,
        loss_sum: Array,
        scale: Array,
        keys: Array,
        source: batches.Source,
        at: batches.Place,
        count: Array,
        rows: Array,
    ) -> tuple[Array, Any, Array, Array, Array]:
        """`count` steps of all members on one device; also the weights to keep, and the sizes at the last step."""
        settings, a = self.experiment.train, self.experiment.architecture
        seeds = jax.vmap(jax.random.wrap_key_data)(keys)
        draw = partial(batches.draw, steps=self.capacity, batch=settings.batch, span=a.context + 1, order=self.order)
        windows = jax.vmap(lambda key: draw(key, at, source), out_axes=1)(seeds)  # (step, member, batch, span)

        def batch_loss(params: model.Params, window: Array, step: Array, key: Array) -> Array:
            chance = jax.random.fold_in(jax.random.fold_in(key, batches.DROPOUT), step) if a.dropout else None
            targets = window[:, 1:] if a.read_position is None else window[:, -1:]
            return model.loss(model.answers(params, window[:, :-1], a, key=chance), targets).mean()

        def move(flat: Array, memory: Any, window: Array, key: Array, scale: Array, step: Array) -> Any:
            loss, gradient = jax.value_and_grad(batch_loss)(self.unravel(flat), window, step, key)
            gradient = self.ravel(gradient)
            direction, memory = self.rule.update(gradient, memory, flat)
            update = -self.rate(step) * scale * direction
            return flat + update, memory, loss, gradient, update

        def one_step(i: Array, carry: Any) -> Any:
            flat, memory, loss_sum, kept, _, _ = carry
            every = jax.vmap(move, in_axes=(0, 0, 0, 0, 0, None))
            flat, memory, loss, gradient, update = every(flat, memory, windows[i], seeds, scale, at.step + i)
            kept = jax.lax.dynamic_update_slice(kept, flat[None], (rows[i], 0, 0))
            return flat, memory, loss_sum + loss, kept, gradient, update

        kept = jnp.zeros((self.rows + 1, *flat.shape), flat.dtype)
        # Bounds known only at run time keep this a loop: a loop of one step would otherwise be compiled to other bits.
        begin = (flat, memory, loss_sum, kept, flat, flat)
        flat, memory, loss_sum, kept, gradient, update = jax.lax.fori_loop(0, count, one_step, begin)
        return flat, memory, loss_sum, kept, jax.vmap(self.sizes_of)(gradient, update, flat)

    def unravel(self, flat: Array) -> model.Params:
        """One vector → nested parameters."""
        shapes = self.experiment.architecture.shapes()
        ends = np.cumsum(list(self.sizes.values()))
        pieces = zip(shapes.items(), ends, strict=True)
        return nest({name: flat[end - self.sizes[name] : end].reshape(shape) for (name, shape), end in pieces})

    def ravel(self, params: model.Params) -> Array:
        """Nested parameters → one vector."""
        blocks = {f"blocks.{i}.{k}": v for i, w in enumerate(params["blocks"]) for k, v in w.items()}
        flat = {**params, **blocks}
        return jnp.concatenate([flat[name].ravel() for name in self.sizes])

    def sizes_of(self, *vectors: Array) -> Array:
        """(vector, part): the length of each vector, in all and part by part."""
        bounds = np.cumsum([0, *(sum(s for n, s in self.sizes.items() if part(n) == p) for p in self.parts)])
        squares = [[jnp.sum(v[a:b] ** 2) for a, b in zip(bounds[:-1], bounds[1:], strict=True)] for v in vectors]
        return jnp.sqrt(jnp.stack([jnp.stack([sum(row), *row]) for row in squares]))


def _devices(members: int) -> list[Any]:
    """As many devices as share the members evenly; on a CPU every core is one."""
    try:
        jax.config.update("jax_num_cpu_devices", os.cpu_count() or 1)
    except RuntimeError:
        pass  # JAX is already running; it keeps the devices it has
    found = jax.devices()
    return found[: max(n for n in range(1, len(found) + 1) if members % n == 0)]


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
    try:
        notes = Notes(engine, recorder, progress, started)
        state = engine.start()
        first, looping = step, monotonic()
        if saved is None:
            notes.keep(np.array([0]), state.flat[None])
            notes.log(0, state, None, 0)
        else:
            state = engine.place(_restored(state, saved))
        status, logged = "finished", int(engine.plan.logged[engine.plan.logged <= step].max())
        for begin, end in engine.plan.stretches(step):
            state, weights, sizes = engine.stretch(state, begin, end)
            notes.keep(engine.plan.rows(begin, end), weights)
            step = end
            if end in engine.plan.logged:
                state = notes.log(end, state, sizes, end - logged)
                logged = end
                if notes.diverged is not None:
                    status = "diverged"
                    break
                if notes.stopped_early:
                    status = "stopped early"
                    break
            if end in engine.plan.safe:
                notes.save(end, state)
                if stop() and end != engine.plan.stops[-1]:
                    status = "interrupted"
                    break
        if status != "interrupted":
            if step not in engine.plan.safe:
                notes.save(step, state)
            if notes.settle() is not None and status == "finished":
                status = "diverged"
            recorder.finish(status, **notes.facts(step))
        loop_seconds = monotonic() - looping
    finally:
        recorder.close()
    run = open_run(recorder.path)
    if status == "diverged":
        raise DivergedError(
            f"the loss stopped being a number by step {notes.diverged}; all that came before is in {run.path}. "
            f"Try a lower rate than train.rate = {engine.experiment.train.rate:g}, or train.clip = 1.0"
        )
    seconds, stopped = monotonic() - started, status == "interrupted"
    return Outcome(run, stopped, seconds, engine.compile_seconds, loop_seconds, step - first, engine.device)


def _restored(fresh: State, saved: dict[str, np.ndarray]) -> State:
    """The state of a resume point; `fresh` gives the shape of what the optimiser remembers."""
    leaves, structure = jax.tree.flatten(fresh.optimiser)
    memory = structure.unflatten([saved[f"optimiser.{i}"] for i in range(len(leaves))])
    return State(optimiser=memory, **{name: saved[name] for name in State._fields if name != "optimiser"})
