"""Which kinds of question are learnt when: accuracy and excess loss of each kind over life and at one step."""

from dataclasses import dataclass, fields, replace

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, thousands, result
from glassformer.analyses.learn.rule_error import distances
from glassformer.run import Run
from glassformer.tasks import Examples

ORDER = 40
ANSWERS = ("1.P5", "1.A", "1.Q42")
COST = "b"

PASSED = 0.95  # accuracy at which a kind counts as learnt
NOT_IN_VIEW, FREE = "not in view", "unconstrained"


@result
class ByKind(Result):
    """Accuracy of the likeliest token and excess over the exact predictor, by kind of question."""

    accuracy: Labelled  # (kind, step): as logged, or judged at some kept steps where no kinds were logged
    excess: Labelled  # (kind, step): nats per token, judged at some kept steps
    passed: Labelled  # (kind,): first of these steps with at least 95 % right; NaN: never
    lasting: Labelled  # (kind,): the first from which it stays so; NaN: it does not
    now: Labelled  # (kind, number): accuracy, low, high, excess, count; at the chosen step
    logged: bool  # whether the accuracies over life are the logged ones
    windows: int  # judged at each step of the other curves
    steps: int


def by_kind(run: Run, *, step: int = -1, member: int = 0) -> ByKind:
    """Each kind over life, on held-out windows: the task's kinds, what is not in view, what the rule leaves free."""
    now = _clock.resolve(run, step)
    at, most = _judged.life(run, step, member)
    curves = [_measure(run, _judged.judged(run, each, member, most)) for each in at]
    told = logged(run, member)
    final = _judged.judged(run, now, member, most) if told is None else _judged.judge(run, _new(run), now, member)
    names, last = _measure(run, final)
    kept = [k for k in range(len(names)) if last[k, 4] > 0]
    kinds, steps = {"kind": tuple(_exact(run, names[k], final) for k in kept)}, {"step": tuple(map(str, at))}
    judged = Labelled(np.array([[table[k, 0] for _, table in curves] for k in kept]), kinds | steps, "share")
    excess = np.array([[table[k, 3] for _, table in curves] for k in kept])
    accuracy = judged if told is None else Labelled(told.values[kept], kinds | {"step": told.axes["step"].labels}, "share")
    return ByKind(
        step=now,
        clock=_clock.text(run, step, member),
        truth_known=run.task.exact,
        accuracy=accuracy,
        excess=Labelled(excess, kinds | steps, "nats per token"),
        passed=passed(accuracy),
        lasting=passed(accuracy, lasting=True),
        now=Labelled(last[kept], kinds | {"number": ("accuracy", "low", "high", "excess", "count")}, ""),
        logged=told is not None,
        windows=len(_judged.judged(run, at[0], member, most).examples.windows),
        steps=_clock.total(run),
    )


def logged(run: Run, member: int = 0) -> Labelled | None:
    """(kind, step): the accuracy of each kind on new questions at every logged step; None where it was not logged."""
    rows = [_clock.metric(run, f"accuracy_by_kind.{kind}", member) for kind in run.task.kinds]
    found = [values for values in rows if values is not None]
    if not found or len(found) < len(rows):
        return None
    steps = tuple(map(str, run.metrics["step"].tolist()))
    return Labelled(np.array(found), {"kind": tuple(run.task.kinds), "step": steps}, "share")


def passed(accuracy: Labelled, *, lasting: bool = False) -> Labelled:
    """(kind,): the first step of a curve with 95 % right, or the first from which it stays there; NaN: none."""
    at = np.array([int(step) for step in accuracy.axes["step"].labels])
    found = np.full(len(accuracy.values), np.nan)
    for k, row in enumerate(accuracy.values):
        good = row >= PASSED
        if lasting:
            good = np.logical_and.accumulate(good[::-1])[::-1]
        found[k] = at[np.argmax(good)] if good.any() else np.nan
    return Labelled(found, {"kind": accuracy.axes["kind"].labels}, "step")


