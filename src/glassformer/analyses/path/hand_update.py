"""One update checked by hand: a weight, its gradient, the rate, the weight after, and the loss before and after."""

from typing import Annotated

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _counted, _named
from glassformer.analyses._life import tensors
from glassformer.analyses._options import Member, Option
from glassformer.analyses._primer import short
from glassformer.analyses._replay import moves
from glassformer.analyses._result import Array, Labelled, Result, fate, result, shared, thousands
from glassformer.analyses.path.one_update import parameter_names, steepest
from glassformer.architecture import nest
from glassformer.run import Run

ORDER = 72
ANSWERS = ("3.§3.1.4",)
COST = "d"
EDITS = "training"

DIGITS = 6  # behind the point, so that the sum can be done again
REACH, POINTS = 0.5, 41  # how far from the weight the curve goes, at least, and its points
NUDGE = 1e-4  # how far the weight is moved to measure its gradient


def applies(run: Run) -> str | None:
    """Why nothing can be checked by hand."""
    return "with dropout the loss of a batch is one of chance" if run.architecture.dropout else None


@result
class HandUpdate(Result):
    """Every number of one weight's update, and the loss of the same batch around it."""

    weight: str  # `token[11,0]`
    called: str  # the same in words
    before: float
    gradient: float  # of the batch's loss, as training computed it
    measured: float  # the same from two losses, with the weight moved a little up and down
    rate: float
    by_descent: float  # the weight after: before − rate × gradient
    trained: float  # the weight after, as training had it
    optimiser: str
    loss_before: float  # of the batch, in 64 bits
    loss_by_descent: float  # with this weight alone moved, by plain descent
    loss_expected: float  # what the gradient promises for that
    loss_trained: float  # after the whole update, as training had it
    batch: int  # examples
    curve: Labelled  # (argument,): the loss of the batch over this weight, all others as before

    @property
    def title(self) -> str:
        """The sum, and what it does to the loss."""
        if not np.isfinite([self.gradient, self.trained, self.loss_trained]).all():
            return fate(f"the update to step {thousands(self.step or 0)} is not a number, or leads to none")
        gradient = short(self.gradient, DIGITS)
        gradient = f"({gradient})" if self.gradient < 0 else gradient
        verb = "falls" if self.loss_trained < self.loss_before else "rises"
        return (
            f"{short(self.before, DIGITS)} − {short(self.rate, DIGITS)} × {gradient} = "
            f"{short(self.by_descent, DIGITS)}: so plain descent moves {self.called}; the loss of the batch "
            f"{verb} from {self.loss_before:.4f} to {self.loss_trained:.4f} with the whole update"
        )


@shared
def hand_update(
    run: Run,
    *,
    step: Annotated[int, Option("the step it leads to; -1 is one where the loss falls fastest", least=-1)] = -1,
    weight: Annotated[str | None, Option("the weight, such as token[11,0]; none: the most pulled")] = None,
    member: Member = 0,
) -> HandUpdate:
    """The update that led to `step`, for one weight; the training is replayed from its beginning."""
    age = steepest(run, member) if step == -1 else _clock.resolve(run, step)
    (move,) = moves(run, max(age, 1), max(age, 1), member)
    whole = move.gradients.sum(axis=0)
    place = _named.place(run, weight, "weight") if weight else None
    index = tensors(run)[place[0]].start + place[1] if place else int(np.argmax(np.nan_to_num(np.abs(whole), nan=-1)))
    name = parameter_names(run)[index]
    before, gradient = float(move.before[index]), float(whole[index])

    def loss(value: float) -> float:
        changed = move.before.copy()
        changed[index] = value
        return batch_loss(run, changed, move.windows)

    by_descent = before - move.rate * gradient
    reach = max(REACH, 4 * abs(float(np.nan_to_num(move.after[index])) - before))
    around = before + np.linspace(-reach, reach, POINTS)
    at_first = loss(before)
    return HandUpdate(
        step=max(age, 1),
        clock=_clock.text(run, age, member),
        weight=name,
        called=_named.named(run, name),
        before=before,
        gradient=gradient,
        measured=(loss(before + NUDGE) - loss(before - NUDGE)) / (2 * NUDGE),
        rate=move.rate,
        by_descent=by_descent,
        trained=float(move.after[index]),
        optimiser=run.experiment.train.optimiser,
        loss_before=at_first,
        loss_by_descent=loss(by_descent),
        loss_expected=at_first - move.rate * gradient**2,
        loss_trained=batch_loss(run, move.after, move.windows),
        batch=len(move.windows),
        curve=Labelled(np.array([loss(float(value)) for value in around]), {"argument": around}, "nats per token"),
    )


def batch_loss(run: Run, weights: Array, windows: Array) -> float:
    """The mean loss of a batch with these weights, end to end, in 64 bits."""
    shapes, places = run.architecture.shapes(), tensors(run)
    params = nest({name: weights[place].reshape(shapes[name]) for name, place in places.items()})
    with np.errstate(all="ignore"):
        logits = reference.forward(params, windows[:, :-1], run.architecture)[0][:, _counted.read(run)]
        logs = reference.log_softmax(logits.astype(np.float64))
    return float(-np.take_along_axis(logs, _counted.came(run, windows).astype(int)[..., None], axis=-1).mean())
