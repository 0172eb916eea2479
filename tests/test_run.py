"""What was recorded opens equal, wherever it lies and whatever happened to it; what is damaged is named, not used."""

import itertools
import json
import shutil
import struct
import subprocess
import sys
import threading
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import glassformer.run
import hand_wired
import small_life
from glassformer import folder, tensors
from glassformer.errors import CallError, DamagedError, Error, LimitError, MissingError
from glassformer.experiment import load
from glassformer.record import Recorder
from glassformer.run import Run, find, meant
from glassformer.storage import Folder
from small_runs import NAN, POPULATION, run_of

SCHEMAS = Path(__file__).parent / "schemas"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that no test writes to."""
    path = tmp_path_factory.mktemp("runs") / "small-7"
    small_life.train(path)
    return path


@pytest.fixture
def mine(kept: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    return Path(shutil.copytree(kept, tmp_path / "small-7"))


@pytest.fixture
def old(mine: Path) -> Path:
    """The same without digests, as the first version wrote it."""
    about = json.loads((mine / "run.json").read_text())
    (mine / "run.json").write_text(json.dumps({name: each for name, each in about.items() if name != "written"}))
    return mine


def test_what_was_recorded_is_read(kept):
    run = glassformer.run.open(kept)
    assert (run.name, run.status, run.last_step, run.members, run.seeds) == ("small-7", "finished", 9, 1, [7])
    assert run.experiment == small_life.experiment()
    assert_array_equal(run.steps, np.arange(10))
    for step in range(10):
        expected = small_life.weights(step)
        found = run.weights(step)
        assert list(found) == list(run.architecture.shapes())
        for name, array in found.items():
            assert_array_equal(array, expected[name])
    assert_array_equal(run.metrics["step"], [0, 2, 4, 6, 8])
    assert_array_equal(run.metrics["validation_loss"], np.array([3 / 1, 3 / 3, np.nan, 3 / 7, 3 / 9], np.float32))
    assert_array_equal(run.metrics["gradient.embedding"], 2 * run.metrics["validation_loss"])
    assert run.problems == run.check() == []
    assert run.size == sum(len(path.read_bytes()) for path in kept.rglob("*") if path.is_file())


def test_a_population_has_a_member_axis(tmp_path):
    small_life.train(tmp_path / "run", seeds=(7, 8, 9))
    run = Run(tmp_path / "run")
    expected = small_life.weights(5, members=3)
    assert_array_equal(run.weights(5)["token"], expected["token"])
    assert_array_equal(run.weights(5, member=2)["blocks.0.key"], expected["blocks.0.key"][2])
    assert run.metrics["validation_loss"].shape == (5, 3)
    assert run.trace("4 +", step=5, member=1)["embedded"].shape == (2, 2)
    with pytest.raises(MissingError, match=r"no member 3.*0 to 2"):
        run.weights(5, member=3)
    assert run.to_xarray()["validation_loss"].dims == ("logged_step", "member")


def test_weights_files_are_what_the_library_reads_and_the_reader_reads_what_it_writes(kept, tmp_path):
    from safetensors.numpy import load_file, save_file

    stack = load_file(kept / "weights" / "000001.safetensors")
    assert_array_equal(stack["blocks.0.value"][1], small_life.weights(5)["blocks.0.value"])
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(3, np.uint32), "c": np.array([True, False])}
    save_file(arrays, tmp_path / "theirs")
    (tmp_path / "ours").write_bytes(tensors.pack(arrays, {"step": "3"}))
    assert_equal(load_file(tmp_path / "ours"), arrays)
    place = Folder(tmp_path)
    assert_equal(tensors.read(place, "theirs", 10_000)[0], arrays)
    assert_equal(tensors.read(place, "ours", 10_000)[0], arrays)
    with pytest.raises(DamagedError, match="larger than 100 bytes"):
        tensors.read(place, "ours", 100)


def assert_equal(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert_array_equal(found[name], array)


def test_reading_needs_no_jax(kept):
    code = "import sys; from glassformer.run import open; open(sys.argv[1]).trace('4 +'); print('jax' in sys.modules)"
    child = subprocess.run([sys.executable, "-c", code, kept], capture_output=True, text=True, check=True)
    assert child.stdout == "False\n"


def test_r1_the_digest_depends_on_what_was_trained_and_nothing_else(kept, mine, tmp_path):
    """R1."""
    small_life.train(tmp_path / "again")
    assert Run(tmp_path / "again").digest() == Run(kept).digest()
    about = json.loads((mine / "run.json").read_text())
    (mine / "run.json").write_text(json.dumps({**about, "times": {}, "hardware": "other", "status": "?"}))
    assert Run(mine).digest() == Run(kept).digest()
    (mine / "run.json").write_text(json.dumps({**about, "seeds": [8]}))
    assert Run(mine).digest() != Run(kept).digest()


# Damage


@pytest.mark.parametrize("name", ["metrics.jsonl", "index.jsonl"])
def test_d5_a_file_of_lines_cut_at_any_byte_opens_with_the_lines_before(old, name):
    """D5, where there is no digest; with one, the missing lines are an error wherever the file is read."""
    mine, whole = old, (old / name).read_bytes()
    lines = whole.splitlines(keepends=True)
    digest = {"lines": len(lines), "sha256": sha256(whole).hexdigest()}
    for cut in range(len(whole) - len(lines[-1]) - len(lines[-2]), len(whole)):
        (mine / name).write_bytes(whole[:cut])
        run = Run(mine)
        assert run.unverified == ("index.jsonl", "metrics.jsonl")
        found = folder.index(mine) if name == "index.jsonl" else folder.metrics(mine)
        with pytest.raises(DamagedError, match=f"{name} has .* of the {len(lines)} lines that were written"):
            folder.verified(found, {"written": {name: digest}, "status": "running"}, name, mine)
        full = whole[:cut].count(b"\n")
        torn = not whole[:cut].endswith(b"\n")
        assert len(run.steps if name == "index.jsonl" else run.metrics["step"]) == full
        assert run.problems == [f"{name}, line {full + 1}: torn off, so not counted"] * torn
        if cut % 20 == 0 and torn:
            recorder, _, _ = Recorder.resume(mine)
            recorder.close()
            assert any("torn" in notice for notice in recorder.notices)
            assert (mine / name).read_bytes() == b"".join(lines[:full])


@pytest.mark.parametrize("name", ["metrics.jsonl", "index.jsonl"])
def test_d5_a_bad_line_in_the_middle_is_reported_by_number_and_the_rest_is_read(old, name):
    """D5, where there is no digest; with one, the line is an error wherever the file is read."""
    mine, whole = old, (old / name).read_bytes()
    lines = whole.splitlines(keepends=True)
    digest = {"lines": len(lines), "sha256": sha256(whole).hexdigest()}
    start = len(lines[0])
    for place in range(start, start + len(lines[1]) - 1):
        (mine / name).write_bytes(whole[:place] + bytes([whole[place] ^ 0x80]) + whole[place + 1 :])  # never UTF-8
        run = Run(mine)
        assert len(run.steps if name == "index.jsonl" else run.metrics["step"]) == len(lines) - 1
        assert len(run.problems) == 1
        assert run.problems[0].startswith(f"{name}, line 2: ")
        found = folder.index(mine) if name == "index.jsonl" else folder.metrics(mine)
        with pytest.raises(DamagedError, match=f"{name} is not what was written there: line 2 "):
            folder.verified(found, {"written": {name: digest}}, name, mine)
    recorder, _, _ = Recorder.resume(mine)
    recorder.close()
    assert recorder.notices == run.problems
    assert len((mine / name).read_bytes()) == len(whole)


def test_any_flipped_byte_of_the_weights_is_found(mine):
    path = mine / "weights" / "000001.safetensors"
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        problems = Run(mine).check()
        assert problems, place
        assert all("000001.safetensors" in problem for problem in problems)
    run = Run(mine)
    damaged = [step for step in (4, 5, 6) if fails(DamagedError, run.weights, step)]
    assert damaged, "the last flip lies in the numbers"
    for step in {*range(10)} - {4, 5, 6}:
        run.weights(step)


def fails(kind: type[Error], work: Any, *given: Any) -> bool:
    try:
        work(*given)
    except kind:
        return True
    return False


def test_a_missing_weights_file_costs_exactly_its_steps(mine):
    (mine / "weights" / "000001.safetensors").unlink()
    run = Run(mine)
    assert run.problems == ["weights/000001.safetensors is missing, and with it 3 steps from 4 to 6"]
    assert run.check() == run.problems
    with pytest.raises(DamagedError, match=r"000001\.safetensors is missing.*step 5"):
        run.weights(5)
    run.weights(3), run.weights(7)


def header(tables: dict[str, Any] | bytes, data: bytes = b"") -> bytes:
    text = tables if isinstance(tables, bytes) else json.dumps(tables).encode()
    return struct.pack("<Q", len(text)) + text + data


@cache
def spoilt() -> dict[str, bytes]:
    stacks = {name: np.stack([array] * 3) for name, array in small_life.weights(4).items()}
    good = tensors.pack(stacks)
    (length,) = struct.unpack("<Q", good[:8])
    tables, data = json.loads(good[8 : 8 + length]), good[8 + length :]
    token = tables["token"]
    other = {name: array.astype(np.float64) for name, array in stacks.items()}
    return {
        "nothing": b"",
        "a pickle": b"\x80\x04\x95" + b"." * 100,
        "a zip": b"PK\x03\x04" + b"\0" * 100,
        "header past the end": struct.pack("<Q", len(good)) + good[8:],
        "header of 2^63": struct.pack("<Q", 2**63) + good[8:],
        "cut": good[:-1],
        "trailing bytes": good + b"\0",
        "duplicate name": header(
            good[8 : 8 + length].rstrip()[:-1] + b',"token":' + json.dumps(token).encode() + b"}", data
        ),
        "overlap": header({**tables, "token": {**token, "data_offsets": [0, token["data_offsets"][1]]}}, data),
        "gap": header({**tables, "token": {**token, "data_offsets": [x + 4 for x in token["data_offsets"]]}}, data),
        "negative": header({**tables, "token": {**token, "data_offsets": [-1, 5]}}, data),
        "overflow": header({**tables, "token": {**token, "shape": [2**62, 4, 2]}}, data),
        "unknown type": header({**tables, "token": {**token, "dtype": "object"}}, data),
        "no offsets": header({**tables, "token": {"dtype": "F32", "shape": []}}, data),
        "shape is a text": header({**tables, "token": {**token, "shape": "3"}}, data),
        "not a table": header({**tables, "token": 3}, data),
        "many entries": header({f"{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(30_000)}),
        "large metadata": header({"__metadata__": {"x": "y" * 5_000_000}, **tables}, data),
        "metadata of another kind": header({"__metadata__": {"x": 1}, **tables}, data),
        "one more": tensors.pack({**stacks, "more": np.zeros(0, np.float32)}),
        "one less": tensors.pack({name: array for name, array in stacks.items() if name != "token"}),
        "another shape": tensors.pack({**stacks, "token": stacks["token"][..., :1]}),
        "too few rows": tensors.pack({name: array[:1] for name, array in stacks.items()}),
        "unequal rows": tensors.pack({**stacks, "token": stacks["token"][:2]}),
        "another type": tensors.pack(other),
        "other numbers": tensors.pack({name: array + 1 for name, array in stacks.items()}),
        "deep": header(b"[" * 100_000),
    }


@pytest.mark.parametrize("case", spoilt())
def test_a10_a11_a_weights_file_that_is_not_what_was_written_is_refused(mine, case):
    """A10, A11."""
    (mine / "weights" / "000001.safetensors").write_bytes(spoilt()[case])
    run = Run(mine)
    with pytest.raises(DamagedError, match="000001"):
        run.weights(6)
    run.weights(3)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes among files")
def test_a8_a_pipe_among_the_files_does_not_hang(mine):
    """A8."""
    import os

    (mine / "weights" / "000001.safetensors").unlink()
    os.mkfifo(mine / "weights" / "000001.safetensors")
    with pytest.raises(DamagedError, match="not a regular file"):
        Run(mine).weights(5)


@pytest.mark.parametrize(
    "line",
    [
        b'{"step": 5, "step": 6}',
        b'{"step": NaN}',
        b'{"step": 1, "loss": 1e400}',
        b'{"step": ' + b"1" * 100_000 + b"}",
        b'{"step": 1, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"step": 1, "x": ' + b'{"a":' * 40 + b"1" + b"}" * 40 + b"}",
        b'{"step": 1, "x": "\\ud800"}',
        b'{"step": 1, "x": "\xff"}',
        b'\xef\xbb\xbf{"step": 1}',
        b"[1]",
        b'{"loss": 1}',
        b"",
    ],
)
def test_a12_a_line_that_is_not_ours_is_reported_and_not_counted(old, line):
    """A12."""
    mine, path = old, old / "metrics.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + line + b"\n" + b"".join(lines[1:]))
    run = Run(mine)
    assert_array_equal(run.metrics["step"], [0, 2, 4, 6, 8])
    assert len(run.problems) == 1
    assert run.problems[0].startswith("metrics.jsonl, line 2: ")


def test_a12_brackets_inside_texts_are_not_depth():
    """A12."""
    assert folder.parse(json.dumps({"x": "[" * 100 + '"\\' + "{" * 100}).encode())["x"].startswith("[")


def test_a12_a_line_longer_than_the_limit_is_skipped(old, monkeypatch):
    """A12."""
    monkeypatch.setattr(folder, "MOST_LINE", 150)
    mine, path = old, old / "metrics.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"x" * 650 + b"\n" + b"".join(lines[1:]))
    run = Run(mine)
    assert_array_equal(run.metrics["step"], [0, 2, 4, 6, 8])
    assert run.problems == ["metrics.jsonl, line 2: longer than 150 bytes"]


@pytest.mark.parametrize("file", ['"../../etc/passwd"', '"/etc/passwd"', '"1"', "1", '"00000a"', '"٠٠٠٠٠٠"', "null"])
def test_a9_the_index_names_no_files_but_by_number(old, file):
    """A9."""
    mine = old
    lines = (mine / "index.jsonl").read_text().splitlines()
    lines[1] = lines[1].replace('"000000"', file)
    (mine / "index.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = Run(mine)
    assert 1 not in run.steps
    assert run.problems[0].startswith("index.jsonl, line 2: is not a step")


def test_an_index_written_by_another_tool_is_read(mine, kept):
    lines = [json.loads(line) for line in (mine / "index.jsonl").read_text().splitlines()]
    (mine / "index.jsonl").write_text("".join(json.dumps(line, sort_keys=True) + "\r\n" for line in lines))
    assert Run(mine).digest() == Run(kept).digest()
    assert Run(mine).check() == []


def test_run_json_missing_cut_or_false_is_a_sentence(mine):
    whole = (mine / "run.json").read_bytes()
    for cut in range(0, len(whole) - 2, 31):
        (mine / "run.json").write_bytes(whole[:cut])
        with pytest.raises(DamagedError, match=r"run\.json"):
            Run(mine)
    about = json.loads(whole)
    for change in (
        {"schema": "1"},
        {"schema": True},
        {"schema": 0},
        {"seeds": []},
        {"seeds": ["../x"]},
        {"members": 2},
        {"parameters": 1},
        {"experiment": None},
        {"experiment": {"name": 3}},
        {"experiment": {**about["experiment"], "task": "os.system"}},
        {"experiment": {**about["experiment"], "architecture": {"context": 10**9}}},
        {"experiment": {**about["experiment"], "unknown": 1}},
    ):
        (mine / "run.json").write_text(json.dumps({**about, **change}))
        with pytest.raises(DamagedError, match=r"run\.json"):
            Run(mine)
    (mine / "run.json").write_bytes(b" " * 4_000_001)
    with pytest.raises(DamagedError, match="larger than"):
        Run(mine)
    (mine / "run.json").unlink()
    with pytest.raises(DamagedError, match=r"has no run\.json"):
        Run(mine)


def test_d8_a_newer_schema_names_the_version_needed(mine):
    """D8."""
    about = json.loads((mine / "run.json").read_text())
    about |= {"schema": 2, "versions": {"glassformer": "3.1"}}
    (mine / "run.json").write_text(json.dumps(about))
    with pytest.raises(DamagedError, match=r"schema 2, this version reads up to 1; open it with Glassformer 3\.1"):
        Run(mine)


@pytest.mark.parametrize("fixture", sorted(SCHEMAS.glob("*/*/run.json")), ids=lambda path: path.parent.name)
def test_d8_every_schema_ever_released_opens(fixture):
    """D8: these folders are never edited."""
    run = Run(fixture.parent)
    assert run.check() == []
    assert run.digest() == (fixture.parent.parent / f"{run.name}.digest").read_text().strip()
    assert run.ask("4 +")


def test_d8_there_is_a_folder_for_every_schema():
    """D8."""
    assert sorted(int(path.name) for path in SCHEMAS.iterdir()) == list(range(1, folder.SCHEMA + 1))


# Wherever it lies


def test_d7_copied_renamed_zipped_and_read_only_it_is_the_same(kept, tmp_path):
    """D7."""
    digest = Run(kept).digest()
    archive = shutil.make_archive(str(tmp_path / "mailed"), "zip", kept.parent, kept.name)
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    copy = Path(shutil.copytree(kept, tmp_path / "Ünïcode and spaces" / "SMALL 7"))
    link = tmp_path / "link"
    link.symlink_to(copy)
    frozen = Path(shutil.copytree(kept, tmp_path / "frozen"))
    for path in (*frozen.rglob("*"), frozen):
        path.chmod(0o555 if path.is_dir() else 0o444)
    locked = Path(shutil.copytree(kept, tmp_path / "locked"))
    (locked / "lock").write_text("unreadable")
    for path in (tmp_path / "unpacked" / kept.name, copy, link, frozen, locked):
        run = Run(path)
        assert run.digest() == digest
        assert run.check() == []
        assert run.status == "finished"
    for path in (*frozen.rglob("*"), frozen):
        path.chmod(0o755)


def test_d7_a_renamed_run_is_intact(mine):
    """D7: also where only the case of the name changes."""
    digest = Run(mine).digest()
    renamed = Run(mine.rename(mine.with_name("SMALL-7")))
    assert (renamed.name, renamed.digest(), renamed.check()) == ("SMALL-7", digest, [])


def test_d7_copied_in_the_middle_of_training_it_opens_and_goes_on(tmp_path):
    """D7: each file copied at another time."""
    states = []
    folder_ = tmp_path / "live"
    recorder = Recorder.create(folder_, small_life.experiment(), [7], {"versions": {"glassformer": "0"}})
    for before, point in itertools.pairwise((-1, *small_life.POINTS)):
        small_life.hand_over(recorder, before, point)
        states.append({p.relative_to(folder_): p.read_bytes() for p in folder_.rglob("*") if p.is_file()})
    recorder.close()
    names = [Path(name) for name in ("index.jsonl", "metrics.jsonl", "resume.safetensors", "weights")]
    for place, ages in enumerate(itertools.product(range(3), repeat=4)):
        copy = tmp_path / f"copy-{place}"
        (copy / "weights").mkdir(parents=True)
        (copy / "run.json").write_bytes(states[0][Path("run.json")])
        for name, age in zip(names, ages, strict=True):
            for path, data in states[age].items():
                if path == name or name in path.parents:
                    (copy / path).write_bytes(data)
        run = Run(copy)
        assert run.status == "interrupted"
        for step in run.steps:
            missing = run.problems and fails(DamagedError, run.weights, int(step))
            assert missing or run.weights(int(step)).keys() == run.architecture.shapes().keys()
        small_life.train(copy)
        listed = {int(step) for step in Run(copy).steps}
        if ages[2] <= min(ages[0], ages[3]):  # the state is not ahead of what it relies on
            assert listed == {*range(10)}
            assert fails(DamagedError, Run(copy).weights, 9) is False


def test_d9_reading_and_resuming_delete_nothing(mine):
    """D9: a stray temporary file is reported, not removed."""
    (mine / ".run.json.1-aa.tmp").write_bytes(b"stray")
    (mine / "weights" / "000007.safetensors").write_bytes(b"stray")
    (mine / "notes.txt").write_bytes(b"mine")
    before = small_life.files(mine)
    run = Run(mine)
    assert run.check() == [
        ".run.json.1-aa.tmp is left from a write that never ended; it can be removed",
        "weights/000007.safetensors is not listed in index.jsonl, so it is not used",
    ]
    run.metrics, run.weights(), run.digest(), run._repr_html_()
    assert small_life.files(mine) == before
    small_life.train(mine)
    assert small_life.files(mine) == before


def test_d10_a_reader_beside_a_writer_sees_a_sound_beginning(tmp_path):
    """D10: steps only ever come, files named by the index never change."""
    recorder = Recorder.create(tmp_path / "run", small_life.experiment(), [7])
    failures: list[BaseException] = []

    def write() -> None:
        try:
            for before, point in itertools.pairwise(range(-1, 120, 4)):
                small_life.hand_over(recorder, before, point)
            recorder.finish("finished")
        except BaseException as problem:
            failures.append(problem)

    writer = threading.Thread(target=write)
    writer.start()
    sealed: dict[str, bytes] = {}
    last, rounds = 0, 0
    while writer.is_alive() or rounds == 0:
        run = Run(tmp_path / "run")
        steps = run.steps
        assert_array_equal(steps, np.arange(len(steps)))
        assert len(steps) >= last
        assert all("torn" in problem for problem in run.problems)
        for step in steps[last:]:
            assert_array_equal(run.weights(int(step))["token"], small_life.weights(int(step))["token"])
        for step in steps[max(last - 1, 0) : last]:
            run.weights(int(step))
        last, rounds = len(steps), rounds + 1
        for path in (tmp_path / "run" / "weights").glob("0*"):
            if int(path.stem) in {run._index[int(step)].file for step in steps}:
                assert sealed.setdefault(path.name, path.read_bytes()) == path.read_bytes()
    writer.join()
    assert failures == []
    assert Run(tmp_path / "run").check() == []


def test_the_status_says_whether_somebody_writes(tmp_path):
    recorder = Recorder.create(tmp_path / "run", small_life.experiment(), [7])
    assert Run(tmp_path / "run").status == "running"
    with pytest.raises(MissingError, match="no kept step yet"):
        Run(tmp_path / "run").weights()
    recorder.close()
    assert Run(tmp_path / "run").status == "interrupted"
    assert Run(tmp_path / "run").last_step == 0
    recorder, state, step = Recorder.resume(tmp_path / "run")
    assert (state, step) == (None, 0)
    recorder.finish("diverged", diverged_at=3)
    assert Run(tmp_path / "run").status == "diverged"
    assert Run(tmp_path / "run").about["diverged_at"] == 3


# Asking it


def test_the_best_step_is_the_kept_one_with_the_lowest_loss_of_its_member(tmp_path):
    def written(name: str, losses: dict[int, object], seeds: list[int]) -> Run:
        experiment = load("plus_last_even", steps=9)
        shapes = experiment.architecture.shapes().items()
        lines = [{"step": step, "validation_loss": loss} for step, loss in losses.items()]
        with Recorder.create(tmp_path / name, experiment, seeds) as recorder:
            members = (len(seeds),) if len(seeds) > 1 else ()
            weights = {key: np.zeros((3, *members, *shape), np.float32) for key, shape in shapes}
            recorder.safe_point(9, [0, 4, 9], weights, lines, {})
        return Run(tmp_path / name)

    assert written("one", {0: 2.5, 2: 1.0, 4: 1.5, 9: 2.0}, [0]).best_step() == 4  # step 2 was lower, and not kept
    two = written("two", {0: [2.5, 0.1], 4: [1.5, 0.3], 9: ["NaN", 0.2]}, [0, 1])
    assert [two.best_step(0), two.best_step(1)] == [4, 0]
    with pytest.raises(MissingError, match="no member 2"):
        two.best_step(2)
    with pytest.raises(MissingError, match="nothing is logged yet"):
        written("silent", {}, [0]).best_step()
    with pytest.raises(MissingError, match="a number"):
        written("lost", {0: "NaN"}, [0]).best_step()


def test_a_step_that_was_not_kept_names_its_neighbours(tmp_path):
    with Recorder.create(tmp_path / "run", small_life.experiment(), [7]) as recorder:
        life = [small_life.weights(step) for step in (0, 10, 50)]
        recorder.safe_point(60, [0, 10, 50], {n: np.stack([w[n] for w in life]) for n in life[0]}, [], {})
        recorder.finish()
    run = Run(tmp_path / "run")
    assert run.last_step == 60
    for step, near in ((11, "10 and 50"), (60, "50"), (10**9, "50")):
        with pytest.raises(MissingError, match=f"step {step} of .* was not kept; the nearest kept: {near}$"):
            run.weights(step)
    assert_array_equal(run.weights()["token"], small_life.weights(50)["token"])


def test_wrong_inputs_are_sentences(kept):
    run = Run(kept)
    for text, kind, words in (
        ("", CallError, "empty"),
        ([], CallError, "empty"),
        ("1 2 3 4 5", LimitError, "5 tokens are more than the model's context = 4"),
        ("1 x", CallError, "'x' at position 1"),
        ([0, 12], CallError, "token 12 at position 1 is not between 0 and 11"),
        ([[0, 1], [-1, 2]], CallError, "token -1 at position 0"),
        ([[0, 1], [1]], CallError, "different lengths"),
        ([0.5], CallError, "neither one sequence"),
        (["4", "+"], CallError, "2 texts in a list are neither one text nor ids"),
        ("1 " * 40_000, LimitError, "80,000 characters"),
    ):
        with pytest.raises(kind, match=words):
            run.trace(text)
    for given, kind, words in (
        ({"tokens": 0}, LimitError, "tokens = 0"),
        ({"temperature": -1.0}, CallError, "temperature = -1"),
        ({"temperature": float("nan")}, CallError, "temperature = nan"),
        ({"top_k": 0}, CallError, "top_k = 0"),
        ({"text": "x"}, CallError, "'x' at position 0"),
        ({"step": 99}, MissingError, "nearest kept: 9"),
    ):
        with pytest.raises(kind, match=words):
            run.generate(**given)
    with pytest.raises(CallError, match="one text at a time"):
        run.ask([[0, 1]])
    with pytest.raises(MissingError, match=r"nothing called 'atention' in the trace .did you mean attention"):
        run.trace(edits={"atention": lambda value, _: value})
    with pytest.raises(MissingError, match="did you mean attention"):
        run.trace()["atention"]


def test_a_hand_wired_head_looks_one_back(tmp_path):
    expected = np.eye(8, k=-1)
    expected[0, 0] = 1  # nothing lies before the first token
    run = hand_wired.previous_token(tmp_path / "run")
    seen = run.trace("0 1 2 3 + 4 5 6")
    assert_allclose(seen["attention"][0, 0], expected, atol=1e-6)
    axes = seen.axes("attention")
    assert list(axes) == ["block", "head", "query_position", "key_position"]
    assert axes["key_position"] == ("0", "1", "2", "3", "+", "4", "5", "6")
    assert seen.step == 0
    batch = run.trace([[0, 1, 2], [3, 4, 5]])
    assert_allclose(batch["attention"][1, 0, 0], expected[:3, :3], atol=1e-6)


def test_every_value_of_the_trace_has_its_axes(kept):
    run = Run(kept)
    for given in ("4 + 1", [[1, 2], [3, 4]]):
        seen = run.trace(given)
        for name, value in seen.items():
            assert tuple(len(labels) for labels in seen.axes(name).values()) == value.shape, name
    assert seen.axes("logits")["token"] == run.task.vocabulary
    assert_allclose(seen["probabilities"].sum(-1), 1, rtol=1e-6)


def test_ask_gives_the_last_positions_probabilities_in_order(kept):
    run = Run(kept)
    answers = run.ask("4 + 1", step=3)
    assert dict(answers).keys() == set(run.task.vocabulary)
    assert [chance for _, chance in answers] == sorted((chance for _, chance in answers), reverse=True)
    assert dict(answers)["7"] == pytest.approx(run.trace("4 + 1", step=3)["probabilities"][-1, 7])


def test_generate_draws_from_the_models_own_chances(kept):
    run = Run(kept)
    drawn = np.array([next(run.generate("4 +", tokens=1, seed=seed)) for seed in range(400)])
    chances = {run.task.vocabulary.index(token): chance for token, chance in run.ask("4 +")}
    for token, chance in chances.items():
        assert abs((drawn == token).mean() - chance) <= 4 * np.sqrt(chance * (1 - chance) / 400) + 1e-9
    best = max(chances, key=lambda token: chances[token])
    assert next(run.generate("4 +", temperature=0)) == best
    assert {next(run.generate("4 +", top_k=1, seed=seed)) for seed in range(20)} == {best}
    once, again = (list(run.generate("4 +", tokens=20, seed=3)) for _ in range(2))
    assert once == again
    assert len(once) == 20, "longer than the window, which slides"
    assert len(list(run.generate(tokens=5))) == 5


def test_a_task_with_one_answer_is_asked_and_does_not_go_on(tmp_path):
    from glassformer.experiment import from_tables

    architecture = {"context": 6, "width": 2, "feed_forward": 0, "read_position": 3, "causal": False}
    tables = {"task": "five_operations", "architecture": architecture, "train": {"steps": 1}}
    experiment = from_tables(tables, "one")
    zeros = {name: np.zeros((1, *shape), np.float32) for name, shape in experiment.architecture.shapes().items()}
    with Recorder.create(tmp_path / "run", experiment, [0]) as recorder:
        recorder.safe_point(0, [0], zeros, [], {})
    run = Run(tmp_path / "run")
    assert len(run.ask([0, 1, 2, 3])) == experiment.architecture.answers
    with pytest.raises(CallError, match="read at position 3, but the text has 2 tokens"):
        run.ask([0, 1])
    with pytest.raises(CallError, match="one answer and no next token"):
        run.generate()


def test_to_xarray_holds_every_number(kept, monkeypatch):
    run = Run(kept)
    data = run.to_xarray()
    assert_array_equal(data["weights.token"].sel(step=4), run.weights(4)["token"])
    assert data["weights.blocks.0.query"].dims == ("step", "feature", "head_feature")
    assert_array_equal(data["validation_loss"], run.metrics["validation_loss"])
    assert_array_equal(data["logged_step"], run.metrics["step"])
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(MissingError, match=r"glassformer\[analysis\]"):
        run.to_xarray()


def test_a13_a_run_shows_itself_as_text(mine):
    """A13."""
    evil = "<img src=x onerror=alert(1)>"
    about = json.loads((mine / "run.json").read_text())
    about["experiment"]["name"] = about["status"] = evil
    (mine / "run.json").write_text(json.dumps(about))
    shown = Run(mine)._repr_html_()
    assert evil not in shown
    assert "&lt;img" in shown
    assert "<th>validation_loss</th><td>0.333 nats</td>" in shown


def test_a_run_shows_what_its_members_reached():
    run = run_of(POPULATION)
    shown = run._repr_html_()
    for name in ("validation_loss", "excess"):
        low, high = run.metrics[name][-1].min(), run.metrics[name][-1].max()
        assert f"<th>{name}</th><td>{low:.3f} to {high:.3f} nats</td>" in shown
    assert "<th>validation_loss</th><td>not a number</td>" in run_of(NAN)._repr_html_()


def _begun(kept: Path, path: Path, created: str) -> None:
    """A copy of a run, begun at another time."""
    shutil.copytree(kept, path)
    about = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**about, "times": {"created": created}}))


def test_runs_are_found_by_the_beginning_of_their_name(tmp_path, kept, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingError, match="no runs in runs; `glassformer train"):
        find(None)
    for name, created in (("plus-18", "2026-01-02"), ("plus-18-2", "2026-01-03"), ("plus-1", "2026-01-01T09"),
                          ("sum-1", "2026-01-01"), ("sum-2", "2026-01-01")):  # fmt: skip
        _begun(kept, tmp_path / "runs" / name, created)
    for name in ("empty", "plus-18-3"):  # no runs
        (tmp_path / "runs" / name).mkdir()
    (tmp_path / "runs" / "file").write_text("")
    assert find(None).name == "plus-18-2"
    assert meant("plus") == (Path("runs/plus-18-2"), 3)
    assert meant("plus-18") == (Path("runs/plus-18"), 1), "a whole name means itself, whatever else begins so"
    assert meant("sum") == (Path("runs/sum-2"), 2), "of two begun at one time, the later name"
    assert find("runs/sum-1").name == "sum-1"
    with pytest.raises(MissingError, match=r"nothing called 'plos-18'.*did you mean plus-18"):
        find("plos-18")
    with pytest.raises(DamagedError, match=r"has no run\.json"):
        find("runs/empty")
    with pytest.raises(CallError, match="the name of the run is empty"):
        find("")
    (tmp_path / "plus").mkdir()
    assert find("plus").name == "plus-18-2", "a folder that is no run does not hide those that begin so"
    for odd in ("plus\0", "x" * 5000, "\udce9"):
        with pytest.raises(MissingError, match="nothing called"):
            find(odd)
    with pytest.raises(MissingError, match="no folder"):
        glassformer.run.open("runs/none")


def test_the_newest_of_very_many_runs_is_found_without_opening_one(tmp_path, monkeypatch):
    """A run.json that nothing can parse is enough to be asked for the time; the other texts in it are no times."""
    for k in range(300):
        (tmp_path / f"run-{k:03}").mkdir()
        times = f'"created": "2026-01-{1 + k % 28:02}T00:00:00+00:00"' if k != 28 else ""
        (tmp_path / f"run-{k:03}" / "run.json").write_text(
            f'{{"data": {{"file": "\\"created\\": \\"2027\\""}}, {times}'
        )
    monkeypatch.setattr(Run, "__init__", lambda *_: pytest.fail("a run was opened"))
    assert meant(None, tmp_path) == (tmp_path / "run-279", 300)  # 27 + 28 × 9
    with pytest.raises(MissingError, match=r"there are: run-000, run-001.*, run-099 and 200 others$"):
        meant("walk", tmp_path)


def test_opening_reads_no_weights(kept, monkeypatch):
    monkeypatch.setattr(tensors, "layout", lambda *_: pytest.fail("a weights file was opened"))
    run = Run(kept)
    assert len(run.steps) == 10
    assert run.problems == []
    assert "10 kept steps up to 9" in repr(run)
