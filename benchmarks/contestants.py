"""What is raced: Glassformer, PyTorch and a loop in C, each in a process that loads only what it needs."""

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from itertools import cycle
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np

from glassformer.architecture import Architecture
from glassformer.experiment import Experiment, Training, load
from glassformer.tasks import Data, Examples, Split, Task

TOGETHER = 100  # steps that the C loop takes between two looks at the clock


@dataclass(frozen=True)
class Contestant:
    """Who runs, and what: an experiment by name, with settings changed."""

    kind: Literal["engine", "run", "torch", "torch, tuned", "c"]
    experiment: str
    settings: tuple[str, ...] = ()
    members: int = 1


@dataclass(frozen=True, kw_only=True)
class Stream(Task):
    """Chance tokens in the place of a text: what a step costs does not depend on what the tokens say."""

    vocabulary = tuple(map(str, range(500)))
    showcase = ("0 1 2",)

    def data(self, context: int) -> Data:
        """One long piece, for training and judging alike."""
        tokens = np.random.default_rng(self.seed).integers(0, 500, 400_000)
        split = Split(tokens, np.array([0]), np.array([len(tokens) - context]))
        return Data(split, split)

    def examples(self, context: int, part: str, most: int) -> Examples:  # noqa: ARG002
        """A few windows: the engine wants some, the race judges none."""
        windows = self.data(context).train.tokens[np.arange(8)[:, None] + np.arange(context + 1)]
        none = np.zeros((8, context, 500), bool)
        return Examples(windows, none[..., 0], none[..., 0], none, windows[:, 1:] * 0 - 1, windows[:, 1:] * 0.0)

    # Nobody in a race asks for these.
    groups = ladder = sample = allowed = constrained = answerable = source_position = true_distribution = None  # type: ignore[assignment]


def experiment(contestant: Contestant) -> Experiment:
    """The experiment of a contestant: ready-made, or one of the two text models."""
    width = {"shakespeare": 128, "shakespeare_wide": 256}.get(contestant.experiment)
    if width is None:
        return load(contestant.experiment, contestant.settings)
    architecture = Architecture(
        vocabulary=500, context=64, width=width, blocks=2, heads=width // 32, feed_forward=2 * width,
        activation="gelu", norm="rms", norm_epsilon=1e-8, final_norm=True, positions="sinusoidal",
        biases=("feed_forward",),
    )  # fmt: skip
    batch = 512 if "train.batch=512" in contestant.settings else 64
    train = Training(steps=2000, batch=batch, rate=3e-4, clip=1.0, log_every=10)
    return Experiment(contestant.experiment, "stream", Stream(), architecture, train)


class Engine:
    """Our engine, call by call as a training makes them; the kept weights are brought to the host."""

    def __init__(self, experiment: Experiment, members: int = 1) -> None:
        from glassformer import engine

        seed = experiment.train.seed
        self.engine = engine.Engine(experiment, list(range(seed, seed + members)))
        self.state = self.engine.start()
        stretches = self.engine.plan.stretches(0)  # the long ones: there are short ones, too, before early lines
        self.stretches = cycle([each for each in stretches if 2 * (each[1] - each[0]) > self.engine.capacity])
        self.advance()

    @property
    def compile_seconds(self) -> float:
        """So far."""
        return self.engine.compile_seconds

    def advance(self) -> int:
        """One compiled call; how many steps it took."""
        begin, end = next(self.stretches)
        self.state, weights, _ = self.engine.stretch(self.state, begin, end)
        self.kept = np.asarray(weights)  # waits until the steps are done
        return end - begin


