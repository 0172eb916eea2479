"""Whether a run's folder is whole: every number is what was written, and nothing that was written is missing.

How much there should be is told by `run.json` (`written`: the lines of each file and their digest, as of the last safe
point) and by the resume point. Files of lines only grow and run.json comes last, so both hold beside a living
writer too; what such a writer has in hand at the moment (a line, a file that is not listed yet) is no damage.
"""

import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer import folder, lock, storage, tensors
from glassformer.errors import Error, LockedError

if TYPE_CHECKING:
    from glassformer.run import Run


def problems(run: "Run") -> list[str]:
    """A sentence for each thing that is wrong."""
    saved, damage = _saved(run)  # before the files it relies on are measured: they only grow
    damage += _short(run, saved)
    torn = [each for each in run.problems if each.endswith(folder.TORN)]
    damage = [*(each for each in run.problems if each not in torn), *damage, *_wrong_weights(run)]
    traces = torn + _strays(run)
    if traces and (_held(run.path) or run.grown):  # somebody writes, or has written since the run was opened
        return damage
    return damage + traces


def told(run: "Run") -> bool:
    """Whether the folder says how much there should be; an early version's does not once its resume point is gone."""
    return isinstance(run.about.get("written"), dict) or (run.path / folder.RESUME).exists()


def _saved(run: "Run") -> tuple[dict[str, int], list[str]]:
    """How far each file reached when the state to go on from was saved, and what is wrong with that state."""
    path, said = run.path / folder.RESUME, run.about.get("last_step")
    try:
        return tensors.saved(path)[1], []
    except FileNotFoundError:
        unfinished = run.about.get("status") == "running" and type(said) is int and said > 0
        lost = f"{folder.RESUME} is missing, so the training can only begin again; put it back"
        return {}, [lost] if unfinished else []
    except OSError as problem:
        return {}, [f"{path} cannot be read: {problem.strerror}"]
    except Error as problem:
        return {}, [str(problem)]


def _short(run: "Run", saved: dict[str, int]) -> list[str]:
    """What is missing from the files of lines, or is not what was written there."""
    written, again = run.about.get("written"), "put back the file of this run"
    last = run.about.get("last_step")
    ahead = type(last) is int and saved.get("step", 0) > last  # cut off before run.json told of it
    found = []
    for name, lines, relied in ((folder.INDEX, run.listed, "index"), (folder.METRICS, run.logged, "metrics")):
        many, digest = _counts(written.get(name) if isinstance(written, dict) else None)
        torn = any(what == folder.TORN for _, _, what in lines.bad[-1:])
        there, size = len(lines.read) + len(lines.bad) - torn, _size(run.path / name)
        if there < many:
            lost = f"has {there:,} of the" if there or size else "is missing or empty, and with it the"
            found.append(f"{name} {lost} {many:,} lines that were written; {again}")
        elif size < saved.get(relied, 0) and (ahead or not digest):
            found.append(f"{name} has {size:,} of the {saved[relied]:,} bytes that were written; {again}")
        elif digest and not lines.bad and _digest(lines, many) != digest:
            found.append(f"{name} is not what was written there; {again}")
        elif digest and there > many and run.about.get("status") != "running":
            found.append(f"{name} goes on after the {many:,} lines that the training wrote; {again}")
    kept = run.about.get("kept")
    if not found and type(kept) is int and len(run.steps) < kept and not run.problems:
        found.append(f"{folder.INDEX} lists {len(run.steps):,} of {kept:,} kept steps; {again}")
    return found


def _counts(said: Any) -> tuple[int, str]:
    """Lines and sha256 as run.json has them; of an early version, or nonsense, nothing that could be missed."""
    many, digest = (said.get("lines"), said.get("sha256")) if isinstance(said, dict) else (None, None)
    return (many, digest) if type(many) is int and isinstance(digest, str) else (0, "")


def _digest(lines: "folder.Lines[Any]", many: int) -> str:
    """Of the first so many lines; those of the index as we write them, so that another tool's spacing is no damage."""
    found = sha256()
    for read, raw in zip(lines.read[:many], lines.raw, strict=False):
        found.update(read.line().encode() if isinstance(read, folder.Entry) else raw)
    return found.hexdigest()


def _size(path: Path) -> int:
    """Bytes of a file at this moment; a missing one has none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _wrong_weights(run: "Run") -> list[str]:
    """Every kept step whose weights are not what was written; of files that are missing, `run.problems` tells."""
    found = []
    for step in run.steps.tolist():
        try:
            if os.path.exists(run.weights_file(step)):
                run.weights(step)
        except Error as problem:
            found.append(str(problem))
    return found


def _strays(run: "Run") -> list[str]:
    """What a write that was cut short leaves behind."""
    found = []
    listed = {run.weights_file(step) for step in run.steps.tolist()}
    for path in sorted(run.path.rglob("*")):
        here = path.relative_to(run.path).as_posix()
        if storage.is_temporary(path.name):
            found.append(f"{here} is left from a write that never ended; it can be removed")
        elif here.startswith(f"{folder.WEIGHTS}/") and path not in listed:
            found.append(f"{here} is not listed in {folder.INDEX}, so it is not used")
    return found


def _held(run: Path) -> bool:
    """Whether somebody may be writing there now."""
    try:
        holder = lock.read(run)
    except LockedError:
        return False
    return holder is not None and holder.alive
