"""A run is watched while it grows: cheaply, from where one stopped looking, and without disturbing it."""

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import command
import small_life
from command import QUICK, call
from glassformer import folder, terminal
from glassformer.errors import CallError, DamagedError
from glassformer.experiment import load
from glassformer.folder import Entry
from glassformer.glance import glance
from glassformer.plan import plan
from glassformer.record import Recorder
from glassformer.run import Run

SCHEMAS = Path(__file__).parent / "schemas"
POINTS = list(itertools.pairwise((-1, *small_life.POINTS)))


@pytest.fixture
def growing(tmp_path):
    """A run that somebody writes, before its first safe point."""
    with Recorder.create(tmp_path / "run", small_life.experiment(), [7]) as recorder:
        yield recorder


@pytest.fixture
def finished(tmp_path):
    """A folder to be spoilt."""
    small_life.train(tmp_path / "run")
    return tmp_path / "run"


# At a glance


def agrees(path):
    """A glance and a thorough look tell the same."""
    run, seen = Run(path), glance(path)
    newest = run.lines[-1] if run.lines else None
    assert (seen.status, seen.last_step, seen.kept, seen.newest) == (run.status, run.last_step, len(run.steps), newest)
    assert seen.size == run.size == sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    assert seen.about == run.about


def test_a_glance_tells_what_opening_the_run_would(growing):
    for before, point in POINTS:
        agrees(growing.path)
        small_life.hand_over(growing, before, point)
        assert glance(growing.path).kept == point + 1
        assert glance(growing.path).status == "running"
    growing.close()
    agrees(growing.path)
    assert glance(growing.path).status == "interrupted"
    recorder, _, _ = Recorder.resume(growing.path)
    recorder.finish("finished")
    agrees(growing.path)
    assert glance(str(growing.path)).status == "finished"


def test_a_glance_reads_no_index_and_no_weights(finished):
    shutil.rmtree(finished / "weights")
    (finished / "index.jsonl").unlink()
    assert glance(finished).kept == 10


@pytest.mark.parametrize("fixture", sorted(SCHEMAS.glob("*/*/run.json")), ids=lambda path: path.parent.name)
def test_a_folder_from_before_answers_too(fixture):
    assert "kept" not in json.loads(fixture.read_text())
    agrees(fixture.parent)


def test_a_run_begun_before_is_counted_once_it_is_resumed(finished):
    about = json.loads((finished / "run.json").read_text())
    del about["kept"]
    (finished / "run.json").write_text(json.dumps({**about, "status": "running"}))
    agrees(finished)
    recorder, _, _ = Recorder.resume(finished)
    recorder.finish("finished")
    assert json.loads((finished / "run.json").read_text())["kept"] == 10


@pytest.mark.parametrize("tail", [8, 13, 200, 1 << 16])
def test_the_newest_line_is_the_last_good_one(finished, monkeypatch, tail):
    """However long it is, and whatever a write that was cut off left behind it."""
    monkeypatch.setattr(folder, "TAIL", tail)
    path = finished / "metrics.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for good in range(len(lines) + 1):
        whole = b"".join(lines[:good])
        for rest in (b"", b'{"step": 99', b"\n", b'{"loss": 1}\n[1', bytes(40), b'junk{"step": 99}\n'):
            path.write_bytes(whole + rest)
            assert folder.newest(finished) == (json.loads(lines[good - 1]) if good else None)
    path.unlink()
    assert folder.newest(finished) is None


def test_a_glance_at_something_else_is_a_sentence(tmp_path, finished):
    with pytest.raises(DamagedError, match=r"no run\.json"):
        glance(tmp_path)
    (finished / "run.json").write_text("{")
    with pytest.raises(DamagedError, match="damaged"):
        glance(finished)


# A long index