class Run:
    """A whole training as the command line does it: data, judging, and everything written to disk."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment, self.compile_seconds = experiment, 0.0

    def advance(self) -> int:
        """One training from beginning to end."""
        from glassformer import training

        with tempfile.TemporaryDirectory() as folder:
            outcome = training.begin(self.experiment, out=Path(folder) / "run")
        self.compile_seconds += outcome.compile_seconds
        return outcome.steps


class Torch:
    """Eager PyTorch; `tuned` is what a careful hand gains without leaving it."""

    compile_seconds = 0.0

    def __init__(self, experiment: Experiment, tuned: bool = False) -> None:
        import torch

        import torch_models

        self.torch, self.models, self.tuned = torch, torch_models, tuned
        self.a, self.train = experiment.architecture, experiment.train
        if tuned:
            torch.set_num_threads(1)  # handing such small work to a second thread costs more than it saves
        torch.manual_seed(self.train.seed)
        data = experiment.task.data(self.a.context)
        arrays = (data.train.tokens, data.train.starts, data.train.windows)
        self.tokens, self.starts, self.windows = (torch.tensor(array, dtype=torch.long) for array in arrays)
        self.passes, self.order = data.order == "passes", torch.tensor([], dtype=torch.long)
        self.model = torch_models.Transformer(self.a)
        self.optimiser = torch_models.optimizer(self.model, self.train, **({"fused": True} if tuned else {}))

    def batch(self) -> tuple[Any, Any]:
        """Windows and what follows, stacked one by one."""
        torch, size, length = self.torch, self.train.batch, self.a.context
        if self.passes:
            if len(self.order) < size:
                self.order = torch.randperm(len(self.starts))
            chosen, self.order = self.order[:size], self.order[size:]
            ix = self.starts[chosen]
        else:
            chosen = torch.randint(len(self.starts), (size,))
            ix = self.starts[chosen] + (torch.rand(size) * self.windows[chosen]).long()
        if self.tuned:
            windows = self.tokens[ix[:, None] + torch.arange(length + 1)]
            return windows[:, :-1], windows[:, 1:].contiguous()
        x = torch.stack([self.tokens[i : i + length] for i in ix])
        if self.a.read_position is not None:
            return x, torch.stack([self.tokens[i + length] for i in ix])
        return x, torch.stack([self.tokens[i + 1 : i + length + 1] for i in ix])

    def advance(self) -> int:
        """One step."""
        x, y = self.batch()
        loss = self.models.batch_loss(self.model, x, y, self.a.read_position)
        self.models.update(self.model, self.optimiser, loss, self.train.clip)
        return 1


class Loop:
    """rule_loop.c, compiled here and now, and raced only if it takes the very steps that our engine takes."""

    compile_seconds = 0.0

    def __init__(self, experiment: Experiment) -> None:
        self.train = experiment.train
        with tempfile.TemporaryDirectory() as folder:
            library, source = f"{folder}/rule_loop.so", str(Path(__file__).with_name("rule_loop.c"))
            fast = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
            subprocess.run(["cc", *fast, source, "-o", library, "-lm"], check=True)
            self.library = ctypes.CDLL(library)
        windows, weights = engine_steps(experiment, TOGETHER)
        self.weights, self.taken, self.kept = weights[0].copy(), 0, np.empty_like(weights[1:])
        self.first, self.second = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.train_on(windows)
        # The two add in different orders, and rounding grows from step to step.
        np.testing.assert_allclose(self.kept[:5], weights[1:6], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(self.kept, weights[1:], rtol=1e-3, atol=1e-3)
        part = experiment.task.data(experiment.architecture.context).train
        self.source = [np.ascontiguousarray(a, np.int32) for a in (part.tokens, part.starts, part.windows)]
        self.windows, self.chance = np.empty_like(windows), ctypes.c_uint64(self.train.seed + 1)

    def train_on(self, windows: np.ndarray) -> None:
        """A hundred steps on given windows."""
        vectors = (_pointer(a) for a in (self.weights, self.first, self.second))
        settings = (ctypes.c_float(self.train.rate), ctypes.c_float(self.train.decay))
        self.library.train(*vectors, self.taken, TOGETHER, _pointer(windows), _pointer(self.kept), *settings)
        self.taken += TOGETHER

    def advance(self) -> int:
        """A hundred steps on fresh windows."""
        arrays, pieces = (_pointer(a) for a in self.source), len(self.source[1])
        self.library.draw(ctypes.byref(self.chance), *arrays, pieces, TOGETHER, _pointer(self.windows))
        self.train_on(self.windows)
        return TOGETHER


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def engine_steps(experiment: Experiment, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The first steps of our engine at a constant rate, every one of them kept.

    The windows of each step, (step, batch, place), and the weights after 0, 1, 2, ... steps, (step, parameter).
    """
    import jax

    from glassformer import batches, engine

    constant = {"schedule": "constant", "warmup": 0}
    short = replace(experiment.train, steps=steps, log_every=steps, keep_bytes=2**31, **constant)
    ours = engine.Engine(replace(experiment, train=short), [short.seed])
    state, span = ours.start(), experiment.architecture.context + 1
    key, at = jax.random.wrap_key_data(ours.keys[0]), batches.place(0, short.batch, len(ours.source.starts))
    windows = batches.draw(key, at, ours.source, steps, short.batch, span, ours.order)
    start = np.array(state.flat)
    _, kept, _ = ours.stretch(state, 0, steps)
    return np.array(windows), np.concatenate([start, np.asarray(kept)[:steps, 0]])


def build(contestant: Contestant, this: Experiment) -> Engine | Run | Torch | Loop:
    """A contestant, ready to run."""
    if contestant.kind == "engine":
        return Engine(this, contestant.members)
    if contestant.kind == "run":
        return Run(this)
    return Loop(this) if contestant.kind == "c" else Torch(this, tuned=contestant.kind == "torch, tuned")


def serve(pipe: Connection, contestant: Contestant) -> None:
    """Run so many seconds whenever asked and answer with milliseconds per step; None ends it and asks for the peak."""
    os.environ["JAX_PLATFORMS"] = "cpu"  # both sides on the processor, whatever else the machine has
    this = experiment(contestant)
    runner = build(contestant, this)
    about = {"parameters": this.architecture.parameters, "batch": this.train.batch, "compile": runner.compile_seconds}
    pipe.send(about)
    while (seconds := pipe.recv()) is not None:
        steps, compiled, began = 0, runner.compile_seconds, perf_counter()
        while perf_counter() - began < seconds:
            steps += runner.advance()
        pipe.send((perf_counter() - began - (runner.compile_seconds - compiled)) / steps * 1000)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    pipe.send(kilobytes / 1024)
