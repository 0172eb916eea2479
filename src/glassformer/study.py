"""A study's folder, opened: many trainings of one experiment, and the table that follows from them."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer import folder, words
from glassformer.errors import DamagedError, MissingError
from glassformer.experiment import Experiment, from_tables

ABOUT, CELLS, RUNS, RESULT = "study.json", "cells", "runs", "result.json"
SCHEMA = 1
MOST_BYTES = 64_000_000  # of one cell's numbers
WIDE = 110  # columns of text that a table may have
PORTS = {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
RESERVED = {"con", "prn", "aux", "nul", *PORTS}  # no file of Windows has such a name, whatever comes after a dot
COVERED = 0.95  # how surely the interval holds the median of all seeds there could be

Floats = NDArray[np.float64]
Role = Literal["row", "search"]


@dataclass(frozen=True)
class Metric:
    """One number of a trained model: its heading, its unit, and which way is better."""

    title: str
    unit: Literal["share", "nats", "steps", "seconds"]
    higher: bool = False

    def text(self, value: float, never: str = "never") -> str:
        """The number as a person reads it."""
        if not math.isfinite(value):
            return {"steps": never, "nats": "diverged"}.get(self.unit, "–")
        shown = {"share": f"{100 * value:.1f} %", "nats": f"{value:.4f}", "steps": f"{value:,.0f}"}
        return shown.get(self.unit, f"{value:.1f}")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One training of a study, over all its seeds: a name, and the settings that differ from the experiment's."""

    name: str
    settings: tuple[str, ...] = ()  # as in --set: architecture.blocks=1
    x: float | None = None  # its place on an axis of numbers, where the cells have one
    bound: float | None = None  # the best accuracy that no training can beat
    reason: str = ""  # why that is so
    role: Role = "row"  # `search` chooses the settings of a row, and is no row itself
    seeds: int | None = None  # None: as many as the study
    after: int = 0  # its first seed comes so many after the study's

    @property
    def file(self) -> str:
        """The name as a file's."""
        kept = "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in self.name.lower())
        name = "_".join(part for part in kept.split("_") if part).rstrip(".")
        return f"{name}_" if name.partition(".")[0] in RESERVED else name


@dataclass(frozen=True)
class Spread:
    """The median over seeds, and an interval around it; NaN: not a number, or never."""

    median: float
    low: float
    high: float


