"""Which optimiser learns best: SGD, momentum, Adam and AdamW, each at the best rate of a small grid."""

from glassformer.experiment import Experiment
from glassformer.studies._say import best, compare_and_time
from glassformer.study import Cell, Study

FIGURE = "study_optimisers"
MAIN = "excess"
TITLES = {"sgd": "SGD", "momentum": "momentum", "adam": "Adam", "adamw": "AdamW"}
GRID = {
    "sgd": (0.01, 0.03, 0.1, 0.3, 1.0),
    "momentum": (0.003, 0.01, 0.03, 0.1, 0.3),
    "adam": (0.0003, 0.001, 0.003, 0.01),
    "adamw": (0.0003, 0.001, 0.003, 0.01),
}
SEARCHED = 2  # seeds behind each rate of the grid
APART = 1_000  # the search has seeds of its own: what chose a rate does not also measure it


def optimiser(experiment: Experiment) -> list[Cell]:  # noqa: ARG001
    """The grid: every optimiser at every rate, with few seeds."""
    return [
        Cell(name=f"{TITLES[kind]}, rate {rate:g}", settings=_settings(kind, rate), x=rate, role="search",
             seeds=SEARCHED, after=APART)
        for kind, rates in GRID.items() for rate in rates
    ]  # fmt: skip


def _settings(kind: str, rate: float) -> tuple[str, ...]:
    return (f"train.optimiser={kind}", f"train.rate={rate}")


def follow(experiment: Experiment, study: Study) -> list[Cell]:  # noqa: ARG001
    """Each optimiser at its best rate, with all the seeds."""
    cells = []
    for kind in GRID:
        searched = [row for row in study.rows("search") if f"train.optimiser={kind}" in row.cell.settings]
        if len(searched) == len(GRID[kind]):  # a failed rate might have been the best
            rate = best(study, searched, "excess").cell.x
            assert rate is not None
            cells.append(Cell(name=f"{TITLES[kind]} at {rate:g}", settings=_settings(kind, rate), x=rate))
    return cells


def conclude(study: Study) -> str:
    """Who is best, who is quickest, and whose grid was too small."""
    edges = []
    for row in study.rows():
        kind = next(k for k in GRID if f"train.optimiser={k}" in row.cell.settings)
        if row.cell.x in (GRID[kind][0], GRID[kind][-1]):
            edges.append(row.cell.name)
    edge = f" At the edge of its grid, so a rate beyond might be better: {', '.join(edges)}." if edges else ""
    return compare_and_time(study, "excess") + edge
