"""How many seeds learn each rule, with the settings as published and, where those fail, with ours.

`python benchmarks/rule_tasks.py --markdown docs/rules.md` writes the table; minutes on a CPU or a GPU.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from glassformer import summary
from glassformer.experiment import Experiment, load, names
from glassformer.tasks._rule import Rule
from glassformer.training import Outcome, begin

HEADER = """# How many seeds learn each rule

Made by `python benchmarks/rule_tasks.py --markdown docs/rules.md` on {device}. *Solved*: error under 2 % on answerable
positions where one answer is right, excess loss under 0.02 nats where several are. *Error* and *excess* are medians
over the seeds, on validation windows; excess is over the exact predictor on the same windows. An experiment called
`NAME_as_published` has the source's settings; where there is none, `NAME` itself has them. Two rules resist at their
published size under the schedules tried: they have more rows, each the published model with other training settings.

| experiment | parameters | steps, batch, rate, schedule | solved | error (answerable) | excess (nats) |
|---|---:|---|---:|---:|---:|
"""


# Rules that resist at their published size: the same model with a schedule that serves the others well.
SCHEDULE = ("train.schedule=cosine", "train.warmup=500", "train.steps=40000")
RESISTING = {
    "plus_max_of_two_as_published": [("train.rate=0.01", *SCHEDULE), ("train.rate=0.03", *SCHEDULE)],
    "lucky7_no_resid_as_published": [("train.rate=0.005", *SCHEDULE), ("train.rate=0.01", *SCHEDULE)],
}


def trained(experiment: Experiment, seeds: int) -> Outcome:
    """A population that keeps only its first and last weights."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = begin(experiment, seeds=seeds, out=Path(folder) / "run")
        outcome.run.metrics  # noqa: B018  read before the folder goes
        outcome.run.steps  # noqa: B018
        return outcome


def row(outcome: Outcome) -> str:
    """One line of the table."""
    run, train = outcome.run, outcome.run.experiment.train
    each = summary.members(run)
    solved = sum(summary.solved(run, member) for member in each)
    error, excess = (np.median([member[name] for member in each]) for name in ("rule_error_answerable", "excess"))
    words = f"{train.steps:,}, {train.batch}, {train.rate:g}, {train.schedule}"
    return (
        f"| {run.experiment.name} | {run.parameters:,} | {words} | {solved} of {len(each)} | "
        f"{100 * error:.1f} % | {excess:.4f} |"
    )


def main() -> None:
    """Train every rule experiment and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=None, help="names of experiments")
    parser.add_argument("--markdown", type=Path, default=None)
    chosen = parser.parse_args()
    rules = [name for name in names() if isinstance(load(name).task, Rule)]
    lines, device = [], ""
    for name in chosen.only or rules:
        for settings in [(), *RESISTING.get(name, [])]:
            outcome = trained(load(name, ["train.keep_bytes=0", *settings]), chosen.seeds)
            device = outcome.device
            lines.append(row(outcome))
            print(lines[-1], f"{outcome.seconds:.0f} s", flush=True)
    if chosen.markdown is not None:
        chosen.markdown.write_text(HEADER.format(device=device) + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
