"""What can be read where: a linear reader's held-out accuracy at every point of the model, at several steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _counted
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, thousands, result
from glassformer.glossary import WHOLE
from glassformer.run import Run
from glassformer.tasks._rule import Rule
from glassformer.trace import Trace

ORDER = 70
ANSWERS = ("1.P3", "1.Q44")
COST = "c"

PLAIN = {
    "embedded": "after embedding", "attended": "attention's output", "middle": "after attention", "hidden": "neurons",
    "out": "after feed-forward", "final": "final",
}  # fmt: skip
POINTS = ("embedded", "attended", "middle", "hidden", "out", "final")
PLACES = 2400  # for learning, and half as many for judging
QUESTIONS = 600  # where only one place per window counts
MOST_STEPS = 6
LARGE = 20_000  # parameters from which fewer steps are looked at
MOST_FEATURES = 64  # the hidden values of more neurons are left out: too slow to read, and too many for the windows
TIE = 0.005  # of accuracy: the title names the first of points that are as good
KINDS = ("distance to the answer", "kind of question")
ORDINALS = ("first", "second", "third", "fourth", "fifth")
RIDGE = 1e-3  # of the mean variance of a feature, added to every one


@result
class Probes(Result):
    """Held-out accuracy of the reader, and of always naming the most frequent class."""

    above: Labelled  # (target, point, step): accuracy less chance
    gained: Labelled  # (target, point, step): the same as a share of what chance leaves: 0 chance, 1 always right
    accuracy: Labelled  # (target, point, step)
    chance: Labelled  # (target,)
    count: Labelled  # (target,): held-out places that were judged
    asked: tuple[bool, ...]  # per target: read only where there is one right answer to give, else at every position
    one: bool  # the task has one answer, read at one position
    learned_from: int  # windows

    @property
    def points(self) -> tuple[str, ...]:
        """The points in words; `middle 1` → after attention 1."""
        parts = [name.partition(" ") for name in self.above.axes["point"].labels]
        return tuple(f"{PLAIN[point]}{space}{block}" for point, space, block in parts)


def probes(run: Run, *, steps: list[int] | tuple[int, ...] | None = None, step: int = -1, member: int = 0) -> Probes:
    """Train a linear reader on training windows and judge it on validation windows, for each target, point and step."""
    last = _clock.resolve(run, step)
    chosen = [
        at
        for at in _clock.chosen(run, steps, MOST_STEPS if run.parameters < LARGE else 4, member)
        if steps is not None or at < last
    ]
    chosen = chosen if steps is not None else [*chosen, last]
    c = run.architecture.context
    one = run.task.answers != "next"
    many = QUESTIONS if one else max(PLACES // c, 1)
    learn = run.task.examples(c, "train", many)
    judge = run.task.examples(c, "validation", max(many // 2, 1))
    wanted = (
        _targets(run, learn.windows, learn.kind, learn.allowed),
        _targets(run, judge.windows, judge.kind, judge.allowed),
    )
    names = [
        name
        for name in wanted[0]
        if (wanted[0][name] >= 0).any() and len(np.unique(wanted[0][name][wanted[0][name] >= 0])) > 1
    ]
    points: list[str] = []
    found: dict[tuple[str, str, int], float] = {}
    for at in chosen:
        seen = [run.trace(part.windows[:, :c], step=at, member=member) for part in (learn, judge)]
        stations = _stations(run, seen)
        points = [name for name, _, _ in stations]
        for point, x, y in stations:
            sums: dict[bytes, Array] = {}  # targets asked at the same places share the largest product
            for name in names:
                a, b = wanted[0][name], wanted[1][name]
                key = (a >= 0).tobytes()
                if key not in sums and np.isfinite(x).all():
                    sums[key] = (chosen_x := x[a >= 0]).T @ chosen_x
                found[name, point, at] = _accuracy(x[a >= 0], a[a >= 0], y[b >= 0], b[b >= 0], sums.get(key))
    accuracy = np.array([[[found[name, point, at] for at in chosen] for point in points] for name in names])
    chance = np.array([_chance(wanted[0][name], wanted[1][name]) for name in names])
    axes = {"target": tuple(names), "point": tuple(points), "step": tuple(map(str, chosen))}
    return Probes(
        step=last if steps is None else chosen[-1],
        clock=_clock.text(run, last if steps is None else chosen[-1], member),
        above=Labelled(accuracy - chance[:, None, None], axes, "share"),
        gained=Labelled(
            (accuracy - chance[:, None, None]) / np.maximum(1 - chance, 1e-9)[:, None, None], axes, "share"
        ),
        accuracy=Labelled(accuracy, axes, "share"),
        chance=Labelled(chance, {"target": tuple(names)}, "share"),
        count=Labelled(np.array([float((wanted[1][name] >= 0).sum()) for name in names]), {"target": tuple(names)}),
        asked=tuple(name in ("answer", *KINDS) for name in names),
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
    targets["answer"] = np.where(single, allowed.argmax(axis=-1), -1)
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
    found: Array = np.where(place >= 0, np.take_along_axis(tokens, np.maximum(place, 0), axis=1), -1)
    return found


def _stations(run: Run, seen: Sequence[Trace]) -> list[tuple[str, Array, Array]]:
    """(name, learning values, judging values) (window, position, feature) in the order of the computation."""
    found = []
    for block in range(run.architecture.blocks):
        for point in POINTS:
            elsewhere = 0 if point == "embedded" else run.architecture.blocks - 1
            if point not in seen[0] or (point in WHOLE and block != elsewhere):
                continue
            if point == "hidden" and run.architecture.feed_forward > MOST_FEATURES:
                continue
            if point == "final" and not run.architecture.final_norm and run.architecture.norm == "none":
                continue  # it is `out` itself
            name = point if point in WHOLE or run.architecture.blocks == 1 else f"{point} {block}"
            a, b = (each[point] if point in WHOLE else each[point][:, block] for each in seen)
            found.append((name, a.astype(np.float64), b.astype(np.float64)))
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
    inside = (x.T @ x if squares is None else squares) - (
        centre.T * counts
    ) @ centre  # of the classes around their means
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
        found: Array = self.classes[np.argmax(values @ self.weights + self.bias, axis=1)]
        return found


def _chance(learned: Array, judged: Array) -> float:
    classes, counts = np.unique(learned[learned >= 0], return_counts=True)
    truth = judged[judged >= 0]
    return float((truth == classes[np.argmax(counts)]).mean()) if len(truth) else np.nan


def say(seen: Probes) -> Words:
    """Where the answer first becomes readable."""
    targets, steps = (list(seen.above.axes[axis].labels) for axis in ("target", "step"))
    points = seen.points
    caption = (
        "Each panel is one thing to be read off, each row a point of the model in the order of the computation, each "
        "column a kept step. A linear reader (class means, one shared covariance) learned from "
        f"{seen.learned_from} training windows and is judged on held-out ones: numbers are its percent right, colours "
        "how much of what chance leaves it gets (0: chance, always naming the most frequent class; 1: always right). "
        "Judged at "
        + ", ".join(f"{int(n)} places ({name})" for name, n in zip(targets, seen.count.values, strict=True))
        + ". What a reader finds is there, but need not be used by the model; what it misses may be there in a form "
        "that "
        "no line can cut."
    )
    if not np.isfinite(seen.accuracy.values[:, :, -1]).any():
        title = f"At step {steps[-1]} nothing can be read: the values are not numbers"
    else:
        name = "answer" if "answer" in targets else targets[0]
        now = seen.accuracy.values[targets.index(name), :, -1]
        best = int(np.flatnonzero(now >= np.nanmax(now) - TIE)[0])
        what = "the answer" if name == "answer" else f"the {name}"
        title = (
            f"At step {thousands(int(steps[-1]))} a linear reader names {what} in {percent(float(now[best]))} of cases "
            f"{'already ' if best + 1 < len(points) else ''}from “{points[best]}” "
            f"(chance {percent(float(seen.chance.values[targets.index(name)]))}"
        )
        title += f", from “{points[0]}” {percent(float(now[0]))})" if best else ")"
    return Words(title, caption, f"Tables of probe accuracy above chance by point and step. {title}.")
