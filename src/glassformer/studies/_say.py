"""Sentences that follow from a table: which cells differ, judged by their intervals, and how to say so."""

import math
from collections.abc import Sequence

from glassformer.analyses._result import listed
from glassformer.study import Study, Trained, places

WORTH = 0.02  # of the excess of blind guessing: less than this below it is not called learnt
SURE = 0.9  # how surely an interval must hold the median for cells to be told apart by it: five seeds or more


def best(study: Study, rows: Sequence[Trained], metric: str) -> Trained:
    """The row with the best median; the first of equals."""
    higher = study.metrics[metric].higher

    def key(row: Trained) -> float:
        value = study.spread(row, metric).median
        return math.inf if math.isnan(value) else -value if higher else value

    return min(rows, key=key)


def compared(study: Study, metric: str, first: Trained | None = None) -> str:
    """Which cells are worse than the best (or than `first`) by their intervals, and which are not told apart."""
    rows = study.rows()
    top = first or best(study, rows, metric)
    worse = [row for row in rows if row is not top and study.better(metric, top, row)]
    ahead = [row for row in rows if row is not top and study.better(metric, row, top)]
    same = [row for row in rows if row is not top and row not in worse and row not in ahead]
    title = study.metrics[metric].title
    start = f"{top.cell.name} with" if first else f"the best median is that of {top.cell.name},"
    parts = [f"{title}: {start} {study.shown(top, metric)}"]
    if ahead:
        parts.append(f"better {named(study, ahead, metric)}")
    if worse:
        parts.append(f"worse {named(study, worse, metric)}")
    if same:
        parts.append(f"the seeds do not tell {listed([row.cell.name for row in same])} from it")
    return "; ".join(parts) + "."


def named(study: Study, rows: Sequence[Trained], metric: str) -> str:
    """`is width 4 (12.0 %)`, `are width 4 (12.0 %) and width 8 (40.1 %, 38.0 to 42.5 %)`."""
    each = [f"{row.cell.name} ({study.shown(row, metric).replace(' (', ', ').replace(')', '')})" for row in rows]
    return f"{'is' if len(each) == 1 else 'are'} {listed(each)}"


def unlearnt(study: Study) -> str:
    """The warning that comes before the conclusion when no cell does better than a guess that looks at nothing."""
    ladder = study.experiment.task.ladder(study.experiment.architecture.context)
    if len(ladder) < 3:
        return ""
    blind, floor = ladder[1], study.experiment.floor
    reached = study.spread(best(study, study.rows(), "excess"), "excess").median
    if math.isnan(reached) or reached < (1 - WORTH) * (blind.nats - floor):
        return ""
    many = study.experiment.train.steps
    which = "the cell does not get" if len(study.rows()) == 1 else "no cell gets"
    return (
        f"In {many:,} step{'s' if many != 1 else ''} {which} past “{blind.name}”, a guess that looks at nothing, so "
        "all that follows compares guesses; more steps may tell. "
    )


def uncertain(study: Study) -> str:
    """The warning that comes after a comparison of too few seeds."""
    rows = study.rows()
    many = min((len(row.seeds) for row in rows), default=0)
    if len(rows) < 2 or places(many)[2] >= SURE:
        return ""
    return f" With {many} seed{'s' if many != 1 else ''} a cell, what sets the cells apart may be chance."


def compare_and_time(study: Study, metric: str, first: Trained | None = None) -> str:
    """Two sentences: how the cells compare in a metric, and which cell is quickest."""
    text = compared(study, metric, first)
    return text[0].upper() + text[1:] + " " + quickest(study)


def quickest(study: Study) -> str:
    """Which cell reaches 95 % first."""
    rows = [row for row in study.rows() if not math.isnan(study.spread(row, "steps_to_95").median)]
    if not rows:
        return "No cell gets to 95 % in the median."
    top = best(study, rows, "steps_to_95")
    return f"Quickest to 95 % is {top.cell.name}: {study.shown(top, 'steps_to_95')} steps."
