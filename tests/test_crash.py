"""D1, D2: killed at any instant, a run opens, all it lists verifies, and it goes on to the same bits.

Four kills; GLASSFORMER_KILLS asks for more of them. The children share a cache of compiled code, so that the time
goes into training and not into the compiler.
"""

import os
import random
import time
from pathlib import Path

import pytest

import command
import glassformer.run
from glassformer.errors import DamagedError

KILLS = int(os.environ.get("GLASSFORMER_KILLS", "4"))
TRAIN = ("train", "plus_last_even", "--seeds", 4, "--steps", 6000, *command.QUICK, "--out", "run")
ALLOWED = ("torn off", "never ended", "is not listed")  # traces of a write that was cut short


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where compiled code is kept between the children."""
    folder = str(tmp_path_factory.mktemp("compiled"))
    return {"JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}


def train(folder: Path, cache: dict[str, str], *more: str) -> tuple[float, float]:
    """An undisturbed training: seconds until its first line of progress, and from there to its end."""
    began = time.monotonic()
    child = command.start(*TRAIN, *more, folder=folder, **cache)
    first, ready = child.stderr.readline(), time.monotonic()
    _, rest = child.communicate()
    assert child.returncode == 0, first + rest
    return ready - began, time.monotonic() - ready


def kill(folder: Path, cache: dict[str, str], chance: random.Random, seconds: tuple[float, float]) -> None:
    """Begin or go on, and be killed at a moment of chance, mostly while training, sometimes before."""
    child = command.start(*TRAIN, *again(folder), folder=folder, **cache)
    before, while_training = seconds
    seen = ""
    if chance.random() < 0.8:
        seen = child.stderr.readline()
        time.sleep(chance.uniform(0, while_training))
    else:
        time.sleep(chance.uniform(0, before))
    child.kill()
    _, rest = child.communicate()
    assert "Traceback" not in seen + rest, seen + rest


def again(folder: Path) -> list[str]:
    """What to add to the command, if there is something to resume."""
    return ["--resume"] if (folder / "run/run.json").exists() else []


def look(path: Path) -> glassformer.run.Run | None:
    """The run after a kill; None if it was killed before there was one."""
    if not path.exists():
        return None
    if not (path / "run.json").exists():
        with pytest.raises(DamagedError, match=r"no run\.json"):
            glassformer.run.open(path)
        return None
    run = glassformer.run.open(path)
    problems = [problem for problem in run.check() if not any(each in problem for each in ALLOWED)]
    assert problems == []
    return run


def test_d1_d2_killed_at_any_instant_it_goes_on_to_the_same_bits(tmp_path, cache):
    whole = tmp_path / "whole"
    whole.mkdir()
    train(whole, cache)  # fills the cache
    timed = tmp_path / "timed"
    timed.mkdir()
    seconds = train(timed, cache)
    expected = command.contents(whole / "run")
    assert command.contents(timed / "run") == expected

    chance, reached, finished = random.Random(1), set(), 0
    here = tmp_path / "0"
    here.mkdir()
    for number in range(KILLS):
        kill(here, cache, chance, seconds)
        run = look(here / "run")
        if run is not None:
            reached.add(run.last_step)
            assert run.status in ("interrupted", "finished")
        if run is not None and run.status == "finished":  # it was quicker than the kill
            assert_equal_but_for_strays(here / "run", expected)
            finished += 1
            seconds = seconds[0], 0.6 * seconds[1]  # it was timed on a busier machine, or its last part is no training
        if run is None or run.status == "finished":
            here = tmp_path / str(number + 1)
            here.mkdir()
    train(here, cache, *again(here))
    assert_equal_but_for_strays(here / "run", expected)
    assert finished + 1 < KILLS, "nothing was killed"
    assert len(reached) > 2, f"the kills came at no more than {len(reached)} different places"


def assert_equal_but_for_strays(path: Path, expected: tuple) -> None:
    """The files of the undisturbed run, and beside them at most temporary ones that a kill left."""
    files, about = command.contents(path)
    strays = [name for name in files if name not in expected[0]]
    assert all(name.rpartition("/")[2].startswith(".") and name.endswith(".tmp") for name in strays), strays
    assert ({name: files[name] for name in files if name not in strays}, about) == expected
