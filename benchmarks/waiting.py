"""What a user waits for: whole runs beside the engine alone, and whole commands from the shell.

    python benchmarks/waiting.py [--quick] [--galleries] [--before OTHER/src] [--markdown FILE]

The first table compares, in one process and turn by turn, a training as the command line does it (judged and written to
disk, after compiling) with its compiled steps alone. The second times commands in processes of their own, first with an
empty cache of compiled programs, then again. Seconds of the clock depend on what else the machine does; seconds of the
processor hardly do, but count all cores. `--before` measures another version of the package as well, in the same run.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from training_speed import WAITING, machine, table, told

RATIO = 1.25  # whole run over engine alone, at the most
RUNS = {  # title → experiment, members, steps
    "one rule model, 20,000 steps": ("plus_last_even", 1, 20_000),
    "64 rule models, 4,000 steps": ("plus_last_even", 64, 4000),
    "five operations, 4,000 steps": ("five_operations", 1, 4000),
}
COMMAND = (sys.executable, "-c", "from glassformer.cli import main; main()")
TRAININGS = {  # title → words, seconds the second one may take, where there is a limit
    "train plus_last_even": (("train", "plus_last_even"), 3.0),
    "the same with --seeds 64 --steps 4000": (("train", "plus_last_even", "--seeds", "64", "--steps", "4000"), None),
    "train five_operations --steps 1000": (("train", "five_operations", "--steps", "1000"), None),
}  # fmt: skip
DRAWINGS = {  # title → words, seconds, megabytes
    "figures plus_last_even loss": (("figures", "plus_last_even", "loss"), 2.5, None),
    "figures plus_last_even": (("figures", "plus_last_even"), 12.0, 15.0),
    "figures five_operations": (("figures", "five_operations"), 25.0, None),
}


def alone(engine: object) -> tuple[float, float]:
    """Seconds, of the clock and of the processor, for the compiled steps of a whole training, call by call."""
    import jax

    state = engine.start()
    clock, processor = perf_counter(), process_time()
    for begin, end in engine.plan.stretches(0):
        state, _, _ = engine.stretch(state, begin, end)
    jax.block_until_ready(state)
    return perf_counter() - clock, process_time() - processor


def whole(experiment: object, members: int) -> tuple[float, float]:
    """The same of everything that a training does after compiling."""
    from glassformer import training

    spent: list[float] = []

    def told(_: object) -> None:
        if not spent:  # the first news come after compiling and the first judgement
            spent.append(process_time())

    with tempfile.TemporaryDirectory() as folder:
        outcome = training.begin(experiment, seeds=members, out=Path(folder) / "run", progress=told)
        return outcome.loop_seconds, process_time() - spent[0]


def runs(rounds: int) -> Iterator[list[object]]:
    """A row for each training, engine and whole run taking turns."""
    from glassformer.engine import Engine
    from glassformer.experiment import load

    for title, (name, members, steps) in RUNS.items():
        told(f"{title} ...")
        experiment = load(name, steps=steps)
        seed = experiment.train.seed
        engine = Engine(experiment, list(range(seed, seed + members)))
        turns = [(alone(engine), whole(experiment, members)) for _ in range(rounds + 1)][1:]  # the first one warms up
        ours, all_of_it = ([median(turn[k][i] for turn in turns) for i in range(2)] for k in range(2))
        ratios = sorted(turn[1][0] / turn[0][0] for turn in turns)
        yield [title, *ours, *all_of_it, median(ratios), f"{ratios[0]:.2f} – {ratios[-1]:.2f}", RATIO]


def timed(words: tuple[str, ...], folder: Path, cache: Path) -> tuple[float, float]:
    """Seconds of a whole command, of the clock and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, env={**os.environ, "GLASSFORMER_CACHE": str(cache)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    seconds, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def trainings(folder: Path, rounds: int) -> Iterator[list[object]]:
    """A row for each training from the shell: with an empty cache, and the median of those after it."""
    for number, (title, (words, most)) in enumerate(TRAININGS.items()):
        told(f"{title} ...")
        cache = folder / f"compiled {number}"
        first, *others = [
            timed((*words, "--quiet", "--out", f"run {number} {k}"), folder, cache) for k in range(rounds + 1)
        ]
        again = [median(each[i] for each in others) for i in range(2)]
        yield [title, *first, *again, "–" if most is None else most]


def drawings(folder: Path) -> Iterator[list[object]]:
    """A row for each gallery or figure."""
    for name in ("plus_last_even", "five_operations"):
        told(f"{name}, to draw it ...")
        timed(("train", name, "--quiet", "--out", name), folder, folder / "compiled")
    for number, (title, (words, most, heaviest)) in enumerate(DRAWINGS.items()):
        told(f"{title} ...")
        out = folder / f"figures {number}"
        spent = timed((words[0], str(folder / words[1]), *words[2:], "--out", str(out)), folder, folder / "compiled")
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6
        yield [title, *spent, most, size, "–" if heaviest is None else heaviest]


def before(source: Path) -> str:
    """The same tables from another version, by this program in a process of its own."""
    told(f"with {source} ...")
    words = [word for word in sys.argv[1:] if word in ("--quick", "--galleries")]
    path = {**os.environ, "PYTHONPATH": str(source.resolve())}
    return subprocess.run(
        [sys.executable, __file__, *words], env=path, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def main() -> None:
    """Measure, print, and write it down where asked."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    reader.add_argument("--quick", action="store_true", help="one turn each: a rough picture")
    reader.add_argument("--galleries", action="store_true", help="time galleries and a figure, too: some minutes")
    reader.add_argument("--before", type=Path, metavar="SRC", help="first the same with the package in this folder")
    reader.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables into this file, too")
    asked = reader.parse_args()
    rounds = 1 if asked.quick else 5
    head = ["training", "engine, s", "processor", "whole run, s", "processor", "ratio", "in single turns", "at most"]
    pieces = [f"### Before\n\n{before(asked.before)}", "### Now\n"] if asked.before else []
    pieces += [f"{machine()}.\n", table(head, runs(rounds)), ""]
    with tempfile.TemporaryDirectory() as folder:
        head = ["command", "first time, s", "processor", "then, s", "processor", "at most, s"]
        pieces += [table(head, trainings(Path(folder), 1 if asked.quick else 3)), ""]
        if asked.galleries:
            head = ["command", "seconds", "processor", "at most, s", "MB", "at most, MB"]
            pieces += [table(head, drawings(Path(folder))), ""]
    text = "\n".join(pieces)
    print(text)
    if asked.markdown is not None:
        there = (
            asked.markdown.read_text(encoding="utf-8").partition(WAITING)[0].rstrip() if asked.markdown.exists() else ""
        )
        asked.markdown.write_text(f"{there}\n\n{WAITING}\n{text.rstrip()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
