"""Evaluates an edited model at some saved steps, in the terms in which a training is logged."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from glassformer import reference
from glassformer.analyses._fitting import fitting
from glassformer.analyses._result import Array
from glassformer.counted import counted
from glassformer.run import Run
from glassformer.tasks import Examples

LARGE, HUGE = 10_000, 1_000_000  # parameters; larger models are evaluated at fewer steps and on fewer windows
WORK, LEAST = 2e8, 8  # multiplications of one pass over all windows, if possible; the fewest windows
TOGETHER = 200  # windows evaluated side by side; with more, their numbers leave the cache


def most_steps(run: Run) -> int:
    """At how many saved steps a whole training is evaluated."""
    return 32 if run.parameters < LARGE else 12 if run.parameters < HUGE else 6


def most_windows(run: Run) -> int:
    """On how many windows: for a small model on all that the logged losses are measured on."""
    affordable = WORK / (run.parameters * run.architecture.context)
    return int(np.clip(affordable, LEAST, run.experiment.train.windows if run.parameters < LARGE else 100))


@lru_cache(maxsize=8)
def metrics(run: Run, steps: Sequence[int]) -> dict[str, Array]:
    """Each metric over these saved steps, as in `Run.metrics`: (line,), or (line, member) for a population."""
    windows = most_windows(run)
    parts = ["train", "validation", "test"] if run.task.data(run.architecture.context).test else ["train", "validation"]
    every = {part: run.task.examples(run.architecture.context, part, windows) for part in parts}  # type: ignore[arg-type]
    lines = [[_line(run, every, step, member) for member in range(run.members)] for step in steps]
    found = {name: np.array([[each[name] for each in line] for line in lines]) for name in lines[0][0]}
    found = {name: values if run.members > 1 else values[:, 0] for name, values in found.items()}
    for part, each in every.items():
        found[f"judged.{part}"] = np.full(len(lines), len(each.windows))
        came = counted(run.architecture, run.task.skip).came
        found[f"floor.{part}"] = np.full(len(lines), -each.truth[:, came].mean())
    return {"step": np.array(steps, dtype=np.int64), **found}


def _line(run: Run, every: dict[str, Examples], step: int, member: int) -> dict[str, float]:
    """What one member would have logged at one step; judge.py computes the same while a model is trained."""
    came = counted(run.architecture, run.task.skip).came
    seen = {part: predictions(run, each, step, member) for part, each in every.items()}
    known = {part: {name: getattr(each, name)[:, came] for name in ("truth", "kind", "constrained", "answerable")}
             for part, each in every.items()}  # fmt: skip
    line = {f"{part}_loss": float(each["nats"].mean()) for part, each in seen.items()}
    line["train_excess"] = line["train_loss"] + float(known["train"]["truth"].mean())
    line["excess"] = line["validation_loss"] + float(known["validation"]["truth"].mean())
    if run.task.measure == "rule_error":
        wrong = 1 - seen["validation"]["allowed"]
        for name, chosen in (("rule_error", "constrained"), ("rule_error_answerable", "answerable")):
            line[name] = _mean(wrong[known["validation"][chosen]])
        return line
    line["train_accuracy"] = _mean(seen["train"]["right"])
    held_out = [part for part in every if part != "train"]
    right = np.concatenate([seen[part]["right"].ravel() for part in held_out])
    kinds = np.concatenate([known[part]["kind"].ravel() for part in held_out])
    line["accuracy"] = _mean(right)
    return line | {f"accuracy_by_kind.{kind}": _mean(right[kinds == k]) for k, kind in enumerate(run.task.kinds)}


def predictions(run: Run, examples: Examples, step: int, member: int) -> dict[str, Array]:
    """(window, place) of the predictions that count: `nats`; `right` and `allowed`, 1 or 0; NaN where it diverged."""
    windows, (read, came) = examples.windows, counted(run.architecture, run.task.skip)
    rows: list[dict[str, Array]] = []
    for begin in range(0, len(windows), many := fitting(run, TOGETHER)):
        some = slice(begin, begin + many)
        logits = run.trace(windows[some, :-1], step=step, member=member)["logits"][:, read].astype(np.float64)
        logs = reference.log_softmax(logits)
        came_next, guess = windows[some, 1:][:, came], logs.argmax(-1)
        finite = np.isfinite(logits).all(-1)
        found: dict[str, Any] = {"nats": -np.take_along_axis(logs, came_next[..., None], -1)[..., 0]}
        found["right"] = guess == came_next
        found["allowed"] = np.take_along_axis(examples.allowed[some, came], guess[..., None], -1)[..., 0]
        rows.append({name: np.where(finite, value, np.nan) for name, value in found.items()})
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def _mean(values: Array) -> float:
    return float(values.mean()) if values.size else float("nan")
