"""Folders from a stranger: how one is made, which commands are tried on it, and what they may answer.

A victim is a copy of what 0.2.0 wrote (tests/fixtures). Beside it lies a folder with the user's own files, which no
command may change or show.
"""

import base64
import gzip
import json
import os
import re
import socket
import stat
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any
from zipfile import ZipFile

from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from command import call
from forking import HANGS, SECONDS, Outcome, Server
from glassformer.words import shown

FIXTURES = Path(__file__).parent / "fixtures" / "v0.2.0"
SECRET = "the canary sings at midnight"
MOST_MB, MOST_SAID = 1000, 100_000  # memory; characters printed, a line for each of hundreds of runs among them
TB = 1 << 40
HUGE = 10**18
ESCAPES = b'{"a":' + b"[" * 40 + b'"' + b'\\"' * 100_000  # never closed

# ---- commands --------------------------------------------------------------------------------------------------------

RUN, STUDY = "runs/victim", "study"
OUT = ("--out", "out")
SVG = ("--format", "svg", *OUT)
WIDTH = ("study", "width", "plus_last_even", "--seeds", "2", "--steps", "200", "--out", STUDY, "--workers", "1",
         "--set", "train.keep_bytes=2000", "--set", "train.log_every=50")  # fmt: skip
API = f"""
import glassformer as gf
run = gf.open("{RUN}")
losses = run.metrics.get("validation_loss", [])
print(losses[-1:], *(f"unverified: {{each}}" for each in getattr(run, "unverified", ())))
"""
API_STUDY = f"""
import glassformer as gf
study = gf.catalogue.opened("{STUDY}")
print(study.table(), study.result, *(f"unverified: {{each}}" for each in getattr(study, "unverified", ())))
"""
COMMANDS: dict[str, tuple[tuple[str, ...], float]] = {  # words, and about how many seconds they take
    "ask": (("ask", RUN), 0.05),
    "generate": (("generate", RUN, "--tokens", "3"), 0.05),
    "score": (("score", RUN, "--windows", "3"), 0.3),
    "check": (("check", RUN), 0.07),
    "check --json": (("check", RUN, "--json"), 0.07),
    "check newest": (("check",), 0.07),
    "list runs": (("list", "runs"), 0.04),
    "list runs --json": (("list", "runs", "--json"), 0.04),
    "list figures": (("list", "figures", RUN), 0.05),
    "loss": (("figures", RUN, "loss", *SVG), 0.25),
    "attention": (("figures", RUN, "attention", *SVG), 0.3),
    "training_data": (("figures", RUN, "training_data", *SVG), 0.3),
    "runtime": (("figures", RUN, "runtime", *SVG), 0.3),
    "report": (("report", RUN, "--steps", "2", "--out", "out/report.html"), 0.6),
    "film": (("film", RUN, "loss", "--frames", "2", "--format", "gif", *OUT), 0.5),
    "resume": (("train", "--resume", "--out", RUN, "--quiet"), 1.7),
    "resume --json": (("train", "--resume", "--out", RUN, "--json"), 1.7),
    "api": (("-c", API), 0.04),
    "own ask": (("--task", "after_three.py", "ask", RUN), 0.05),
    "own check": (("--task", "after_three.py", "check", RUN), 0.07),
    "study": (WIDTH, 0.7),
    "study --json": ((*WIDTH, "--json"), 0.7),
    "study figure": (("figures", STUDY, "study_cells", *SVG), 0.5),
    "study list": (("list", "figures", STUDY), 0.05),
    "study api": (("-c", API_STUDY), 0.05),
    "claims": (("claims", "S0-04", "--out", "claims"), 0.1),
    "claims --json": (("claims", "S0-04", "--out", "claims", "--json"), 0.1),
}
WRITERS = ("resume", "resume --json", "study", "study --json", "claims", "claims --json")  # into the folder itself
NUMBERS = ("ask", "score", "check --json", "attention", "report")  # show what weights and index say
METRICS = ("api", "loss", "check", "report", "film", "check --json")  # show what was logged
OPEN = ("ask", "check", "list figures", "generate", "loss", "score", "attention", "report", "api", "film")
WEIGHTS = ("ask", "check", "attention", "score", "report")
TEXTS = ("ask", "check", "generate", "score", "training_data", "report", "list figures")
STUDIES = ("study api", "study figure", "study --json", "study")
LISTS = ("list runs", "list runs --json")
READERS = {  # which commands cannot do without a file
    "run.json": OPEN,
    "metrics.jsonl": METRICS,
    "index.jsonl": WEIGHTS,
    "weights/000000.safetensors": WEIGHTS,
    "weights": WEIGHTS,
    "times.jsonl": ("runtime",),
    "resume.safetensors": ("check", "check --json"),
    "text.txt": TEXTS,
    "tokenizer.json": TEXTS,
    "task.py": ("own ask", "own check"),
    "lock": (),
    "study.json": (*STUDIES, "study list"),
    "cells/width_2.json": STUDIES,
    "cells": STUDIES,
    "result.json": ("study api",),
    "settled/S0-04.json": (),
    "settled": (),
}
CHECKS = {"metrics.jsonl": ("check", "loss", "check --json"), "times.jsonl": ()}  # what refuses lines that are bad
PASSES = {"metrics.jsonl": ("api", "report", "film"), "times.jsonl": ("runtime",)}  # what may leave them out


