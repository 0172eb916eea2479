"""The age of a model in words, and the ages worth looking at."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from glassformer import summary
from glassformer.analyses import _evaluation
from glassformer.analyses._result import Array, Axis, thousands
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks import Rung

FEW = 25  # logged lines under which nothing is smoothed
SMOOTH = 5  # logged lines of the running median that decides when a rung is passed


def metrics(run: Run) -> dict[str, Array]:
    """What was logged, each metric over its steps; for an edited run, what the edited model scores at some saved steps.

    What only a training has (rates, gradients, updates) is missing then.
    """
    if not run.edits:
        return run.metrics
    return _evaluation.metrics(run, tuple(looks(run.unedited, max(2, _evaluation.most_steps(run) // run.members))))


def metric(run: Run, name: str, member: int = 0, table: Mapping[str, Array] | None = None) -> Array | None:
    """(line,): a metric of one member over the lines of `metrics`, or of another table; None where it has none."""
    column = (metrics(run) if table is None else table).get(name)
    if column is None or not len(column):
        return None
    return column[:, member] if column.ndim == 2 and run.members > 1 else column


def logged(run: Run, name: str, step: int, member: int = 0) -> tuple[float, bool] | None:
    """A metric at a step, and whether it was logged there; if not, it is on the straight line between its neighbours.

    So the number stands on the curve that is drawn.
    """
    values = metric(run, name, member)
    return None if values is None else between(metrics(run)["step"], values, step)


def between(steps: Array, values: Array, step: int) -> tuple[float, bool]:
    """The value of a curve at a step, and whether one of its points is there."""
    line = int(np.argmin(np.abs(steps - step)))
    if steps[line] == step:
        return float(values[line]), True
    return float(np.interp(step, steps, values)), False


def window_floor(run: Run, member: int = 0, part: Literal["train", "validation"] = "validation") -> float:
    """What the exact predictor pays on all windows that are judged: the loss less its excess; NaN: not known."""
    over = "excess" if part == "validation" else "train_excess"
    losses, excess = (metric(run, name, member) for name in (f"{part}_loss", over))
    if losses is None or excess is None:
        return float("nan")
    known = (losses - excess)[np.isfinite(losses)]
    return float(known[-1]) if len(known) else float("nan")


def judged(run: Run, part: str = "validation") -> Array | None:
    """(line,): how many windows of a part are behind each line; None where a run does not say."""
    many = metrics(run).get(f"judged.{part}")
    return many if many is not None and np.isfinite(many).all() else None


def floors(run: Run, part: str) -> Array | None:
    """(line,): what the exact predictor pays on the windows behind each line; None where a run does not say."""
    if metrics(run) is not run.metrics:  # evaluated, each line on the same windows
        return metrics(run).get(f"floor.{part}")
    every, before, many = (run.about.get(name) for name in ("floors", "floors_before", "judged"))
    if not isinstance(every, dict) or part not in every:
        return None
    lines, behind = np.full(len(run.metrics["step"]), float(every[part])), judged(run, part)
    if behind is not None and isinstance(before, dict) and isinstance(many, dict) and part in before:
        lines[behind < many["last"][part]] = float(before[part])
    return lines


def total(run: Run) -> int:
    """How many steps the training was meant to have, or had."""
    return max(run.experiment.train.steps, run.last_step)


def resolve(run: Run, step: int = -1) -> int:
    """The step itself, with -1 as the last kept one; one that was not kept is refused with the nearest."""
    return int(run._entry(step).step)


def text(run: Run, step: int = -1, member: int = 0) -> str:
    """`step 5 000 of 20 000 · loss 2.06 · excess 0.23`; ≈ where it was not logged at this very step."""
    return at(run, resolve(run, step), member)


def at(run: Run, step: int, member: int = 0) -> str:
    """The same of any step, kept or not."""
    parts = [f"step {thousands(step)} of {thousands(total(run))}"]
    for shown, name in (("loss", "validation_loss"), ("excess", "excess")) if not run.edits else ():
        if found := logged(run, name, step, member):
            value, exact = found
            number = f"{value:.2f}".replace("-", "\u2212") if np.isfinite(value) else "not a number"
            parts.append(f"{shown} {'' if exact else '≈ '}{number}")
    if run.members > 1:
        parts.insert(0, f"seed {run.seeds[member]}")
    return " · ".join(parts) + edited(run)


def at_step(run: Run, step: int, member: int) -> dict[str, Any]:
    """`step` and `clock` of a result that shows one kept step."""
    return {"step": step, "clock": text(run, step, member)}


def over_life(run: Run, step: int, member: int) -> dict[str, Any]:
    """`step` and `clock` of a result that shows a whole life, with one step marked if it was asked for."""
    return {"step": None if step == -1 else resolve(run, step), "clock": text(run, step, member)}


def edited(run: Run) -> str:
    """` · edited: zero(mixed)`; empty for a run as it was trained."""
    return f" · edited: {', '.join(map(str, run.edits))}" if run.edits else ""


def ladder(run: Run) -> list[Rung]:
    """The rungs of a run's task, highest first; of rungs that cost the same the last stands for all."""
    merged: list[Rung] = []
    for rung in run.task.ladder(run.architecture.context):
        last = merged[-1] if merged else None
        if last and abs(last.nats - rung.nats) < 1e-6 and last.reachable == rung.reachable:
            merged[-1] = replace(rung, also=(*last.also, last.name))
        else:
            merged.append(rung)
    return merged


