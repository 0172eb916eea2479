"""What it helps to see more: the loss at each position of the window."""

import numpy as np

from glassformer.analyses import _clock, _counted, _judged
from glassformer.analyses._options import Member, Step
from glassformer.analyses._result import Labelled, Result, fate, numbers, result, thousands
from glassformer.run import Run
from glassformer.tasks._text import Text

ORDER = 84
ANSWERS = ("new",)
COST = "c"
WORK = 6_000_000  # numbers of hidden layers to be computed, about
FEWEST, MOST = 32, 400  # windows
LATE = 0.02  # nats below which a difference is called none


@result
class ContextPosition(Result):
    """The loss after each position of a window, over the windows that are judged."""

    loss: Labelled  # (statistic, position): mean, its standard error, lower quartile, middle, upper quartile
    floor: Labelled  # (position,): mean of the exact predictor on the same tokens, or of the count table in the window
    excess: Labelled  # (statistic, position): mean of the difference, and its standard error
    late: float  # mean loss in the second half of the window
    windows: int
    of: str  # "exact predictor" or "count table"

    @property
    def title(self) -> str:
        """From where to where the loss falls, and where it is furthest above the best other predictor."""
        mean, (gap, error) = self.loss.values[0], self.excess.values
        if not np.isfinite(mean).all():
            return fate("the loss is not a number at any position", self.step)
        begin, late = f"{mean[0]:.2f} nats after {self.few}", f"{self.late:.2f} in the second half of the window"
        step = f"At step {thousands(self.step or 0)}"
        if mean[0] <= self.late + LATE:
            title = f"{step} a longer view does not help: the loss is {begin} and {late}"
        elif mean[0] <= self.late + 2 * self.loss.values[1][0]:
            title = f"{step} it cannot be told whether a longer view helps: the loss is {begin} and {late}"
        else:
            title = f"{step} the loss falls from {begin} to {late}"
        worst = int(np.argmax(gap))
        if gap[worst] > max(2 * error[worst], LATE):
            where = self.excess.axes["position"].labels[worst]
            title += f"; it lies furthest above the {self.of} at position {where}, by {gap[worst]:.2f}"
        return title

    @property
    def few(self) -> str:
        """What has been seen at the first position that counts, which of some tasks is not position 0."""
        first = self.loss.axes["position"].values[0]
        return "one token" if first == 0 else f"{int(str(first)) + 1} tokens"


def applies(run: Run) -> str | None:
    """That there are several positions to compare."""
    if run.task.answers != "next":
        return "this task has one answer, so there is one position to read it at"
    return None if run.architecture.context - run.task.skip > 1 else "the window has one position only"


def context_position(run: Run, *, step: Step = -1, member: Member = 0) -> ContextPosition:
    """Mean and spread over windows spaced evenly; as many as a moment's work allows."""
    now, a, read = _clock.resolve(run, step), run.architecture, _counted.read(run)
    most = int(np.clip(WORK // (a.context * max(a.feed_forward, a.width) * a.blocks), FEWEST, MOST))
    seen = _judged.judged(run, now, member, most)
    loss = -np.log(np.maximum(seen.given, 1e-30))[:, read]  # (window, position)
    floor = _floor(run, seen)[:, read]
    many, places = len(loss), numbers(a.context)[read]
    error = np.sqrt(many)
    spread = np.quantile(loss, (0.25, 0.5, 0.75), axis=0)
    each = ("mean", "standard error", "lower quartile", "middle", "upper quartile")
    rows = np.stack([loss.mean(axis=0), loss.std(axis=0) / error, *spread])
    apart = loss - floor
    return ContextPosition(
        **_clock.at_step(run, now, member),
        loss=Labelled(rows, {"statistic": each, "position": places}, "nats per token"),
        floor=Labelled(floor.mean(axis=0), {"position": places}, "nats per token"),
        excess=Labelled(
            np.stack([apart.mean(axis=0), apart.std(axis=0) / error]),
            {"statistic": each[:2], "position": places},
            "nats per token",
        ),
        late=float(rows[0, rows.shape[1] // 2 :].mean()),
        windows=many,
        **_judged.about(run),
        of="exact predictor" if run.task.exact else "count table",
    )


def _floor(run: Run, seen: _judged.Judged) -> np.ndarray:
    """(window, position): what the best other predictor pays; a count table, too, sees nothing before the window."""
    task, context = run.task, run.architecture.context
    if not isinstance(task, Text):
        return -seen.examples.truth
    counts, longest = task.counts(context), task.best(context)
    return np.array([counts.cost(window, longest)[1:] for window in seen.examples.windows])