# ---- an attack -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """What is done to a folder, and which answers are right: each command belongs to one of four groups."""

    name: str
    base: str  # a run of the fixtures, page, study or claims
    make: Callable[[Path], object]  # given the folder
    error: tuple[str, ...] = ()  # these must refuse
    marked: tuple[str, ...] = ()  # these must refuse, or say that numbers are unverified
    sound: tuple[str, ...] = ()  # these may do either
    fine: tuple[str, ...] = ()  # these must succeed: nothing is wrong
    absent: str = ""  # what no answer may hold
    always: bool = True  # whether it is tried every time; else it is a variant, or of our own, and drawn

    @property
    def commands(self) -> tuple[str, ...]:
        """All of them, those that say most first."""
        return tuple(dict.fromkeys((*self.error, *self.marked, *self.fine, *self.sound)))


def prepare(attack: Attack, place: Path) -> Path:
    """Fill an empty folder with the victim, its twin outside and the secrets; the victim's folder."""
    folder = place / {"study": STUDY, "claims": "claims"}.get(attack.base, RUN)
    for copy in (folder, place / "outside" / "twin"):
        copy.parent.mkdir(parents=True, exist_ok=True)
        _copy(attack.base, copy)
    for name in ("secret.txt", "other.jsonl"):
        (place / "outside" / name).write_text((SECRET + "\n") * 60)
    (place / "outside" / "folder").mkdir()
    (place / "after_three.py").write_bytes((FIXTURES / "after_three.py").read_bytes())
    attack.make(folder)
    return folder


def _copy(base: str, folder: Path) -> None:
    if base == "page":
        with ZipFile(FIXTURES / "page.zip") as packed:
            packed.extractall(folder.parent / "unpacked")
        (folder.parent / "unpacked" / "plus_last_even-5-page").rename(folder)
        (folder.parent / "unpacked").rmdir()
    elif base == "claims":
        (folder / "settled").mkdir(parents=True)
        (folder / "settled" / "S0-04.json").write_bytes(claim_record())
    else:
        copytree(FIXTURES / ("study" if base == "study" else f"runs/{base}"), folder)


@cache
def claim_record() -> bytes:
    """What `claims` keeps of one claim."""
    with tempfile.TemporaryDirectory() as folder:
        call("claims", "S0-04", "--again", "--out", folder)
        return (Path(folder) / "settled" / "S0-04.json").read_bytes()


