"""What happens during a training, gathered until the next safe point and then written down."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from time import monotonic
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from glassformer.engine import Engine, State
from glassformer.errors import DamagedError
from glassformer.folder import METRICS
from glassformer.record import Recorder

Array = jax.Array
Line = dict[str, Any]
Kept = tuple[NDArray[np.int64], Array | np.ndarray]  # steps, their weights
LOSSES = ("validation_loss", "batch_loss")
MANY = 64  # members; a larger population logs the sizes of its vectors as a whole, not part by part


@dataclass(frozen=True)
class Progress:
    """What a progress bar shows; the losses are medians over the members, of the newest line known."""

    run: Path
    step: int
    steps: int
    steps_per_second: float = 0.0  # zero until there is something to measure
    loss: float = nan
    excess: float = nan
    safe_point: int | None = None  # the newest one written in this call: from there a training can resume

    @property
    def seconds_left(self) -> float | None:
        """At this speed; None while nobody knows."""
        return (self.steps - self.step) / self.steps_per_second if self.steps_per_second else None


class Notes:
    """Kept weights and lines of metrics on their way to the disk.

    Numbers stay on the device until the next line is logged, so that the device never waits for Python; and while one
    safe point is written, training goes on to the next. There it waits: never is more than one on its way.
    """

    def __init__(
        self,
        engine: Engine,
        recorder: Recorder,
        progress: Callable[[Progress], None],
        started: float,
        writer: Executor | None = None,
    ) -> None:
        self.engine, self.recorder, self.progress, self.started = engine, recorder, progress, started
        self.writer, self.writing = writer, (0, Future[None]())  # the safe point on its way to the disk
        self.writing[1].set_result(None)
        self.reached = Progress(recorder.path, 0, engine.experiment.train.steps)
        self.kept: list[Kept] = []
        self.lines: list[Line] = []
        self.times: list[Line] = []
        self.waiting: Line | None = None  # the newest line, still on the device
        self.diverged: int | None = None  # the logged step by which no member had a finite loss
        self.diverged_members: dict[str, int] = {}
        self.first: tuple[int, float] | None = None  # a step and a time after compilation, to measure speed from

    def recall(self, lines: list[Line], state: State) -> None:
        """What a resume point and the lines before it say: how far it was, who had diverged, whether it was over."""
        self._stopped = self._tired(state.waited)
        try:
            self._recall(lines, state)
        except (TypeError, ValueError):
            raise DamagedError(f"{METRICS} holds a loss that is not a number; put back the file of this run") from None

    def _recall(self, lines: list[Line], state: State) -> None:
        for line in lines[-1:]:
            loss, excess = (_median(line.get(name)) for name in ("validation_loss", "excess"))
            self.reached = replace(self.reached, step=line["step"], loss=loss, excess=excess)
        for line in lines:
            losses = {name: np.atleast_1d(np.array(line[name], np.float64)) for name in LOSSES if name in line}
            if "validation_loss" not in losses or any(each.shape != np.shape(state.best) for each in losses.values()):
                raise DamagedError(f"the line of step {line['step']} in {METRICS} has no loss for each member")
            self._look_for_divergence({"step": line["step"]} | losses)

    def keep(self, steps: NDArray[np.int64], weights: Array | np.ndarray) -> None:
        """Weights of some steps, (step, member, parameter)."""
        if len(steps):
            self.kept.append((steps, weights))  # rows beyond the steps are empty

    def log(self, step: int, state: State, sizes: Array | None, batches: int) -> State:
        """A line of metrics; gives the state back with its loss sum at zero, and its rate lowered at a plateau."""
        previous = self.settle()
        rate, last = self.engine.rate_at(step, state.scale), step == self.engine.experiment.train.steps
        line: Line = {"step": step, "rate": rate, "counts": self.engine.judge(state.flat, last)}
        if sizes is not None:
            line |= {"loss_sum": state.loss_sum, "batches": batches, "sizes": sizes}
        self.waiting = line
        if self.writing[1].done():
            self.written()
        if previous is not None:
            self._report(previous)
        settings = self.engine.experiment.train
        state = state._replace(loss_sum=self.engine.zeros())
        if settings.schedule == "plateau" or settings.stop_after is not None:
            state = self._after_judgement(state)
        return state

    @property
    def status(self) -> str:
        """How the training ends if this is its last step."""
        return "diverged" if self.diverged is not None else "stopped early" if self._stopped else "finished"

    _stopped = False

    def _tired(self, waited: Any) -> bool:
        """Whether no member has become better for as long as the settings allow."""
        most = self.engine.experiment.train.stop_after
        return most is not None and bool(np.all(np.asarray(waited) >= most))

    def _after_judgement(self, state: State) -> State:
        """Plateaus and early stopping: what the newest validation loss means for the next steps."""
        settings = self.engine.experiment.train
        line = self.settle()
        assert line is not None
        loss = np.asarray(line["validation_loss"], np.float32).reshape(-1)
        best, waited, patience, scale = (np.asarray(a) for a in (state.best, state.waited, state.patience, state.scale))
        better = loss < best
        waited, patience = np.where(better, 0, waited + 1), np.where(better, 0, patience + 1)
        if settings.schedule == "plateau":
            tired = patience >= settings.patience
            scale, patience = np.where(tired, scale * np.float32(settings.drop), scale), np.where(tired, 0, patience)
        self._stopped = self._tired(waited)
        best = np.where(better, loss, best)
        values = [jnp.asarray(v, k) for v, k in zip((scale, best, waited, patience), "ffii", strict=True)]
        placed = self.engine.place(values)
        return state._replace(scale=placed[0], best=placed[1], waited=placed[2], patience=placed[3])

    def settle(self) -> Line | None:
        """Fetch the newest line from the device, if it is still there."""
        if self.waiting is None:
            return None
        raw, self.waiting = jax.device_get(self.waiting), None
        line: Line = {"step": raw["step"], "rate": raw["rate"]}
        if "loss_sum" in raw:
            line["batch_loss"] = raw["loss_sum"] / np.float32(raw["batches"])
        line |= self.engine.judged.line(raw["counts"])
        if "sizes" in raw:
            parts = ("all", *self.engine.parts) if len(self.engine.seeds) <= MANY else ("all",)
            for k, name in enumerate(("gradient", "update", "weights")):
                line[name] = {p: raw["sizes"][:, k, i] for i, p in enumerate(parts)}
        self._look_for_divergence(line)
        plain: Line = _rounded(line)
        self.lines.append(plain)
        return plain

    def save(self, step: int, state: State) -> None:
        """Have everything so far put on disk; once it is `written`, training can resume from here."""
        line = self.settle()
        if line is not None:
            self._report(line)
        saved = {name: np.array(getattr(state, name)) for name in state._fields if name != "optimiser"}
        saved |= {f"optimiser.{i}": np.array(leaf) for i, leaf in enumerate(jax.tree.leaves(state.optimiser))}
        self.written()
        assert self.writer is not None
        self.writing = (step, self.writer.submit(self._write, step, self.kept, self.lines, saved, self.times))
        self.kept, self.lines, self.times = [], [], []

    def _write(
        self, step: int, kept: list[Kept], lines: list[Line], saved: dict[str, np.ndarray], times: list[Line]
    ) -> None:
        steps = [int(s) for some, _ in kept for s in some]
        weights = self._by_name(np.concatenate([np.asarray(w)[: len(some)] for some, w in kept])) if kept else {}
        self.recorder.safe_point(step, steps, weights, lines, saved, times)

    def written(self) -> None:
        """Wait until the safe point that is being written is on disk, and say so."""
        step, future = self.writing
        future.result()
        if step > (self.reached.safe_point or 0):
            self._tell(step=max(step, self.reached.step), safe_point=step)

    def facts(self, step: int) -> dict[str, Any]:
        """What run.json says when the training is over."""
        facts: dict[str, Any] = {"last_step": step}
        if self.diverged_members:
            facts["diverged"] = self.diverged_members
        return facts

    def _by_name(self, flat: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """(step, member, parameter) → one array per parameter; a single run has no member axis."""
        flat = flat if len(self.engine.seeds) > 1 else flat[:, 0]
        weights, end = {}, 0
        for name, shape in self.engine.experiment.architecture.shapes().items():
            begin, end = end, end + self.engine.sizes[name]
            weights[name] = np.ascontiguousarray(flat[..., begin:end]).reshape(*flat.shape[:-1], *shape)
        return weights

    def _look_for_divergence(self, line: Line) -> None:
        finite = np.isfinite(line["validation_loss"])
        if "batch_loss" in line:
            finite &= np.isfinite(line["batch_loss"])
        for seed, sound in zip(self.engine.seeds, finite, strict=True):
            if not sound:
                self.diverged_members.setdefault(str(seed), line["step"])
        if not finite.any() and self.diverged is None:
            self.diverged = line["step"]

    def _report(self, line: Line) -> None:
        now, step = monotonic(), line["step"]
        if self.first is None:
            self.first = (step, now)
        steps, seconds = step - self.first[0], now - self.first[1]
        speed = steps / seconds if steps and seconds > 0 else 0.0
        self.times.append({"step": step, "seconds": round(now - self.started, 3), "steps_per_second": round(speed, 1),
                           "tokens_per_second": round(speed * self.engine.tokens_per_step, 1)})  # fmt: skip
        loss, excess = (_median(line[name]) for name in ("validation_loss", "excess"))
        self._tell(step=step, steps_per_second=speed, loss=loss, excess=excess)

    def _tell(self, **news: Any) -> None:
        self.reached = replace(self.reached, **news)
        self.progress(self.reached)


def _median(value: Any) -> float:
    """Over the members whose loss is still a number."""
    numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    finite = numbers[np.isfinite(numbers)]
    return float(np.median(finite)) if len(finite) else float("nan")


def _rounded(value: Any) -> Any:
    """Arrays over members → lists, or one number for a single run; eight digits, which is what float32 holds."""
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, int):
        return value
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.size == 1:
        return float(f"{numbers.item():.8g}")
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 10.0 ** (7 - np.floor(np.log10(np.abs(numbers))))
        rounded = np.where(np.isfinite(digits), np.round(numbers * digits) / digits, numbers)
    return rounded.tolist()
