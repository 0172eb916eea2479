"""What can be measured of a training's health: from the logged lines, and from a few kept steps."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from glassformer.analyses import _clock, _counted, _decide, _judged
from glassformer.analyses._result import Array
from glassformer.architecture import part
from glassformer.errors import Error
from glassformer.run import Run
from glassformer.summary import SLACK
from glassformer.tasks import Rung

LOOKS = 6  # kept steps at which weights are looked at
WINDOWS = 64
FLOORS = 0.1  # nats between the floors of training and held-out windows that chance explains
TAIL = 0.6  # the end of a training begins after this share of its rate
SAME = 0.02  # nats within which losses of a text are the same: 2 % of its perplexity


@dataclass(frozen=True)
class Symptoms:
    """One member's life as a doctor sees it."""

    run: Run
    member: int = 0
    _looks: dict[str, tuple[Array, Array]] = field(default_factory=dict, compare=False)

    def metric(self, name: str) -> Array:
        """(line,): what was logged under a name; NaN where it was not."""
        found = _clock.metric(self.run, name, self.member)
        return np.full(len(self.steps), np.nan) if found is None else found

    @property
    def steps(self) -> Array:
        """(line,): the logged steps."""
        return self.run.metrics["step"]

    @cached_property
    def train(self) -> Array:
        """(line,): training loss."""
        return self.metric("train_loss")

    @cached_property
    def validation(self) -> Array:
        """(line,): held-out loss."""
        return self.metric("validation_loss")

    @cached_property
    def whose(self) -> str:
        """What the windows are on which it is judged."""
        return "held-out" if _judged.held_out(self.run) else "judged"

    @cached_property
    def height(self) -> float:
        """From blind guessing down to the floor, in nats."""
        return max(self.blind - self.floor, 1e-9)

    @cached_property
    def close(self) -> float:
        """Nats within which two losses are the same: a fiftieth of the ladder; of a text, whose ladder is no measure of
        what can be learnt, no more than 2 % of its perplexity.
        """
        ladder = SLACK * self.height
        return ladder if self.run.task.exact else min(ladder, SAME)

    @cached_property
    def blind(self) -> float:
        """What it costs to guess without looking."""
        return float(self.ladder[0].nats)

    @cached_property
    def floor(self) -> float:
        """The least loss a model with this window can reach; of a text, that of the best table of counts."""
        return float(self.ladder[-1].nats)

    @cached_property
    def ladder(self) -> list[Rung]:
        """The rungs within reach, highest first."""
        return [rung for rung in _clock.ladder(self.run) if rung.reachable]

    @cached_property
    def gap(self) -> Array:
        """(line,): how much more is left to learn on held-out windows than on those of the training.

        Of a text nobody knows the floors; where the two that stand in for them are far apart, as in one whose training
        half is known by heart, losses are compared.
        """
        over, raw = self.metric("excess") - self.metric("train_excess"), self.validation - self.train
        with np.errstate(all="ignore"):
            near = (np.abs(over - raw) < FLOORS) | self.run.task.exact
        return np.where(near | ~np.isfinite(raw), over, raw)

    @cached_property
    def left(self) -> float:
        """Share of the ladder still to be climbed at the end, on held-out windows."""
        finite = self.metric("excess")[np.isfinite(self.metric("excess"))]
        return ending(finite) / self.height

    @cached_property
    def wrong(self) -> float:
        """Share of wrong answers at the end, among those that can be known; 1 where answers are not counted so."""
        one = self.run.task.answers == "one"
        values = 1 - self.metric("accuracy") if one else self.metric("rule_error_answerable")
        finite = values[np.isfinite(values)]
        return ending(finite) if len(finite) else 1.0

    @cached_property
    def spent(self) -> Array:
        """(line,): how much of all its rate a training has spent; of a rate that does not change, of its steps.

        A loss that comes to rest with its rate has not come to its end.
        """
        rate, steps = self.metric("rate"), self.steps.astype(float)
        rate = rate if np.isfinite(rate).all() and (rate[1:] > 0).any() else np.ones(len(steps))
        spent = np.concatenate([[0.0], np.cumsum(np.diff(steps) * (rate[1:] + rate[:-1]) / 2)])[: len(steps)]
        return spent / max(spent[-1:].sum(), 1e-30)

    @cached_property
    def tail(self) -> Array:
        """(line,): whether a line belongs to the end of the training."""
        return self.spent >= TAIL

    @cached_property
    def falling(self) -> float:
        """How far the held-out loss still falls in the end of the training, in nats."""
        late = self.validation[self.tail]
        late = late[np.isfinite(late)]
        if len(late) < 2:
            return float("nan")
        half = len(late) // 2
        return float(np.median(late[:half]) - np.median(late[-half:]))

    @cached_property
    def ratio(self) -> tuple[Array, Array]:
        """(step, value): the length of one update as a share of the weights it changes."""
        with np.errstate(all="ignore"):
            values = self.metric("update.all") / self.metric("weights.all")
        steps = self.steps
        if 1 not in steps and list(self.run.steps[:2]) == [0, 1]:  # the first update was not logged, but kept
            before, after = self._flat(0), self._flat(1)
            if before is not None and after is not None:
                first = float(np.linalg.norm(after - before)) / max(float(np.linalg.norm(before)), 1e-30)
                steps, values = np.concatenate([[1], steps]), np.concatenate([[first], values])
        some = np.isfinite(values)
        order = np.argsort(steps[some], kind="stable")
        return steps[some][order], values[some][order]

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """(step, value): gradient at the embedding against the part that has most, both per parameter."""
        sizes = _sizes(self.run)
        with np.errstate(all="ignore"):
            each = {name: self.metric(f"gradient.{name}") / np.sqrt(many) for name, many in sizes.items()}
            if "embedding" not in each:
                return np.zeros(0), np.zeros(0)
            values = each["embedding"] / np.max(np.stack(list(each.values())), axis=0)
        some = np.isfinite(values)
        return self.steps[some], values[some]

    def look(self, name: str) -> tuple[Array, Array]:
        """(step, value) at some kept steps: `silent`, `moved`, `varies`, `spread`, `signal`; empty where there is none.

        silent: the largest share of a block's neurons that never fire (ReLU alone). moved: how far the attention of the
        head that changed most has gone from its first step, 0 to 1. varies: standard deviation over windows of the
        attention that varies most. spread: entropy of attention as a share of an even one, mean. signal: how
        much of what is read out depends on the window.
        """
        if not self._looks:
            self._look()
        return self._looks.get(name, (np.zeros(0), np.zeros(0)))

    def _look(self) -> None:
        run, a = self.run, self.run.architecture
        windows = _decide.affordable(run, WINDOWS)
        given = _decide.examples(run, windows)
        found: dict[str, list[tuple[int, float]]] = {"": []}
        first: Array | None = None
        for step in _clock.looks(run, LOOKS if windows == WINDOWS else 3, self.member) if len(run.steps) else []:
            try:
                seen = run.trace(given.windows[:, :-1], step, self.member)
            except Error:  # a damaged step is another matter, and said elsewhere
                continue
            with np.errstate(all="ignore"):
                final = seen["final"][:, _counted.read(run)].astype(np.float64)
                signal = _between(final).mean() / max(np.sqrt((final**2).mean()), 1e-30)
                found.setdefault("signal", []).append((step, float(signal)))
                if a.feed_forward and a.activation == "relu":
                    fires = (seen["hidden"] > 0).any((0, 2))  # (block, neuron)
                    found.setdefault("silent", []).append((step, float((~fires).mean(-1).max())))
                if a.attention == "on":
                    attention = seen["attention"].astype(np.float64)  # (window, block, head, query, key)
                    first = attention if first is None else first
                    for name, value in _attention(attention, first).items():
                        found.setdefault(name, []).append((step, value))
        for name, pairs in found.items():
            steps, values = np.array(pairs, dtype=float).reshape(-1, 2).T
            self._looks[name] = (steps, values)

    @cached_property
    def contradicted(self) -> float:
        """Share of the training answers that the task's own rule does not allow; NaN where it allows everything."""
        run, task = self.run, self.run.task
        given = task.examples(run.architecture.context, "train", 500)
        if task.answers == "one":
            right = [bool(task.allowed(window[:-1])[-1, window[-1]]) for window in given.windows]
            return 1 - float(np.mean(right)) if right else float("nan")
        wanted = given.windows[:, 1:, None].astype(np.int64)
        good = np.take_along_axis(given.allowed, wanted, -1)[..., 0][given.answerable]
        return 1 - float(np.mean(good)) if len(good) else float("nan")

    def _flat(self, step: int) -> Array | None:
        try:
            return np.concatenate([array.ravel() for array in self.run.weights(step, self.member).values()])
        except Error:
            return None