def listing(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Everything below a folder as the system sees it, without following links or opening anything."""
    found: dict[str, tuple[Any, ...]] = {}
    waiting = [(os.open(folder, os.O_RDONLY), "")]
    while waiting:
        descriptor, above = waiting.pop()
        with os.scandir(descriptor) as entries:
            for entry in entries:
                about = entry.stat(follow_symlinks=False)
                name = f"{above}{entry.name}"
                if len(name) < 2000:
                    found[name] = (about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns)
                if stat.S_ISDIR(about.st_mode):
                    found[name] = (about.st_mode, about.st_ino)
                    if len(name) < 2000:
                        waiting.append(
                            (os.open(entry.name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=descriptor), f"{name}/")
                        )
        os.close(descriptor)
    return found


def remove(folder: Path) -> None:
    """Take a folder away, however deep it is."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def attempt(server: Server, attack: Attack, command: str, place: Path, made: Path) -> tuple[Outcome, str]:
    """One command against a folder that is made; its outcome, and what is wrong with it: nothing, hopefully."""
    before, kept = listing(place), _bytes(place / "outside")
    outcome = server.call(*COMMANDS[command][0], folder=place, seconds=SECONDS)
    after = listing(place)
    allowed = ["out", *([made.relative_to(place).as_posix()] if command in WRITERS else [])]
    wrong = _unsound(outcome, place)
    if _bytes(place / "outside") != kept or {k: v for k, v in after.items() if k.startswith("outside/")} != {
        k: v for k, v in before.items() if k.startswith("outside/")
    }:
        wrong.append("changes files outside")
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    changed = {name for name in changed if not name.startswith("outside/")}
    if stray := sorted(name for name in changed if not any(name == a or name.startswith(f"{a}/") for a in allowed)):
        wrong.append(f"changes {stray[0]}")
    if not wrong:
        wrong += _answer(attack, command, outcome, place)
    return outcome, "; ".join(wrong)


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()}


UNFORESEEN = re.compile(
    r"Traceback|not foreseen|PanicException|panicked|\b(Type|Value|Key|Index|Attribute|Overflow|Recursion|Assertion"
    r"|ZeroDivision|UnicodeDecode|UnicodeEncode|OS|NotADirectory|IsADirectory|Permission|Unbound\w*)Error\b"
)


def _unsound(outcome: Outcome, place: Path) -> list[str]:
    """What no command may ever do."""
    found = []
    if outcome.code == HANGS:
        found.append("hangs")
    elif outcome.code < 0:
        found.append(f"dies of signal {-outcome.code}")
    if outcome.peak > MOST_MB or "not enough memory" in outcome.said:
        found.append(f"takes {outcome.peak:,.0f} MB" + (" and more" if "not enough memory" in outcome.said else ""))
    elif (match := UNFORESEEN.search(outcome.said)) or outcome.code not in (0, 1, 2, HANGS):
        last = [line for line in outcome.said.splitlines() if line.strip()][-1:] or ["nothing said"]
        found.append(f"not foreseen ({match[0] if match else outcome.code}): {last[0][-160:]}")
    if shown(outcome.said) != outcome.said:
        found.append("control characters")
    if len(outcome.said) > MOST_SAID:
        found.append(f"prints {len(outcome.said):,} characters")
    if outcome.code in (1, 2) and not outcome.said.strip():
        found.append("says nothing")
    if SECRET in outcome.said or any(SECRET in text for text in _texts(place / "out")):
        found.append("shows a secret")
    return found


