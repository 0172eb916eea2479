"""How often the rule is broken: where the answer is in view and where it is not, likeliest token and sampled."""

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, result, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.run import Run

ORDER = 30
ANSWERS = ("4.02",)
COST = "b"
CHOICES = ("arg-max", "sampled")
NEAR = 0.01  # a point of a percentage


@result
class RuleError(Result):
    """Teacher-forced rule error on held-out windows."""

    error: Labelled  # (kind, choice, step): in view, not in view; arg-max, sampled at T = 1
    best: Labelled  # (kind,): the least error any model with this window can reach, exact, over all positions of one
    shares: Labelled  # (verdict, step): right, wrong, not in view; of the constrained positions, by arg-max
    by_distance: Labelled  # (distance, choice): at the chosen step; infinitely far back is what is not in view
    interval: Labelled  # (distance, statistic): 95 % of the arg-max error, after Wilson
    counts: Labelled  # (distance,)
    near: int | None  # the first look at which this error is at most a point above what is reached; None: there is none
    reached: float  # arg-max error at the chosen step, of all answers in view; NaN: none is, or not all are numbers
    hidden: float  # exact share of constrained positions whose answer is not in view, over all positions of a window
    hidden_full: float  # the same with the whole window in view
    context: int
    windows: int
    scale: Scale  # of the steps
    marked: int | None  # the step asked for, if one was

    @property
    def title(self) -> str:
        """In view against not in view, and what is possible."""
        away = np.isinf(np.array(self.counts.axes["distance"].values, dtype=float))
        if not self.counts.values[~away].sum():
            return "No constrained position has its answer in view"
        if not np.isfinite(self.reached):
            return fate("the answers are not numbers", self.step)
        first, step = float(self.error.values[0, 0, 0]), thousands(self.step or 0)
        of, title = _judged.exactly, "Where the answer is in view, rule error "
        if self.step == self.error.axes["step"].values[0]:
            title += f"is {of(self.reached)} at step {step}"
        elif self.reached == first:
            title += f"stays at {of(self.reached)} by step {step}"
        else:
            verb = "falls" if self.reached < first else "rises"
            title += f"{verb} from {of(first)} to {of(self.reached)} by step {step}"
            if self.near is not None and self.near < (self.step or 0):
                title += f", first within a point of that by step {thousands(self.near)}"
        for outside, many in zip(self.by_distance.values[away, 0], self.counts.values[away], strict=True):
            least = f"the least to be expected is {of(float(self.best.values[1]))}"
            title += f"; where it is not, {of(float(outside))} of {thousands(int(many))} ({least})"
        return title


def applies(run: Run) -> str | None:
    """That a rule speaks about some positions, and not about all."""
    return None if run.task.measure == "rule_error" else "this task has no rule that constrains only some positions"


def rule_error(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> RuleError:
    """The error over life and, at one step, by how far back the answer lies."""
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
    far, distance, interval, counts = _by_distance(run, final)
    near = np.isfinite(far.values)
    asked = float(counts[near].sum())
    reached = float(counts[near] @ distance[near, 0]) / asked if asked else float("nan")
    kinds = ("in view", "not in view")
    return RuleError(
        **_clock.at_step(run, now, member),
        held_out=_judged.held_out(run),
        error=Labelled(error, {"kind": kinds, "choice": CHOICES, "step": at}, "share"),
        best=Labelled(
            np.array([0.0, exact.least_error / away if exact and away > 1e-9 else np.nan]), {"kind": kinds}, "share"
        ),
        shares=Labelled(shares, {"verdict": ("right", "wrong", "not_in_view"), "step": at}, "share"),
        by_distance=Labelled(distance, {"distance": far, "choice": CHOICES}, "share"),
        interval=Labelled(interval, {"distance": far, "statistic": ("low", "high")}, "share"),
        counts=Labelled(counts, {"distance": far}, "positions"),
        near=next((s for s, e in zip(at, error[0, 0], strict=True) if e <= reached + NEAR), None),
        reached=reached,
        hidden=float(away),
        hidden_full=1 - known(run.architecture.context, full=True).answerable if known else 0.0,
        context=run.architecture.context,
        windows=len(final.examples.windows),
        scale=spaced(run, axis, member),
        marked=None if step == -1 else now,
    )


def _by_distance(run: Run, seen: _judged.Judged) -> tuple[Axis, Array, Array, Array]:
    back = distances(run, seen)
    present = [d for d in range(run.architecture.context) if (back == d).any()]
    groups = [back == d for d in present] + ([seen.hidden] if seen.hidden.any() else [])
    named = {float(d): f"{d} back" for d in present} | ({np.inf: "not in view"} if seen.hidden.any() else {})
    far = Axis(tuple(named), tuple(named.values()), "tokens")
    error = np.array([[_judged.mean(seen.error, g), 1 - _judged.mean(seen.chance_right, g)] for g in groups])
    counts = np.array([int(g.sum()) for g in groups])
    wrong = np.array([int((~seen.right & g).sum()) for g in groups])
    interval = np.stack(_judged.wilson(wrong, counts), axis=-1).reshape(len(groups), 2)
    return far, error.reshape(len(groups), 2), interval, counts


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
