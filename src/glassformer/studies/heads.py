"""How many heads it takes: the same width, shared among more or fewer of them."""

from glassformer.experiment import Experiment
from glassformer.study import Cell


def needs(experiment: Experiment) -> str | None:
    """Why it cannot be asked."""
    a = experiment.architecture
    if a.attention == "off":
        return "its model has no attention"
    return None if len(_counts(experiment)) > 1 else f"width = {a.width} cannot be shared among several heads"


def _counts(experiment: Experiment) -> list[int]:
    a = experiment.architecture
    wide = {n: a.width // n for n in (1, 2, 4, 8, 16) if a.width % n == 0}
    return [n for n, each in wide.items() if a.positions != "rotary" or each % 2 == 0]


def heads(experiment: Experiment) -> list[Cell]:
    """One head, then twice as many each time."""
    cells = []
    for n in _counts(experiment):
        settings = (f"architecture.heads={n}", "architecture.head_width=none")
        cells.append(Cell(name=f"{n} head{'s' if n > 1 else ''}", settings=settings, x=n))
    return cells
