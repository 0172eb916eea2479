"""The files of a run, read with care: every limit is checked before the bytes are believed."""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import CallError, DamagedError, Error
from glassformer.experiment import Experiment, from_tables
from glassformer.own import SOURCE, NeededError

SCHEMA = 1
ABOUT, METRICS, INDEX, WEIGHTS, RESUME = "run.json", "metrics.jsonl", "index.jsonl", "weights", "resume.safetensors"
TIMES = "times.jsonl"
TEXT, TOKENIZER = "text.txt", "tokenizer.json"  # of runs that learn a text
FILES = (TEXT, TOKENIZER, SOURCE)  # what a run may keep for its task
MOST_TEXT = 256_000_000  # bytes of one of these
MOST_ABOUT = 4_000_000  # bytes of run.json
MOST_LINE = 64_000_000  # bytes of one line
MOST_INDEX = 256_000_000  # bytes of an index that is read in one go
TORN = "torn off, so not counted"  # said of a last line without its end
MOST_DEPTH = 32  # objects and lists within each other
TAIL = 1 << 16  # bytes at the end of the metrics in which the newest line is looked for first
T = TypeVar("T")
ENTRY = re.compile(rb'\{"step": (\d{1,9}), "file": "(\d{6})", "row": (\d{1,9}), "sha256": "([0-9a-f]{64})"\}\n')
HEXADECIMAL = np.isin(np.arange(256), list(b"0123456789abcdef"))  # whether a byte is such a digit


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
    """What a file of lines holds: the good ones as read and as bytes, and where each bad one begins."""

    read: list[T]
    raw: list[bytes]
    bad: list[tuple[int, int, str]]  # byte where the line begins, its number from the first one read, what is wrong
    length: int  # bytes of the whole file
    end: int  # the byte after the last whole line: to read on later, begin here

    def problems(self, name: str) -> list[str]:
        """One sentence for each bad line."""
        return [f"{name}, line {number}: {what}" for _, number, what in self.bad]


def weights_file(number: int) -> str:
    """Name of a weights file, from its number only."""
    return f"{WEIGHTS}/{number:06}.safetensors"


