"""The files of a run, read with care: every limit is checked before the bytes are believed, and every digest compared.

run.json has a sha256 of each file that the task needs (`files`) and of the lines that were logged (`written`). A file
that differs from its digest is an error; one without a digest is read, and `Run.unverified` names it.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from itertools import pairwise
from math import inf
from pathlib import Path
from stat import S_ISREG
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from glassformer.corpora import MOST_BYTES as MOST_TEXT
from glassformer.errors import DamagedError, Error, StorageError
from glassformer.experiment import Experiment, from_tables
from glassformer.own import MOST_SOURCE, SOURCE, NeededError
from glassformer.storage import Folder

SCHEMA = 1
ABOUT, METRICS, INDEX, WEIGHTS, RESUME = "run.json", "metrics.jsonl", "index.jsonl", "weights", "resume.safetensors"
TIMES = "times.jsonl"
TEXT, TOKENIZER = "text.txt", "tokenizer.json"  # of runs that learn a text
FILES = {TEXT: MOST_TEXT, TOKENIZER: 16_000_000, SOURCE: MOST_SOURCE}  # what a run may keep for its task → most bytes

# docs/limits.md explains these. Each is above what a training writes, which has limits of its own.
MOST_ABOUT, MOST_STATUS, MOST_NAME = 4_000_000, 100, 300  # bytes of run.json, characters of its status and name
MOST_METRICS = 256_000_000  # bytes of the metrics
MOST_LINES = 50_000  # lines of the metrics
MOST_LINE = 64_000_000  # bytes of one line
MOST_KEYS = 2_000  # of one line
MOST_VALUES = 5_000_000  # of one file, in lists and tables
MOST_TABLES = 100_000  # lists and tables in one line or table
MOST_CELLS = 32_000_000  # numbers of all metrics as columns
MOST_DEPTH = 32  # lists and tables within each other
MOST_KEPT = 1_000_000  # steps whose weights are kept
MOST_INDEX = 160 * MOST_KEPT  # bytes of the index
MOST_STEP = 10_000_000  # of a training
MOST_MEMBERS = 65_536
TORN = "torn off, so not counted"  # said of a last line without its end
TAIL, TRIED = 1 << 16, 100  # bytes at the end of the metrics, and lines, in which the newest good line is looked for
T = TypeVar("T")
ENTRY = re.compile(rb'\{"step": (\d{1,8}), "file": "(\d{6})", "row": (\d{1,9}), "sha256": "([0-9a-f]{64})"\}\n')
HEXADECIMAL = np.isin(np.arange(256), list(b"0123456789abcdef"))  # whether a byte is such a digit
BRACKET = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|([\[{])|([\]}])', re.DOTALL)  # a text that never ends reaches the end
MOST_NAMED = 20  # bad lines
AGAIN = "put back the file of this run"
SEAL = "sha256"  # under this name a file that stands by itself holds its own digest


class Entry(NamedTuple):
    """Where a kept step lies."""

    step: int
    file: int
    row: int
    sha256: str

    def line(self) -> str:
        """As it stands in the index."""
        return f'{{"step": {self.step}, "file": "{self.file:06}", "row": {self.row}, "sha256": "{self.sha256}"}}\n'


@dataclass(frozen=True)
class Lines(Generic[T]):
    """What a file of lines holds: the good ones, and where each bad one begins."""

    read: list[T]
    bad: list[tuple[int, int, str]]  # byte where the line begins, its number, what is wrong
    data: bytes  # the whole file
    end: int  # the byte after the last whole line

    def good(self) -> bytes:
        """The good lines, as they are in the file."""
        found, here = [], 0
        for begin, _, _ in self.bad:
            found.append(self.data[here:begin])
            here = self.data.find(b"\n", begin) + 1 or len(self.data)
        return b"".join([*found, self.data[here:]])

    def problems(self, name: str) -> list[str]:
        """One sentence for each bad line, and one for those that are too many to name."""
        more = len(self.bad) - MOST_NAMED
        said = [f"{name}, line {number}: {what}" for _, number, what in self.bad[:MOST_NAMED]]
        return [*said, f"{name}: {more:,} more lines are bad"] if more > 0 else said


def weights_file(number: int) -> str:
    """Name of a weights file, from its number only."""
    return f"{WEIGHTS}/{number:06}.safetensors"


def table(data: bytes, where: str) -> dict[str, Any]:
    """A JSON object, or a sentence about why it is none."""
    try:
        return parse(data)
    except ValueError as problem:
        raise DamagedError(f"{where} is damaged: {problem}; put back the file that was written there") from None


def seal(table: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values with their own digest, for a file that stands by itself."""
    rest = {name: value for name, value in table.items() if name != SEAL}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return {**rest, SEAL: sha256(text.encode()).hexdigest()}


