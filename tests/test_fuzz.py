"""Wrong, extreme and hostile values for every option of every command, and run folders with every file spoilt.

Whatever is typed, and whatever a folder holds: an exit code of 0, 1 or 2, never a traceback, never a character that a
terminal would obey, and the folder as it was. The cases are drawn with a seed; GLASSFORMER_FUZZ=20 tries twenty times
as many, with another seed for each twenty.
"""

import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer

from command import Answer, call
from forking import AVAILABLE, Server
from glassformer import words
from glassformer.app import app
from hostile import METRICS, TEXTS, WEIGHTS, Attack, cell, edit_json, nothing, prepare, results, seal, with_digests
from small_runs import run_of

TIMES = int(os.environ.get("GLASSFORMER_FUZZ", "1"))
SEED = 18 + TIMES
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
HOSTILE = (
    "", " ", "-1", "0", "1.5", "nan", "inf", "-inf", "1e309", "-1e-320", "9" * 30, "2147483648", "true", "none", "last",
    "\x1b[31mred\x1b[0m", "\x07", "\u202egnp.exe", "\r", "a\nb", "\x9b2J", "\udcff", "💣", "../..", "/dev/null", ".",
    "x" * 5000, "=", "x=1", "x=", "=1", "train.rate=-1", "train.rate=\x1b", "data.seed=1e9", "architecture.width=4096",
    "[[[[", "{}", "$(touch pwned)", "%s%n", "\\", "'\"", "--json", "-", "CON", "zero(", "zero(\x07)", "a/b", "0,1,,2",
    "svg,\u202e", "1e3", "0x10", "١٢", "1_000", "best", "plus_last_even", "attention", "run", "＋", "\u2028", "None",
)  # fmt: skip
BASES = {
    "list": ("list",),
    "show": ("show", "plus_last_even"),
    "lab": ("lab", "plus_last_even", "--set", "nothing=1"),  # refused whatever else is said: a gallery takes long
    "train": ("train", "plus_last_even", "--steps", "2", "--set", "train.judged=20", "--out", "new"),
    "ask": ("ask", "run", "10 + 4"),
    "generate": ("generate", "run", "10 +", "--tokens", "3"),
    "score": ("score", "run", "--windows", "5"),
    "check": ("check", "run"),
    "report": ("report", "run", "--with", "attention", "--set", "nothing=1"),  # refused whatever else is said
    "figures": ("figures", "run", "attention", "--format", "csv", "--out", "drawn"),
    "film": ("film", "run", "phase", "--frames", "2", "--format", "gif", "--out", "filmed"),
    "study": ("study", "ablation", "five_operations", "--steps", "1", "--seeds", "1", "--without", "nothing"),
    "physics": ("physics", "one_layer", "--steps", "3", "--set", "nothing=1"),
    "data": ("data", "list"),
    "claims": ("claims", "S3-08", "--workers", "0"),  # refused whatever else is said: settling takes long
    "lesson": ("lesson", "one_neuron", "--pack", "x.tar"),  # the same: a lesson trains
}
SLOW = {"train": 0.35, "film": 0.2}  # the share of their cases that is tried: a case may begin to work