def rung_axis(rungs: Iterable[Rung]) -> Axis:
    """Rungs as the places of an axis, each called by its name and those of the rungs that it stands for."""
    named = {rung.name: ", ".join((*rung.also, rung.name)) for rung in rungs}
    return Axis(tuple(named), tuple(named.values()))


def smooth(values: Array, lines: int = SMOOTH) -> Array:
    """Running median over an odd number of lines, fewer towards both ends; as it is where few lines were logged."""
    half = lines // 2
    if len(values) < FEW:
        return values
    middle = np.lib.stride_tricks.sliding_window_view(values, 2 * half + 1)
    found = values.astype(np.float64)
    found[half : len(values) - half] = np.median(middle, axis=1)
    for k in range(1, half):
        found[k], found[-1 - k] = np.median(values[: 2 * k + 1]), np.median(values[-2 * k - 1 :])
    return found


def slack(run: Run) -> float:
    """How far above a rung a loss still counts as on it, in nats."""
    return summary.slack([rung for rung in ladder(run) if rung.reachable])


def passed(
    run: Run, member: int = 0, table: Mapping[str, Array] | None = None
) -> list[tuple[Rung, int | None]]:  # fmt: skip
    """Each reachable rung, and the first logged step at which the validation loss, also smoothed, stands on or below.

    "On" is within a fiftieth of the ladder's height, as in the summary of a run; on the floor stands as well what is as
    near to that of the very windows judged. None: not reached.
    """
    rungs = [rung for rung in ladder(run) if rung.reachable]
    table = metrics(run) if table is None else table
    losses = metric(run, "validation_loss", member, table)
    if losses is None:
        return [(rung, None) for rung in rungs]
    near = slack(run)
    low, steps = smooth(losses), table["step"]
    found: list[tuple[Rung, int | None]] = []
    excess = metric(run, "excess", member, table) if run.task.exact else None
    for rung in rungs:
        on = (low <= rung.nats + near) & (losses <= rung.nats + near)
        if rung is rungs[-1] and excess is not None:
            on |= (smooth(excess) <= near) & (excess <= near)
        below = np.flatnonzero(on)
        found.append((rung, int(steps[below[0]]) if len(below) else None))
    return found


def nearest(run: Run, step: int) -> int:
    """The kept step nearest to a step."""
    return int(run.steps[np.argmin(np.abs(run.steps - step))])