def open_sealed(data: bytes, where: str) -> tuple[dict[str, Any], bool]:
    """The values of such a file without their digest, and whether there was one; a wrong one is an error."""
    found = table(data, where)
    digest = found.pop(SEAL, None)
    if digest is not None and seal(found)[SEAL] != digest:
        raise DamagedError(f"{where} is not what was written there: its sha256 differs; put back the file as written")
    return found, digest is not None


def at(run: Path | Folder) -> Folder:
    """A run's folder, opened or not."""
    return run if isinstance(run, Folder) else Folder(run)


def about(run: Path | Folder) -> dict[str, Any]:
    """What run.json says, if this version understands it."""
    run = at(run)
    path = f"{run.path}{os.sep}{ABOUT}"
    try:
        found = table(run.read(ABOUT, MOST_ABOUT), path)
    except (FileNotFoundError, NotADirectoryError):
        raise DamagedError(f"{run.path} has no {ABOUT}, so it is not a run, or only a part of one was copied") from None
    except OSError as problem:
        raise DamagedError(f"{path} cannot be read: {problem.strerror}") from None
    schema = found.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise DamagedError(f"{path} is damaged: schema = {schema!r:.60} is not a version number")
    if schema > SCHEMA:
        made = found.get("versions", {})
        version = made.get("glassformer") if isinstance(made, dict) else None
        needed = f"Glassformer {version:.60} or newer" if isinstance(version, str) else "a newer Glassformer"
        raise DamagedError(f"{path} has schema {schema}, this version reads up to {SCHEMA}; open it with {needed}")
    status = found.get("status", "")
    if not isinstance(status, str) or len(status) > MOST_STATUS:
        raise DamagedError(f"{path} is damaged: status = {status!r:.60} is not a word or two")
    for name in ("last_step", "kept"):
        if name in found and not _is_count(found[name], MOST_STEP):
            raise DamagedError(f"{path} is damaged: {name} = {found[name]!r:.60} is not between 0 and {MOST_STEP:,}")
    return found


class Kept:
    """The files that a run keeps for its task, each compared with its digest as it is read."""

    def __init__(self, folder: Folder, digests: Mapping[str, Any]) -> None:
        self.folder, self.digests = folder, digests
        self.unverified: list[str] = []  # those that were read and have no digest

    def read(self, name: str) -> bytes:
        """The bytes of a file, which are what was written there."""
        most, path = FILES[name], self.folder.path / name
        try:
            data = self.folder.read(name, most)
        except OSError:
            raise DamagedError(f"{path} is missing, and nothing can be read without it; put it back") from None
        if name not in self.digests:
            self.unverified.append(name)
        elif sha256(data).hexdigest() != self.digests[name]:
            raise DamagedError(f"{path} is not what was written there; {AGAIN}")
        return data