def places(many: int) -> tuple[int, int, float]:
    """Which of the sorted values bound the interval, and how surely it holds the median of all possible seeds.

    The narrowest pair (k-th smallest, k-th largest) that covers it with 95 %; up to 8 seeds that is the smallest and
    the largest value. No shape of the distribution is assumed.
    """
    best, surely = 0, 1 - 2 * 0.5**many if many else 0.0
    missed = 0.0
    for k in range(many // 2):
        missed += math.comb(many, k) * 0.5**many
        if k and 1 - 2 * missed < COVERED:
            break
        best, surely = k, 1 - 2 * missed
    return best, many - 1 - best, max(surely, 0.0)


def spread(values: Floats, higher: bool) -> Spread:
    """Median and interval; a seed without a number counts as worse than all others, never as absent."""
    if not len(values):
        return Spread(math.nan, math.nan, math.nan)
    worst = -math.inf if higher else math.inf
    ordered = np.sort(np.where(np.isnan(values), worst, values))
    low, high, _ = places(len(ordered))
    middle = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    median = middle[0] if middle[0] == middle[1] else (middle[0] + middle[1]) / 2
    return Spread(*(float(v) if math.isfinite(v) else math.nan for v in (median, ordered[low], ordered[high])))


@dataclass(frozen=True)
class Trained:
    """What became of one cell."""

    cell: Cell
    seeds: tuple[int, ...]
    status: str
    steps: int
    parameters: int
    seconds: float
    diverged: Mapping[str, int]  # seed → the step by which its loss was no number
    measured: Mapping[str, Floats]  # metric → (seed,)
    curves: Mapping[str, Floats]  # step → (line,), every other → (line, seed)
    experiment: Experiment = field(repr=False)
    after: float = 0.0  # seconds that the whole study had taken when this cell was done


def open(path: str | Path) -> "Study":
    """The study in this folder, as it is now."""
    return Study(Path(path))


def of(experiment: str, root: Path = Path("studies")) -> list["Study"]:
    """The studies of an experiment under `root` that have come to their end, by name."""
    found = map(Study, sorted(path.parent for path in root.glob(f"*/{ABOUT}")))
    return [each for each in found if each.experiment.name == experiment and each.result and each.rows()]


class Study:
    """Many trainings of one experiment, as far as they have come."""

    def __init__(self, path: Path) -> None:
        if not (path / ABOUT).is_file():
            raise MissingError(f"there is no study in {path}; `glassformer study ablation five_operations` makes one")
        self.path = path
        self.about = _table(path / ABOUT)
        if self.about.get("schema") != SCHEMA:
            raise DamagedError(f"{path / ABOUT} is of schema {self.about.get('schema')}; this version reads {SCHEMA}")
        self.name: str = self.about["study"]
        self.seeds: int = self.about["seeds"]
        self.experiment = from_tables(self.about["experiment"], self.about["experiment"]["name"])
        self.cells = tuple(Cell(**{**each, "settings": tuple(each["settings"])}) for each in self.about["cells"])
        self.metrics = {name: Metric(**each) for name, each in self.about["metrics"].items()}

    @cached_property
    def trained(self) -> dict[str, Trained]:
        """Every cell that is finished, in the order of the plan."""
        found = {}
        for cell in self.cells:
            path = self.path / CELLS / f"{cell.file}.json"
            if path.is_file():
                found[cell.name] = _trained(cell, _table(path))
        return found

    def rows(self, role: Role = "row") -> list[Trained]:
        """The finished cells that are rows of the table, or those that only chose settings."""
        return [each for each in self.trained.values() if each.cell.role == role]

    def row(self, name: str) -> Trained | None:
        """A finished cell by name."""
        return self.trained.get(name)

    @property
    def missing(self) -> list[Cell]:
        """The cells that are not finished."""
        return [cell for cell in self.cells if cell.name not in self.trained]

    @property
    def failed(self) -> dict[str, str]:
        """Cell → why it failed when it was last tried."""
        said = self.result.get("failed", {})
        return {cell.name: said[cell.name] for cell in self.missing if cell.name in said}

    @cached_property
    def result(self) -> dict[str, Any]:
        """What `study --json` printed last; empty while the study has never come to its end."""
        path = self.path / RESULT
        return _table(path) if path.is_file() else {}

    @property
    def seconds(self) -> float:
        """How long the study has taken, over all calls; what an interrupted cell took is not in it."""
        return max((row.after for row in self.trained.values()), default=0.0)

    @property
    def main(self) -> str:
        """The metric that answers the study's question: the first."""
        first: str = next(iter(self.metrics))
        return first

    def spread(self, row: Trained, metric: str) -> Spread:
        """Median and interval of one metric of one cell."""
        values = row.measured.get(metric, np.full(len(row.seeds), np.nan))
        return spread(values, self.metrics[metric].higher)

    def better(self, metric: str, one: Trained, other: Trained) -> bool:
        """Whether the whole interval of one lies on the better side of the other's."""
        a, b = self.spread(one, metric), self.spread(other, metric)
        higher = self.metrics[metric].higher
        worst = -math.inf if higher else math.inf
        known = [worst if math.isnan(v) else v for v in (a.low, a.high, b.low, b.high)]
        return known[0] > known[3] if higher else known[1] < known[2]

    @property
    def interval(self) -> str:
        """What low and high are, in words."""
        many = max((len(row.seeds) for row in self.rows()), default=self.seeds)
        low, _, surely = places(many)
        if many < 2:
            return "one seed: low and high are the value itself"
        nth = "" if low == 0 else f"{_nth(low + 1)} "
        what = f"the {nth}smallest and the {nth}largest"
        return f"low and high are {what} of {many} seeds; they hold the median of all seeds with {100 * surely:.0f} %"

    def table(self, role: Role = "row") -> list[dict[str, Any]]:
        """One plain row per finished cell: the cell, its seeds, and for every metric median, low and high (or None)."""
        return [
            {
                "cell": row.cell.name,
                "seeds": len(row.seeds),
                "diverged": len(row.diverged),
                "parameters": row.parameters,
                "steps": row.steps,
                **{name: _known(self.spread(row, name)) for name in self.metrics},
            }
            for row in self.rows(role)
        ]

    def csv(self) -> bytes:
        """Every seed of every finished cell, one number per line, with the median and interval it belongs to."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["cell", "role", "settings", "metric", "unit", "seed", "value", "median", "low", "high"])
        for row in self.trained.values():
            settings = " ".join(row.cell.settings)
            for name, metric in self.metrics.items():
                s = self.spread(row, name)
                for seed, value in zip(row.seeds, row.measured.get(name, ()), strict=False):
                    numbers = [_plain(v) for v in (float(value), s.median, s.low, s.high)]
                    writer.writerow([row.cell.name, row.cell.role, settings, name, metric.unit, seed, *numbers])
        return out.getvalue().encode()

    def lines(self, wide: int = WIDE) -> Iterator[str]:
        """The table as plain text, aligned; what is wider than so many columns goes on below, cell by cell again."""
        shown = [name for name in self.metrics if name != "loss"]
        head = ["cell", *(self.metrics[name].title for name in shown)]
        body = [[row.cell.name, *(self.shown(row, name) for name in shown)] for row in self.rows()]
        widths = [max(len(line[k]) for line in [head, *body]) for k in range(len(head))]
        begin = 1
        while begin < len(head) or begin == 1:
            end = begin + 1
            while end < len(head) and widths[0] + sum(w + 2 for w in widths[begin : end + 1]) <= wide:
                end += 1
            if begin > 1:
                yield ""
            for line in [head, *body]:
                cells = (text.rjust(w) for text, w in zip(line[begin:end], widths[begin:end], strict=True))
                yield "  ".join([line[0].ljust(widths[0]), *cells])
            begin = end

    def shown(self, row: Trained, name: str) -> str:
        """The median, with its interval where that is wider: `57.2 % (56.0 to 58.1 %)`."""
        metric, s = self.metrics[name], self.spread(row, name)
        middle, low, high = (metric.text(v) for v in (s.median, s.low, s.high))
        return middle if middle == low == high else f"{middle} ({low} to {high})".replace(" % to ", " to ")


def _nth(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def _known(spread: Spread) -> dict[str, float | None]:
    """As plain values; what is no number, or never happened, is None."""
    return {name: value if math.isfinite(value) else None for name, value in asdict(spread).items()}


def _plain(value: float) -> str:
    return repr(value) if math.isfinite(value) else "NaN"


def _trained(cell: Cell, said: Mapping[str, Any]) -> Trained:
    return Trained(
        cell,
        tuple(said["seeds"]),
        said["status"],
        said["steps"],
        said["parameters"],
        said["seconds"],
        said["diverged"],
        {name: _numbers(values) for name, values in said["measured"].items()},
        {name: _numbers(values) for name, values in said["curves"].items()},
        from_tables(said["experiment"], said["experiment"]["name"]),
        said["after"],
    )


def _numbers(values: Sequence[Any]) -> Floats:
    """What is no number stands in the file as a text, which float reads."""
    return np.array([[float(v) for v in each] if isinstance(each, list) else float(each) for each in values])


def _table(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = folder.table(folder.content(path, most=MOST_BYTES), str(path))
        return found
    except OSError as problem:
        raise DamagedError(f"{path} cannot be read: {problem.strerror}") from None


def text(value: Any) -> bytes:
    """Plain values as the bytes of a JSON file."""
    from glassformer.plain import plain

    return (words.shown(json.dumps(plain(value), ensure_ascii=False, indent=1, allow_nan=False)) + "\n").encode()
