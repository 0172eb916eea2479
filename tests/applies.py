"""Which analysis applies to which run; `python tests/applies.py` writes the table that test_catalogue.py reads."""

import csv
import sys
from pathlib import Path

from bare_runs import BARE, bare_run
from glassformer import catalogue
from small_runs import MODULAR, NAN, POPULATION, TEXT, run_of
from small_studies import study_of

TABLE = Path(__file__).with_name("applies.csv")
RUNS = ("plus_last_even", "five_operations", TEXT, MODULAR, POPULATION, NAN)
SUBJECTS = (*RUNS, "study", *BARE)
NOWHERE = Path("no studies are kept here")


def subject_of(name: str) -> catalogue.Subject:
    """A run or a study by its name in the table."""
    if name == "study":
        return study_of("study_cells")
    return bare_run(name) if name in BARE else run_of(name)


def table() -> dict[str, dict[str, str]]:
    """Analysis → subject → nothing where it applies, else why not."""
    return {
        each.name: {name: catalogue.why_not(each, subject_of(name), NOWHERE) or "" for name in SUBJECTS}
        for each in catalogue.entries("analyses")
    }


def read() -> dict[str, dict[str, str]]:
    """The table as it was kept."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row.pop("analysis"): row for row in csv.DictReader(file)}


if __name__ == "__main__":
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["analysis", *SUBJECTS], lineterminator="\n")
        writer.writeheader()
        writer.writerows({"analysis": name, **row} for name, row in sorted(table().items()))
    sys.stdout.write(f"{TABLE}\n")
