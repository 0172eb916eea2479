"""How often the likeliest answer is right, by step, beside the best that each partial understanding can do."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._result import Array, Labelled, Result, Words, thousands, result
from glassformer.run import Run

ORDER = 20
ANSWERS = ("1.P3", "1.P4", "1.A")
COST = "b"

GUESSES = 4000  # of rungs, in all
WINDOWS = 400  # on which the accuracy of a rung is measured where the task does not know it


@result
class Accuracy(Result):
    """Share of right arg-max answers: of all questions, or of the positions that a rule constrains."""

    curves: dict[str, Labelled]  # (step,): validation, and train
    rungs: Labelled  # (rung,): the best share each partial understanding reaches, in the ladder's order
    exact: bool  # whether the rungs are exact, or measured on the windows
    logged: tuple[str, ...]  # the curves that were logged; the others are judged at some kept steps
    windows: int  # on which these are judged
    rule: bool  # whether only positions that a rule constrains are counted
    unconstrained: float  # share of predicted tokens that are left out
    steps: int


def accuracy(run: Run, *, step: int = -1, member: int = 0) -> Accuracy:
    """Accuracy over the life of one member: as logged, and measured at some kept steps where it was not logged."""
    rule = run.task.measure == "rule_error"
    lines = tuple(map(str, run.metrics["step"].tolist()))
    name = "rule_error" if rule else "accuracy"
    curves: dict[str, Labelled] = {}
    if (values := _clock.metric(run, name, member)) is not None:
        curves["validation"] = Labelled(1 - values if rule else values, {"step": lines}, "share")
    if (values := _clock.metric(run, "train_accuracy", member)) is not None:
        curves["train"] = Labelled(values, {"step": lines}, "share")
    told, most = tuple(curves), 0
    missing = [part for part in ("train", "validation") if part not in curves]
    if missing:
        steps, most = _judged.life(run, step, member, most=16 if run.parameters < _judged.LARGE else 8)
        for part in missing:
            shares = [_share(_judged.judged(run, at, member, most, part)) for at in steps]
            curves[part] = Labelled(np.array(shares), {"step": tuple(map(str, steps))}, "share")
    names, best, exact = _rungs(run)
    seen = _judged._examples(run, "validation", WINDOWS)
    return Accuracy(
        step=_clock.resolve(run, step),
        clock=_clock.text(run, step, member),
        curves=curves,
        rungs=Labelled(best, {"rung": names}, "share"),
        exact=exact,
        truth_known=run.task.exact,
        logged=told,
        windows=most,
        rule=rule,
        unconstrained=float(1 - seen.constrained.mean()) if rule else 0.0,
        steps=_clock.total(run),
    )


def _share(seen: _judged.Judged) -> float:
    return 1 - _judged.mean(seen.error, seen.examples.constrained | ~seen.examples.constrained.any())


@lru_cache(maxsize=16)
def _rungs(run: Run) -> tuple[tuple[str, ...], Array, bool]:
    ladder = [rung for rung in run.task.ladder(run.architecture.context) if rung.reachable]
    if any(rung.accuracy is not None for rung in ladder):
        chance = 1 / run.architecture.answers
        found = [(rung.name, chance if rung.accuracy is None else rung.accuracy) for rung in ladder]
        exact = True
    else:
        seen = _judged._examples(run, "validation", WINDOWS)
        asked = np.argwhere(seen.constrained if run.task.measure == "rule_error" else np.ones_like(seen.constrained))
        asked = asked[:: max(1, len(asked) * len(ladder) // GUESSES)]  # count tables are slow to ask
        every = np.arange(len(run.task.vocabulary))
        free = not seen.constrained.any()  # in a text only the token that came is right
        found, exact = [], False
        for rung in ladder:
            hits = [
                _hit(
                    rung.guess(seen.windows[row, : place + 1]),
                    every == seen.windows[row, place + 1] if free else seen.allowed[row, place],
                )
                for row, place in asked
            ]
            found.append((rung.name, float(np.mean(hits)) if hits else float("nan")))
        if shares := getattr(run.task, "shares", None):  # the best of all is known exactly
            top = 1 - float(shares(run.architecture.context).least_error)
            found = [*((name, min(best, top)) for name, best in found[:-1]), (found[-1][0], top)]  # no guess beats it
    merged: list[tuple[str, float]] = []
    for name, best in found:
        if merged and abs(merged[-1][1] - best) < 1e-9:
            merged[-1] = (f"{merged[-1][0]} = {name}", best)
        else:
            merged.append((name, best))
    return tuple(name for name, _ in merged), np.array([best for _, best in merged]), exact


def _hit(chances: Array, allowed: Array) -> float:
    """Whether the likeliest token is allowed; a tie counts as a toss."""
    return float(allowed[chances >= chances.max() - 1e-12].mean())


def steps_of(curve: Labelled) -> Array:
    """The steps of a curve."""
    return np.array([int(label) for label in curve.axes["step"].labels])


def _looks(seen: Accuracy) -> str:
    """How a curve was measured that has other steps than the logged one."""
    few = {part: len(curve.values) for part, curve in seen.curves.items() if part not in seen.logged}
    if not few:
        return ", both as logged"
    many = max(few.values())
    whose = "both" if len(few) == 2 else "the training curve" if "train" in few else "the held-out curve"
    return (
        f"; {whose} looked at {many} time{'s' if many != 1 else ''} (dots) on {thousands(seen.windows)} windows, "
        "so that shorter dips do not show" + ("" if len(few) == 2 else ", the other as logged")
    )


def say(seen: Accuracy) -> Words:
    """From where to where, and how that compares with the rungs."""
    held = "held-out questions" if seen.truth_known else "held-out tokens"
    what = "positions that the rule constrains" if seen.rule else held
    caption = (
        f"Share of {what} on which the likeliest token is right, by training step: in training (solid) and held out "
        f"(dashed){_looks(seen)}. Horizontal lines are the best that each partial understanding can do, "
        + (
            "exact, by listing all questions. "
            if seen.exact
            else f"the topmost exact, the others measured on {WINDOWS} held-out windows, ties counted as a toss. "
            if seen.truth_known
            else "measured on held-out windows, ties counted as a toss: tables of counts of the training part, which "
            "look back so many tokens. "
        )
        + (
            f"The {_judged.exactly(seen.unconstrained)} of tokens that the rule leaves free are not counted; the top "
            "line is below 100 % where some answers lie outside the window. "
            if seen.rule
            else ""
        )
        + "A curve that passes a line knows more than that; a training curve far above the held-out one would be "
        "memorising."
    )
    curve = seen.curves["validation"]
    values, at = curve.values, steps_of(curve)
    if not np.isfinite(values).all():
        first = int(at[np.flatnonzero(~np.isfinite(values))[0]])
        title = f"From step {thousands(first)} on there is no accuracy: the training has diverged"
    else:
        best, names = seen.rungs.values, seen.rungs.axes["rung"].labels
        last = float(values[-1])
        slack = 0 if seen.exact else 0.02  # about two sampling errors
        below = [k for k in range(len(best)) if last >= best[k] - slack]
        top = _judged.exactly(float(best[-1]))
        where = (
            f"that is all that “{names[-1].rpartition(' = ')[2]}” can reach"
            if below and max(below) == len(best) - 1 and top == _judged.exactly(last)
            else f"“{names[-1].rpartition(' = ')[2]}” itself reaches {top}"
            if below and max(below) == len(best) - 1
            else f"“{names[max(below)].rpartition(' = ')[2]}” alone would give "
            f"{_judged.exactly(float(best[max(below)]))}, “{names[-1].rpartition(' = ')[2]}” {top}"
            if below
            else f"even “{names[0].split(' = ')[0]}” would give {_judged.exactly(float(best[0]))}"
        )
        if len(values) == 1:
            title = f"At step {thousands(int(at[0]))}, {_judged.exactly(last)} of the {what} are right; {where}"
        else:
            word = "rises" if last > values[0] else "goes"
            short = "constrained positions" if seen.rule else what.removeprefix("held-out ")
            first_share = _judged.exactly(float(values[0]))
            title = f"Held-out accuracy on {short} {word} from {first_share} to {_judged.exactly(last)}; {where}"
    return Words(title, caption, f"Curves of accuracy over training steps with horizontal lines. {title}.")
