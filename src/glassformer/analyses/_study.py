"""What analyses of a study share: its table as labelled numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from glassformer.analyses._result import Axis, Labelled, Result, numbers, result, thousands
from glassformer.study import Study, Trained

STATISTICS = ("median", "low", "high")
UNITS = {"share": "share", "nats": "nats per token", "steps": "steps", "seconds": "seconds"}
COMMON = ("accuracy", "rule_error", "rule_error_answerable", "excess", "loss", "steps_to_95", "steps_to_98",
          "steps_to_100", "seconds")  # fmt: skip


@result
class OfStudy(Result):
    """What every result of a study holds beside its numbers."""

    conclusion: str  # computed from the table; empty while the study has not come to its end
    interval: str  # what low and high are
    missing: tuple[str, ...]  # cells that are not trained


def about(study: Study) -> dict[str, Any]:
    """Those fields, and the clock."""
    return {
        "clock": clock(study),
        "conclusion": str(study.result.get("conclusion", "")),
        "interval": study.interval,
        "missing": tuple(cell.name for cell in study.missing),
    }


def values(study: Study, metric: str, rows: Sequence[Trained]) -> Labelled:
    """(cell, member): one metric of every seed; the k-th seed of a cell in the k-th place."""
    most = max((len(row.seeds) for row in rows), default=0)
    table = np.full((len(rows), most), np.nan)
    for k, row in enumerate(rows):
        table[k, : len(row.seeds)] = row.measured.get(metric, np.nan)
    widest = next((row for row in rows if len(row.seeds) == most), None)
    seeds = members(widest) if widest else ()
    return Labelled(table, {"cell": cells(rows), "member": seeds}, UNITS[study.metrics[metric].unit])


def spreads(study: Study, metric: str, rows: Sequence[Trained]) -> Labelled:
    """(cell, statistic): median, low and high over the seeds."""
    found = [study.spread(row, metric) for row in rows]
    table = np.array([[each.median, each.low, each.high] for each in found]).reshape(-1, 3)
    return Labelled(table, {"cell": cells(rows), "statistic": STATISTICS}, UNITS[study.metrics[metric].unit])


def curves(name: str, rows: Sequence[Trained]) -> dict[str, Labelled]:
    """Cell → (step, member): what was logged on the way."""
    return {
        row.cell.name: Labelled(
            row.curves[name],
            {"step": row.curves["step"].astype(int), "member": members(row)},
            UNITS["share" if name.startswith(("accuracy", "rule")) else "nats"],
        )
        for row in rows
    }


def members(row: Trained) -> Axis:
    """The seeds of a cell, in their order."""
    return Axis(numbers(len(row.seeds)), tuple(map(str, row.seeds)))


def cells(rows: Sequence[Trained]) -> tuple[str, ...]:
    """The cells' names, as labels."""
    return tuple(row.cell.name for row in rows)


def clock(study: Study) -> str:
    """What stands behind every dot."""
    many = max((len(row.seeds) for row in study.rows()), default=study.seeds)
    seeds = "1 seed" if many == 1 else f"{thousands(many)} seeds"
    return f"{study.experiment.name} · {seeds} · {thousands(study.experiment.train.steps)} steps"
