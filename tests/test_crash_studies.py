"""D1 for studies and galleries: killed at any instant they leave whole files only, and the same command ends the same.

One kill of each; GLASSFORMER_KILLS asks for more. Nobody outlives the process that was killed.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from command import call
from glassformer import gallery, storage, studies
from glassformer import study as opened
from small_runs import run_of

KILLS = int(os.environ.get("GLASSFORMER_KILLS", "1"))
FACTORS = (1, 10)  # of the rate: the cells of the study
WORDS = ("rate", "plus_last_even", "--seeds", 2, "--steps", 60, "--set", "train.judged=20", "--quiet")
STUDY = """
import sys
from glassformer import studies
from glassformer.cli import main
if __name__ == "__main__":
    studies.find("rate").FACTORS = (1, 10)
    sys.argv[:1] = ["glassformer", "study"]
    main()
"""
FIGURES = ("architecture", "loss", "attention", "qkv", "pair_scores")
GALLERY = """
import sys
from pathlib import Path
from glassformer import gallery
from glassformer.run import open
gallery.gallery(open(sys.argv[1]), Path("gallery"), only=tuple(sys.argv[2:]))
"""
LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes as Linux lists them")


def start(folder: Path, code: str, *words: object) -> subprocess.Popen[bytes]:
    """A program in a session of its own, so that whoever outlives it can be found."""
    (folder / "program.py").write_text(code)
    cache = {"JAX_COMPILATION_CACHE_DIR": str(folder.parent / "compiled"),
             "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "program.py", *map(str, words)], cwd=folder, env={**os.environ, **cache},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def killed(folder: Path, code: str, *words: object, after: float) -> bool:
    """Begin or go on, and be killed; within a moment nobody it started is left. Whether it had not ended before."""
    child = start(folder, code, *words)
    time.sleep(after)
    living = child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    until = time.monotonic() + 20
    while others := session(child.pid):
        assert time.monotonic() < until, f"{others} outlive the process that was killed"
        time.sleep(0.05)
    assert child.stderr is not None
    child.stderr.close()
    return living


def seconds(folder: Path, code: str, *words: object) -> float:
    """How long it takes when nobody kills it; of a single kill, a guess will do."""
    if KILLS == 1:
        return 5.0
    folder.mkdir()
    began = time.monotonic()
    child = start(folder, code, *words)
    _, said = child.communicate()
    assert child.returncode == 0, said.decode()
    return time.monotonic() - began


def session(number: int) -> list[str]:
    """The living processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if fields[3] == str(number) and fields[0] not in "ZX":
            found.append(path.parent.name)
    return found


def table(folder: Path) -> tuple[list[str], dict[str, Any]]:
    """What a study has found, without how long that took."""
    rows = [line for line in (folder / "table.csv").read_text().splitlines() if ",seconds," not in line]
    result = json.loads((folder / "result.json").read_text())
    del result["sha256"]  # the seconds are in it, too
    for each in [result, *result["rows"]]:
        each.pop("seconds")
    return rows, result


def to_the_end(folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Carry out the study that lies there, or what is left of it; what it has found."""
    answer = call("study", *WORDS, "--workers", 1, "--out", folder)
    assert answer.code == 0, answer.err
    return table(folder)


@LINUX
def test_d1_a_study_killed_at_any_instant_goes_on_to_the_same_table(tmp_path, monkeypatch):
    monkeypatch.setattr(studies.find("rate"), "FACTORS", FACTORS)
    expected = to_the_end(tmp_path / "whole")
    assert expected[1]["complete"]
    written = (tmp_path / "whole/cells").iterdir()
    cells = {path.name: json.loads(path.read_text())["measured"]["loss"] for path in written}
    long = seconds(tmp_path / "timed", STUDY, *WORDS, "--workers", 1, "--out", "study")
    chance, reached, ended, here = random.Random(1), dict[int, int](), 0, tmp_path / "0"
    for number in range(KILLS):
        side_by_side = number % 4 == 3  # processes that share the cores compute other bits: only their end is looked at
        where = tmp_path / f"{number}x2" if side_by_side else here
        words = (*WORDS, "--workers", 1 + side_by_side, "--out", where)
        if not killed(tmp_path, STUDY, *words, after=chance.uniform(0, long)):
            ended, long = ended + 1, 0.8 * long  # the machine has become quicker
        done = look(where, {} if side_by_side else cells, expected)
        reached[done] = reached.get(done, 0) + 1
        if done == len(cells):
            here = tmp_path / str(number + 1)
    assert to_the_end(here) == expected
    assert KILLS < 20 or len(reached) > 2, f"the kills came at no more than {len(reached)} different places"
    print(
        f"studies: {KILLS} kills, {ended} of them too late; finished cells at the kill: {dict(sorted(reached.items()))}"
    )


def look(folder: Path, cells: dict[str, Any], expected: object) -> int:
    """How many cells are finished after a kill: each as it should be, and no result before all of them are."""
    if not (folder / "study.json").exists():
        return 0
    study = opened.open(folder)
    for path in (folder / "cells").glob("[!.]*"):
        found = json.loads(path.read_text())["measured"]["loss"]
        assert not cells or found == cells[path.name]
    if study.result:
        assert len(study.trained) == len(FACTORS)
        assert not cells or not (folder / "table.csv").exists() or table(folder) == expected
    return len(study.trained)


@LINUX
def test_d1_a_gallery_killed_at_any_instant_leaves_whole_files_only(tmp_path):
    run = run_of("plus_last_even")

    def to_the_end(folder: Path) -> dict[str, bytes]:
        gallery.gallery(run, folder, only=FIGURES)
        return {path.name: path.read_bytes() for path in files(folder)}

    def files(folder: Path) -> list[Path]:
        there = sorted(folder.iterdir()) if folder.exists() else []
        return [path for path in there if not storage.is_temporary(path.name)]

    expected = to_the_end(tmp_path / "whole")
    assert "index.html" in expected
    long = seconds(tmp_path / "timed", GALLERY, run.path, *FIGURES)
    chance, reached, ended, here = random.Random(2), dict[int, int](), 0, tmp_path / "0"
    for number in range(KILLS):
        here.mkdir(exist_ok=True)
        if not killed(here, GALLERY, run.path, *FIGURES, after=chance.uniform(0, long)):
            ended, long = ended + 1, 0.8 * long  # the machine has become quicker
        names = set()
        for path in files(here / "gallery"):
            assert path.read_bytes() == expected[path.name], path.name
            names.add(path.name)
        assert "index.html" not in names or names == {*expected}, "a page of a gallery that is not whole"
        reached[len(names)] = reached.get(len(names), 0) + 1
        if chance.random() < 0.5 or names == {*expected}:
            here = tmp_path / str(number + 1)
    assert to_the_end(here / "gallery") == expected
    assert KILLS < 20 or len(reached) > 3, f"the kills came at no more than {len(reached)} different places"
    spread = dict(sorted(reached.items()))
    print(f"galleries: {KILLS} kills, {ended} of them too late; of {len(expected)} files at the kill: {spread}")
