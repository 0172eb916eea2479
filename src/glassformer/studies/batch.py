"""How many examples one step should see: the batch size, with the same number of examples in all."""

from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.studies import _measure
from glassformer.study import Cell, Floats, Metric

FACTORS = (0.125, 0.25, 0.5, 1, 2, 4, 8)
METRICS = {"examples_to_95": Metric("examples to 95 %", "steps")}


def batch(experiment: Experiment) -> list[Cell]:
    """Smaller batches take more steps, larger ones fewer; the lines of the log are spread the same way."""
    train, cells = experiment.train, []
    for factor in FACTORS:
        size, steps = train.batch * factor, round(train.steps / factor)
        if size < 1 or size != int(size) or steps < 1:
            continue
        settings = [f"train.batch={int(size)}", f"train.steps={steps}"]
        if train.log_every is not None:
            settings.append(f"train.log_every={max(1, round(train.log_every / factor))}")
        cells.append(Cell(name=f"batch {int(size)}", settings=tuple(settings), x=int(size)))
    return cells


def measure(run: Run) -> dict[str, Floats]:
    """Steps of different batches compare by what they have seen."""
    return {"examples_to_95": _measure.measure(run)["steps_to_95"] * run.experiment.train.batch}
