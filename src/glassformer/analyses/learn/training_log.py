"""The training in a table: losses, right answers, gradient and updates at a dozen logged steps."""

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._judged import exactly
from glassformer.analyses._life import steps_per_pass, steps_per_reading
from glassformer.analyses._options import Member, Step
from glassformer.analyses._result import Array, Labelled, Result, fate, result, thousands
from glassformer.run import Run

ORDER = 15
ANSWERS = ("1.A", "3.§10")
COST = "a"
APPLIES = (_applies.logged,)
ROWS = 12
COLUMNS: dict[str, str | None] = {  # what is shown under each head, from the logged lines
    "epoch": None, "training loss": "train_loss", "loss": "validation_loss", "perplexity": None,
    "excess": "excess", "right": "accuracy", "gradient": "gradient.all", "update / weights": None, "rate": "rate",
}  # fmt: skip


@result
class TrainingLog(Result):
    """What was logged at up to twelve steps, first and last among them."""

    log: Labelled  # (step, quantity): NaN where it was not logged
    lines: int  # logged in all
    right: str  # of what the right answers are a share
    passes: float  # epochs in all; NaN where training sees no fixed examples again and again
    drawn: bool  # whether the examples are drawn at random, so that an epoch is only as many tokens as the text has

    @property
    def title(self) -> str:
        """From where to where."""
        losses, right = self.column(f"{self.whose} loss"), self.column("right")
        last = int(np.array(self.log.axes["step"].values)[-1])
        if not np.isfinite(losses[-1]):
            return fate("the loss is not a number", last)
        good = ""
        if np.isfinite(right[-1]):
            good = f", from {exactly(float(right[0]))} to {exactly(float(right[-1]))} of {self.right} right"
        passes = f", {self.passes:.3g} epochs," if np.isfinite(self.passes) and self.passes > 0 else ""
        return (
            f"In {thousands(last)} steps{passes} {self.whose} loss goes from {losses[0]:.2f} to {losses[-1]:.2f}{good}"
        )

    def column(self, name: str) -> Array:
        """(step,): one quantity; NaN where it was not logged."""
        names, table = self.log.axes["quantity"].values, self.log.values
        return table[:, names.index(name)] if name in names else np.full(len(table), np.nan)


def training_log(run: Run, *, step: Step = -1, member: Member = 0, rows: int = ROWS) -> TrainingLog:
    """Logged lines, closest together where the loss fell; an epoch is one pass over the training examples."""
    at = run.metrics["step"]
    chosen = _clock.lines(run, rows, member)
    each = steps_per_pass(run)
    per_pass = each or steps_per_reading(run)
    epochs = at / per_pass if per_pass else np.full(len(at), np.nan)
    found = {name: _column(run, name, source, member) for name, source in COLUMNS.items()} | {"epoch": epochs}
    held = _judged.held_out(run)
    found = {f"{'held-out' if held else 'judged'} loss" if name == "loss" else name: found[name] for name in found}
    kept = {name: values[chosen] for name, values in found.items() if np.isfinite(values).any()}
    return TrainingLog(
        step=None if step == -1 else _clock.resolve(run, step),
        clock=_clock.text(run, step, member),
        truth_known=run.task.exact,
        held_out=held,
        log=Labelled(np.stack(list(kept.values()), -1), {"step": at[chosen], "quantity": kept}),
        lines=len(at),
        right=_of(run),
        passes=float(epochs[-1]),
        drawn=not each,
    )


def _of(run: Run) -> str:
    if run.task.measure == "rule_error":
        return "held-out answers in view"
    held = "held-out tokens" if _judged.held_out(run) else "tokens"
    return "new questions" if run.task.answers == "one" else held


def _column(run: Run, name: str, source: str | None, member: int) -> Array:
    """(line,): one quantity over the logged lines."""
    nothing = np.full(len(run.metrics["step"]), np.nan)

    def logged(metric: str) -> Array:
        values = _clock.metric(run, metric, member)
        return nothing if values is None else values

    if name == "update / weights":
        with np.errstate(all="ignore"):
            return logged("update.all") / logged("weights.all")
    if name == "perplexity":
        with np.errstate(over="ignore"):
            return nothing if run.task.exact else np.exp(logged("validation_loss"))
    if name == "right" and "accuracy" not in run.metrics:
        return 1 - logged("rule_error_answerable")
    return logged(source or name)