def long_index(lines=1500):
    """Steps whose numbers have one to four digits, over three files, as they are written."""
    rng = np.random.default_rng(0)
    return [Entry(step, step // 600, step % 600, rng.bytes(32).hex()) for step in range(lines)]


def test_a_long_index_is_read_at_once(tmp_path, monkeypatch):
    entries = long_index()
    data = "".join(entry.line() for entry in entries).encode()
    (tmp_path / "index.jsonl").write_bytes(data)
    monkeypatch.setattr(folder, "_split", lambda *_: pytest.fail("line by line"))
    found = folder.index(tmp_path)
    assert found.read == entries
    assert all(type(value) in (int, str) for value in found.read[-1])
    assert (found.good(), found.bad, found.data, found.end) == (data, [], data, len(data))


def test_whatever_happens_to_a_long_index_it_is_read_as_carefully_as_a_short_one(tmp_path):
    entries = long_index()
    lines = [entry.line().encode() for entry in entries]
    whole, start = b"".join(lines), sum(map(len, lines[:1350]))  # among others of its length
    wrong = [whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :] for at in range(start, start + len(lines[1350]))
             for flip in (1, 0x80)]  # fmt: skip
    wrong += [whole[:-1], whole[:-70], whole + lines[3], whole + b"\n", whole + b"junk\n", b"junk\n" + whole]
    wrong += [whole.replace(b"\n", b"\r\n"), whole.replace(b": ", b":"), whole.replace(b'"row"', b'"raw"')]
    wrong += [b"".join([*lines[:700], odd, *lines[700:]]) for odd in (b'{"step": 1}\n', b"\n")]
    counted = 0
    for data in wrong:
        (tmp_path / "index.jsonl").write_bytes(data)
        found = folder.index(tmp_path)
        assert found == folder._split(data, folder._entry)
        counted += len(found.bad) > 0
    assert counted > 130


@pytest.mark.parametrize("name", ["metrics.jsonl", "index.jsonl"])
def test_a_file_that_grows_gives_each_line_once_it_is_whole(finished, name):
    """Seen at any byte of its growth: a torn line counts only when it has its end."""
    read = folder.metrics if name == "metrics.jsonl" else folder.index
    path, whole = finished / name, (finished / name).read_bytes()
    expected = read(finished).read
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        seen = read(finished)
        assert seen.end == whole[:cut].rfind(b"\n") + 1
        assert seen.good() == whole[: seen.end]
        assert seen.read == expected[: whole[:cut].count(b"\n")]


# A run that grows


def test_a_run_that_grows_is_noticed(growing):
    run = Run(growing.path)
    assert not run.grown
    assert run.newer() is run
    for before, point in POINTS:
        assert (len(run.steps), len(run.lines)) == (before + 1, before // 2 + 1)
        small_life.hand_over(growing, before, point)
        assert run.grown
        seen, run = run, run.newer()
        assert (len(seen.steps), len(seen.metrics["step"])) == (before + 1, before // 2 + 1)
        assert_array_equal(run.steps, np.arange(point + 1))
        assert (run.last_step, run.grown) == (point, False)
    growing.finish("finished")
    assert run.grown, "the ending is news, too"
    assert (run.status, run.newer().status) == ("finished", "finished")
    assert not run.newer().grown


@pytest.mark.parametrize("name", ["index.jsonl", "metrics.jsonl"])
def test_what_only_one_of_the_files_has_is_noticed(finished, name):
    """A writer may be killed between two of them."""
    run = Run(finished)
    with (finished / name).open("ab") as file:
        file.write(b"{")
    assert run.grown
    assert len(run.newer().problems) == 1


# A program that starts trainings

TRAIN = ("train", "plus_last_even", "--steps", 600, "--seeds", 2, *QUICK)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_progress_as_json_lines(here, monkeypatch):
    monkeypatch.setattr("glassformer.plan.SAFE_BYTES", 400_000)
    plain = call(*TRAIN, "--out", "plain", "--json")
    answer = call(*TRAIN, "--out", "told", "--json-lines")
    assert (answer.code, answer.err) == (0, "")
    *lines, last = (json.loads(line) for line in answer.out.splitlines())
    expected = plan(load("plus_last_even", QUICK[1:], steps=600), members=2)
    told = [line["safe_point"] for line in lines if line["safe_point"] is not None]
    assert sorted(set(told)) == expected.safe.tolist()  # each, as soon as it is known to be on disk
    assert told == sorted(told)
    assert all(line["safe_point"] <= line["step"] for line in lines if line["safe_point"] is not None)
    assert len(expected.safe) > 2
    assert {*expected.logged.tolist()} <= {line["step"] for line in lines}
    assert [line["step"] for line in lines] == sorted(line["step"] for line in lines)
    assert {line["status"] for line in lines} == {"running"}
    logged = {line["step"]: line for line in Run(here / "told").lines}
    for line in lines:
        assert (line["run"], line["steps"]) == ("told", 600)
        if line["step"] in logged:
            assert line["loss"] == pytest.approx(np.median(logged[line["step"]]["validation_loss"]))
            assert line["excess"] == pytest.approx(np.median(logged[line["step"]]["excess"]))
    assert lines[0]["seconds_left"] is None
    for line in lines[len(lines) // 2 :]:
        assert line["seconds_left"] == pytest.approx((600 - line["step"]) / line["steps_per_second"], abs=0.1)
    same = {"run", "seconds", "steps_per_second"}
    assert {k: v for k, v in last.items() if k not in same} == {k: v for k, v in plain.json.items() if k not in same}
    assert (last["status"], last["run"]) == ("finished", "told")
    assert command.contents(here / "told") == command.contents(here / "plain")


def test_the_last_line_says_what_went_wrong(here):
    wild = ("--set", "train.optimiser=sgd", "--set", "train.rate=1e9", "--set", "train.log_every=1")
    answer = call("train", "plus_last_even", "--steps", 40, *QUICK, *wild, "--out", "run", "--json-lines")
    *lines, last = (json.loads(line) for line in answer.out.splitlines())
    assert answer.code == 1
    assert last["status"] == "diverged" == Run(here / "run").status
    assert answer.err == f"glassformer: {last['error']}\n"
    assert lines[-1]["loss"] == "NaN"
    answer = call(*TRAIN, "--json-lines", "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert "--json-lines" in answer.err


def test_a_reader_that_went_away_stops_nothing(here):
    with subprocess.Popen([*command.COMMAND, *map(str, TRAIN), "--out", "run", "--json-lines"], cwd=here,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:  # fmt: skip
        child.stdout.close()
        err = child.stderr.read()
    assert Run(here / "run").status == "finished", err
    assert b"Traceback" not in err


@pytest.fixture
def pipe(monkeypatch):
    """The end of standard input that another program holds."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield pipe


def heard(stop, seconds):
    """Whether a training is asked to stop within this time."""
    until = time.monotonic() + seconds
    while not stop() and time.monotonic() < until:
        time.sleep(0.01)
    return stop()


@pytest.mark.parametrize("how", ["written to", "closed"])
def test_standard_input_asks_to_stop(pipe, capsys, how):
    with terminal.safe_stop(on_input=True) as stop:
        assert not heard(stop, 0.05)
        pipe.write(b"\n") if how == "written to" else pipe.close()
        assert heard(stop, 10)
    assert "stopping at the next safe point" in capsys.readouterr().err


@pytest.mark.parametrize("closed", ["at its end", "none at all"])
def test_nobody_looks_at_standard_input_unless_asked_to(pipe, monkeypatch, closed):
    """A training under cron, or in a script whose input is at its end, goes on."""
    pipe.close()
    if closed == "none at all":
        monkeypatch.setattr(sys, "stdin", None)
        with pytest.raises(CallError, match="needs a standard input"), terminal.safe_stop(on_input=True):
            pass
    with terminal.safe_stop() as stop:
        assert not heard(stop, 0.1)


def test_a_training_stopped_through_its_input_goes_on_to_the_same_bits(here):
    words = ("train", "plus_last_even", "--seeds", 2, "--steps", 10_000, *QUICK)
    told = ("--json-lines", "--stop-on-stdin")
    with subprocess.Popen([*command.COMMAND, *map(str, words), "--out", "run", *told], cwd=here, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:  # fmt: skip
        assert json.loads(child.stdout.readline())["step"] == 0
        child.stdin.close()
        out, err = child.stdout.read(), child.stderr.read()
    last, run = json.loads(out.splitlines()[-1]), Run(here / "run")
    assert (child.returncode, last["status"], run.status) == (1, "interrupted", "interrupted")
    assert 0 < run.last_step < 10_000
    assert f"stopped at step {run.last_step} of 10000" in last["error"]
    assert err.splitlines()[-1] == f"glassformer: {last['error']}"
    agrees(here / "run")
    assert call("train", "plus_last_even", "--resume", "--out", "run", "--quiet").code == 0
    assert call(*words, "--out", "whole", "--quiet").code == 0
    assert command.contents(here / "run") == command.contents(here / "whole")
