"""A claim as people and programs read it: what is said, what was found, and the commands that show it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from glassformer import catalogue
from glassformer.claims import _settle, _sources
from glassformer.claims._claim import HOW, Claim, Need
from glassformer.words import pasted

RECORD = Path(__file__).with_name("settled.json")  # what `glassformer claims --json` printed after `--all`
VERDICTS = ("reproduced", "corrected", "refuted", "illustrative", "not checkable")
FOUND = ("measured", "verdict", "numbers", "truth", "seconds", "settled", "version")
MEMBERS = 8  # of a population that a figure needs and no claim does
PHYSICS = ("one_layer", "boltzmann_memory")  # models that are no experiments
Row = dict[str, Any]


@cache
def recorded() -> dict[str, Row]:
    """The rows that the package ships with, by id."""
    if not RECORD.is_file():
        return {}
    return {row["id"]: row for row in json.loads(RECORD.read_text("utf-8"))["claims"]}


def known(claim: Claim, folder: Path) -> Mapping[str, Any]:
    """What is known of a claim without computing: the folder's result, otherwise the record's; a note if neither."""
    if found := _settle.remembered(claim, folder):
        return found
    found = recorded().get(claim.id, {})
    same = all(found.get(key) == value for key, value in _settle.terms(claim).items() if key in found)
    if same and found.get("verdict"):
        return found
    how = pasted(["glassformer", "claims", claim.id, *(["--all"] if claim.slow else [])])
    return {"note": f"{'slow: ' if claim.slow else ''}`{how}` settles it"}


def row(claim: Claim, found: Mapping[str, Any]) -> Row:
    """One claim with all that is known of it; a `note` says why it has no verdict."""
    source = next(each for each in _sources.sources() if claim in each.claims)
    note = found.get("note") or found.get("missing") or (
        f"not settled: {found['problem']}" if "problem" in found else
        f"unverified: {found['unverified']}" if "unverified" in found else "")  # fmt: skip
    return {
        "id": claim.id,
        "statement": claim.statement,
        "stated": dict(claim.stated),
        "measured": None, "verdict": None, "numbers": {}, "truth": "", "seconds": None, "settled": None,
        "version": None,
        **{key: found[key] for key in FOUND if key in found},
        "note": note,
        "place": claim.place,
        "source": source.code,
        "source_title": source.title,
        "how": list(claim.how),
        "tolerance": claim.tolerance,
        "reason": claim.reason,
        "slow": claim.slow,
        **commands(claim),
    }  # fmt: skip


def commands(claim: Claim) -> dict[str, str]:
    """The run that shows a claim, the figure, and the commands, each as one would type it in an empty folder."""
    if claim.experiment in PHYSICS:
        words = ["glassformer", "physics", claim.experiment]
        return {"run": claim.experiment, "figure": claim.figure, "train": "", "command": pasted([*words, claim.figure]),
                "report": pasted([*words, "--open"])}  # fmt: skip
    if not claim.experiment:
        asked = pasted(["glassformer", "claims", claim.id])
        return {"run": "", "figure": claim.figure, "train": "", "command": asked, "report": ""}
    need = shown_by(claim)
    run = _settle.begun(need)
    made = _train(need, run)
    where = [] if claim.step is None else ["--step", str(claim.step)]
    looked = [] if claim.input is None else ["--input", claim.input]
    edited = ["--edit", claim.edits] if claim.edits else []
    report = ["glassformer", "report", run, *where, *looked, *edited]
    return {"run": run, "figure": claim.figure, "train": made, "command": _figure(claim, run, made),
            "report": pasted(report)}  # fmt: skip


def shown_by(claim: Claim) -> Need:
    """The training whose run shows a claim: the first it needs of its experiment, else the usual one."""
    own = (need for need in claim.needs if need.kind == "run" and need.experiment == claim.experiment)
    need = next(own, Need("run", claim.experiment))
    many = claim.figure and catalogue.entry("figures", claim.figure).needs == "population"
    return replace(need, seeds=MEMBERS) if many and need.seeds == 1 else need


def _train(need: Need, run: str) -> str:
    words = ["glassformer", "train", need.experiment]
    words += ["--seed", str(need.seed)] if need.seed is not None else []
    words += ["--seeds", str(need.seeds)] if need.seeds > 1 else []
    words += ["--steps", str(need.steps)] if need.steps is not None else []
    words += [word for each in need.settings for word in ("--set", each)]
    changed = need.steps is not None or need.settings
    return pasted([*words, *(["--out", f"runs/{run}"] if changed else [])])


def _figure(claim: Claim, run: str, otherwise: str) -> str:
    """The command that draws the figure of a claim; without a figure, the one that trains."""
    if not claim.figure:
        return otherwise
    entry = catalogue.entry("figures", claim.figure)
    if entry.needs == "study":
        drawn = [each.name for each in catalogue.entries("studies") if each.figure == claim.figure]
        usual = Need("study", claim.experiment, drawn[0], seeds=MEMBERS)
        return _study(next((need for need in claim.needs if need.study in drawn), usual))
    words = ["glassformer", "figures", run, claim.figure]
    words += ["--step", str(claim.step)] if claim.step is not None and entry.option("step") else []
    words += ["--sequence", claim.input] if claim.input is not None and entry.option("sequence") else []
    words += ["--edit", claim.edits] if claim.edits else []
    return pasted(words)


def _study(need: Need) -> str:
    words = ["glassformer", "study", need.study, need.experiment, "--seeds", str(need.seeds)]
    words += ["--steps", str(need.steps)] if need.steps is not None else []
    return pasted([*words, *(word for each in need.settings for word in ("--set", each))])


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """How many claims have each verdict; those without one last."""
    found = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}
    return {**found, "not settled": sum(row["verdict"] is None for row in rows)}


def ways(row: Row) -> str:
    """How a claim is settled, in words."""
    return ", ".join(HOW[each] for each in row["how"])


def seeds(row: Row) -> list[int]:
    """The number of seeds behind each number of a claim that is measured over seeds."""
    return [each["seeds"] for each in row["numbers"].values() if isinstance(each, dict) and "seeds" in each]
