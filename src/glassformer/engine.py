"""The compiled parts of a training: a stretch of steps for all members at once, and the judgement of their weights."""

import os
import platform
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from itertools import pairwise
from time import monotonic
from typing import Any, NamedTuple, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Spec

import glassformer
from glassformer import batches, cache, model, optimiser
from glassformer.architecture import nest, part
from glassformer.counted import counted
from glassformer.errors import Error
from glassformer.experiment import Experiment
from glassformer.judge import Judged
from glassformer.plan import Plan, plan

Array = jax.Array
P = ParamSpec("P")
R = TypeVar("R")


def in_32_bits(work: Callable[P, R]) -> Callable[P, R]:
    """As trainings compute, also where a person's own JAX computes in 64 bits: one experiment has one result."""

    @wraps(work)
    def done(*words: P.args, **options: P.kwargs) -> R:
        with jax.enable_x64(False):
            return work(*words, **options)

    return done


class State(NamedTuple):
    """Everything that training carries from step to step, for every member."""

    flat: Array  # (member, parameter)
    optimiser: Any  # what the optimiser remembers; member axis first
    loss_sum: Array  # (member,) batch losses since the last logged step
    scale: Array  # (member,) what plateaus have left of the rate
    best: Array  # (member,) lowest validation loss so far
    waited: Array  # (member,) judgements since then
    patience: Array  # (member,) judgements since then or since the rate last fell