def _texts(folder: Path) -> Iterator[str]:
    """What was written, as a reader of it sees it."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file() and not path.is_symlink() and path.suffix in (".svg", ".html", ".json", ".csv"):
            text = path.read_text("utf-8", errors="replace")
            yield from _blocks(text).values() if path.suffix == ".html" else (text,)


def _blocks(html: str) -> dict[str, str]:
    """The data inside a report, by name."""
    found = re.findall(r'<script type="text/plain" data-block="([^"]*)">([A-Za-z0-9+/=]*)</script>', html)
    return {name: gzip.decompress(base64.b64decode(data)).decode(errors="replace") for name, data in found}


def _answer(attack: Attack, command: str, outcome: Outcome, place: Path) -> list[str]:
    """Whether a sound answer is the right one."""
    if (
        attack.absent
        and command not in LISTS
        and any(attack.absent in text for text in (outcome.said, *_texts(place / "out")))
    ):
        return ["shows what was never verified"]
    if command in LISTS:
        number = re.search(r"loss \d|\"validation_loss\": \[?-?\d", outcome.out)
        return ["shows unverified numbers"] if number and "unverified" not in outcome.out else []
    if command in attack.error and outcome.code == 0:
        return ["accepted"]
    if command in attack.marked and outcome.code == 0 and not _marks(command, outcome, place):
        return ["shows unverified numbers"]
    if command in attack.fine and outcome.code != 0:
        return [f"refused: {outcome.said.strip()[-160:]}"]
    return []


def _marks(command: str, outcome: Outcome, place: Path) -> bool:
    """Whether the answer says that its numbers are unverified."""
    if command.endswith("--json"):
        return _finds(json.loads(outcome.out))
    if command == "report":
        blocks = _blocks((place / "out/report.html").read_text("utf-8"))
        return any(
            name.endswith("/info") and "unverified" in json.loads(text)["title"] for name, text in blocks.items()
        )
    if pictures := list((place / "out").rglob("*.svg")):
        return all("unverified" in picture.read_text("utf-8") for picture in pictures)
    return "unverified" in outcome.said


def _finds(value: Any) -> bool:
    """Whether a key `unverified` holds something, somewhere in these tables."""
    if isinstance(value, dict):
        return bool(value.get("unverified")) or any(map(_finds, value.values()))
    return isinstance(value, list) and any(map(_finds, value))


def results(server: Server, attack: Attack, commands: Iterable[str]) -> Iterator[tuple[str, Outcome, str]]:
    """Each command against a folder as the attack makes it: its outcome, and what is wrong."""
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        place, made = Path(folder) / "place", None
        for command in commands:
            if made is None:
                remove(place)
                place.mkdir()
                made = prepare(attack, place)
            outcome, wrong = attempt(server, attack, command, place, made)
            yield command, outcome, wrong
            made = made if command not in WRITERS and "changes" not in wrong and not (place / "out").exists() else None
        remove(place)


# ---- tools of an attacker --------------------------------------------------------------------------------------------


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file in place; what `change` returns takes the place of all of it, if that is a table."""
    table = json.loads(path.read_bytes())
    changed = change(table)
    path.write_text(json.dumps(changed if isinstance(changed, dict) else table, indent=1))


def nothing(_: Any) -> None:
    """Leave it as it is."""


