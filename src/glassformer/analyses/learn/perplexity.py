"""How many tokens it wavers between: the perplexity of a text by step, beside that of tables of counts."""

import numpy as np

from glassformer.analyses import _applies
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import fate, result, thousands
from glassformer.analyses.learn import loss as of_loss
from glassformer.analyses.learn.loss import Loss
from glassformer.run import Run

ORDER = 12
ANSWERS = ("2.F3", "2.F4")
COST = "a"
APPLIES = (_applies.logged,)


@result
class Perplexity(Loss):
    """e to the power of the losses of a text, and of what tables of counts pay."""

    best: float  # the lowest on held-out windows
    best_step: int

    @property
    def title(self) -> str:
        """From where to where, the best, and what counting can do."""
        at, values = self.at, self.curves["validation"].values
        if len(bad := np.flatnonzero(~np.isfinite(values))):
            return fate("the perplexity is not a number", since=int(at[bad[0]]))
        table = f"over the whole validation part the best table of counts has {self.rungs.values[self.lowest]:.1f}"
        if len(at) == 1:
            return f"At step {thousands(int(at[0]))} the perplexity is {values[0]:.1f}; {table}"
        word = "falls" if values[-1] < values[0] else "rises"
        least = f", at its lowest {self.best:.1f} at step {thousands(self.best_step)}"
        least = least if f"{self.best:.1f}" != f"{values[-1]:.1f}" else ""
        steps = thousands(int(at[-1]))
        return f"Perplexity {word} from {values[0]:.1f} to {values[-1]:.1f} in {steps} steps{least}; {table}"


def applies(run: Run) -> str | None:
    """That it is a text: of a task with a floor, losses are told in nats above it."""
    return (
        None if not run.task.exact else "perplexity is told of texts; this task has a floor, and “loss” counts from it"
    )


def perplexity(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> Perplexity:
    """Perplexity of one member on training and held-out windows, as logged."""
    seen = of_loss.loss(run, step=step, member=member, unit="perplexity", axis=axis)
    held = seen.curves["validation"].values
    low = int(np.nanargmin(held)) if np.isfinite(held).any() else 0
    return Perplexity(**vars(seen), best=float(held[low]), best_step=int(seen.at[low]))
