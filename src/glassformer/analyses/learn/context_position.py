"""What it helps to see more: the loss at each position of the window."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _counted, _judged
from glassformer.analyses._result import Labelled, Result, Words, numbers, thousands, result
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._text import Text

ORDER = 84
ANSWERS = ("new",)
COST = "c"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    if run.task.answers != "next":
        return "this task has one answer, so there is one position to read it at"
    return None if run.architecture.context - run.task.skip > 1 else "the window has one position only"


WORK = 6_000_000  # numbers of hidden layers to be computed, about
FEWEST, MOST = 32, 400  # windows
LATE = 0.02  # nats below which a difference is called none


@result
class ContextPosition(Result):
    """The loss after each position of a window, over windows of the validation part."""

    loss: Labelled  # (number, position): mean, its standard error, lower quartile, middle, upper quartile
    floor: Labelled  # (position,): mean of the exact predictor on the same tokens, or of the count table in the window
    excess: Labelled  # (number, position): mean of the difference, and its standard error
    windows: int
    of: str  # "exact predictor" or "count table"


def context_position(run: Run, *, step: int = -1, member: int = 0) -> ContextPosition:
    """Mean and spread over windows spaced evenly; as many as a moment's work allows."""
    if run.task.answers != "next":
        raise CallError("this task has one answer, so there is one position to read it at")
    now, a, read = _clock.resolve(run, step), run.architecture, _counted.read(run)
    most = int(np.clip(WORK // (a.context * max(a.feed_forward, a.width) * a.blocks), FEWEST, MOST))
    seen = _judged.judged(run, now, member, most)
    loss = -np.log(np.maximum(seen.given, 1e-30))[:, read]  # (window, position)
    floor = _floor(run, seen)[:, read]
    many, places = len(loss), numbers(a.context)[read]
    error = np.sqrt(many)
    spread = np.quantile(loss, (0.25, 0.5, 0.75), axis=0)
    numbers_of = ("mean", "standard error", "lower quartile", "middle", "upper quartile")
    rows = np.stack([loss.mean(axis=0), loss.std(axis=0) / error, *spread])
    apart = loss - floor
    return ContextPosition(
        step=now,
        clock=_clock.text(run, step, member),
        loss=Labelled(rows, {"number": numbers_of, "position": places}, "nats per token"),
        floor=Labelled(floor.mean(axis=0), {"position": places}, "nats per token"),
        excess=Labelled(
            np.stack([apart.mean(axis=0), apart.std(axis=0) / error]),
            {"number": ("mean", "standard error"), "position": places},
            "nats per token",
        ),
        windows=many,
        of="exact predictor" if run.task.exact else "count table",
    )


def _floor(run: Run, seen: _judged.Judged) -> np.ndarray:
    """(window, position): what the best other predictor pays; a count table, too, sees nothing before the window."""
    task, context = run.task, run.architecture.context
    if not isinstance(task, Text):
        return -seen.examples.truth
    counts, longest = task.counts(context), task.best(context)
    return np.array([counts.cost(window, longest)[1:] for window in seen.examples.windows])


def say(seen: ContextPosition) -> Words:
    """From where to where the loss falls, and where it is furthest above the best other predictor."""
    mean, floor = seen.loss.values[0], seen.floor.values
    first = int(seen.loss.axes["position"].labels[0])  # of a task whose first predictions do not count, not 0
    few = "one token" if first == 0 else f"{first + 1} tokens"
    caption = (
        f"Loss of the token after each position of the window, over {thousands(seen.windows)} windows of the "
        f"validation part. At position {first} the model has seen {few}, at the last a whole window. Dark band: the "
        "mean ± 2 standard errors (an estimate from these windows); pale band: the middle half of the tokens. "
        f"Dashes: the {seen.of} on the same tokens"
        + (", which sees the same window. " if seen.of == "exact predictor" else ", which also sees only the window. ")
        + "Right: the model minus those dashes, with ± 2 standard errors. A model that used nothing but the last few "
        "tokens would have a level line after them."
    )
    step = thousands(seen.step or 0)
    if not np.isfinite(mean).all():
        title = f"At step {step} the loss is not a number at any position: the training has diverged"
        return Words(title, caption, f"Empty axes. {title}.")
    begin, late = mean[0], mean[len(mean) // 2 :].mean()
    gap = seen.excess.values[0]
    if seen.of == "count table":  # a text's loss is known by its perplexity
        caption += (
            f" As perplexity, e to the mean loss: {np.exp(begin):.1f} after {few}, {np.exp(late):.1f} in the second "
            f"half of the window, {np.exp(mean[-1]):.1f} at its last position; the right axis of the first panel."
        )
    if begin <= late + max(2 * seen.loss.values[1][0], LATE):
        title = (
            f"At step {step} a longer view does not help: the loss is {begin:.2f} nats after {few} and "
            f"{late:.2f} in the second half of the window"
        )
    else:
        title = (
            f"At step {step} the loss falls from {begin:.2f} nats after {few} to {late:.2f} in the second half of "
            "the window"
        )
    worst = int(np.argmax(gap))
    if gap[worst] > max(2 * seen.excess.values[1][worst], LATE):
        title += f"; it lies furthest above the {seen.of} at position {seen.excess.axes['position'].labels[worst]}"
        title += f", by {gap[worst]:.2f}"
    alt = (
        f"Curves over {len(mean)} positions. {title}. The gap to the {seen.of} is {gap[0]:.2f} nats at the first "
        f"position and {gap[-1]:.2f} at the last, where it pays {floor[-1]:.2f} itself."
    )
    return Words(title, caption, alt)