def reading(path: Path) -> BinaryIO:
    """A regular file, opened; a pipe or a device would wait for ever or never end."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise DamagedError(f"{path} is not a regular file; put back the one that was written there")
    return os.fdopen(file, "rb")


def content(path: Path, most: int) -> bytes:
    """The bytes of a small file."""
    with reading(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise DamagedError(f"{path} is larger than {most:,} bytes, so it is not what was written there")
    return data


def table(data: bytes, where: str) -> dict[str, Any]:
    """A JSON object, or a sentence about why it is none."""
    try:
        return parse(data)
    except ValueError as problem:
        raise DamagedError(f"{where} is damaged: {problem}; put back the file that was written there") from None


def about(run: Path) -> dict[str, Any]:
    """What run.json says, if this version understands it."""
    path = run / ABOUT
    try:
        found = table(content(path, MOST_ABOUT), str(path))
    except (FileNotFoundError, NotADirectoryError):
        raise DamagedError(f"{run} has no {ABOUT}, so it is not a run, or only a part of one was copied") from None
    except OSError as problem:
        raise DamagedError(f"{path} cannot be read: {problem.strerror}") from None
    schema = found.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise DamagedError(f"{path} is damaged: schema = {schema!r} is not a version number")
    if schema > SCHEMA:
        made = found.get("versions", {})
        version = made.get("glassformer") if isinstance(made, dict) else None
        needed = f"Glassformer {version} or newer" if isinstance(version, str) else "a newer Glassformer"
        raise DamagedError(f"{path} has schema {schema}, this version reads up to {SCHEMA}; open it with {needed}")
    return found


def experiment(about: dict[str, Any], run: Path) -> Experiment:
    """The experiment that run.json tells of."""
    tables, seeds = about.get("experiment"), about.get("seeds")
    where = run / ABOUT
    if not isinstance(tables, dict) or not isinstance(tables.get("name"), str):
        raise DamagedError(f"{where} is damaged: it names no experiment")
    if not isinstance(seeds, list) or not seeds or not all(type(seed) is int for seed in seeds):
        raise DamagedError(f"{where} is damaged: seeds = {seeds!r:.60} is not a list of seeds")
    _verify_files(about, run)
    try:
        found = from_tables(tables, tables["name"], run)
    except NeededError:
        raise
    except Error as problem:
        raise DamagedError(f"{where} tells of an experiment this version cannot make: {problem}") from None
    if about.get("members") != len(seeds) or about.get("parameters") != found.architecture.parameters:
        raise DamagedError(f"{where} is damaged: members or parameters are not those of its seeds and architecture")
    return replace(found, changed=_changed(about, found))


def _changed(about: dict[str, Any], found: Experiment) -> tuple[str, ...]:
    """The names of the settings that were changed, as far as there are such settings."""
    said, tables = about.get("changed"), {"data": found.task, "architecture": found.architecture, "train": found.train}
    known = [f"{table}.{each.name}" for table, part in tables.items() for each in fields(part)]  # type: ignore[arg-type]
    return tuple(name for name in known if isinstance(said, list) and name in said)


def _verify_files(about: dict[str, Any], run: Path) -> None:
    """What the task keeps in the folder must be what was written there."""
    files = about.get("files", {})
    if not isinstance(files, dict):
        raise DamagedError(f"{run / ABOUT} is damaged: files = {files!r:.60} is not a table")
    for name, digest in files.items():
        if name not in FILES:
            raise DamagedError(f"{run / ABOUT} is damaged: {name!r:.60} is not a file that a run keeps")
        try:
            data = content(run / name, MOST_TEXT)
        except OSError:
            raise DamagedError(f"{run / name} is missing, and the run cannot be read without it; put it back") from None
        if sha256(data).hexdigest() != digest:
            raise DamagedError(f"{run / name} is not what was written there; put back the file of this run")


def size(run: Path) -> int:
    """Bytes on the disk, of everything that lies in the folder; what comes and goes meanwhile may be left out."""
    total, waiting = 0, [os.fspath(run)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):  # gone, or a link that leads nowhere
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file():
                        total += entry.stat().st_size
    return total


def stamp(run: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """What changes whenever a training has added something: three looks at the system, no reading."""
    return tuple(_stamp(run / name) for name in (ABOUT, INDEX, METRICS))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def lines(path: Path, read: Callable[[bytes], T], begin: int = 0) -> Lines[T]:
    """The lines of a file from a byte on; a missing file has none.

    The last one counts only with its line end: else it is torn, and reading on begins with it again.
    """
    good: list[T] = []
    raw: list[bytes] = []
    bad: list[tuple[int, int, str]] = []
    end = here = begin
    for number, (line, length, whole) in enumerate(_split(path, begin), start=1):
        try:
            if length > MOST_LINE:
                raise ValueError("longer than a line may be")
            if not whole:
                raise ValueError(TORN)
            good.append(read(line))
            raw.append(line)
        except ValueError as problem:
            bad.append((here, number, str(problem)))
        here += length
        end = here if whole else end
    return Lines(good, raw, bad, here, end)


def _split(path: Path, begin: int) -> Iterator[tuple[bytes, int, bool]]:
    """Each line, how many bytes it has in the file, and whether it has its end; of a too long one, the beginning."""
    with _from(path, begin) as file:
        while file and (line := file.readline(MOST_LINE)):
            length, last = len(line), line
            while not last.endswith(b"\n") and (last := file.readline(MOST_LINE)):
                length += len(last)
            yield line, length, last.endswith(b"\n")


@contextmanager
def _from(path: Path, begin: int) -> Iterator[BinaryIO | None]:
    """A file, read from the beginning of one of its lines on; None: there is no such file."""
    try:
        with reading(path) as file:
            if begin:
                file.seek(max(begin - 1, 0))
            if begin and (begin < 0 or file.read(1) != b"\n"):
                raise CallError(f"no line of {path} begins at byte {begin}; read it from byte 0")
            yield file
    except FileNotFoundError:
        if begin:
            raise CallError(f"no line of {path} begins at byte {begin}: there is no such file") from None
        yield None
    except OSError as problem:
        raise DamagedError(f"{path} cannot be read: {problem.strerror}") from None


def metrics(run: Path, begin: int = 0) -> Lines[dict[str, Any]]:
    """The logged lines, each with its step."""
    return lines(run / METRICS, _logged, begin)


def newest(run: Path) -> dict[str, Any] | None:
    """The last good line of the metrics, looked for from the end; None: there is none."""
    with _from(run / METRICS, 0) as file:
        length = file.seek(0, os.SEEK_END) if file else 0
        reach = TAIL
        while file and length:
            file.seek(max(length - reach, 0))
            *whole, _ = file.read(reach).split(b"\n")
            for line in reversed(whole if reach >= length else whole[1:]):
                with suppress(ValueError):
                    return _logged(line)
            if reach >= min(length, MOST_LINE):
                break
            reach *= 16
    return None


def times(run: Path) -> Lines[dict[str, Any]]:
    """How long it took to come to each logged step; the one file that two equal trainings do not share."""
    return lines(run / TIMES, _logged)


def index(run: Path, begin: int = 0) -> Lines[Entry]:
    """The kept steps."""
    with _from(run / INDEX, begin) as file:
        data = file.read(MOST_INDEX + 1) if file else b""
    try:
        read = _entries(data)
    except ValueError:
        return lines(run / INDEX, _entry, begin)
    return Lines(read, data.splitlines(keepends=True), [], begin + len(data), begin + len(data))


def _entries(data: bytes) -> list[Entry]:
    """All lines of a long index as we write it; a ValueError where anything is unusual, or line by line is quicker.

    Lines of the same length stand under each other as in a table, whose columns are read at once.
    """
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == ord("\n")) + 1
    lengths = np.diff(ends, prepend=0)
    cuts = [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(ends)]
    if not data.endswith(b"\n") or len(data) > MOST_INDEX or len(ends) < 20 * len(cuts):
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
    return found


def _numbers(digits: NDArray[np.uint8]) -> list[int]:
    """Whole numbers, from the bytes of their decimal digits, (number, digit)."""
    values = digits - np.uint8(ord("0"))
    if (values > 9).any():
        raise ValueError("not a digit")
    found: list[int] = (values @ 10 ** np.arange(digits.shape[1])[::-1]).tolist()
    return found


def _logged(line: bytes) -> dict[str, Any]:
    found = parse(line)
    if type(found.get("step")) is not int:
        raise ValueError("has no step")
    return found


def _entry(line: bytes) -> Entry:
    """What stands in a line of the index, in any order and spacing; the usual one is read without a parser, for speed.

    The file is a number of six digits and never a path, so that no line can point elsewhere.
    """
    match = ENTRY.fullmatch(line)
    if match is None:
        given = {name: parse(line).get(name) for name in Entry._fields}
        match = ENTRY.fullmatch((json.dumps(given) + "\n").encode())
    if match is None:
        raise ValueError("is not a step, a file of six digits, a row and a sha256")
    step, file, row, digest = match.groups()
    return Entry(int(step), int(file), int(row), digest.decode())


def parse(data: bytes) -> dict[str, Any]:
    """A JSON object with each key once, finite numbers of sane size and bounded depth; else a ValueError."""
    if data.count(b"[") + data.count(b"{") > MOST_DEPTH and _depth(data) > MOST_DEPTH:
        raise ValueError(f"nested deeper than {MOST_DEPTH}")
    text = data.decode("utf-8")
    found = _DECODER.decode(text)
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    if "\\ud" in text.lower():  # half a character can be written in JSON, but never shown
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def _depth(data: bytes) -> int:
    deepest = depth = 0
    for bracket in re.findall(rb"[\[{\]}]", re.sub(rb'"(?:[^"\\]|\\.)*"', b"", data)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("the same key twice")
    return found


def _whole(text: str) -> int:
    if len(text) > 19:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _real(text: str) -> float:
    if abs(number := float(text)) == inf:
        raise ValueError(f"{text:.20} is beyond every number")
    return number


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON; it is written as a text")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_int=_whole, parse_float=_real, parse_constant=_constant)
