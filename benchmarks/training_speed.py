"""How fast Glassformer trains, as ratios to eager PyTorch, measured side by side in one run on one machine.

    python benchmarks/training_speed.py [--quick] [--only NAME ...] [--markdown FILE]

Contestants take turns (A, B, A, B, ...), so that whatever else the machine does falls on all of them; medians of many
turns are compared. Nothing passes or fails here: read the ratios, and the machine they were taken on.
"""

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from contestants import Contestant, serve

RULE = "plus_last_even_as_published"  # a constant rate, which the loop in C can follow
TORCH = "PyTorch"
WAITING = "## What a user waits for\n"  # the part of docs/benchmarks.md that waiting.py measures


@dataclass(frozen=True)
class Row:
    """One comparison: ours, and what it is held against."""

    title: str
    ours: Contestant
    against: str
    other: Contestant


def row(
    title: str, experiment: str, *settings: str, members: int = 1, ours: str = "engine", against: str = TORCH
) -> Row:
    """A comparison on one experiment."""
    other = {TORCH: "torch", "PyTorch, tuned by hand": "torch, tuned", "a loop in C": "c"}[against]
    first, second = Contestant(ours, experiment, settings, members), Contestant(other, experiment, settings)
    return Row(title, first, against, second)


RACES: dict[str, list[Row]] = {
    "rule": [
        row("rule model", RULE),
        row("64 rule models together, each", RULE, members=64),
        row("rule model, whole run: judged and written to disk", RULE, ours="run"),
        row("rule model", RULE, against="PyTorch, tuned by hand"),
        row("rule model", RULE, against="a loop in C"),
    ],
    "mary": [row("Mary had a little lamb", "mary")],
    "five_operations": [row("five operations", "five_operations")],
    "shakespeare": [row("Shakespeare, baseline", "shakespeare")],
    "shakespeare_wide": [row("Shakespeare, wide", "shakespeare_wide")],
    "shakespeare_512": [row("Shakespeare, baseline, as published", "shakespeare", "train.batch=512")],
    "shakespeare_wide_512": [row("Shakespeare, wide, as published", "shakespeare_wide", "train.batch=512")],
}
LONG = ("data.shortest=80", "data.longest=100", "train.judged=8")  # sequences that fill a context of 64
GROWTH: dict[str, dict[int, Contestant]] = {
    "width": {
        n: Contestant("engine", RULE, (f"architecture.width={n}", f"architecture.feed_forward={16 * n}"))
        for n in (2, 4, 8, 16, 32, 64)
    },
    "context": {n: Contestant("engine", RULE, (f"architecture.context={n}", *LONG)) for n in (8, 16, 32, 64)},
    "seeds": {n: Contestant("engine", RULE, members=n) for n in (1, 4, 16, 64, 256)},
}


class Entrant:
    """A contestant in its own process, idle until it is its turn."""

    def __init__(self, contestant: Contestant) -> None:
        spawn = get_context("spawn")
        self.contestant = contestant
        self.pipe, far_end = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(far_end, contestant), daemon=True)
        self.process.start()
        far_end.close()  # held here too, a process that dies would never be noticed
        about = self._answer()
        self.parameters, self.batch, self.compile_seconds = about["parameters"], about["batch"], about["compile"]
        self.turns: list[float] = []  # milliseconds per step and member
        self.peak = 0.0  # megabytes

    def turn(self, seconds: float) -> float:
        """Milliseconds per step and member over about so many seconds."""
        self.pipe.send(seconds)
        return self._answer() / self.contestant.members

    def leave(self) -> None:
        """Take the peak of its memory, and end it."""
        self.pipe.send(None)
        self.peak = self._answer()
        self.process.join()

    @property
    def step(self) -> float:
        """Milliseconds per step and member."""
        return median(self.turns)

    def _answer(self) -> Any:
        try:
            return self.pipe.recv()
        except EOFError:
            sys.exit(f"{self.contestant.kind} on {self.contestant.experiment} stopped; the reason is printed above")


def race(contestants: Iterable[Contestant], rounds: int, seconds: float) -> dict[Contestant, Entrant]:
    """Everybody in turn, round after round. Built one after the other, so that nobody compiles against another."""
    entrants = {contestant: Entrant(contestant) for contestant in dict.fromkeys(contestants)}
    for number in range(rounds + 1):
        for entrant in entrants.values():
            time = entrant.turn(seconds)
            if number > 0:  # the first round warms up
                entrant.turns.append(time)
    for entrant in entrants.values():
        entrant.leave()
    return entrants


