"""How wide the model must be: features of the residual stream, with the feed-forward part in proportion."""

from glassformer.experiment import Experiment
from glassformer.study import Cell

FACTORS = (0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8)
LARGE = 400_000  # parameters; a wider model would take longer than all others together


def width(experiment: Experiment) -> list[Cell]:
    """Halved and doubled, as far as the heads can share it and a small machine can train it."""
    a, cells = experiment.architecture, []
    for factor in FACTORS:
        wide = a.width * factor
        inner = max(1, round(a.feed_forward * factor)) if a.feed_forward else 0
        if wide != int(wide) or wide % a.heads or (factor > 1 and a.parameters * factor**2 > LARGE * 1.1):
            continue
        sizes = {"width": int(wide), "head_width": "none", "feed_forward": inner}
        settings = tuple(f"architecture.{name}={value}" for name, value in sizes.items())
        cells.append(Cell(name=f"width {int(wide)}", settings=settings, x=int(wide)))
    return cells
