"""What happened when: rungs, kinds, parts and attention on one axis, and the phases of the training."""

import numpy as np

from glassformer import summary
from glassformer.analyses import _clock, _judged
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, result, shared, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.analyses._sought import copied
from glassformer.analyses.attend.head_roles import ANSWER, NEEDED, head_roles
from glassformer.analyses.learn.by_kind import FREE, NOT_IN_VIEW, PASSED, by_kind, logged, passed
from glassformer.analyses.path.birth import LARGE, birth
from glassformer.run import Run

ORDER = 10
ANSWERS = ("1.P2", "1.P3", "1.P4", "1.P11")
COST = "c"

PHASES = ("early", "middle", "late")
ENDS = ("begin", "end")
BY_TIME = (0.0, 0.2, 0.6, 1.0)  # shares of the training at which textbooks divide it: epochs 10 and 30 of 50
RESOLVED = 2  # logged intervals that the early and the middle phase must have for their bends to mean anything
LEVELS = (0.5, 0.9)  # of attention on the answer
STILL, LONG, LEFT = 0.04, 0.05, 0.1  # plateau: fall under this share of the ladder, so long, with so much left


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return None if len(_clock.metrics(run)["step"]) > 1 else "fewer than two lines were logged during this training"


@result
class Timeline(Result):
    """The step of every event; NaN where it did not happen."""

    loss: Labelled  # (step,): held-out loss, smoothed
    rungs: Labelled  # (rung,): first logged step on each rung
    between: tuple[str, ...]  # the two rungs between which the loss ends; empty: it ends on one
    right: float  # first logged step with 95 % of all answers (a rule's: those in view) right; NaN: never, no answers
    answers: str  # what these are
    kinds: Labelled  # (kind,): first logged or judged step with 95 % right
    born: Labelled  # (part,): needed for good from here on, averaged; without single neurons
    attention: Labelled  # (share,): first step from which a head keeps this much of its attention on the answer
    attention_last: float  # what the best head gives the answer at the end, on average over questions; NaN: unmeasured
    plateaus: Labelled  # (rank, statistic): begin and end of stretches in which the loss hardly falls, with much left
    phases: Labelled  # (part, statistic): begin and end, between the bends of the loss; NaN where the log cannot tell
    by_time: Labelled  # (part, statistic): the same of a fifth, two fifths and two fifths of the training
    fall: Labelled  # (part,): share of the whole fall of the loss within each phase
    fall_by_time: Labelled  # (part,): the same within the fifths
    every: int  # steps between two logged lines, as a rule, later on
    sooner: bool  # whether lines were logged more closely at first
    scale: Scale
    copied: bool  # whether what attention looks up is the answer itself, or a token the rule needs

    @property
    def title(self) -> str:
        """When the answers are right, when the probabilities are, and where the loss bends."""
        losses = self.loss.values
        if np.isfinite(losses).any() and not np.isfinite(losses[-1]):
            return fate("the loss is not a number", int(np.array(self.loss.axes["step"].values)[-1]))
        return f"{_learnt(self)}; {_bends(self)}"


