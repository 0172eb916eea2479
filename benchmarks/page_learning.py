"""How often a model trained in the page learns its task, beside Python's own training with as many seeds.

    python benchmarks/page_learning.py [EXPERIMENT] [--seed 5000] [--seeds 16]

Both are judged by the same measure, `summary.solved`: the page's runs are saved as it saves them, and opened here.
Needs Node and the packages of frontend/ (npm ci). Prints a table in Markdown, with 95 % intervals after Wilson.
"""

import argparse
import json
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

import glassformer as gf
from glassformer import summary, tensors
from glassformer.analyses import _clock
from glassformer.analyses._judged import wilson
from glassformer.report import info, training_data
from glassformer.report.blocks import as_json
from glassformer.run import Run

HERE = Path(__file__).parent
PAGE = HERE.parent / "frontend"


def told(run: Run) -> dict[str, Any]:
    """As much of a run as the page needs to train it."""
    return {
        "experiment": run.experiment.tables(), "task": info._task(run), "changes": "", "floor": run.experiment.floor,
        "ladder": [info._rung(each) for each in _clock.ladder(run)], "versions": {"glassformer": gf.__version__},
        "order": run.task.data(run.architecture.context).order,
    }  # fmt: skip


def in_page(folder: Path, python: Run, seeds: list[int]) -> tuple[list[Run], list[dict[str, Any]]]:
    """The runs of these seeds as the page trains them, and how long each took."""
    (folder / "info.json").write_bytes(as_json(told(python)))
    (folder / "data.safetensors").write_bytes(tensors.pack(training_data.arrays(python)))
    rolldown, source, made = (
        PAGE / "node_modules/rolldown/bin/cli.mjs",
        HERE / "page_learning.mjs",
        folder / "learn.mjs",
    )
    bundle = ["node", str(rolldown), str(source), "--file", str(made), "--platform", "node"]
    subprocess.run(bundle, cwd=PAGE, check=True, capture_output=True)
    words = ["node", str(made), str(folder), *map(str, seeds)]
    times = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            times.append(json.loads(line))
            print(f"in the page: {len(times)} of {len(seeds)}", flush=True)
    runs = []
    for seed in seeds:
        with zipfile.ZipFile(folder / f"page-{seed}.zip") as file:
            file.extractall(folder)
        runs.append(gf.open(folder / f"page-{seed}"))
    return runs, times


def row(name: str, solved: list[bool], excess: list[float], steps: float, seconds: str) -> str:
    """One line of the table."""
    low, high = wilson(np.array(sum(solved)), np.array(len(solved)))
    return (
        f"| {name} | {sum(solved)} of {len(solved)} | {100 * float(low):.0f}–{100 * float(high):.0f} % "
        f"| {np.median(excess):.4f} | {np.min(excess):.4f}–{np.max(excess):.4f} | {steps:,.0f} | {seconds} |"
    )


def main() -> None:
    """Train both, compare, print."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("experiment", nargs="?", default="plus_last_even")
    words.add_argument("--seed", type=int, default=5000)
    words.add_argument("--seeds", type=int, default=16)
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, seeds = Path(temporary), list(range(given.seed, given.seed + given.seeds))
        began = monotonic()
        python = gf.train(given.experiment, seed=given.seed, seeds=given.seeds, out=folder / "python", progress=False)
        took = monotonic() - began
        runs, times = in_page(folder, python, seeds)
        members = summary.members(python)
        each = [summary.members(run)[0] for run in runs]
        page_solved = [summary.solved(run, member) for run, member in zip(runs, each, strict=True)]
        load = os.getloadavg()[0]
        print(f"\n{given.experiment}, seeds {seeds[0]} to {seeds[-1]}, {os.cpu_count()} cores, load {load:.1f}\n")
        print("| trained by | learnt | 95 % interval | median excess, nats | least–most | steps a second | seconds |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        total = python.last_step * len(seeds)
        print(row("Python, all seeds together", [summary.solved(python, member) for member in members],
                  [member["excess"] for member in members], total / took, f"{took:.0f}"))  # fmt: skip
        cpu = sum(time["cpu_seconds"] for time in times)
        print(row("the page (Node, one core)", page_solved, [member["excess"] for member in each],
                  sum(time["steps"] for time in times) / cpu, f"{cpu:.0f} of CPU"))  # fmt: skip


if __name__ == "__main__":
    main()
