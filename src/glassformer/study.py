"""A study's folder, opened: many trainings of one experiment, and the table that follows from them."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from glassformer import folder, words
from glassformer.errors import DamagedError, Error, MissingError
from glassformer.experiment import Experiment, from_tables
from glassformer.plain import plain
from glassformer.storage import Folder

ABOUT, CELLS, RUNS, RESULT = "study.json", "cells", "runs", "result.json"
SCHEMA = 1
MOST_BYTES = 64_000_000  # of one cell's numbers
MOST_CELLS, MOST_WORDS = 10_000, 2_000  # of a study; characters of a cell's name, setting or reason
WIDE = 110  # columns of text that a table may have
PORTS = {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
RESERVED = {"con", "prn", "aux", "nul", *PORTS}  # no file of Windows has such a name, whatever comes after a dot
COVERED = 0.95  # how surely the interval holds the median of all seeds there could be

Floats = NDArray[np.float64]
Role = Literal["row", "search"]
T = TypeVar("T", str, int, float)


@dataclass(frozen=True)
class Metric:
    """One number of a trained model: its heading, its unit, and which way is better."""

    title: str
    unit: Literal["share", "nats", "steps", "seconds"]
    higher: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.title, str) or self.unit not in ("share", "nats", "steps", "seconds"):
            raise ValueError(f"{self.title!r:.60} is not a metric")

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

    def __post_init__(self) -> None:
        numbers = [each for each in (self.x, self.bound) if each is not None]
        words, counts = (self.name, self.reason, *self.settings), (self.after, self.seeds or 1)
        good = all(isinstance(each, str) and len(each) <= MOST_WORDS for each in words)
        if not good or self.role not in get_args(Role) or not all(type(each) is int for each in counts):
            raise ValueError(f"{self.name!r:.60} is not a cell")
        if not all(isinstance(each, float | int) for each in numbers):
            raise ValueError(f"the numbers of the cell {self.name!r:.60} are none")

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
        self.path, self.folder = path, Folder(path)
        self.unverified: list[str] = []  # files that were read and have no digest
        self.about = self._table(ABOUT) or {}
        if self.about.get("schema") != SCHEMA:
            schema = self.about.get("schema")
            raise DamagedError(f"{path / ABOUT} is of schema {schema!r:.60}; this version reads {SCHEMA}")
        with _blamed(path / ABOUT):
            self.name = _is(str, self.about["study"])
            self.seeds = _is(int, self.about["seeds"])
            self.experiment = self._experiment(self.about["experiment"])
            self.cells = tuple(Cell(**{**each, "settings": tuple(each["settings"])}) for each in self.about["cells"])
            self.metrics = {name: Metric(**each) for name, each in self.about["metrics"].items()}
        if len(self.cells) > MOST_CELLS:
            raise DamagedError(f"{path / ABOUT} has {len(self.cells):,} cells; the most is {MOST_CELLS:,}")

    def _experiment(self, tables: dict[str, Any]) -> Experiment:
        """One of its experiments, made from the text that the folder keeps; a path in it is never opened."""
        kept = folder.Kept(self.folder, self.about.get("files", {}))
        texts = {folder.TEXT: kept.read(folder.TEXT)} if "file" in tables["data"] else None
        return from_tables(tables, tables["name"], texts.get if texts else None)

    @cached_property
    def trained(self) -> dict[str, Trained]:
        """Every cell that is finished, in the order of the plan."""
        found = {}
        for cell in self.cells:
            name = f"{CELLS}/{cell.file}.json"
            if said := self._table(name):
                with _blamed(self.path / name):
                    found[cell.name] = _trained(cell, said, self._experiment(said["experiment"]))
        return found

    def _table(self, name: str) -> dict[str, Any] | None:
        """What a file of the study says; None: there is no such file."""
        path = self.path / name
        try:
            found, verified = folder.open_sealed(self.folder.read(name, most=MOST_BYTES), str(path))
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise DamagedError(f"{path} cannot be read: {problem.strerror}") from None
        if not verified:
            self.unverified.append(name)
        return found

    @property
    def unverified_words(self) -> str:
        """The sentence that goes with numbers without a digest; empty where all have one."""
        many = len(self.unverified)
        names = self.unverified[0] + (f" and {many - 1} more" if many > 1 else "") if many else ""
        return f"the numbers of {self.path} are unverified: there is no sha256 in {names}" if names else ""

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
        return {
            cell.name: str(said[cell.name]) for cell in self.missing if isinstance(said, dict) and cell.name in said
        }

    @cached_property
    def result(self) -> dict[str, Any]:
        """What `study --json` printed last; empty while the study has never come to its end."""
        return self._table(RESULT) or {}

    @property
    def seconds(self) -> float:
        """How long the study has taken, over all calls; what an interrupted cell took is not in it."""
        return max((row.after for row in self.trained.values()), default=0.0)

    @property
    def main(self) -> str:
        """The metric that answers the study's question: the first."""
        return next(iter(self.metrics))

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


def _trained(cell: Cell, said: Mapping[str, Any], experiment: Experiment) -> Trained:
    seeds = tuple(_is(int, seed) for seed in said["seeds"])
    measured = {name: _numbers(values) for name, values in said["measured"].items()}
    curves = {name: _numbers(values) for name, values in said["curves"].items()}
    lines = curves["step"].shape
    if any(each.shape != (len(seeds),) for each in measured.values()) or any(
        each.shape not in (lines, (*lines, len(seeds))) for each in curves.values()
    ):
        raise ValueError("its numbers are not one for each seed")
    return Trained(
        cell,
        seeds,
        _is(str, said["status"]),
        _is(int, said["steps"]),
        _is(int, said["parameters"]),
        _is(float, said["seconds"]),
        {_is(str, seed): _is(int, step) for seed, step in said["diverged"].items()},
        measured,
        curves,
        experiment,
        _is(float, said["after"]),
    )


def _numbers(values: Sequence[Any]) -> Floats:
    """What is no number stands in the file as a text, which float reads."""
    found = np.array([[float(v) for v in each] if isinstance(each, list) else float(each) for each in values])
    if (np.abs(found[np.isfinite(found)]) > np.finfo(np.float32).max).any():
        raise ValueError("a number is larger than any that a training computes")
    return found


def _is(kind: type[T], value: Any) -> T:
    """The value, if it is of this type; a whole number is a number too."""
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise ValueError(f"{value!r:.60} is not a {kind.__name__}")
    return value


@contextmanager
def _blamed(path: Path) -> Iterator[None]:
    """What cannot be understood in a file is said of the file."""
    try:
        yield
    except DamagedError:
        raise
    except (Error, AttributeError, KeyError, TypeError, ValueError, OverflowError) as problem:
        what = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
        raise DamagedError(f"{path} is damaged: {what:.200}; put back the file that was written there") from None


def text(value: Any) -> bytes:
    """Plain values as the bytes of a JSON file, with a digest."""
    sealed = folder.seal(plain(value))
    return (words.shown(json.dumps(sealed, ensure_ascii=False, indent=1, allow_nan=False)) + "\n").encode()
