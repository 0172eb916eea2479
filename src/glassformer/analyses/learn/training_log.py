"""The training in a table: losses, right answers, gradient and updates at a dozen logged steps."""

from typing import Annotated

import numpy as np

from glassformer import summary
from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._judged import exactly
from glassformer.analyses._life import steps_per_pass, steps_per_reading
from glassformer.analyses._options import Member, Option, Step
from glassformer.analyses._result import Array, Labelled, Result, fate, result, thousands
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 15
ANSWERS = ("1.A", "3.§10")
COST = "a"
EDITS = "training"
APPLIES = (_applies.logged,)
ROWS = 12
MOST_EPOCHS = 40
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
    each: bool  # whether the lines are those nearest to the ends of the first passes
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
            good = f" and the share right from {exactly(float(right[0]))} to {exactly(float(right[-1]))}"
            good += f" of {self.right}"
        passes = f", {self.passes:.3g} epochs," if np.isfinite(self.passes) and self.passes > 0 else ""
        return (
            f"In {thousands(last)} steps{passes} {self.whose} loss goes from {losses[0]:.2f} to {losses[-1]:.2f}{good}"
        )

    def column(self, name: str) -> Array:
        """(step,): one quantity; NaN where it was not logged."""
        names, table = self.log.axes["quantity"].values, self.log.values
        return table[:, names.index(name)] if name in names else np.full(len(table), np.nan)


def training_log(
    run: Run,
    *,
    step: Step = -1,
    member: Member = 0,
    rows: int = ROWS,
    epochs: Annotated[int, Option("a line at the start and after each of so many first passes; 0: as suits", least=0,
                                  most=MOST_EPOCHS)] = 0,
) -> TrainingLog:  # fmt: skip
    """Logged lines, closest together where the loss fell; an epoch is one pass over the training examples."""
    at = run.metrics["step"]
    each = steps_per_pass(run)
    per_pass = each or steps_per_reading(run)
    age = at / per_pass if per_pass else np.full(len(at), np.nan)
    chosen = _passes(age, epochs) if epochs else _clock.lines(run, rows, member)
    found = {name: _column(run, name, source, member) for name, source in COLUMNS.items()} | {"epoch": age}
    held = _judged.held_out(run)
    found = {f"{'held-out' if held else 'judged'} loss" if name == "loss" else name: found[name] for name in found}
    kept = {name: values[chosen] for name, values in found.items() if np.isfinite(values).any()}
    return TrainingLog(
        **_clock.over_life(run, step, member),
        truth_known=run.task.exact,
        held_out=held,
        log=Labelled(np.stack(list(kept.values()), -1), {"step": at[chosen], "quantity": kept}),
        lines=len(at),
        right=_of(run),
        passes=float(age[chosen[-1]]),
        each=bool(epochs),
        drawn=not each,
    )


def _passes(age: Array, many: int) -> list[int]:
    """The logged lines nearest to the start and to the end of each of the first passes, none of them twice."""
    if not np.isfinite(age).all():
        raise CallError(f"epochs = {many}: this training draws its examples at random and has no epochs")
    ends = np.arange(min(many, int(age[-1] + 1e-9)) + 1)
    return sorted({int(line) for line in np.abs(age[:, None] - ends).argmin(axis=0)})


def _of(run: Run) -> str:
    if run.task.measure == "rule_error":
        return f"{'held-out ' if _judged.held_out(run) else ''}answers in view"
    held = "held-out tokens" if _judged.held_out(run) else "tokens"
    return summary.judged_questions(run) if run.task.answers == "one" else held


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
