"""Which kinds of question are learnt when: accuracy and excess loss of each kind over life and at one step."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, result, thousands
from glassformer.analyses._scale import Scale, spaced
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
    now: Labelled  # (kind, statistic): accuracy, low, high, excess, count; at the chosen step
    logged: bool  # whether the accuracies over life are the logged ones
    windows: int  # judged at each step of the other curves
    asked: str  # questions, tokens or places
    scale: Scale  # of the steps
    marked: int | None  # the step asked for, if one was

    @property
    def title(self) -> str:
        """Which kind came first, which is worst."""
        if not np.isfinite(self.now.values[:, 3]).any():
            return fate("the losses are not numbers")
        told = _told(self)
        return told[0].upper() + told[1:]


def by_kind(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> ByKind:
    """Each kind over life, on held-out windows: the task's kinds, what is not in view, what the rule leaves free."""
    now = _clock.resolve(run, step)
    at, most = _judged.life(run, step, member)
    curves = [_measure(run, _judged.judged(run, each, member, most)) for each in at]
    told = logged(run, member)
    final = _judged.judged(run, now, member, most) if told is None else _judged.judge(run, _new(run), now, member)
    names, last = _measure(run, final)
    kept = [k for k in range(len(names)) if last[k, 4] > 0]
    kinds: dict[str, Any] = {"kind": [_exact(run, names[k], final) for k in kept]}
    steps = {"step": at}
    judged = Labelled(np.array([[table[k, 0] for _, table in curves] for k in kept]), kinds | steps, "share")
    excess = np.array([[table[k, 3] for _, table in curves] for k in kept])
    accuracy = judged if told is None else Labelled(told.values[kept], kinds | {"step": told.axes["step"]}, "share")
    return ByKind(
        **_clock.at_step(run, now, member),
        **_judged.about(run),
        accuracy=accuracy,
        excess=Labelled(excess, kinds | steps, "nats per token"),
        passed=passed(accuracy),
        lasting=passed(accuracy, lasting=True),
        now=Labelled(last[kept], kinds | {"statistic": ("accuracy", "low", "high", "excess", "count")}),
        logged=told is not None,
        windows=len(_judged.judged(run, at[0], member, most).examples.windows),
        asked=_judged.asked(run) if run.task.answers == "one" or not run.task.kinds else "places",
        scale=spaced(run, axis, member),
        marked=None if step == -1 else now,
    )


def logged(run: Run, member: int = 0) -> Labelled | None:
    """(kind, step): the accuracy of each kind of judged question at every logged step; None where it was not logged."""
    rows = [_clock.metric(run, f"accuracy_by_kind.{kind}", member) for kind in run.task.kinds]
    found = [values for values in rows if values is not None]
    if not found or len(found) < len(rows):
        return None
    return Labelled(np.array(found), {"kind": run.task.kinds, "step": _clock.metrics(run)["step"]}, "share")


def passed(accuracy: Labelled, level: float = PASSED, *, lasting: bool = False) -> Labelled:
    """(kind,): the first step at which at least `level` are right, or from which that stays so; NaN: none."""
    at = np.array(accuracy.axes["step"].values)
    found = np.full(len(accuracy.values), np.nan)
    for k, row in enumerate(accuracy.values):
        good = row >= level
        if lasting:
            good = np.logical_and.accumulate(good[::-1])[::-1]
        found[k] = at[np.argmax(good)] if good.any() else np.nan
    return Labelled(found, {"kind": accuracy.axes["kind"]}, "step")


def _new(run: Run) -> Examples:
    """The questions by which the training was judged."""
    context, most = run.architecture.context, run.experiment.train.windows
    data = run.task.data(context)
    parts = [run.task.examples(context, "validation", most)]
    parts += [run.task.examples(context, "test", most)] if data.test is not None else []
    return replace(parts[0], **{f.name: np.concatenate([getattr(each, f.name) for each in parts])
                                for f in fields(parts[0])})  # fmt: skip