def experiment(about: dict[str, Any], run: Path | Folder) -> tuple[Experiment, list[str]]:
    """The experiment that run.json tells of, and which of the files it was made from have no digest."""
    tables, seeds, digests = about.get("experiment"), about.get("seeds"), about.get("files", {})
    where = at(run).path / ABOUT
    name = tables.get("name") if isinstance(tables, dict) else None
    if not isinstance(tables, dict) or not isinstance(name, str) or len(name) > MOST_NAME:
        raise DamagedError(f"{where} is damaged: it names no experiment")
    if not isinstance(seeds, list) or not seeds or not all(_is_count(seed, 2**31) for seed in seeds):
        raise DamagedError(f"{where} is damaged: seeds = {seeds!r:.60} is not a list of seeds")
    if len(seeds) > MOST_MEMBERS:
        raise DamagedError(f"{where} has {len(seeds):,} seeds; the most is {MOST_MEMBERS:,}")
    if not isinstance(digests, dict):
        raise DamagedError(f"{where} is damaged: files = {digests!r:.60} is not a table")
    if unknown := [name for name in digests if name not in FILES]:
        raise DamagedError(f"{where} is damaged: {unknown[0]!r:.60} is not a file that a run keeps")
    kept = Kept(at(run), digests)
    try:
        found = from_tables(tables, name, kept.read, at(run).path)
    except (NeededError, DamagedError):
        raise
    except Error as problem:
        raise DamagedError(f"{where} tells of an experiment this version cannot make: {problem}") from None
    for name in digests.keys() - set(found.task.needs):  # kept for people to read
        kept.read(name)
    if about.get("members") != len(seeds) or about.get("parameters") != found.architecture.parameters:
        raise DamagedError(f"{where} is damaged: members or parameters are not those of its seeds and architecture")
    return replace(found, changed=_changed(about, found)), kept.unverified


def _changed(about: dict[str, Any], found: Experiment) -> tuple[str, ...]:
    """The names of the settings that were changed, as far as there are such settings."""
    said, tables = about.get("changed"), {"data": found.task, "architecture": found.architecture, "train": found.train}
    known = [f"{table}.{each.name}" for table, part in tables.items() for each in fields(part)]  # type: ignore[arg-type]
    return tuple(name for name in known if isinstance(said, list) and name in said)


def size(run: Path | Folder) -> int:
    """Bytes on the disk, of the files in the folder and of its weights; what comes and goes may be left out."""
    run, total = at(run), 0
    for name in ("", WEIGHTS):
        with suppress(OSError):
            total += sum(each.st_size for _, each in run.entries(name) if S_ISREG(each.st_mode))
    return total


