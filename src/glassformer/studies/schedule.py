"""Whether the rate should change on the way: constant, cosine, steps, plateau, with and without a warm-up."""

from glassformer.experiment import Experiment
from glassformer.study import Cell

MAIN = "excess"


def schedule(experiment: Experiment) -> list[Cell]:
    """Each schedule over the same number of steps."""
    steps = experiment.train.steps
    rise, drop = max(1, steps // 20), max(1, steps // 4)
    plain = "train.warmup=0"
    return [
        Cell(name="constant", settings=("train.schedule=constant", plain)),
        Cell(name="constant after a warm-up", settings=("train.schedule=constant", f"train.warmup={rise}")),
        Cell(name="cosine", settings=("train.schedule=cosine", plain)),
        Cell(name="cosine after a warm-up", settings=("train.schedule=cosine", f"train.warmup={rise}")),
        Cell(name="halved three times", settings=("train.schedule=step", f"train.drop_every={drop}", plain)),
        Cell(name="halved at plateaus", settings=("train.schedule=plateau", plain)),
    ]
