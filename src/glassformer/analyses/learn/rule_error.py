"""How often the rule is broken: where the answer is in view and where it is not, likeliest token and sampled."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._result import Array, Labelled, Result, Words, thousands, result
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 30
ANSWERS = ("4.02",)
COST = "b"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return None if run.task.measure == "rule_error" else "this task has no rule that constrains only some positions"


CHOICES = ("arg-max", "sampled")


@result
class RuleError(Result):
    """Teacher-forced rule error on held-out windows."""

    error: Labelled  # (where, choice, step): in view, not in view; arg-max, sampled at T = 1
    best: Labelled  # (where,): the least error any model with this window can reach, exact
    shares: Labelled  # (verdict, step): right, wrong, not in view; of the constrained positions, by arg-max
    by_distance: Labelled  # (distance, choice): at the chosen step; the last distance is "not in view"
    interval: Labelled  # (distance, bound): 95 % of the arg-max error, after Wilson
    counts: Labelled  # (distance,)
    hidden: float  # exact share of constrained positions whose answer is not in view
    windows: int
    steps: int


def rule_error(run: Run, *, step: int = -1, member: int = 0) -> RuleError:
    """The error over life and, at one step, by how far back the answer lies."""
    if run.task.measure != "rule_error":
        raise CallError(f"task {run.experiment.task_name} has no rule that speaks about some positions only")
    now = _clock.resolve(run, step)
    at, most = _judged.life(run, step, member)
    error, shares = np.full((2, 2, len(at)), np.nan), np.full((3, len(at)), np.nan)
    for k, each in enumerate(at):
        seen = _judged.judged(run, each, member, most)
        answerable, hidden = seen.examples.answerable, seen.hidden
        for where, chosen in enumerate((answerable, hidden)):
            error[where, 0, k] = _judged.mean(seen.error, chosen)
            error[where, 1, k] = 1 - _judged.mean(seen.chance_right, chosen)
        whole = max(int(seen.examples.constrained.sum()), 1)
        good = int((seen.right & answerable).sum())
        if seen.finite.all():
            shares[:, k] = np.array([good, int(answerable.sum()) - good, int(hidden.sum())]) / whole
    known = getattr(run.task, "shares", None)
    exact = known(run.architecture.context) if known else None
    away = 1 - exact.answerable if exact else 0.0
    final = _judged.judged(run, now, member, most)
    names, distance, interval, counts = _by_distance(run, final)
    steps = tuple(map(str, at))
    places = ("in view", "not in view")
    return RuleError(
        step=now,
        clock=_clock.text(run, step, member),
        error=Labelled(error, {"where": places, "choice": CHOICES, "step": steps}, "share"),
        best=Labelled(
            np.array([0.0, exact.least_error / away if exact and away > 1e-9 else np.nan]), {"where": places}, "share"
        ),
        shares=Labelled(shares, {"verdict": ("right", "wrong", "not in view"), "step": steps}, "share"),
        by_distance=Labelled(distance, {"distance": names, "choice": CHOICES}, "share"),
        interval=Labelled(interval, {"distance": names, "bound": ("low", "high")}, "share"),
        counts=Labelled(counts, {"distance": names}, "positions"),
        hidden=float(away),
        windows=len(final.examples.windows),
        steps=_clock.total(run),
    )


def _by_distance(run: Run, seen: _judged.Judged) -> tuple[tuple[str, ...], Array, Array, Array]:
    back = distances(run, seen)
    present = [d for d in range(run.architecture.context) if (back == d).any()]
    groups = [back == d for d in present] + ([seen.hidden] if seen.hidden.any() else [])
    names = tuple(f"{d} back" for d in present) + (("not in view",) if seen.hidden.any() else ())
    error = np.array([[_judged.mean(seen.error, g), 1 - _judged.mean(seen.chance_right, g)] for g in groups])
    counts = np.array([int(g.sum()) for g in groups])
    wrong = np.array([int((~seen.right & g).sum()) for g in groups])
    interval = np.stack(_judged.wilson(wrong, counts), axis=-1).reshape(len(groups), 2)
    return names, error.reshape(len(groups), 2), interval, counts


def distances(run: Run, seen: _judged.Judged) -> Array:
    """(example, place): how many tokens before the last one in view the answer lies; -1 where it is not in view."""
    found = np.full(seen.examples.answerable.shape, -1)
    rows = seen.examples.windows
    if not hasattr(run.task, "source"):  # a task that knows the places of a whole window at once, or none
        at = np.array([run.task.source_position(row[:-1]) for row in rows])
        here = seen.examples.answerable & (at >= 0)
        return np.where(here, np.arange(at.shape[-1]) - at, found)
    for row, place in np.argwhere(seen.examples.answerable).tolist():
        found[row, place] = place - run.task.source(rows[row].tolist(), place)
    return found


def say(seen: RuleError) -> Words:
    """In view against not in view, and what is possible."""
    at = [int(label) for label in seen.error.axes["step"].labels]
    now = at.index(seen.step) if seen.step in at else len(at) - 1
    inside = seen.error.values[0, 0]
    away = [k for k, name in enumerate(seen.by_distance.axes["distance"].labels) if name == "not in view"]
    outside = float(seen.by_distance.values[away[0], 0]) if away else float("nan")
    near = [k for k in range(len(seen.counts.values)) if k not in away]
    asked = float(seen.counts.values[near].sum())
    reached = float(seen.counts.values[near] @ seen.by_distance.values[near, 0]) / asked if asked else float("nan")
    caption = (
        "Left: share of answers that break the rule, of those in view and of those not in view apart, on "
        f"{thousands(seen.windows)} held-out windows, looked at {len(at)} time{'s' if len(at) != 1 else ''} (dots), "
        "closest together where the loss fell; shorter relapses between two looks do not show (“loss” has the error "
        "of every logged line); solid is the likeliest token (arg-max), dotted the average over sampling at "
        "temperature 1. Colours tell whether the answer lies inside the window; dashed lines are the least any model "
        "with this window can reach, exact. Middle: the same positions as right, wrong and not in view, by arg-max. "
        "Right: error at the chosen step by how many tokens back the rule must look, on the same windows, with 95 % "
        "intervals and counts. These are answers to true sequences (teacher-forced); a model that writes freely is "
        "judged in “generated”. An error in view that stays up refutes that the rule was learnt."
    )
    if not np.isfinite(inside[now]) or not np.isfinite(reached):
        title = "No constrained position has its answer in view"
        if asked:
            title = f"At step {thousands(at[now])} the answers are not numbers: the training has diverged"
    else:
        if len(at) > 1 and now > 0:
            verb = "falls" if reached < inside[0] else "rises" if reached > inside[0] else "stays"
            move = (
                f"at {_judged.exactly(reached)}"
                if verb == "stays"
                else f"from {_judged.exactly(float(inside[0]))} to {_judged.exactly(reached)}"
            )
            title = f"Where the answer is in view, rule error {verb} {move} by step {thousands(at[now])}"
        else:
            move = _judged.exactly(reached)
            title = f"Where the answer is in view, rule error is {move} at step {thousands(at[now])}"
        if np.isfinite(outside):
            best, many = _judged.exactly(float(seen.best.values[1])), thousands(int(seen.counts.values[away[0]]))
            title += f"; where it is not, {_judged.exactly(outside)} of {many} (the least to be expected is {best})"
    return Words(title, caption, f"Error curves, stacked shares and bars by distance. {title}.")