def stamp(run: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """What changes whenever a training has added something: three looks at the system, no reading."""
    try:
        with Folder(run) as inside:
            seen = [inside.stat(name) for name in (ABOUT, INDEX, METRICS)]
    except StorageError:
        return ()
    return tuple(each and (each.st_ino, each.st_size, each.st_mtime_ns) for each in seen)


# ---- files of lines --------------------------------------------------------------------------------------------------


def metrics(run: Path | Folder, name: str = METRICS) -> Lines[dict[str, Any]]:
    """The logged lines, each with its step."""
    data = _content(run, name, MOST_METRICS, MOST_LINES)
    if (many := data.count(b",")) > MOST_VALUES:
        raise DamagedError(f"{at(run).path / name} has {many:,} values; the most is {MOST_VALUES:,}")
    return _split(data, _logged)


def times(run: Path | Folder) -> Lines[dict[str, Any]]:
    """How long it took to come to each logged step; the one file that two equal trainings do not share."""
    return metrics(run, TIMES)


def index(run: Path | Folder) -> Lines[Entry]:
    """The kept steps."""
    data = _content(run, INDEX, MOST_INDEX, MOST_KEPT)
    try:
        return Lines(_entries(data), [], data, len(data))
    except ValueError:
        return _split(data, _entry)


def newest(run: Path | Folder) -> dict[str, Any] | None:
    """The last good line of the metrics, looked for from the end; None: there is none."""
    try:
        with at(run).open(METRICS) as file:
            length, reach = file.seek(0, os.SEEK_END), TAIL
            while length:
                file.seek(max(length - reach, 0))
                *whole, _ = file.read(min(reach, length)).split(b"\n")
                for line in reversed((whole if reach >= length else whole[1:])[-TRIED:]):
                    with suppress(ValueError):
                        return _logged(line)
                if reach >= min(length, MOST_LINE):
                    break
                reach = min(16 * reach, MOST_LINE)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise DamagedError(f"{at(run).path / METRICS} cannot be read: {problem.strerror}") from None
    return None


def verified(lines: Lines[T], about: Mapping[str, Any], name: str, run: Path) -> Lines[T]:
    """The lines that run.json has a digest of; the good lines where it has none, which `Run.unverified` tells.

    A training appends before run.json tells of it, so the lines after those are not counted yet while it runs.
    """
    if (said := written(about, name, run)) is None:
        return lines
    many, digest = said
    data = _covered(lines.data, many, about, run / name)
    bad = [(number, what) for _, number, what in lines.bad if number <= many]
    if bad:
        raise DamagedError(f"{run / name} is not what was written there: line {bad[0][0]} is {bad[0][1]}; {AGAIN}")
    read = lines.read[:many]
    if sha256(data).hexdigest() != digest and _digest(read) != digest:
        raise DamagedError(f"{run / name} is not what was written there; {AGAIN}")
    return Lines(read, [], data, len(data))


def verify_metrics(run: Folder, about: Mapping[str, Any]) -> None:
    """Refuse metrics that are not what was written, without parsing them."""
    if (said := written(about, METRICS, run.path)) is not None:
        data = _content(run, METRICS, MOST_METRICS, MOST_LINES)
        if sha256(_covered(data, said[0], about, run.path / METRICS)).hexdigest() != said[1]:
            raise DamagedError(f"{run.path / METRICS} is not what was written there; {AGAIN}")


def _covered(data: bytes, many: int, about: Mapping[str, Any], path: Path) -> bytes:
    """The first so many lines, if there are as many, and only in a training that goes on more."""
    there = data.count(b"\n")
    if there < many:
        lost = f"has {there:,} of the" if data else "is missing or empty, and with it the"
        raise DamagedError(f"{path} {lost} {many:,} lines that were written; {AGAIN}")
    if there > many and about.get("status") != "running":
        raise DamagedError(f"{path} goes on after the {many:,} lines that the training wrote; {AGAIN}")
    end = data.rfind(b"\n") + 1 if there == many else 0
    for _ in range(many if there > many else 0):
        end = data.index(b"\n", end) + 1
    return data[:end]


def written(about: Mapping[str, Any], name: str, run: Path) -> tuple[int, str] | None:
    """How many lines of a file were written, and their sha256, as run.json has them; None where it does not say."""
    said = about.get("written")
    if name == TIMES:  # beside the other facts that two equal trainings do not share
        said = about["times"].get("written") if isinstance(about.get("times"), dict) else None
    if said is None or (isinstance(said, dict) and name not in said):
        return None
    found = said.get(name) if isinstance(said, dict) else None
    many, digest = (found.get("lines"), found.get("sha256")) if isinstance(found, dict) else (None, None)
    if not _is_count(many, MOST_STEP) or not isinstance(digest, str):
        raise DamagedError(f"{run / ABOUT} is damaged: it does not say which lines of {name} were written")
    return many, digest  # type: ignore[return-value]


def _digest(read: list[Any]) -> str | None:
    """Of entries as we write them, so that another tool's spacing is no damage; of other lines nothing fits."""
    entries = (each.line() for each in read if isinstance(each, Entry))
    return sha256("".join(entries).encode()).hexdigest() if read and isinstance(read[0], Entry) else None


def _content(run: Path | Folder, name: str, most: int, lines: int) -> bytes:
    """The bytes of a file of lines; a missing one has none."""
    run = at(run)
    path = run.path / name
    try:
        data = run.read(name, most)
    except FileNotFoundError:
        return b""
    except OSError as problem:
        raise DamagedError(f"{path} cannot be read: {problem.strerror}") from None
    if (many := data.count(b"\n")) > lines:
        raise DamagedError(f"{path} has {many:,} lines; the most is {lines:,}")
    return data


def _split(data: bytes, read: Callable[[bytes], T]) -> Lines[T]:
    """The lines of a file. The last one counts only with its line end: else it is torn."""
    good: list[T] = []
    bad: list[tuple[int, int, str]] = []
    here = number = 0
    while here < len(data):
        after, number = data.find(b"\n", here) + 1, number + 1
        try:
            if not after:
                raise ValueError(TORN)
            if after - here > MOST_LINE:
                raise ValueError(f"longer than {MOST_LINE:,} bytes")
            good.append(read(data[here:after]))
        except ValueError as problem:
            bad.append((here, number, str(problem)))
        here = after or len(data)
    return Lines(good, bad, data, data.rfind(b"\n") + 1)


def _entries(data: bytes) -> list[Entry]:
    """All lines of a long index as we write it; a ValueError where anything is unusual, or line by line is quicker.

    Lines of the same length stand under each other as in a table, whose columns are read at once.
    """
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == ord("\n")) + 1
    lengths = np.diff(ends, prepend=0)
    cuts = [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(ends)]
    if not data.endswith(b"\n") or len(ends) < 20 * len(cuts):
        raise ValueError("not one of long tables")
    found: list[Entry] = []
    for first, last in pairwise(cuts):
        table = text[ends[first] - lengths[first] : ends[last - 1]].reshape(last - first, lengths[first])
        if (match := ENTRY.fullmatch(table[0].tobytes())) is None:
            raise ValueError("not an entry")
        places = [slice(*match.span(group)) for group in range(1, 5)]
        fixed = np.delete(table, np.r_[tuple(places)], axis=1)
        *numbers, digest = (table[:, place] for place in places)
        if (fixed != fixed[0]).any() or not HEXADECIMAL[digest].all():
            raise ValueError("not entries of one form")
        digests = np.ascontiguousarray(digest).view("S64")[:, 0].astype(str).tolist()
        found += map(Entry, *map(_numbers, numbers), digests)
    if max(entry.step for entry in found) > MOST_STEP:
        raise ValueError("a step beyond all")
    return found


