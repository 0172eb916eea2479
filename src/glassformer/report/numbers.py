"""What an analysis found, as the page shows it: facts, arrays with their labels, and the line that gives them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from glassformer import catalogue
from glassformer.analyses._result import Labelled, Result
from glassformer.catalogue import Entry
from glassformer.run import Run


def asked(each: Entry, run: Run, others: Sequence[Run], options: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of one analysis of a run; of one that compares, of this run beside the others."""
    given = {name: value for name, value in options.items() if each.option(name)}
    subjects = (run, *others) if each.needs == "runs" else (run,)
    found: Result = catalogue.ask("analyses", each.name, *subjects, **given)
    return {
        "name": each.name,
        "title": found.title,
        "section": each.section,
        "clock": found.clock,
        "facts": found.facts(),
        "python": _line(each, len(subjects), given),
        "arrays": [_array(name, array) for name, array in found.arrays().items()],
    }


def _array(name: str, array: Labelled) -> dict[str, Any]:
    values = np.asarray(array.values)
    return {
        "name": name,
        "values": {"data": _row(values), "shape": values.shape, "axes": list(array.axes)},
        "unit": array.unit,
        "labels": {axis: places.labels for axis, places in array.axes.items()},
    }


def _row(values: np.ndarray) -> list[Any]:
    """The numbers in one row, the last axis fastest, with no more digits than the page will keep of them."""
    with np.errstate(over="ignore"):
        flat = values.ravel().astype(np.float32)
    return flat.astype(str).astype(float).tolist()


def _line(each: Entry, many: int, options: Mapping[str, Any]) -> str:
    """`gf.analyses.hessian(run, step=5000)`."""
    subjects = {"nothing": [], "runs": ["[run, other]" if many == 2 else "runs"]}.get(each.needs, ["run"])
    words = [*subjects, *(f"{name}={value!r}" for name, value in options.items())]
    return f"gf.analyses.{each.name}({', '.join(words)})"