def _measure(run: Run, seen: _judged.Judged) -> tuple[tuple[str, ...], Array]:
    """(kind, [accuracy, low, high, excess, count])."""
    kind, e = seen.examples.kind, seen.examples
    good = seen.right
    groups: dict[str, Array] = {}
    if run.task.kinds:
        groups = {name: kind == k for k, name in enumerate(run.task.kinds)}
    else:  # by the family of the token that came
        groups = {name: np.isin(seen.targets, list(tokens)) for name, tokens in run.task.groups.items()}
    if run.task.measure == "rule_error":
        groups |= {NOT_IN_VIEW: seen.hidden, FREE: ~e.constrained}
    table = np.full((len(groups), 5), np.nan)
    for k, (name, chosen) in enumerate(groups.items()):
        count, right = int(chosen.sum()), int((good & chosen).sum())
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


def _told(seen: ByKind) -> str:
    names, table, passed = seen.now.axes["kind"].labels, seen.now.values, seen.passed.values
    judged = [k for k in range(len(names)) if np.isfinite(table[k, 0]) and names[k] != NOT_IN_VIEW]
    learnt = [k for k in judged if np.isfinite(passed[k])]

    def stand(k: int) -> str:
        return _judged.exactly(table[k, 0])

    if not judged:
        return f"At step {thousands(seen.step or 0)} nothing is asked whose answer is in view"
    if len(judged) == 1:
        k = judged[0]
        when = f"95 % is first passed by step {thousands(int(passed[k]))}" if k in learnt else "95 % is never passed"
        return f"{stand(k)} of the {_said(seen, k)[0]} are right; {when}{_relapse(seen, learnt)}"
    if not learnt:
        best, worst = max(judged, key=lambda k: table[k, 0]), min(judged, key=lambda k: table[k, 0])
        other = f", {_said(seen, worst)[1]} at {stand(worst)}" if worst != best else ""
        if not seen.truth_known:  # of a text nobody expects 95 %
            told = f"Of the {names[best]} {seen.asked} {stand(best)} are guessed"
            return f"{told}, of the {names[worst]} {seen.asked} {stand(worst)}" if worst != best else told
        return f"No kind has passed 95 %: {_said(seen, best)[0]} stand at {stand(best)}{other}"
    order = sorted(learnt, key=lambda k: passed[k])
    first, last = order[0], order[-1]
    early = [_said(seen, k)[n > 0] for n, k in enumerate(k for k in order if passed[k] == passed[first])]
    told = f"{listed(early)} pass 95 % first, by step {thousands(int(passed[first]))}"
    if len(learnt) < len(judged):
        worst = min((k for k in judged if k not in learnt), key=lambda k: table[k, 0])
        told += f"; {_said(seen, worst)[1]} never do and stand at {stand(worst)}"
    elif passed[last] > passed[first]:
        told += f", {_said(seen, last)[1]} last, by step {thousands(int(passed[last]))}"
    else:
        told = (
            f"All kinds of {seen.asked} pass 95 % between the same two looks, by step {thousands(int(passed[first]))}"
        )
    return told + _relapse(seen, learnt)


def _relapse(seen: ByKind, learnt: list[int]) -> str:
    """From when on those that passed stay above, where some fall back in between."""
    lasting = seen.lasting.values[learnt]
    if not learnt or (lasting == seen.passed.values[learnt]).all():
        return ""
    if np.isnan(lasting).any():
        return "; not all that passed stay there"
    return f"; all that passed stay there from step {thousands(int(lasting.max()))} on"


def _said(seen: ByKind, kind: int) -> tuple[str, str]:
    """A kind at its first mention, and after another."""
    name = seen.now.axes["kind"].labels[kind]
    if name.endswith("back"):
        return f"{seen.asked} that need a look {name}", f"those that need one {name}"
    return f"{seen.asked} “{name}”", f"“{name}”"
