"""The files of a run, read with care: every limit is checked before the bytes are believed."""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

from glassformer.errors import DamagedError, Error
from glassformer.experiment import Experiment, from_tables

SCHEMA = 1
ABOUT, METRICS, INDEX, WEIGHTS, RESUME = "run.json", "metrics.jsonl", "index.jsonl", "weights", "resume.safetensors"
TIMES = "times.jsonl"
TEXT, TOKENIZER = "text.txt", "tokenizer.json"  # of runs that learn a text
MOST_TEXT = 256_000_000  # bytes of one of these
MOST_ABOUT = 4_000_000  # bytes of run.json
MOST_LINE = 64_000_000  # bytes of one line
MOST_DEPTH = 32  # objects and lists within each other
T = TypeVar("T")
ENTRY = re.compile(rb'\{"step": (\d{1,9}), "file": "(\d{6})", "row": (\d{1,9}), "sha256": "([0-9a-f]{64})"\}\n')


class Entry(NamedTuple):
    """Where a kept step lies."""

    step: int
    file: int
    row: int
    sha256: str

    def line(self) -> str:
        """As it stands in the index."""
        file = f"{self.file:06}"
        return json.dumps({"step": self.step, "file": file, "row": self.row, "sha256": self.sha256}) + "\n"


@dataclass(frozen=True)
class Lines(Generic[T]):
    """What a file of lines holds: the good ones as read and as bytes, and where each bad one begins."""

    read: list[T]
    raw: list[bytes]
    bad: list[tuple[int, int, str]]  # byte where the line begins, its number, what is wrong with it
    length: int  # bytes of the whole file

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
    except Error as problem:
        raise DamagedError(f"{where} tells of an experiment this version cannot make: {problem}") from None
    if about.get("members") != len(seeds) or about.get("parameters") != found.architecture.parameters:
        raise DamagedError(f"{where} is damaged: members or parameters are not those of its seeds and architecture")
    return found


def _verify_files(about: dict[str, Any], run: Path) -> None:
    """What the task keeps in the folder must be what was written there."""
    files = about.get("files", {})
    if not isinstance(files, dict):
        raise DamagedError(f"{run / ABOUT} is damaged: files = {files!r:.60} is not a table")
    for name, digest in files.items():
        if name not in (TEXT, TOKENIZER):
            raise DamagedError(f"{run / ABOUT} is damaged: {name!r:.60} is not a file that a run keeps")
        try:
            data = content(run / name, MOST_TEXT)
        except OSError:
            raise DamagedError(f"{run / name} is missing, and the run cannot be read without it; put it back") from None
        if sha256(data).hexdigest() != digest:
            raise DamagedError(f"{run / name} is not what was written there; put back the file of this run")


def lines(path: Path, read: Callable[[bytes], T]) -> Lines[T]:
    """The lines of a file; a missing file has none. The last one counts only with its line end: else it is torn."""
    good: list[T] = []
    raw: list[bytes] = []
    bad: list[tuple[int, int, str]] = []
    begin = 0
    try:
        for number, (line, length) in enumerate(_split(path), start=1):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError("longer than a line may be" if length > MOST_LINE else "torn off, so not counted")
                good.append(read(line))
                raw.append(line)
            except ValueError as problem:
                bad.append((begin, number, str(problem)))
            begin += length
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise DamagedError(f"{path} cannot be read: {problem.strerror}") from None
    return Lines(good, raw, bad, begin)


def _split(path: Path) -> Iterator[tuple[bytes, int]]:
    """Each line and how many bytes it has in the file; of one that is too long, only the beginning."""
    with reading(path) as file:
        while line := file.readline(MOST_LINE):
            length = len(line)
            if not line.endswith(b"\n") and length == MOST_LINE:
                while more := file.readline(MOST_LINE):
                    length += len(more)
                    if more.endswith(b"\n"):
                        break
            yield line, length


def metrics(run: Path) -> Lines[dict[str, Any]]:
    """The logged lines, each with its step."""
    return lines(run / METRICS, _logged)


def times(run: Path) -> Lines[dict[str, Any]]:
    """How long it took to come to each logged step; the one file that two equal trainings do not share."""
    return lines(run / TIMES, _logged)


def index(run: Path) -> Lines[Entry]:
    """The kept steps."""
    return lines(run / INDEX, _entry)


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