def sound(answer: Answer, typed: object) -> None:
    """An answer as every command promises it."""
    said = answer.out + answer.err
    assert answer.code in (0, 1, 2), (typed, answer)
    assert "Traceback" not in said, (typed, said)
    assert words.shown(said) == said, (typed, said)
    assert answer.code == 0 or answer.err.strip() or answer.out.strip(), (typed, answer)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder."""
    return {
        each.relative_to(folder).as_posix(): each.read_bytes() if each.is_file() else None
        for each in sorted(folder.rglob("*"))
    }


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of one's own, with one run in it."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run_of("plus_last_even").path, tmp_path / "runs" / "run")
    return tmp_path


def calls(name: str) -> list[tuple[str, ...]]:
    """One hostile value for each option and argument of a command, the rest as it should be."""
    base, found = BASES[name], []
    for parameter, value in product(COMMANDS[name].params, HOSTILE):
        option = next((each for each in parameter.opts if each.startswith("-")), None)
        if option is None:
            found += [(name, value), (*base, value), (*base[:-1], value)]
        elif getattr(parameter, "is_flag", False):
            found.append((*base, option, value))
        else:
            found.append((*base, option, value))
            found.append((*base, f"{option}={value}"))
    return found


def some(cases: list[tuple[str, ...]], name: str, most: int) -> Iterator[tuple[str, ...]]:
    """So many of the cases, drawn with the seed."""
    rng = random.Random(f"{SEED} {name}")
    yield from rng.sample(cases, min(len(cases), int(0.7 * most * TIMES * SLOW.get(name, 1.0))))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_whatever_is_typed_is_answered_in_words(name: str, place: Path) -> None:
    before = tree(place / "runs")
    for typed in some(calls(name), name, 60):
        sound(call(*typed), typed)
        for made in ("new", "drawn", "filmed"):
            shutil.rmtree(place / made, ignore_errors=True)
    after = tree(place / "runs")
    assert {path: after.get(path) for path in before} == before
    assert not (place / "pwned").exists()


def test_every_command_is_tried() -> None:
    assert set(BASES) == set(COMMANDS)


# ---- folders ---------------------------------------------------------------------------------------------------------

RUN_COMMANDS = ("ask", "generate", "score", "check", "check --json", "list figures", "attention", "loss", "api")
FOLDERS: dict[str, tuple[str, ...]] = {  # what is spoilt, and the commands that read it
    **dict.fromkeys(("rule", "population", "diverged", "questions", "page"), (*RUN_COMMANDS, "list runs")),
    "text": (*RUN_COMMANDS, "training_data", "list runs --json"),
    "unfinished": ("check", "ask", "resume", "resume"),
    "own_task": ("own ask", "own check"),
    "study": ("study api", "study list", "study figure"),
    "claims": ("claims", "claims --json"),
}
PROTECTED = {  # files with a digest, and the commands that show what stands in them
    "metrics.jsonl": METRICS, "index.jsonl": WEIGHTS, "text.txt": TEXTS, "tokenizer.json": TEXTS,
    "cells": ("study api", "study figure"),
}  # fmt: skip


def cut(path: Path, rng: random.Random) -> None:
    """To a length that is drawn."""
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data) + 1)])


def flip(path: Path, rng: random.Random) -> None:
    """One bit, three times."""
    data = bytearray(path.read_bytes())
    for _ in range(3 if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(bytes(data))


def line(path: Path, rng: random.Random) -> None:
    """A line less, or all that come after it."""
    lines = path.read_bytes().splitlines(keepends=True)
    at = rng.randrange(len(lines)) if lines else 0
    path.write_bytes(b"".join(lines[:at] if rng.random() < 0.5 else lines[:at] + lines[at + 1 :]))


def swap(path: Path, rng: random.Random) -> None:
    """With another file of the run."""
    others = sorted(each for each in path.parents[0].rglob("*") if each.is_file())
    other = rng.choice(others)
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs), other.write_bytes(mine)


def word(path: Path, rng: random.Random) -> None:
    """Numbers and texts put in the place of others, so that it may stay JSON."""
    import re

    data = path.read_bytes()[:200_000].decode("utf-8", errors="replace")
    places = list(re.finditer(r'-?\d+(\.\d+)?|"[^"\n]*"|true|false|null', data))
    if places:
        here = rng.choice(places)
        new = rng.choice(['"\\u001b[2J"', '"\\u202e"', "-1", "1e999", "99999999999", "null", "[]", "{}", '"x"', "0.5"])
        path.write_text(data[: here.start()] + new + data[here.end() :], encoding="utf-8")


def value(path: Path, rng: random.Random) -> None:
    """Another value somewhere in a JSON file, or in a line of one; or a value less."""
    lines = path.read_bytes().splitlines(keepends=True) if path.suffix == ".jsonl" else [path.read_bytes()]
    at = rng.randrange(len(lines)) if lines else 0
    try:
        table = json.loads(lines[at])
    except (ValueError, IndexError):
        return
    places: list[tuple[Any, Any]] = []
    waiting = [table]
    while waiting:
        here = waiting.pop()
        keys = here if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
        places += [(here, key) for key in keys]
        waiting += [here[key] for key in keys]
    if places:
        inside, key = rng.choice(places)
        inside[key] = rng.choice([each for each in (*VALUES, [inside[key]] * 2) if each != inside[key]])
        if isinstance(inside, dict) and rng.random() < 0.2:
            del inside[key]
    lines[at] = json.dumps(table).encode() + b"\n"
    path.write_bytes(b"".join(lines))


VALUES: tuple[Any, ...] = (None, True, -1, 2**31, 10**18, 10**30, 0.5, 1e308, "", "x", "\x1b[2J", [], {}, float("nan"))
SPOILT: dict[str, Callable[[Path, random.Random], object]] = {
    "cut": cut,
    "flipped": flip,
    "without a line": line,
    "swapped": swap,
    "another word": word,
    "another value": value,
    "emptied": lambda path, _: path.write_bytes(b""),
    "removed": lambda path, _: path.unlink(),
    "a folder": lambda path, _: (path.unlink(), path.mkdir()),
    "noise": lambda path, rng: path.write_bytes(rng.randbytes(300)),
    "garbage behind": lambda path, rng: path.write_bytes(path.read_bytes() + rng.randbytes(20)),
}


@cache
def files_of(base: str) -> list[str]:
    """What lies in a folder, in which numbers and words count twice."""
    with tempfile.TemporaryDirectory() as place:
        folder = prepare(Attack("", base, nothing), Path(place))
        found = sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file())
    return [*found, *(each for each in found if each.endswith((".json", ".jsonl")))]


def spoil_folder(base: str, rng: random.Random) -> Attack:
    """A folder with one file spoilt: with the digests that protect it brought up to date, or left as they were."""
    file, how = rng.choice(files_of(base)), rng.choice([*sorted(SPOILT), "another value", "another value"])
    if how == "another value" and not file.endswith((".json", ".jsonl")):
        how = "flipped"  # there is no value to change
    fresh, seed, commands = rng.random() < 0.5, rng.random(), tuple(rng.sample(FOLDERS[base], 2))

    def make(folder: Path) -> None:
        if base == "study":
            cell(nothing)(folder)  # cells with digests
        SPOILT[how](folder / file, random.Random(seed))
        with suppress(ValueError, OSError, TypeError, AttributeError):  # spoilt beyond repair
            if fresh and file.startswith("cells/"):
                edit_json(folder / file, seal)
            elif fresh and (folder / "run.json").is_file():
                with_digests(folder)

    shows = PROTECTED.get("cells" if file.startswith("cells/") else file, ())
    torn = how in ("garbage behind", "swapped")  # a torn line is left out; a file may be swapped with itself
    marked = tuple(each for each in commands if each in shows and not fresh and not torn)
    return Attack(f"{base}/{file} {how}, digests {'fresh' if fresh else 'stale'}", base, make, (), marked, commands)


@pytest.mark.skipif(not AVAILABLE, reason="forking.py needs Linux")
def test_whatever_a_folder_holds_is_answered_in_words() -> None:
    """Each reading leaves the folder as it found it; what is shown was verified, or is marked."""
    rng = random.Random(f"{SEED} folders")
    failed = []
    with Server() as server:
        for base in [*FOLDERS, "text", "study"] * (6 * TIMES):
            attack = spoil_folder(base, rng)
            for command, outcome, wrong in results(server, attack, attack.commands):
                failed += [f"{attack.name}; {command}: {wrong}; {outcome.said[-300:]}"] if wrong else []
    assert not failed, "\n" + "\n".join(failed)


# ---- files that a person gives ---------------------------------------------------------------------------------------

GIVEN = {
    "mine.toml": ("show", "mine.toml", "--all"),
    "own.toml": ("train", "own.toml", "--seeds", "0"),  # refused at last, so that nothing is trained
    "mine.txt": ("train", "--text", "mine.txt", "--seeds", "0"),
    "table.csv": ("train", "own_table", "--set", "data.file=table.csv", "--seeds", "0"),
    "my_rule.py": ("show", "my_rule.py"),
}


def given(name: str) -> bytes:
    """A file as it should be."""
    if name.endswith(".toml"):
        return call("show", "plus_last_even").out.encode()
    if name.endswith(".txt"):
        return ("Mary had a little lamb, its fleece was white as snow.\n" * 8).encode()
    if name.endswith(".csv"):
        return b"question,answer\n" + b"".join(b"%d + %d,%d\n" % (a, b, a + b) for a in range(5) for b in range(5))
    guide = (Path(__file__).parent.parent / "docs" / "add-a-task.md").read_text("utf-8")
    return next(part for part in guide.split("```python\n")[1:] if "class " in part).split("```")[0].encode()


@pytest.mark.parametrize("name", GIVEN)
def test_whatever_file_is_given_is_answered_in_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(f"{SEED} {name}")
    ways = [each for each in SPOILT if each != "swapped" and not (name.endswith(".py") and each == "another word")]
    (tmp_path / name).write_bytes(given(name))
    whole = call(*GIVEN[name])
    assert whole.code == 0 if GIVEN[name][0] == "show" else "seeds = 0" in whole.err
    for how in rng.choices(ways, k=20 * TIMES):
        path = tmp_path / name
        if path.is_dir():
            path.rmdir()
        path.write_bytes(given(name))
        SPOILT[how](path, rng)
        before = tree(tmp_path)
        sound(call(*GIVEN[name]), (name, how, path.read_bytes()[:2000] if path.is_file() else None))
        assert tree(tmp_path) == before