def moments(run: Run, most: int | None = None, member: int = 0) -> list[int]:
    """Kept steps worth a panel: first, last, and where the training passed a rung."""
    first, last = resolve(run, int(run.steps[0])) if len(run.steps) else resolve(run), resolve(run)
    between = {nearest(run, step) for _, step in passed(run, member, run.metrics) if step is not None}
    inner = sorted(between - {first, last})
    if most is not None and len(inner) > most - 2:  # keep the latest: early rungs are passed within a few steps
        inner = inner[len(inner) - max(most - 2, 0) :]
    return sorted({first, *inner, last})


def chosen(
    run: Run, steps: "list[int] | tuple[int, ...] | None", most: int | None = None, member: int = 0
) -> list[int]:
    """The steps asked for, each checked; None: `moments`."""
    return moments(run, most, member) if steps is None else [resolve(run, int(step)) for step in steps]


def kept(run: Run, most: int = 200, pace: Literal["even", "change"] = "even", member: int = 0) -> list[int]:
    """At most so many kept steps, first and last among them: even in steps, or in how far the weights move."""
    if pace not in ("even", "change"):
        raise CallError(f"pace = {pace!r} is neither 'even' (in steps) nor 'change' (in what moves)")
    resolve(run)
    steps = run.steps
    if len(steps) <= most:
        return [int(step) for step in steps]
    if pace == "even":
        wanted = np.linspace(steps[0], steps[-1], most)
        after = np.clip(np.searchsorted(steps, wanted), 1, len(steps) - 1)
        closer = np.where(wanted - steps[after - 1] < steps[after] - wanted, after - 1, after)
        return [int(step) for step in np.unique(steps[closer])]
    candidates = np.array(kept(run, 4 * most))
    lives = [run.unedited.weights(int(step), member) for step in candidates]
    flat = [np.concatenate([weights.ravel() for weights in at.values()]) for at in lives]
    with np.errstate(all="ignore"):  # weights on their way out of all bounds
        moves = np.array([float(np.linalg.norm(b.astype(np.float64) - a)) for a, b in pairwise(flat)])
    moved = np.concatenate([[0], np.cumsum(np.where(np.isfinite(moves), moves, 0))])  # what is no number has no length
    picked = np.searchsorted(moved, np.linspace(0, moved[-1], most))
    picked[-1] = len(candidates) - 1  # the last step, also where nothing moves towards it
    return [int(step) for step in np.unique(candidates[np.clip(picked, 0, len(candidates) - 1)])]


def looks(run: Run, most: int, member: int = 0) -> list[int]:
    """At most so many kept steps to judge a life by: as close in what the loss has gained as they are in time.

    Most of a long training changes little; evenly spaced looks would miss the part in which everything is learnt.
    """
    resolve(run)
    steps = run.steps
    if len(steps) <= most:
        return [int(step) for step in steps]
    picked = np.searchsorted(_progress(run, steps, member), np.linspace(0, 1, most))
    return [int(step) for step in np.unique(steps[np.clip(picked, 0, len(steps) - 1)])]


def lines(run: Run, most: int, member: int = 0) -> list[int]:
    """Places of at most so many logged lines, chosen like the looks: each in turn the one farthest from the others."""
    steps = metrics(run)["step"]
    if len(steps) <= most:
        return list(range(len(steps)))
    clock = _progress(run, steps, member)
    picked = [0, len(steps) - 1]
    while len(picked) < most:
        picked.append(int(np.argmax(np.abs(clock[:, None] - clock[picked]).min(axis=1))))
    return sorted(set(picked))


def _progress(run: Run, steps: Array, member: int) -> Array:
    """(step,): how far a life has come, 0 to 1: half by the clock, half by what the best loss so far has gained."""
    clock: Array = (steps - steps[0]) / (steps[-1] - steps[0])
    losses = metric(run, "validation_loss", member, run.metrics)
    if losses is not None and len(losses) and np.isfinite(losses[0]):
        best = np.interp(steps, run.metrics["step"], np.fmin.accumulate(losses))
        if best[-1] < best[0]:
            clock = (clock + (best[0] - best) / (best[0] - best[-1])) / 2
    return clock
