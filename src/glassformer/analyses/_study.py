"""What analyses of a study share: its table as labelled numbers."""

from collections.abc import Sequence

import numpy as np

from glassformer.analyses._result import Labelled, thousands
from glassformer.study import Role, Study, Trained

STATISTICS = ("median", "low", "high")
UNITS = {"share": "share", "nats": "nats per token", "steps": "steps", "seconds": "seconds"}
COMMON = ("accuracy", "rule_error", "rule_error_answerable", "excess", "loss", "steps_to_95", "steps_to_98",
          "steps_to_100", "seconds")  # fmt: skip


def values(study: Study, metric: str, rows: Sequence[Trained]) -> Labelled:
    """(cell, seed): one metric of every seed; the k-th seed of a cell in the k-th place."""
    most = max((len(row.seeds) for row in rows), default=0)
    table = np.full((len(rows), most), np.nan)
    for k, row in enumerate(rows):
        table[k, : len(row.seeds)] = row.measured.get(metric, np.nan)
    widest = next((row for row in rows if len(row.seeds) == most), None)
    seeds = tuple(map(str, widest.seeds)) if widest else ()
    return Labelled(table, {"cell": cells(rows), "seed": seeds}, UNITS[study.metrics[metric].unit])


def spreads(study: Study, metric: str, rows: Sequence[Trained]) -> Labelled:
    """(cell, statistic): median, low and high over the seeds."""
    found = [study.spread(row, metric) for row in rows]
    table = np.array([[each.median, each.low, each.high] for each in found]).reshape(-1, 3)
    return Labelled(table, {"cell": cells(rows), "statistic": STATISTICS}, UNITS[study.metrics[metric].unit])


def curves(name: str, rows: Sequence[Trained]) -> dict[str, Labelled]:
    """Cell → (step, seed): what was logged on the way."""
    return {
        row.cell.name: Labelled(
            row.curves[name],
            {"step": tuple(str(int(s)) for s in row.curves["step"]), "seed": tuple(map(str, row.seeds))},
            UNITS["share" if name.startswith(("accuracy", "rule")) else "nats"],
        )
        for row in rows
    }


def cells(rows: Sequence[Trained]) -> tuple[str, ...]:
    """The cells' names, as labels."""
    return tuple(row.cell.name for row in rows)


def clock(study: Study, role: Role = "row") -> str:
    """What stands behind every dot."""
    many = max((len(row.seeds) for row in study.rows(role)), default=study.seeds)
    seeds = "1 seed" if many == 1 else f"{thousands(many)} seeds"
    return f"{study.experiment.name} · {seeds} · {thousands(study.experiment.train.steps)} steps"


def footing(study: Study) -> str:
    """How dots, bars and what is missing are to be read; the same in every figure of a study."""
    text = (
        f"Each dot is one seed, the bar their median; {study.interval}. "
        "A cross is a seed that never got there, or whose loss is no longer a number; it counts as the worst. "
        "All seeds share the data and differ in first weights and in the order of batches."
    )
    lost = [cell.name for cell in study.missing]
    return text + (f" Not trained: {', '.join(lost)}." if lost else "")
