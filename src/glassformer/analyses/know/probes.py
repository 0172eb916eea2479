"""What can be read where: a linear reader's held-out accuracy at every point of the model, at several steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.analyses import _applies, _clock, _counted, _judged, _passage
from glassformer.analyses._options import Member, Step, Steps
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, percent, result, thousands
from glassformer.glossary import WHOLE
from glassformer.run import Run
from glassformer.tasks._rule import Rule
from glassformer.trace import Trace

ORDER = 70
ANSWERS = ("1.P3", "1.Q44")
COST = "c"
APPLIES = (_applies.choice,)

PLAIN = {  # the points that are read, in words
    "embedded": "after embedding", "attended": "attention's output", "middle": "after attention", "hidden": "neurons",
    "out": "after feed-forward", "final": "final",
}  # fmt: skip
PLACES = 2400  # for learning, and half as many for judging
QUESTIONS = 600  # where only one place per window counts
MOST_STEPS = 6
LARGE = 20_000  # parameters from which fewer steps are looked at
MOST_FEATURES = 64  # the hidden values of more neurons are left out: too slow to read, and too many for the windows
TIE = 0.005  # of accuracy: the title names the first of points that are as good
NEXT = "next token"  # of a text, where only one can follow
KINDS = ("distance to the answer", "kind of question")
ORDINALS = ("first", "second", "third", "fourth", "fifth")
RIDGE = 1e-3  # of the mean variance of a feature, added to every one


@result
class Probes(Result):
    """Held-out accuracy of the reader, and of always naming the most frequent class."""

    above: Labelled  # (quantity, point, step): accuracy less chance
    gained: Labelled  # (quantity, point, step): the same as a share of what chance leaves: 0 chance, 1 always right
    accuracy: Labelled  # (quantity, point, step)
    chance: Labelled  # (quantity,)
    count: Labelled  # (quantity,): held-out places that were judged
    known: Labelled  # (quantity,): share of these places whose class was among those learned from
    asked: tuple[bool, ...]  # per quantity: read only where there is one right answer to give, else at every position
    told: int  # the quantity spoken of: the answer or the next token, else the token before, which must be fetched
    best: int  # the first point from which it is read as well as from any, at the last step
    one: bool  # the task has one answer, read at one position
    learned_from: int  # windows

    @property
    def title(self) -> str:
        """Where the answer first becomes readable."""
        now, points = self.accuracy.values[self.told, :, -1], self.accuracy.axes["point"].labels
        if not np.isfinite(self.accuracy.values[:, :, -1]).any():
            return fate("nothing can be read, the values are not numbers", self.step)
        title = (
            f"At step {thousands(self.step or 0)} a linear reader names the "
            f"{self.chance.axes['quantity'].labels[self.told]} in {_nearly(float(now[self.best]))} of cases "
            f"{'already ' if self.best + 1 < len(points) else ''}from “{points[self.best]}” "
            f"(chance {percent(float(self.chance.values[self.told]))}"
        )
        return title + (f", from “{points[0]}” {percent(float(now[0]))})" if self.best else ")")


def _nearly(share: float) -> str:
    """In percent; 100 only where none is missed."""
    return f"{min(100 * share, 99.9):.1f} %" if 0.995 <= share < 1 else percent(share)


def probes(run: Run, *, steps: Steps = None, step: Step = -1, member: Member = 0) -> Probes:
    """Train a linear reader on training windows and judge it on validation windows, for each target, point and step."""
    last, steps = _clock.resolve(run, step), steps or None
    chosen = _clock.chosen(run, steps, MOST_STEPS if run.parameters < LARGE else 4, member)
    if steps is None:
        chosen = [*(at for at in chosen if at < last), last]
    c = run.architecture.context
    one = run.task.answers != "next"
    many = QUESTIONS if one else max(PLACES // c, 1)
    learn = run.task.examples(c, "train", many)
    judge = run.task.examples(c, "validation", max(many // 2, 1))
    wanted = [_targets(run, part.windows, part.kind, part.allowed) for part in (learn, judge)]
    names = [name for name, label in wanted[0].items() if len(np.unique(label[label >= 0])) > 1]
    points: dict[str, str] = {}
    found: dict[tuple[str, str, int], float] = {}
    for at in chosen:
        seen = [run.trace(part.windows[:, :c], step=at, member=member) for part in (learn, judge)]
        stations = _stations(run, seen)
        points = {name: words for name, words, _, _ in stations}
        for point, _, x, y in stations:
            sums: dict[bytes, Array] = {}  # targets asked at the same places share the largest product
            for name in names:
                a, b = wanted[0][name], wanted[1][name]
                key = (a >= 0).tobytes()
                if key not in sums and np.isfinite(x).all():
                    sums[key] = (chosen_x := x[a >= 0]).T @ chosen_x
                found[name, point, at] = _accuracy(x[a >= 0], a[a >= 0], y[b >= 0], b[b >= 0], sums.get(key))
    accuracy = np.array([[[found[name, point, at] for at in chosen] for point in points] for name in names])
    chance = np.array([_chance(wanted[0][name], wanted[1][name]) for name in names])
    above = accuracy - chance[:, None, None]
    axes: dict[str, Any] = {"quantity": names, "point": Axis(tuple(points), tuple(points.values())), "step": chosen}
    told = next((names.index(name) for name in ("answer", NEXT, "token before") if name in names), 0)
    now = np.nan_to_num(accuracy[told, :, -1], nan=-1.0)
    return Probes(
        **_clock.at_step(run, chosen[-1], member),
        held_out=_judged.held_out(run),
        above=Labelled(above, axes, "share"),
        gained=Labelled(above / np.maximum(1 - chance, 1e-9)[:, None, None], axes, "share"),
        accuracy=Labelled(accuracy, axes, "share"),
        chance=Labelled(chance, {"quantity": names}, "share"),
        count=Labelled(np.array([float((wanted[1][name] >= 0).sum()) for name in names]), {"quantity": names}),
        told=told,
        best=int(np.flatnonzero(now >= now.max() - TIE)[0]),
        asked=tuple(name in ("answer", NEXT, *KINDS) for name in names),
        known=Labelled(np.array([_known(wanted[0][name], wanted[1][name]) for name in names]), {"quantity": names}),
        one=one,
        learned_from=len(learn.windows),
    )


def _targets(run: Run, windows: Array, kind: Array, allowed: Array) -> dict[str, Array]:
    """Target → its class at each (window, position), -1 where it has none."""
    context = windows.shape[1] - 1
    if run.task.answers != "next":
        found = {**_arguments(run, windows), "answer": windows[:, -1]}
        read = run.architecture.read_position
        return {name: np.where(np.arange(context) == read, label[:, None], -1) for name, label in found.items()}
    tokens = windows[:, :context]
    before = np.concatenate([np.full((len(tokens), 1), -1), tokens[:, :-1]], axis=1)
    single = (kind >= 0) & (allowed.sum(axis=-1) == 1)
    targets = {"token here": tokens, "token before": before}
    if "even" in run.task.groups:
        targets["last even number"] = _last(tokens, np.isin(tokens, list(run.task.groups["even"])))
    targets[NEXT if _passage.reason(run) is None else "answer"] = np.where(single, allowed.argmax(axis=-1), -1)
    targets[KINDS[0] if isinstance(run.task, Rule) else KINDS[1]] = np.where(single, kind, -1)
    counts = np.isin(np.arange(context), np.arange(context)[_counted.read(run)])
    return {name: np.where(counts, label, -1) for name, label in targets.items()}


def _arguments(run: Run, windows: Array) -> dict[str, Array]:
    """Name → the token of each window, for every place of a question that varies."""
    varying = [place for place in range(windows.shape[1] - 1) if len(np.unique(windows[:, place])) > 1]
    first = int(bool(run.task.kinds))  # questions of several kinds begin with the operation
    names = ["operation"][:first] + [f"{ordinal} argument" for ordinal in ORDINALS]
    names += [f"token {place}" for place in varying[len(names) :]]
    return {name: windows[:, place] for name, place in zip(names, varying, strict=False)}


def _last(tokens: Array, counts: Array) -> Array:
    """(window, position): the last token up to here that counts, -1 where there was none."""
    place = np.maximum.accumulate(np.where(counts, np.arange(tokens.shape[1]), -1), axis=1)
    return np.where(place >= 0, np.take_along_axis(tokens, np.maximum(place, 0), axis=1), -1)


def _stations(run: Run, seen: Sequence[Trace]) -> list[tuple[str, str, Array, Array]]:
    """(name, in words, learning values, judging values), (window, position, feature) each, in the order of the pass."""
    found = []
    for block in range(run.architecture.blocks):
        for point in PLAIN:
            elsewhere = 0 if point == "embedded" else run.architecture.blocks - 1
            if point not in seen[0] or (point in WHOLE and block != elsewhere):
                continue
            if point == "hidden" and run.architecture.feed_forward > MOST_FEATURES:
                continue
            if point == "final" and not run.architecture.final_norm and run.architecture.norm == "none":
                continue  # it is `out` itself
            where = "" if point in WHOLE or run.architecture.blocks == 1 else f" {block}"
            a, b = (each[point] if point in WHOLE else each[point][:, block] for each in seen)
            found.append((point + where, PLAIN[point] + where, a.astype(np.float64), b.astype(np.float64)))
    return found


def _accuracy(x: Array, label: Array, y: Array, truth: Array, squares: Array | None) -> float:
    if not len(truth) or not np.isfinite(x).all() or not np.isfinite(y).all():
        return np.nan
    return float((reader(x, label, squares)(y) == truth).mean())


def reader(x: Array, label: Array, squares: Array | None = None) -> "Reader":
    """A linear reader: class means and one covariance for all classes, with a ridge (linear discriminant).

    `squares` is x.T @ x, (feature, feature), where it is known already.
    """
    classes, at = np.unique(label, return_inverse=True)
    pick = np.eye(len(classes))[at]
    counts = pick.sum(axis=0)
    centre = pick.T @ x / counts[:, None]  # (class, feature)
    ridge = RIDGE * max(float(x.var(axis=0).mean()), 1e-12)
    inside = x.T @ x if squares is None else squares
    inside = inside - (centre.T * counts) @ centre  # of the classes around their means
    covariance = inside / len(x) + ridge * np.eye(x.shape[1])
    weights = np.linalg.solve(covariance, centre.T)  # (feature, class)
    bias = np.log(counts / len(x)) - 0.5 * np.einsum("cf,fc->c", centre, weights)
    return Reader(classes, weights, bias)


@dataclass(frozen=True)
class Reader:
    """Names the class with the largest score, a linear function of the features."""

    classes: Array
    weights: Array  # (feature, class)
    bias: Array  # (class,)

    def __call__(self, values: Array) -> Array:
        """(sample,): the class of each sample (sample, feature)."""
        return self.classes[np.argmax(values @ self.weights + self.bias, axis=1)]


def _known(learned: Array, judged: Array) -> float:
    truth = judged[judged >= 0]
    return float(np.isin(truth, learned[learned >= 0]).mean()) if len(truth) else np.nan


def _chance(learned: Array, judged: Array) -> float:
    classes, counts = np.unique(learned[learned >= 0], return_counts=True)
    truth = judged[judged >= 0]
    return float((truth == classes[np.argmax(counts)]).mean()) if len(truth) else np.nan