class Engine:
    """The compiled parts of a training: a stretch of steps, the judgement of the weights, the rate of a step."""

    needed: tuple[str, ...] = ("stretch", "judge", "rate")

    @in_32_bits
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
        self.judged = Judged(experiment.task, a, settings.windows, self.plan.share, len(seeds) // len(self.devices))
        self.rule = optimiser.direction(settings, a)
        self.rate = optimiser.schedule(settings)
        self.sizes = {name: int(np.prod(shape)) for name, shape in a.shapes().items()}
        self.parts = list(dict.fromkeys(part(name) for name in self.sizes))
        self.tokens_per_step = len(seeds) * settings.batch * a.context
        mixed = settings.precision == "mixed" and self.devices[0].platform == "gpu"
        self.product_type = jnp.bfloat16 if mixed else jnp.float32
        self.compile_seconds = 0.0
        mesh = Mesh(np.array(self.devices), ("member",))
        spread = partial(jax.shard_map, mesh=mesh, check_vma=False)
        by_member, by_row, everywhere = Spec("member"), Spec(None, "member"), Spec()  # type: ignore[no-untyped-call]
        self._sharding = NamedSharding(mesh, by_member)
        self.keys = self.place(np.array([(0, seed) for seed in seeds], np.uint32))  # the data of `jax.random.key(seed)`
        taken, given = (*[by_member] * 5, *[everywhere] * 4), (*[by_member] * 3, by_row, by_member)
        self._stretch = jax.jit(spread(self._steps, in_specs=taken, out_specs=given), donate_argnums=(0, 1))
        judges = Mesh(np.array(_beside(self.devices)), ("member",))
        judge = jax.shard_map(
            self._judgement, mesh=judges, check_vma=False, in_specs=(by_member, everywhere), out_specs=by_member
        )
        self._judge, self._judged_at = jax.jit(judge), NamedSharding(judges, by_member)
        self._rate = jax.jit(lambda step, scale: self.rate(step) * scale)
        self._tables = jax.device_put(self.judged.tables, NamedSharding(judges, everywhere))
        self._compiled: dict[str, Any] = {}

    def facts(self) -> dict[str, Any]:
        """What run.json says beside the settings."""
        return {
            "floor": self.experiment.floor,
            "floors": self.judged.floors(),
            "floors_before": self.judged.floors(last=False),
            "judged": {"last": self.judged.windows(), "before": self.judged.windows(last=False)},
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

    @in_32_bits
    def start(self) -> State:
        """The state before the first step: member k begins where the single run with its seed does."""
        a = self.experiment.architecture
        fresh = [model.init(a, np.random.default_rng(seed)) for seed in self.seeds]
        flat = np.stack([np.concatenate([value.ravel() for value in params.values()]) for params in fresh])
        nothing, count = np.zeros(len(self.seeds), np.float32), np.zeros(len(self.seeds), np.int32)
        shapes = jax.eval_shape(jax.vmap(self.rule.init), flat)
        memory = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)  # every rule begins from nothing
        state = State(*self.place((flat, memory, nothing, nothing + 1, nothing + np.inf, count, count)))
        if not self._compiled:
            self.compile(state)
        return state

    def place(self, tree: Any) -> Any:
        """Arrays with a member axis, laid out over the devices."""
        return jax.device_put(tree, self._sharding)

    def zeros(self) -> Array:
        """(member,) nothing yet."""
        return self.place(np.zeros(len(self.seeds), np.float32))

    @in_32_bits
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

    @in_32_bits
    def judge(self, flat: Array, last: bool = True) -> list[dict[str, Any]]:
        """Sums over the judged windows, table by table, for every member."""
        tables = self._tables if last else self._tables[: self.judged.between]
        flat = jax.device_put(flat, self._judged_at)
        return [self._compiled["judge"](flat, table) for table in tables]

    def _judgement(self, flat: Array, table: dict[str, Array]) -> dict[str, Array]:
        return jax.vmap(lambda one: self.judged.count(self.unravel(one), table))(flat)

    @in_32_bits
    def rate_at(self, step: int, scale: Array) -> Array:
        """(member,): the rate of the update that led to a step; of the first one at step 0."""
        return self._compiled["rate"](np.int32(max(step - 1, 0)), scale)

    def compile(self, state: State) -> None:
        """Compile what is needed side by side; the state is only looked at."""
        began = monotonic()
        arguments = self._arguments(state, *self.plan.stretches(0)[0])
        parts: dict[str, tuple[Any, tuple[Any, ...]]] = {
            "stretch": (self._stretch, arguments),
            "judge": (self._judge, (jax.device_put(state.flat, self._judged_at), self._tables[0])),
            "rate": (self._rate, (np.int32(0), state.scale)),
        }
        lowered = {name: parts[name][0].lower(*parts[name][1]) for name in self.needed}
        with cache.mended(), ThreadPoolExecutor() as pool:
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
            params = jax.tree.map(lambda value: value.astype(self.product_type), params)
            chance = jax.random.fold_in(jax.random.fold_in(key, batches.DROPOUT), step) if a.dropout else None
            came = counted(a, self.experiment.task.skip).came
            logits = model.answers(params, window[:, :-1], a, key=chance)[:, came]
            return model.loss(logits, window[:, 1:][:, came]).mean()

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
        squares = [[jnp.sum(v[a:b] ** 2) for a, b in pairwise(bounds)] for v in vectors]
        return jnp.sqrt(jnp.stack([jnp.stack([sum(row), *row]) for row in squares]))


def _devices(members: int) -> list[Any]:
    """As many devices as share the members evenly; on a CPU every core is one."""
    try:
        found = jax.devices()
    except (RuntimeError, AssertionError) as problem:  # how JAX says that it has none of those it was told to use
        named = f"JAX_PLATFORMS is {os.environ.get('JAX_PLATFORMS', '')!r}; cpu is there always"
        raise Error(f"JAX finds no device to compute on ({str(problem) or 'none of this kind'}): {named}") from None
    return found[: max(n for n in range(1, len(found) + 1) if members % n == 0)]


def _beside(used: list[Any]) -> list[Any]:
    """Devices for judging while the next steps are computed: cores that would be idle, where there are as many."""
    spare = jax.devices()[len(used) : 2 * len(used)] if used[0].platform == "cpu" else []
    return spare if len(spare) == len(used) else used
