"""The training in a table: losses, right answers, gradient and updates at a dozen logged steps."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._judged import exactly
from glassformer.analyses._result import Array, Labelled, Result, Words, thousands
from glassformer.errors import CallError
from glassformer.run import Run

ROWS = 12
COLUMNS: dict[str, str | None] = {  # what is shown under each head, from the logged lines
    "epoch": None, "training loss": "train_loss", "held-out loss": "validation_loss", "excess": "excess",
    "right": "accuracy", "gradient": "gradient.all", "update / weights": None, "rate": "rate",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrainingLog(Result):
    """What was logged at up to twelve steps, first and last among them."""

    log: Labelled  # (step, quantity): NaN where it was not logged
    lines: int  # logged in all
    one: bool  # whether each question has one answer; else right is where the answer is in view
    passes: float  # epochs in all; NaN where training does not go over its examples in passes


def training_log(run: Run, *, step: int = -1, member: int = 0, rows: int = ROWS) -> TrainingLog:
    """The logged lines nearest to evenly spaced steps; an epoch is one pass over the training examples."""
    at = run.metrics["step"]
    if not len(at):
        raise CallError("nothing was logged during this training")
    chosen = np.unique(np.round(np.linspace(0, len(at) - 1, min(rows, len(at)))).astype(int))
    data = run.task.data(run.architecture.context)
    per_pass = int(np.sum(data.train.windows)) / run.experiment.train.batch
    epochs = at / per_pass if data.order == "passes" else np.full(len(at), np.nan)
    found = {name: _column(run, name, source, member) for name, source in COLUMNS.items()} | {"epoch": epochs}
    kept = {name: values[chosen] for name, values in found.items() if np.isfinite(values).any()}
    labels = tuple(str(int(each)) for each in at[chosen])
    return TrainingLog(
        step=None if step == -1 else _clock.resolve(run, step),
        clock=_clock.text(run, step, member),
        log=Labelled(np.stack(list(kept.values()), -1), {"step": labels, "quantity": tuple(kept)}),
        lines=len(at),
        one=run.task.answers == "one",
        passes=float(epochs[-1]),
    )


def _column(run: Run, name: str, source: str | None, member: int) -> Array:
    """(line,): one quantity over the logged lines."""
    nothing = np.full(len(run.metrics["step"]), np.nan)

    def logged(metric: str) -> Array:
        values = _clock.metric(run, metric, member)
        return nothing if values is None else values

    if name == "update / weights":
        with np.errstate(all="ignore"):
            return logged("update.all") / logged("weights.all")
    if name == "right" and "accuracy" not in run.metrics:
        return 1 - logged("rule_error_answerable")
    return logged(source or name)


def say(seen: TrainingLog) -> Words:
    """From where to where."""
    names, table = seen.log.axes["quantity"], seen.log.values
    last = int(seen.log.axes["step"][-1])

    def of(name: str) -> Array:
        return table[:, names.index(name)] if name in names else np.full(len(table), np.nan)

    losses, right = of("held-out loss"), of("right")
    if not np.isfinite(losses[-1]):
        title = f"At step {thousands(last)} the loss is not a number: the training has diverged"
    else:
        good = f", {exactly(float(right[0]))} to {exactly(float(right[-1]))} right" if np.isfinite(right[-1]) else ""
        passes = f", {seen.passes:.3g} epochs," if np.isfinite(seen.passes) and seen.passes > 0 else ""
        title = f"In {thousands(last)} steps{passes} held-out loss goes from {losses[0]:.2f} to {losses[-1]:.2f}{good}"
    caption = (
        f"{len(table)} of {seen.lines} logged lines, evenly spaced. Losses in nats per token on a fixed sample; "
        "excess is the held-out loss above the floor of the same windows; right is the share of right answers "
        + ("to held-out questions" if seen.one else "on held-out windows, where the task says what is right")
        + "; gradient is the length of the whole gradient of that step's batch (noisy), update / weights the length of "
        "that update as a share of the weights; an epoch is one pass over the training examples, where training goes "
        "in passes. Every number is as logged while training."
    )
    return Words(title, caption, f"A table of the training at {len(table)} steps. {title}.")