def _numbers(digits: NDArray[np.uint8]) -> list[int]:
    """Whole numbers, from the bytes of their decimal digits, (number, digit)."""
    values = digits - np.uint8(ord("0"))
    if (values > 9).any():
        raise ValueError("not a digit")
    return (values @ 10 ** np.arange(digits.shape[1])[::-1]).tolist()


def _logged(line: bytes) -> dict[str, Any]:
    if line.count(b'":') > MOST_KEYS:
        raise ValueError(f"has more than {MOST_KEYS:,} keys")
    found = parse(line)
    if not _is_count(found.get("step"), MOST_STEP):
        raise ValueError(f"has no step between 0 and {MOST_STEP:,}")
    return found


def _is_count(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _entry(line: bytes) -> Entry:
    """What stands in a line of the index, in any order and spacing; the usual one is read without a parser, for speed.

    The file is a number of six digits and never a path, so that no line can point elsewhere.
    """
    match = ENTRY.fullmatch(line)
    if match is None:
        given = {name: parse(line).get(name) for name in Entry._fields}
        match = ENTRY.fullmatch((json.dumps(given) + "\n").encode())
    if match is None or int(match[1]) > MOST_STEP:
        raise ValueError(f"is not a step up to {MOST_STEP:,}, a file of six digits, a row and a sha256")
    step, file, row, digest = match.groups()
    return Entry(int(step), int(file), int(row), digest.decode())


def parse(data: bytes) -> dict[str, Any]:
    """A JSON object with each key once, finite numbers of sane size and bounded depth; else a ValueError."""
    tables = data.count(b"[") + data.count(b"{")
    if tables > MOST_TABLES or data.count(b",") > MOST_VALUES:
        raise ValueError(f"more than {MOST_TABLES:,} lists and tables, or {MOST_VALUES:,} values")
    if tables > MOST_DEPTH and _depth(data) > MOST_DEPTH:
        raise ValueError(f"nested deeper than {MOST_DEPTH}")
    text = data.decode("utf-8")
    found = _DECODER.decode(text)
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    if "\\ud" in text.lower():  # half a character can be written in JSON, but never shown
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def _depth(data: bytes) -> int:
    """How deep lists and tables lie within each other, in one pass."""
    deepest = depth = 0
    for match in BRACKET.finditer(data):
        depth += (match[1] is not None) - (match[2] is not None)
        deepest = max(deepest, depth)
    return deepest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("the same key twice")
    return found


def _whole(text: str) -> int:
    if len(text) > 18:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _real(text: str) -> float:
    if abs(number := float(text)) == inf:
        raise ValueError(f"{text:.20} is beyond every number")
    return number


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON; it is written as a text")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_int=_whole, parse_float=_real, parse_constant=_constant)
