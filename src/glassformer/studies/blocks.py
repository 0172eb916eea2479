"""How deep the model must be: one block after the other."""

from glassformer.experiment import Experiment
from glassformer.study import Cell

COUNTS = (1, 2, 3, 4)


def blocks(experiment: Experiment) -> list[Cell]:  # noqa: ARG001
    """One to four."""
    return [Cell(name=f"{n} block{'s' if n > 1 else ''}", settings=(f"architecture.blocks={n}",), x=n) for n in COUNTS]