def put(*keys: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Set one value of nest_folders tables."""

    def change(table: dict[str, Any]) -> None:
        for key in keys[:-1]:
            table = table[key]
        table[keys[-1]] = value

    return change


def drop(*keys: str) -> Callable[[dict[str, Any]], None]:
    """Remove one value of nest_folders tables."""

    def change(table: dict[str, Any]) -> None:
        for key in keys[:-1]:
            table = table[key]
        del table[keys[-1]]

    return change


def with_digests(run: Path) -> None:
    """Make run.json agree with the files that it protects, where it speaks of them."""

    def change(about: dict[str, Any]) -> None:
        for name in about.get("files") or ():
            about["files"][name] = sha256((run / name).read_bytes()).hexdigest()
        for name in about.get("written") or ():
            data = (run / name).read_bytes() if (run / name).is_file() else b""
            about["written"][name] = {"lines": data.count(b"\n"), "sha256": sha256(data).hexdigest()}

    edit_json(run / "run.json", change)


def rewrite(name: str, data: bytes | Callable[[bytes], bytes], digests: bool = True) -> Callable[[Path], None]:
    """Other bytes in one file of a folder."""

    def make(folder: Path) -> None:
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else data(path.read_bytes()))
        if digests and (folder / "run.json").is_file():
            with_digests(folder)

    return make


def rewrite_lines(
    name: str, change: Callable[[list[dict[str, Any]]], Iterable[Any]], digests: bool = True
) -> Callable[[Path], None]:
    """Other lines in metrics.jsonl or index.jsonl."""

    def rewrite_bytes(data: bytes) -> bytes:
        lines = [json.loads(line) for line in data.splitlines()]
        return "".join(json.dumps(line) + "\n" for line in change(lines)).encode()

    return rewrite(name, rewrite_bytes, digests)


def last_line(**values: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """The last line with other values."""
    return lambda lines: [*lines[:-1], {**lines[-1], **values}]


def set_about(*keys: str, value: Any) -> Callable[[Path], None]:
    """One value of run.json."""
    return lambda run: edit_json(run / "run.json", put(*keys, value=value))


def drop_about(*keys: str) -> Callable[[Path], None]:
    """One value of run.json less."""
    return lambda run: edit_json(run / "run.json", drop(*keys))


def in_turn(*makes: Callable[[Path], object]) -> Callable[[Path], None]:
    """One after the other."""

    def make(folder: Path) -> None:
        for each in makes:
            each(folder)

    return make


def tokenizer(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A tokenizer.json that is changed, with its digest."""
    return in_turn(lambda run: edit_json(run / "tokenizer.json", change), with_digests)


def seal(table: dict[str, Any]) -> dict[str, Any]:
    """A study's cell with the digest over the rest of it."""
    rest = {name: value for name, value in table.items() if name != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**rest, "sha256": sha256(text.encode()).hexdigest()}


def cell(change: Callable[[dict[str, Any]], object], sealed: bool = True) -> Callable[[Path], None]:
    """All cells of a study sealed, one of them changed before, or after, that."""

    def make(study: Path) -> None:
        for path in (study / "cells").iterdir():
            table = json.loads(path.read_bytes())
            hit = path.name == "width_2.json"
            table = table if sealed or not hit else seal(table)
            changed = change(table) if hit else None
            table = changed if isinstance(changed, dict) else table
            path.write_text(json.dumps(seal(table) if sealed or not hit else table, indent=1))

    return make


def plan(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A study.json that is changed; the cells are sealed."""
    return in_turn(cell(nothing), lambda study: edit_json(study / "study.json", change))


def resume_point(change: Callable[[dict[str, Any]], object] = nothing, **metadata: str) -> Callable[[Path], None]:
    """A resume point with other arrays or metadata, and the digest of what is in it."""

    def make(run: Path) -> None:
        path = run / "resume.safetensors"
        arrays, said = load_tensors(path.read_bytes()), header(path.read_bytes())["__metadata__"]
        change(arrays)
        found = sha256()
        for name in sorted(arrays):
            found.update(arrays[name].tobytes())
        path.write_bytes(save_tensors(arrays, {**said, "sha256": found.hexdigest(), **metadata}))

    return make


def header(data: bytes) -> dict[str, Any]:
    """The header of a safetensors file."""
    found: dict[str, Any] = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    return found


def other_header(change: Callable[[dict[str, Any]], object], tail: bytes = b"", sparse: int = 0) -> Any:
    """A safetensors file with another header before the same numbers, and more, or a hole, behind them."""

    def rewrite_bytes(path: Path) -> None:
        data = path.read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        table = header(data)
        changed = change(table)
        text = changed if isinstance(changed, bytes) else json.dumps(table).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :] + tail)
        if sparse:
            os.truncate(path, path.stat().st_size + sparse)

    return rewrite_bytes


def add_hole(name: str, size: int = TB) -> Callable[[Path], None]:
    """A file that goes on with a hole."""
    return lambda folder: ((folder / name).touch(), os.truncate(folder / name, size))[0]


def outside(folder: Path, name: str = "twin") -> Path:
    """Something of the user's, beyond the victim's folder."""
    return (folder.parent if folder.name in (STUDY, "claims") else folder.parents[1]) / "outside" / name


def _free(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)
    finally:
        os.chdir(here)


REPLACEMENTS: dict[str, Callable[[Path, Path], object]] = {  # by what a file or a folder is replaced
    "a link to its twin": lambda path, twin: path.symlink_to(twin),
    "a link to a secret": lambda path, twin: path.symlink_to(_root(twin) / "secret.txt"),
    "a link to itself": lambda path, _: path.symlink_to(path.name),
    "a link to a folder": lambda path, twin: path.symlink_to(_root(twin) / "folder"),
    "a link that dangles": lambda path, twin: path.symlink_to(_root(twin) / "nothing"),
    "a FIFO": lambda path, _: os.mkfifo(path),
    "a socket": lambda path, _: _socket(path),
    "/dev/zero": lambda path, _: path.symlink_to("/dev/zero"),
    "a folder": lambda path, _: path.mkdir(),
}


CORE = ("a link to its twin", "a link that dangles", "a FIFO")  # the others are variants


def _root(twin: Path) -> Path:
    return next(each for each in twin.parents if each.name == "outside")


def replacement(name: str, how: str) -> Callable[[Path], None]:
    """A file or folder that is something else."""

    def make(folder: Path) -> None:
        path = folder / name
        _free(path)
        REPLACEMENTS[how](path, outside(folder) / name)

    return make


def hard_link(name: str) -> Callable[[Path], None]:
    """A file that has a second name outside."""

    def make(folder: Path) -> None:
        (folder / name).unlink()
        os.link(outside(folder) / name, folder / name)

    return make
