"""Whether a run's folder is whole: every number is what was written, and nothing that was written is missing.

How much there should be is told by `run.json` (`written`: the lines of each file and their digest, as of the last safe
point) and by the resume point. Files of lines only grow and run.json comes last, so both hold beside a living
writer too; what such a writer has in hand at the moment (a line, a file that is not listed yet) is no damage.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer import folder, lock, storage, tensors
from glassformer.errors import Error, LockedError
from glassformer.words import shown

MOST_STRAYS = 20  # that are named

if TYPE_CHECKING:
    from glassformer.run import Run


def problems(run: "Run") -> list[str]:
    """A sentence for each thing that is wrong."""
    saved, damage = _saved(run)  # before the files it relies on are measured: they only grow
    damage += _wrong_lines(run, saved)
    try:
        run.steps  # noqa: B018
    except Error:  # without an index nothing else can be looked at
        return damage
    torn = [each for each in run.problems if each.endswith(folder.TORN)]
    damage = [*(each for each in run.problems if each not in torn), *damage, *_wrong_weights(run)]
    traces = torn + _strays(run)
    if traces and (_held(run.path) or run.grown):  # somebody writes, or has written since the run was opened
        return damage
    return damage + traces


def _saved(run: "Run") -> tuple[dict[str, int], list[str]]:
    """How far each file reached when the state to go on from was saved, and what is wrong with that state."""
    path, said = run.path / folder.RESUME, run.about.get("last_step")
    try:
        return tensors.saved(run.folder, run.parameters * run.members)[1], []
    except FileNotFoundError:
        unfinished = run.about.get("status") == "running" and type(said) is int and said > 0
        lost = f"{folder.RESUME} is missing, so the training can only begin again; put it back"
        return {}, [lost] if unfinished else []
    except OSError as problem:
        return {}, [f"{path} cannot be read: {problem.strerror}"]
    except Error as problem:
        return {}, [str(problem)]


def _wrong_lines(run: "Run", saved: dict[str, int]) -> list[str]:
    """What is missing from the files of lines, or is not what was written there."""
    found = []
    ahead = saved.get("step", 0) > run.about.get("last_step", 0)  # cut off before run.json told of it
    files: dict[str, folder.Lines[Any]] = {}
    for name, relied, read in (
        (folder.INDEX, "index", lambda: run.index_file),
        (folder.METRICS, "metrics", lambda: run.metrics_file),
    ):
        try:
            files[name] = read()
            folder.verified(files[name], run.about, name, run.path)
        except Error as problem:
            found.append(str(problem).removeprefix(f"{shown(str(run.path))}{os.sep}"))
            continue
        size = len(files[name].data)
        if size < saved.get(relied, 0) and (ahead or name in run.unverified):
            lost = f"has {size:,} of the {saved[relied]:,} bytes that were written"
            found.append(f"{name} {lost}; {folder.AGAIN}")
    if not found:
        try:
            run.metrics  # noqa: B018
        except Error as problem:
            found.append(str(problem))
    kept = run.about.get("kept", 0)
    if not found and len(run.steps) < kept and not run.problems:
        found.append(f"{folder.INDEX} lists {len(run.steps):,} of {kept:,} kept steps; {folder.AGAIN}")
    return found


def _wrong_weights(run: "Run") -> list[str]:
    """Every kept step whose weights are not what was written; of files that are missing, `run.problems` tells."""
    found = []
    for entry in run.listed.read:
        try:
            if run.folder.stat(folder.weights_file(entry.file)) is not None:
                run.weights(entry.step)
        except Error as problem:
            found.append(str(problem))
    return found


def _strays(run: "Run") -> list[str]:
    """What a write that was cut short leaves behind."""
    listed = {folder.weights_file(entry.file) for entry in run.listed.read}
    here = [name for name, _ in run.folder.entries()]
    weights = (
        [f"{folder.WEIGHTS}/{name}" for name, _ in run.folder.entries(folder.WEIGHTS)] if folder.WEIGHTS in here else []
    )
    found: list[str] = []
    for name in sorted([*here, *weights]):
        if len(found) == MOST_STRAYS:
            return [*found, "and more; they can be removed"]
        if storage.is_temporary(Path(name).name):
            found.append(f"{name} is left from a write that never ended; it can be removed")
        elif name in weights and name not in listed:
            found.append(f"{name} is not listed in {folder.INDEX}, so it is not used")
    return found


def _held(run: Path) -> bool:
    """Whether somebody may be writing there now."""
    try:
        holder = lock.read(run)
    except LockedError:
        return False
    return holder is not None and holder.alive