def ending(values: Array) -> float:
    """Where a curve ends: the median of its last lines, at most three and a fifth of them; NaN without any."""
    return float(np.median(values[-min(3, max(1, len(values) // 5)) :])) if len(values) else float("nan")


def _attention(attention: Array, first: Array) -> dict[str, float]:
    moved = 0.5 * np.abs(attention - first).sum(-1).mean((0, -1))  # (block, head)
    seen = np.maximum((attention > 0).any((0, 1, 2)).sum(-1), 1)  # (query,): how many it may look at
    even = np.log(seen)
    entropy = -np.where(attention > 0, attention * np.log(np.maximum(attention, 1e-300)), 0).sum(-1).mean((0, 1, 2))
    some = even > 0
    return {
        "moved": float(moved.max()),
        "varies": float(_between(attention).mean((-1, -2)).max()),
        "spread": float((entropy[some] / even[some]).mean()) if some.any() else 1.0,
    }


def _between(values: Array) -> Array:
    """How much values differ between windows; of a single one nobody knows."""
    return values.std(0) if len(values) > 1 else np.full(values.shape[1:], np.nan)


def _sizes(run: Run) -> dict[str, int]:
    """Parameters of each part that is logged."""
    found: dict[str, int] = {}
    for name, shape in run.architecture.shapes().items():
        found[part(name)] = found.get(part(name), 0) + int(np.prod(shape))
    return {name: many for name, many in found.items() if f"gradient.{name}" in run.metrics}