def _new(run: Run) -> Examples:
    """The questions that judged the training and were no part of it."""
    context, most = run.architecture.context, run.experiment.train.judged
    data = run.task.data(context)
    parts = [run.task.examples(context, "validation", most)]
    parts += [run.task.examples(context, "test", most)] if data.test is not None else []
    return replace(parts[0], **{f.name: np.concatenate([getattr(each, f.name) for each in parts])
                                for f in fields(parts[0])})  # fmt: skip


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
        table[k] = [1 - _judged.mean(seen.error, chosen), low, high, _judged.mean(seen.excess, chosen), count]
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
    looks = len(seen.excess.axes["step"])
    caption = (
        "Top: share of right arg-max answers by kind of question over training"
        + (f", as logged at {len(seen.accuracy.axes['step'])} steps on all new questions" if seen.logged else "")
        + "; a large open mark is the first of these steps with 95 % right (side by side where several kinds share "
        f"it). Bottom: loss above {seen.predictor} on the same tokens, by kind, so also where anything may follow "
        "(unconstrained). Right: the accuracies at the chosen step with 95 % Wilson intervals and counts. "
        + (
            "Kinds are the task's own: operations, or how many tokens back the rule must look. "
            if seen.truth_known
            else "Kinds are the families of the token that came; right is only that very token. "
        )
        + f"{'The lower curves are' if seen.logged else 'All is'} measured on the same {seen.windows} held-out windows "
        f"at {looks} kept step{'s' if looks != 1 else ''} (dots), closest together where the loss fell; shorter dips "
        "between them do not show. If kinds were learnt together, their curves would lie on each other."
    )
    names, table, passed = seen.now.axes["kind"].labels, seen.now.values, seen.passed.values
    judged = [k for k in range(len(names)) if np.isfinite(table[k, 0]) and names[k] != NOT_IN_VIEW]
    learnt = [k for k in judged if np.isfinite(passed[k])]
    if not np.isfinite(table[:, 3]).any():
        title = "The losses are not numbers: the training has diverged"
    elif not judged:
        title = f"At step {thousands(seen.step or 0)} no question has its answer in view"
    elif len(judged) == 1:
        k = judged[0]
        when = f"95 % is first passed by step {thousands(int(passed[k]))}" if k in learnt else "95 % is never passed"
        when += _relapse(seen, learnt)
        title = f"{_judged.exactly(table[k, 0])} of the {_said(names[k])[0]} are right; {when}"
    elif learnt:
        order = sorted(learnt, key=lambda k: passed[k])
        first, last = order[0], order[-1]
        early = [_said(names[k])[n > 0] for n, k in enumerate(k for k in order if passed[k] == passed[first])]
        title = f"{listed(early)} pass 95 % first, by step {thousands(int(passed[first]))}"
        if len(learnt) < len(judged):
            worst = min((k for k in judged if k not in learnt), key=lambda k: table[k, 0])
            title += f"; {_said(names[worst])[1]} never do and stand at {_judged.exactly(table[worst, 0])}"
        elif passed[last] > passed[first]:
            title += f", {_said(names[last])[1]} last, by step {thousands(int(passed[last]))}"
        else:
            title = (
                f"All kinds of question pass 95 % between the same two looks, by step {thousands(int(passed[first]))}"
            )
        title += _relapse(seen, learnt)
    else:
        best, worst = max(judged, key=lambda k: table[k, 0]), min(judged, key=lambda k: table[k, 0])
        title = f"No kind has passed 95 %: {_said(names[best])[0]} stand at {_judged.exactly(table[best, 0])}"
        if worst != best:
            title += f", {_said(names[worst])[1]} at {_judged.exactly(table[worst, 0])}"
    title = title[0].upper() + title[1:]
    return Words(title, caption, f"Curves by kind of question and bars at one step. {title}.")


def _relapse(seen: ByKind, learnt: list[int]) -> str:
    """From when on those that passed stay above, where some fall back in between."""
    lasting = seen.lasting.values[learnt]
    if not learnt or (lasting == seen.passed.values[learnt]).all():
        return ""
    if np.isnan(lasting).any():
        return "; not all that passed stay there"
    return f"; all that passed stay there from step {thousands(int(lasting.max()))} on"


def _said(kind: str) -> tuple[str, str]:
    """A kind of question at its first mention, and after another."""
    if kind.endswith("back"):
        return f"questions that need a look {kind}", f"those that need one {kind}"
    return f"questions “{kind}”", f"“{kind}”"
