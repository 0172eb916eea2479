"""What happened when: rungs, kinds, parts and attention on one axis, and the phases of the training."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, shared, thousands
from glassformer.analyses._sought import copied, sought
from glassformer.analyses.birth import LARGE, birth
from glassformer.analyses.by_kind import FREE, NOT_IN_VIEW, by_kind
from glassformer.analyses.head_roles import ANSWER, NEEDED, head_roles
from glassformer.run import Run

PHASES = ("early", "middle", "late")
CLAIMED = (0.0, 0.2, 0.6, 1.0)  # the source: epochs 1 to 10, 11 to 30, 31 to 50
LEVELS = (0.5, 0.9)  # of attention on the answer
STILL, LONG, LEFT = 0.04, 0.05, 0.05  # plateau: fall under this share of the ladder, so long, with so much left


@dataclass(frozen=True, kw_only=True)
class Timeline(Result):
    """The step of every event; NaN where it did not happen."""

    loss: Labelled  # (step,): held-out loss, smoothed
    rungs: Labelled  # (rung,): first logged step on each rung
    kinds: Labelled  # (kind,): first judged step with 95 % right
    born: Labelled  # (part,): needed for good from here on, averaged; without single neurons
    attention: Labelled  # (level,): first step from which a head keeps this much of its attention on the answer
    plateaus: Labelled  # (plateau, end): stretches in which the loss hardly falls though much is left
    phases: Labelled  # (phase, end): measured
    claimed: Labelled  # (phase, end): as the source has them
    fall: Labelled  # (phase, whose): share of the whole fall of the loss within each phase
    steps: int
    copied: bool  # whether what attention looks up is the answer itself, or a token the rule needs


@shared
def timeline(run: Run, *, step: int = -1, member: int = 0) -> Timeline:
    """Every event of a training with its step; phases end where the loss curve bends."""
    at, raw = run.metrics["step"], _clock.metric(run, "validation_loss", member)
    low = np.full(len(at), np.nan) if raw is None else _clock.smooth(raw)
    steps = _clock.total(run)
    passed = _clock.passed(run, member)
    kinds = _kinds(run, member)
    born = _born(run, member)
    phases = _phases(at, low)
    claimed = np.array(CLAIMED) * (float(at[-1]) if len(at) else 0)
    ends = {"phase": PHASES, "end": ("begin", "end")}
    both = np.stack([_fall(at, low, phases), _fall(at, low, claimed)], -1)
    return Timeline(
        step=None if step == -1 else _clock.resolve(run, step),
        clock=_clock.text(run, step, member),
        loss=Labelled(low, {"step": tuple(map(str, at.tolist()))}, "nats per token"),
        rungs=Labelled(_steps([when for _, when in passed]), {"rung": tuple(rung.name for rung, _ in passed)}, "step"),
        kinds=kinds,
        born=born,
        attention=Labelled(_attention(run, member), {"level": tuple(f"{level:g}" for level in LEVELS)}, "step"),
        plateaus=_plateaus(run, at, low),
        phases=Labelled(np.stack([phases[:-1], phases[1:]], -1), ends, "step"),
        claimed=Labelled(np.stack([claimed[:-1], claimed[1:]], -1), ends, "step"),
        fall=Labelled(both, {"phase": PHASES, "whose": ("measured", "claimed")}, "share"),
        steps=steps,
        copied=copied(run),
    )


def _steps(found: list[int | None]) -> Array:
    return np.array([np.nan if step is None else step for step in found], dtype=float)


def _kinds(run: Run, member: int) -> Labelled:
    """Without what cannot be right or wrong: answers out of view, and places the rule leaves free."""
    if run.parameters >= LARGE:
        return Labelled(np.zeros(0), {"kind": ()}, "step")
    passed = by_kind(run, member=member).passed
    names = passed.axes["kind"]
    some = [k for k, name in enumerate(names) if name not in (NOT_IN_VIEW, FREE)]
    return Labelled(passed.values[some], {"kind": tuple(names[k] for k in some)}, "step")


def _born(run: Run, member: int) -> Labelled:
    """The births of the large parts; none of models so large that it would take minutes."""
    if run.parameters >= LARGE:
        return Labelled(np.zeros(0), {"part": ()}, "step")
    parts = birth(run, member=member, neurons=0, ways=("mean",)).born
    return Labelled(parts.values[:, 0], {"part": parts.axes["part"]}, "step")


def _phases(at: Array, low: Array) -> Array:
    """(4,): begin, the two bends of the best three straight lines through the curve, end; NaN where it never fell."""
    if len(at) < 4 or not np.isfinite(low).all() or low[0] - low.min() <= 0:
        return np.full(4, np.nan)
    last = len(at) - 1
    error = _straight(at.astype(float), low)
    best = min((error[0, i] + error[i, j] + error[j, last], i, j) for i in range(1, last) for j in range(i + 1, last))
    return np.array([at[0], at[best[1]], at[best[2]], at[-1]], dtype=float)


def _straight(x: Array, y: Array) -> Array:
    """(line, line): the squared error of the best straight line through the points from one to another."""
    sums = [np.concatenate([[0], np.cumsum(each)]) for each in (np.ones(len(x)), x, y, x * x, x * y, y * y)]
    n, sx, sy, sxx, sxy, syy = (each[None, 1:] - each[:-1, None] for each in sums)
    n = np.maximum(n, 1)
    xx, xy, yy = sxx - sx * sx / n, sxy - sx * sy / n, syy - sy * sy / n
    found: Array = np.maximum(yy - np.where(xx > 0, xy * xy / np.where(xx > 0, xx, 1), 0), 0)
    return found


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
        last = min(j, len(best)) - 1
        if best[i] - rungs[-1] > LEFT * height and at[last] - at[i] >= LONG * at[-1]:
            near = found and i - int(np.searchsorted(at, found[-1][1])) <= 2  # one plateau with a small step in it
            found[-1:] = [(found[-1][0], int(at[last]))] if near else [*found[-1:], (int(at[i]), int(at[last]))]
            i = last + 1
        else:
            i += 1
    names = {"plateau": tuple(str(k) for k in range(len(found))), "end": ("begin", "end")}
    return Labelled(np.array(found, dtype=float).reshape(-1, 2), names, "step")


def _attention(run: Run, member: int) -> Array:
    """(level,): the first step from which some head always keeps so much of its attention on the answer."""
    if run.architecture.attention != "on" or run.parameters >= LARGE:
        return np.full(len(LEVELS), np.nan)
    seen = head_roles(run, member=member)
    roles = seen.life.axes["role"]
    looked_up = [k for k, name in enumerate(roles) if name in (ANSWER, NEEDED)]
    if not looked_up:
        return np.full(len(LEVELS), np.nan)
    role = looked_up[0]
    share = seen.life.values[..., role] / 100 + seen.uniform.values[role]  # (step, block, head)
    best = np.nan_to_num(share.reshape(len(seen.steps), -1)).max(-1)
    found = []
    for level in LEVELS:
        below = np.flatnonzero(best < level)
        first = int(below[-1]) + 1 if len(below) else 0
        found.append(seen.steps[first] if first < len(seen.steps) else None)
    return _steps(found)


def say(seen: Timeline) -> Words:
    """When the fastest half of the learning was, and what the source's phases would hold."""
    phases, fall = seen.phases.values, seen.fall.values[:, 0]
    if not np.isfinite(phases).all():
        title = "The loss never fell for good, or was logged too rarely, so this training has no phases"
    else:
        bends = [thousands(int(step)) for step in phases[1:, 0]]
        pace = fall / np.maximum(phases[:, 1] - phases[:, 0], 1)
        shares = [percent(float(share)) for share in fall]
        title = (
            f"The loss bends at steps {bends[0]} and {bends[1]}: {shares[0]} of its fall comes before, {shares[1]} "
            f"between, {shares[2]} after; it is steepest in the {PHASES[int(pace.argmax())]} phase"
        )
    caption = (
        f"One axis of training steps. Top: the held-out loss, plateaus shaded (stretches of at least {percent(LONG)} "
        f"of the training in which it falls by less than {percent(STILL)} of the ladder while more than "
        f"{percent(LEFT)} is left). Lanes: rungs of the ladder first stood on; kinds of question with 95 % right; "
        "parts needed for good (see birth; single neurons left out); a head that keeps 50 % and 90 % of its attention "
        f"on {sought(seen.copied)}. Phases: early, middle and late are by definition divided where the three straight "
        "lines that fit the loss curve best meet; below them the source's, epochs 1 to 10, 11 to 30 and 31 to 50 of "
        "50; each with its share of the fall. Events between two looks are dated to the later one."
    )
    return Words(title, caption, f"A time line of events of the training in lanes. {title}.")
