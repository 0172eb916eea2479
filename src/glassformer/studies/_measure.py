"""What a trained population is worth: the numbers that every study puts into its table."""

import numpy as np

from glassformer import summary
from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.study import Floats, Metric

CURVES = ("validation_loss", "train_loss", "excess", "accuracy", "rule_error", "rule_error_answerable")
GOOD, PERFECT = 0.95, {"accuracy": 1.0, "rule_error": 1 - summary.SOLVED_ERROR}


def metrics(experiment: Experiment) -> dict[str, Metric]:
    """The metrics of an experiment, the one that answers most questions first."""
    task, context = experiment.task, experiment.architecture.context
    perfect = round(100 * PERFECT[task.measure])
    new = task.answers == "one" and task.data(context).leak(context + 1) == 0
    right = (
        {"accuracy": Metric("accuracy on new questions" if new else "accuracy", "share", higher=True)}
        if task.measure == "accuracy"
        else {
            "rule_error_answerable": Metric("rule error in view", "share"),
            "rule_error": Metric("rule error", "share"),
        }
    )
    return right | {
        "excess": Metric("excess", "nats"),
        "loss": Metric("loss", "nats"),
        "steps_to_95": Metric("steps to 95 %", "steps"),
        f"steps_to_{perfect}": Metric(f"steps to {perfect} %", "steps"),
        "seconds": Metric("seconds", "seconds"),
    }


def measure(run: Run) -> dict[str, Floats]:
    """The default metrics of every member, at the end of its training."""
    perfect = PERFECT[run.task.measure]
    names = {"accuracy": "accuracy", "rule_error_answerable": "rule_error_answerable", "rule_error": "rule_error",
             "excess": "excess", "loss": "validation_loss"}  # fmt: skip
    logged = {name: column(run, name) for name in names.values() if name in run.metrics}
    found = {name: logged[source][-1] for name, source in names.items() if source in logged}
    right = logged["accuracy"] if run.task.measure == "accuracy" else 1 - logged["rule_error_answerable"]
    found["steps_to_95"] = steps_to(run, right, GOOD)
    found[f"steps_to_{round(100 * perfect)}"] = steps_to(run, right, perfect)
    found["seconds"] = np.full(run.members, seconds(run))
    return found


def curves(run: Run) -> dict[str, Floats]:
    """What was logged on the way: `step` and, over (line, seed), the losses and errors."""
    found = {name: column(run, name) for name in CURVES if name in run.metrics}
    return {"step": np.asarray(run.metrics["step"], dtype=float), **found}


def column(run: Run, name: str) -> Floats:
    """(line, member), for single runs too."""
    values = np.asarray(run.metrics[name], dtype=float)
    return values if values.ndim == 2 else values[:, None]


def steps_to(run: Run, right: Floats, goal: float) -> Floats:
    """The first logged step at which a member's share of right answers reaches a goal; NaN: never."""
    reached = right >= goal - 1e-9
    first = np.asarray(run.metrics["step"], dtype=float)[np.argmax(reached, axis=0)]
    return np.where(reached.any(axis=0), first, np.nan)


def largest_jump(run: Run) -> Floats:
    """The largest rise of the validation loss between two logged lines, per member; NaN once it is no number."""
    loss = column(run, "validation_loss")
    if len(loss) < 2:
        return np.zeros(run.members)
    with np.errstate(invalid="ignore"):  # a loss may have become infinite
        rise: Floats = np.maximum(np.diff(loss, axis=0).max(axis=0), 0)
    return rise


def seconds(run: Run) -> float:
    """How long all members took together, compilation included."""
    times = run.about.get("times", {})
    return float(times.get("seconds", np.nan))