@shared
def timeline(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> Timeline:
    """Every event of a training with its step; phases end where the loss curve bends."""
    at, raw = _clock.metrics(run)["step"], _clock.metric(run, "validation_loss", member)
    low = np.full(len(at), np.nan) if raw is None else _clock.smooth(raw)
    rungs = _clock.passed(run, member)
    levels, looked = _attention(run, member)
    excess = _clock.metric(run, "excess", member) if run.task.exact else None
    left = float("inf") if excess is None else float(excess[-1])
    ends_at = summary.place([rung for rung, _ in rungs], float("nan") if raw is None else float(raw[-1]), left)[:2]
    phases = _phases(at, low)
    by_time = np.array(BY_TIME) * float(at[-1])
    ends = {"part": PHASES, "statistic": ENDS}
    return Timeline(
        **_clock.over_life(run, step, member),
        loss=Labelled(low, {"step": at}, "nats per token"),
        rungs=Labelled(_steps([when for _, when in rungs]), {"rung": _clock.rung_axis(r for r, _ in rungs)}, "step"),
        between=tuple(rung.name for rung in ends_at if rung) if ends_at[1] else (),
        right=_right(run, member),
        answers="answers in view" if run.task.measure == "rule_error" else "answers",
        kinds=_kinds(run, member),
        born=_born(run, member),
        attention=Labelled(levels, {"share": LEVELS}, "step"),
        attention_last=looked,
        plateaus=_plateaus(run, at, low),
        phases=Labelled(np.stack([phases[:-1], phases[1:]], -1), ends, "step"),
        by_time=Labelled(np.stack([by_time[:-1], by_time[1:]], -1), ends, "step"),
        fall=Labelled(_fall(at, low, phases), {"part": PHASES}, "share"),
        fall_by_time=Labelled(_fall(at, low, by_time), {"part": PHASES}, "share"),
        every=int(np.median(np.diff(at)[-max(1, len(at) // 2) :])),
        sooner=bool(np.diff(at)[0] < 0.5 * np.median(np.diff(at)[-max(1, len(at) // 2) :])),
        scale=spaced(run, axis, member),
        **_judged.about(run),
        copied=copied(run),
    )


def _steps(found: list[int | None]) -> Array:
    return np.array([np.nan if step is None else step for step in found], dtype=float)


def _right(run: Run, member: int) -> float:
    """The first logged step with 95 % right, of all questions or of the answers in view."""
    rule = run.task.measure == "rule_error"
    values = _clock.metric(run, "rule_error_answerable" if rule else "accuracy", member)
    good = np.zeros(1, bool) if values is None else (1 - values if rule else values) >= PASSED
    return float(_clock.metrics(run)["step"][np.argmax(good)]) if good.any() else float("nan")


def _kinds(run: Run, member: int) -> Labelled:
    """Without what cannot be right or wrong: answers out of view, and places the rule leaves unconstrained."""
    if (told := logged(run, member)) is not None:
        return passed(told)
    if run.parameters >= LARGE:
        return Labelled(np.zeros(0), {"kind": ()}, "step")
    found = by_kind(run, member=member).passed
    names = found.axes["kind"].labels
    some = [k for k, name in enumerate(names) if name not in (NOT_IN_VIEW, FREE)]
    return Labelled(found.values[some], {"kind": tuple(names[k] for k in some)}, "step")


def _born(run: Run, member: int) -> Labelled:
    """The births of the large parts; none of models so large that it would take minutes."""
    if run.parameters >= LARGE:
        return Labelled(np.zeros(0), {"part": ()}, "step")
    parts = birth(run, member=member, neurons=0, ways=("mean",)).born
    return Labelled(parts.values[:, 0], {"part": parts.axes["part"].labels}, "step")


def _phases(at: Array, low: Array) -> Array:
    """(4,): begin, the two bends of the best three straight lines through the curve, end.

    NaN where it never fell, or fell within so few logged lines that the bends are only those of the log.
    """
    if len(at) < 4 or not np.isfinite(low).all() or low[0] - low.min() <= 0:
        return np.full(4, np.nan)
    last = len(at) - 1
    error = _straight(at.astype(float), low)
    best = min((error[0, i] + error[i, j] + error[j, last], i, j) for i in range(1, last) for j in range(i + 1, last))
    if min(best[1], best[2] - best[1]) < RESOLVED:
        return np.full(4, np.nan)
    return np.array([at[0], at[best[1]], at[best[2]], at[-1]], dtype=float)


def _straight(x: Array, y: Array) -> Array:
    """(line, line): the squared error of the best straight line through the points from one to another."""
    sums = [np.concatenate([[0], np.cumsum(each)]) for each in (np.ones(len(x)), x, y, x * x, x * y, y * y)]
    n, sx, sy, sxx, sxy, syy = (each[None, 1:] - each[:-1, None] for each in sums)
    n = np.maximum(n, 1)
    xx, xy, yy = sxx - sx * sx / n, sxy - sx * sy / n, syy - sy * sy / n
    return np.maximum(yy - np.where(xx > 0, xy * xy / np.where(xx > 0, xx, 1), 0), 0)


def _fall(at: Array, low: Array, ends: Array) -> Array:
    """(phase,): the share of the whole fall between successive ends."""
    if not np.isfinite(ends).all() or not np.isfinite(low).all() or len(at) < 2:
        return np.full(len(ends) - 1, np.nan)
    there = np.interp(ends, at, low)
    whole = low[0] - low[-1]
    return -np.diff(there) / whole if whole > 0 else np.full(len(ends) - 1, np.nan)


def _plateaus(run: Run, at: Array, low: Array) -> Labelled:
    """Stretches in which the best loss so far hardly falls though much is left, the longest ones first found."""
    rungs = [rung.nats for rung in _clock.ladder(run) if rung.reachable]
    height = max(rungs[0] - rungs[-1], 1e-9)
    best = np.minimum.accumulate(low) if np.isfinite(low).all() else np.zeros(0)
    found: list[tuple[int, int]] = []
    i = 0
    while i < len(best):
        j = int(np.searchsorted(-best, -(best[i] - STILL * height), side="left"))  # first line that fell far enough
        last = max(min(j, len(best)) - 1, i)  # of a loss so large that a step down is lost in it, this line alone
        if best[i] - rungs[-1] > LEFT * height and at[last] - at[i] >= LONG * at[-1]:
            near = found and i - int(np.searchsorted(at, found[-1][1])) <= 2  # one plateau with a small step in it
            found[-1:] = [(found[-1][0], int(at[last]))] if near else [*found[-1:], (int(at[i]), int(at[last]))]
            i = last + 1
        else:
            i += 1
    axes = {"rank": numbers(len(found)), "statistic": ENDS}
    return Labelled(np.array(found, dtype=float).reshape(-1, 2), axes, "step")


def _attention(run: Run, member: int) -> tuple[Array, float]:
    """(level,): the first step from which some head always keeps so much of its attention on the answer; the last."""
    nothing = np.full(len(LEVELS), np.nan), float("nan")
    if run.architecture.attention != "on" or run.parameters >= LARGE:
        return nothing
    seen = head_roles(run, member=member)
    roles = seen.life.axes["role"].labels
    looked_up = [k for k, name in enumerate(roles) if name in (ANSWER, NEEDED)]
    if not looked_up:
        return nothing
    role = looked_up[0]
    share = seen.life.values[..., role] / 100 + seen.uniform.values[role]  # (step, block, head)
    best = np.nan_to_num(share.reshape(len(seen.steps), -1)).max(-1)
    found = []
    for level in LEVELS:
        below = np.flatnonzero(best < level)
        first = int(below[-1]) + 1 if len(below) else 0
        found.append(seen.steps[first] if first < len(seen.steps) else None)
    return _steps(found), float(best[-1])


def _learnt(seen: Timeline) -> str:
    """Right answers against right probabilities."""
    names, steps = seen.rungs.axes["rung"].values, seen.rungs.values
    reached = [k for k in range(len(steps)) if np.isfinite(steps[k])]
    answers = (
        f"95 % of {seen.answers} are right by step {thousands(int(seen.right))}" if np.isfinite(seen.right) else ""
    )
    if not reached:
        return answers or "No rung of the ladder is reached"
    name, when = names[reached[-1]], thousands(int(steps[reached[-1]]))
    if reached[-1] == len(steps) - 1:
        rung = f"probabilities (rung “{name}”) by step {when}"
        return f"{answers}, {rung}" if answers else f"The lowest rung, “{name}”, is reached by step {when}"
    last = f"the last rung reached is “{name}”, by step {when}"
    last = f"it ends between the rungs “{'” and “'.join(seen.between)}”" if seen.between else last
    return f"{answers}; {last}" if answers else last[0].upper() + last[1:]


def _bends(seen: Timeline) -> str:
    phases, losses = seen.phases.values, seen.loss.values
    if np.isfinite(phases).all():
        bends = [thousands(int(step)) for step in phases[1:, 0]]
        return f"the loss bends at steps {bends[0]} and {bends[1]}"
    if not np.isfinite(losses).all():
        return "the loss is not a number to the end, so there are no phases"
    if len(losses) and losses[0] > losses.min():
        return f"the loss, logged every {thousands(seen.every)} steps, falls too quickly to be divided into phases"
    return "the loss never fell, so there are no phases"