def short(number: float) -> str:
    """Three digits, without powers of ten."""
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table that also reads well in a terminal; numbers stand to the right."""
    cells = [[short(cell) if isinstance(cell, float) else f"{cell}" for cell in cells] for cells in rows]
    number = [all(line[i][:1].isdigit() for line in cells) for i in range(len(heads))]
    width = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    rule = [f"{'-' * (w - 1)}:" if n else "-" * w for w, n in zip(width, number, strict=True)]

    def line(cells: Sequence[str]) -> str:
        aligned = (c.rjust(w) if n else c.ljust(w) for c, w, n in zip(cells, width, number, strict=True))
        return "| " + " | ".join(aligned) + " |"

    return "\n".join(map(line, [heads, rule, *cells]))


def ratio(a: Entrant, b: Entrant) -> tuple[float, str]:
    """How many times longer b's step takes; and the lowest and highest round."""
    each = sorted(y / x for x, y in zip(a.turns, b.turns, strict=True))
    return b.step / a.step, f"{each[0]:.3g} – {each[-1]:.3g}"


def comparisons(names: Sequence[str], rounds: int, seconds: float) -> str:
    """The table of ratios, then what it took to get there."""
    ratios, costs = [], []
    for name in names:
        rows = [row for row in RACES[name] if row.other.kind != "c" or shutil.which("cc")]
        told(f"racing: {name}")
        ran = race((side for row in rows for side in (row.ours, row.other)), rounds, seconds)
        for this in rows:
            ours, other = ran[this.ours], ran[this.other]
            size = (f"{ours.parameters:,}", ours.batch)
            ratios.append((this.title, *size, ours.step, this.against, other.step, *ratio(ours, other)))
        first, plain = ran[rows[0].ours], ran[rows[0].other]
        costs.append((rows[0].title, first.compile_seconds, round(first.peak), round(plain.peak)))
    heads = ("training", "parameters", "batch", "ours, ms", "against", "its ms", "ratio", "in single rounds")
    costs_heads = ("training", "ours: compiling, s", "ours: peak memory, MB", "PyTorch: peak memory, MB")
    return f"{SPEED}\n\n{table(heads, ratios)}\n\n{COSTS}\n\n{table(costs_heads, costs)}\n"


def growth(name: str, rounds: int, seconds: float) -> str:
    """Our own cost as one size grows, relative to the first."""
    told(f"growing: {name}")
    ran = race(GROWTH[name].values(), rounds, seconds)
    of = {size: ran[contestant] for size, contestant in GROWTH[name].items()}
    steps = {size: entrant.step * entrant.contestant.members for size, entrant in of.items()}
    first = next(iter(steps.values()))
    heads = [name, "parameters", "ms per step", "relative"]
    rows = [[size, f"{of[size].parameters:,}", step, step / first] for size, step in steps.items()]
    if name == "seeds":
        heads.append("relative, per model")
        for line in rows:
            line.append(line[-1] / line[0])
    return f"## Growth with {name}\n\n{table(heads, rows)}\n"


SPEED = """\
Milliseconds per training step, after compilation, and how many times longer the other takes. Ours keeps weights on the
way, as every training does; PyTorch keeps none. PyTorch is eager and written as tutorials write it; *tuned by hand*
means one thread, the fused optimiser and each batch gathered in one operation. The C loop knows this one model only."""
COSTS = "What a training takes besides: compiling, once, and the most memory its process ever held, libraries included."


def machine() -> str:
    """What the numbers were taken on."""
    name = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    packages = ", ".join(f"{title} {found(package)}" for title, package in (("JAX", "jax"), (TORCH, "torch")))
    load = f"; load when it began: {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    system = f"{name}, {os.cpu_count()} cores, {platform.system()}"
    return f"{system}; Python {platform.python_version()}, {packages}; {date.today()}{load}"


def found(package: str) -> str:
    """The version of a package, without loading it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def told(text: str) -> None:
    """A word on how far it is; the tables alone go to standard output."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Run what is asked for, print it, and write it down where asked."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    reader.add_argument("--quick", action="store_true", help="a few short turns: a rough picture")
    known = [*RACES, *GROWTH]
    reader.add_argument("--only", action="append", choices=known, metavar="NAME", help=", ".join(known))
    reader.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to this file, too")
    asked = reader.parse_args()
    os.environ["GLASSFORMER_CACHE"] = "off"  # what is compiled here is compiled
    chosen = asked.only or known
    rounds, seconds = (3, 0.3) if asked.quick else (9, 1.0)
    if found("torch") == "not installed" and any(name in RACES for name in chosen):
        sys.exit("PyTorch is not installed, and the ratios are to it: pip install 'glassformer[benchmark]'")
    pieces = ["# Training speed\n", f"{machine()}; {rounds} rounds of {seconds:g} s.\n"]
    if races := [name for name in RACES if name in chosen]:
        pieces.append(comparisons(races, rounds, seconds))
    pieces += [growth(name, rounds, seconds) for name in GROWTH if name in chosen]
    text = "\n".join(pieces)
    print(text)
    if asked.markdown is not None:
        kept = asked.markdown.read_text(encoding="utf-8").partition(WAITING)[1:] if asked.markdown.exists() else ()
        asked.markdown.write_text("\n".join([text, "".join(kept)]).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
