"""What the sources state, and what was measured: every number of every claim, as far from the stated one as it is."""

import json
from collections import Counter
from importlib import resources
from typing import Annotated, Any, Literal

import numpy as np

from glassformer.analyses._options import Option
from glassformer.analyses._result import Array, Labelled, Result, listed, result
from glassformer.errors import CallError

ORDER = 110
ANSWERS = ("new",)
COST = "a"
NEEDS = "nothing"

RECORD = "settled.json"  # what `glassformer claims --all --json` printed


@result
class Claims(Result):
    """Numbers that a source states and a computation found, each relative to the stated one."""

    deviation: Labelled  # (question, statistic): (measured − stated) / |stated|; median, low and high over seeds
    stated: Labelled  # (question,)
    measured: Labelled  # (question,)
    claim: tuple[str, ...]  # (question,): the claim that the number belongs to
    judged: tuple[str, ...]  # (question,): its verdict
    verdicts: dict[str, int]  # of all claims, those without numbers too
    met: int  # numbers within the tolerance of their claim

    @property
    def title(self) -> str:
        """How many hold."""
        counts = listed([f"{many} {verdict}" for verdict, many in self.verdicts.items() if many])
        return (
            f"Of {len(self.claim)} numbers that the sources state, {self.met} are what is measured; of "
            f"{sum(self.verdicts.values())} claims, {counts}"
        )


def claims(
    *,
    source: Annotated[
        Literal["all", "S0", "S1", "S2", "S3", "S4"], Option("one of the sources, or all of them")
    ] = "all",
) -> Claims:
    """The record of claims that ships with the package; a stated 0 has no relative distance, and is left out."""
    path = resources.files("glassformer") / "claims" / RECORD
    if not path.is_file():
        raise CallError(f"no claims are settled in {path}; `make claims` settles them")
    rows = [row for row in json.loads(path.read_text("utf-8"))["claims"] if source in ("all", row["source"])]
    found = [
        (row, name, said, _numbers(row["numbers"][name]))
        for row in rows
        for name, said in row["stated"].items()
        if row["verdict"] and said and np.isfinite(_numbers(row["numbers"].get(name, "NaN"))).all()
    ]
    labels = {"question": tuple(f"{row['id']} {name.replace('_', ' ')}" for row, name, _, _ in found)}
    stated = np.array([said for _, _, said, _ in found])
    numbers = np.array([each for *_, each in found]).reshape(len(found), 3)
    deviation: Array = (numbers - stated[:, None]) / np.abs(stated)[:, None]
    tolerance = np.array([row["tolerance"] for row, *_ in found])
    counts = Counter(row["verdict"] or "not settled" for row in rows)
    order = ("reproduced", "corrected", "refuted", "illustrative", "not checkable", "not settled")
    return Claims(
        deviation=Labelled(deviation, {**labels, "statistic": ("median", "low", "high")}),
        stated=Labelled(stated, labels),
        measured=Labelled(numbers[:, 0], labels),
        claim=tuple(row["id"] for row, *_ in found),
        judged=tuple(row["verdict"] for row, *_ in found),
        verdicts={verdict: counts[verdict] for verdict in order if counts[verdict]},
        met=int((np.abs(numbers[:, 0] - stated) <= tolerance + 1e-12).sum()),
    )


def _numbers(given: Any) -> list[float]:
    """Median, low and high; of a single number three times itself."""
    if isinstance(given, dict):
        return [float(given[key]) for key in ("median", "low", "high")]
    return 3 * [float(given)]
