"""Which kinds of question are learnt when: accuracy and excess loss of each kind over life and at one step."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, thousands
from glassformer.analyses.rule_error import distances
from glassformer.run import Run

PASSED = 0.95  # accuracy at which a kind counts as learnt
NOT_IN_VIEW, FREE = "not in view", "free"


@dataclass(frozen=True, kw_only=True)
class ByKind(Result):
    """Accuracy of the likeliest token and excess over the exact predictor, by kind of question."""

    accuracy: Labelled  # (kind, step)
    excess: Labelled  # (kind, step): nats per token
    passed: Labelled  # (kind,): first judged step with at least 95 % right; NaN: never
    now: Labelled  # (kind, number): accuracy, low, high, excess, count; at the chosen step
    windows: int  # judged at each step of the curves
    steps: int


def by_kind(run: Run, *, step: int = -1, member: int = 0) -> ByKind:
    """Each kind over life, on held-out windows: the task's kinds, what is not in view, what the rule leaves free."""
    now = _clock.resolve(run, step)
    at, most = _judged.life(run, step, member)
    curves = [_measure(run, _judged.judged(run, each, member, most)) for each in at]
    names = list(curves[0][0])
    final = _judged.judged(run, now, member, most)
    last_names, last = _measure(run, final)
    kept = [k for k, name in enumerate(last_names) if last[k, 4] > 0]
    accuracy = np.array([[table[k, 0] for _, table in curves] for k in kept])
    excess = np.array([[table[k, 3] for _, table in curves] for k in kept])
    first = [np.flatnonzero(row >= PASSED) for row in accuracy]
    kinds = tuple(_exact(run, names[k], final) for k in kept)
    steps = tuple(map(str, at))
    return ByKind(
        step=now,
        clock=_clock.text(run, step, member),
        truth_known=run.task.exact,
        accuracy=Labelled(accuracy, {"kind": kinds, "step": steps}, "share"),
        excess=Labelled(excess, {"kind": kinds, "step": steps}, "nats per token"),
        passed=Labelled(
            np.array([at[f[0]] if len(f) else np.nan for f in first], dtype=float), {"kind": kinds}, "step"
        ),
        now=Labelled(last[kept], {"kind": kinds, "number": ("accuracy", "low", "high", "excess", "count")}, ""),
        windows=most,
        steps=_clock.total(run),
    )


def _measure(run: Run, seen: _judged.Judged) -> tuple[tuple[str, ...], Array]:
    """(kind, [accuracy, low, high, excess, count])."""
    kind, e = seen.examples.kind, seen.examples
    groups: dict[str, Array] = {}
    if run.task.kinds:
        groups = {name: kind == k for k, name in enumerate(run.task.kinds)}
    else:  # by the family of the token that came
        groups = {name: np.isin(seen.targets, list(tokens)) for name, tokens in run.task.groups.items()}
    if run.task.measure == "rule_error":
        groups |= {NOT_IN_VIEW: seen.hidden, FREE: ~e.constrained}
    table = np.full((len(groups), 5), np.nan)
    for k, (name, chosen) in enumerate(groups.items()):
        count, right = int(chosen.sum()), int((seen.right & chosen).sum())
        low, high = _judged.wilson(np.array(right), np.array(count))
        table[k] = [_judged.mean(seen.right, chosen), low, high, _judged.mean(seen.excess, chosen), count]
        if name == FREE:  # anything is right there
            table[k, :3] = np.nan
    return tuple(groups), table


def _exact(run: Run, name: str, seen: _judged.Judged) -> str:
    """`3 back` in place of `3 or more back` where no answer lies farther."""
    if run.task.measure != "rule_error" or " or more back" not in name:
        return name
    back = distances(run, seen)
    found = np.unique(back[back >= int(name.partition(" ")[0])])
    return f"{int(found[0])} back" if len(found) == 1 else name


def say(seen: ByKind) -> Words:
    """Which kind came first, which is worst."""
    caption = (
        "Top: share of right arg-max answers by kind of question over training; a large mark is the first judged step "
        f"with 95 % right. Bottom: loss above {seen.predictor} on the same tokens, by kind, so also where anything may "
        "follow (free). Right: the accuracies at the chosen step with 95 % Wilson intervals and counts. "
        + (
            "Kinds are the task's own: operations, or how many tokens back the rule must look. "
            if seen.truth_known
            else "Kinds are the families of the token that came; right is only that very token. "
        )
        + f"All is measured on the same {seen.windows} held-out windows. If kinds "
        "were learnt together, their curves would lie on each other."
    )
    names, table, passed = seen.now.axes["kind"], seen.now.values, seen.passed.values
    judged = [k for k in range(len(names)) if np.isfinite(table[k, 0]) and names[k] != NOT_IN_VIEW]
    learnt = [k for k in judged if np.isfinite(passed[k])]
    if not np.isfinite(table[:, 3]).any():
        title = "The losses are not numbers: the training has diverged"
    elif not judged:
        title = f"At step {thousands(seen.step or 0)} no question has its answer in view"
    elif len(judged) == 1:
        k = judged[0]
        when = f"95 % is first passed at step {thousands(int(passed[k]))}" if k in learnt else "95 % is never passed"
        title = f"{_judged.exactly(table[k, 0])} of the {_said(names[k])[0]} are right; {when}"
    elif learnt:
        order = sorted(learnt, key=lambda k: passed[k])
        first, last = order[0], order[-1]
        early = [_said(names[k])[n > 0] for n, k in enumerate(k for k in order if passed[k] == passed[first])]
        title = f"{listed(early)} pass 95 % first, at step {thousands(int(passed[first]))}"
        if len(learnt) < len(judged):
            worst = min((k for k in judged if k not in learnt), key=lambda k: table[k, 0])
            title += f"; {_said(names[worst])[1]} never do and stand at {_judged.exactly(table[worst, 0])}"
        elif passed[last] > passed[first]:
            title += f", {_said(names[last])[1]} last, at step {thousands(int(passed[last]))}"
        else:
            title = f"All kinds of question pass 95 % at the same judged step, {thousands(int(passed[first]))}"
    else:
        best, worst = max(judged, key=lambda k: table[k, 0]), min(judged, key=lambda k: table[k, 0])
        title = f"No kind has passed 95 %: {_said(names[best])[0]} stand at {_judged.exactly(table[best, 0])}"
        if worst != best:
            title += f", {_said(names[worst])[1]} at {_judged.exactly(table[worst, 0])}"
    title = title[0].upper() + title[1:]
    return Words(title, caption, f"Curves by kind of question and bars at one step. {title}.")


def _said(kind: str) -> tuple[str, str]:
    """A kind of question at its first mention, and after another."""
    if kind.endswith("back"):
        return f"questions that need a look {kind}", f"those that need one {kind}"
    return f"questions “{kind}”", f"“{kind}”"
