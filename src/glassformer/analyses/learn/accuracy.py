"""How often the likeliest answer is right, by step, beside the best that each partial understanding can do."""

from functools import lru_cache

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, result, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.run import Run
from glassformer.tasks import choose

ORDER = 20
ANSWERS = ("1.P3", "1.P4", "1.A")
COST = "b"

GUESSES = 4000  # of rungs, in all
CHANCE = 0.02  # about two sampling errors of such a share
WINDOWS = 400  # on which the accuracy of a rung is measured where the task does not know it


@result
class Accuracy(Result):
    """Share of right arg-max answers: of all questions, or of the positions that a rule constrains."""

    curves: dict[str, Labelled]  # (step,): validation, and train
    rungs: Labelled  # (rung,): the best share each partial understanding reaches, in the ladder's order
    reached: int  # the last rung whose share the last held-out one attains, or misses by chance; -1: none
    exact: bool  # whether the rungs are exact, or measured on the windows
    logged: tuple[str, ...]  # the curves that were logged; the others are judged at some kept steps
    windows: int  # on which these are judged
    rule: bool  # whether only positions that a rule constrains are counted
    asked: str  # questions, or tokens
    scale: Scale  # of the steps
    unconstrained: float  # share of predicted tokens that are left out
    marked: int | None  # the step asked for, if one was

    @property
    def title(self) -> str:
        """From where to where, and how that compares with the rungs."""
        curve, of = self.curves["validation"], _judged.exactly
        values, at = curve.values, np.array(curve.axes["step"].values)
        if len(lost := np.flatnonzero(~np.isfinite(values))):
            return fate("there is no accuracy", since=int(at[lost[0]]))
        best, names, last = self.rungs.values, self.rungs.axes["rung"].values, float(values[-1])
        named, top = names[-1], of(float(best[-1]))
        if self.reached < 0:
            where = f"even “{names[0]}” would give {of(float(best[0]))}"
        elif self.reached < len(best) - 1:
            where = f"“{names[self.reached]}” alone would give {of(float(best[self.reached]))}, “{named}” {top}"
        elif top == of(last):
            where = f"that is all that “{named}” can reach"
        else:
            where = f"“{named}” itself reaches {top}"
        if len(values) == 1:
            whose = "the " if self.rule else f"the {self.whose} "
            return f"At step {thousands(int(at[0]))}, {of(last)} of {whose}{self.what} are right; {where}"
        word = "rises" if last > values[0] else "goes"
        short = "constrained positions" if self.rule else self.asked
        name = "Held-out accuracy" if self.held_out else "Accuracy"
        return f"{name} on {short} {word} from {of(float(values[0]))} to {of(last)}; {where}"

    @property
    def what(self) -> str:
        """What the shares are of."""
        return "positions that the rule constrains" if self.rule else self.asked


def accuracy(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> Accuracy:
    """Accuracy over the life of one member: as logged, and measured at some kept steps where it was not logged."""
    rule = run.task.measure == "rule_error"
    lines = _clock.metrics(run)["step"]
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
            curves[part] = Labelled(np.array(shares), {"step": steps}, "share")
    names, best, exact = _rungs(run)
    seen, last = _judged._examples(run, "validation", WINDOWS), curves["validation"].values[-1]
    return Accuracy(
        **_clock.at_step(run, _clock.resolve(run, step), member),
        curves=curves,
        rungs=Labelled(best, {"rung": names}, "share"),
        reached=max((k for k, share in enumerate(best) if last >= share - (0 if exact else CHANCE)), default=-1),
        exact=exact,
        **_judged.about(run),
        logged=told,
        windows=most,
        rule=rule,
        asked=_judged.asked(run),
        scale=spaced(run, axis, member),
        unconstrained=float(1 - seen.constrained.mean()) if rule else 0.0,
        marked=None if step == -1 else _clock.resolve(run, step),
    )


def _share(seen: _judged.Judged) -> float:
    return 1 - _judged.mean(seen.error, seen.examples.constrained | (not seen.rule))


@lru_cache(maxsize=16)
def _rungs(run: Run) -> tuple[Axis, Array, bool]:
    ladder = [rung for rung in run.task.ladder(run.architecture.context) if rung.reachable]
    if any(rung.accuracy is not None for rung in ladder):
        chance = 1 / run.architecture.answers
        found = [(rung.name, chance if rung.accuracy is None else rung.accuracy) for rung in ladder]
        exact = True
    else:
        seen = _judged._examples(run, "validation", WINDOWS)
        asked = np.argwhere(seen.constrained if run.task.measure == "rule_error" else np.ones_like(seen.constrained))
        asked = asked[choose(len(asked), max(1, GUESSES // len(ladder)), asked[:, 1])]  # count tables are slow to ask
        every = np.arange(len(run.task.vocabulary))
        free = run.task.measure != "rule_error"  # only the token that came is right
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
    merged: list[tuple[tuple[str, ...], float]] = []
    for name, best in found:
        same = merged and abs(merged[-1][1] - best) < 1e-9
        above = merged.pop()[0] if same else ()
        merged.append(((*above, name), best))
    names = Axis(tuple(each[-1] for each, _ in merged), tuple(", ".join(each) for each, _ in merged))
    return names, np.array([best for _, best in merged]), exact


def _hit(chances: Array, allowed: Array) -> float:
    """Whether the likeliest token is allowed; a tie counts as a toss."""
    return float(allowed[chances >= chances.max() - 1e-12].mean())
