"""check: nothing that was written may be missing or changed, and beside a living writer nothing is cried over."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import small_life
from command import call
from glassformer.record import Recorder
from glassformer.run import Run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run: ten kept steps, five logged ones."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    small_life.train(folder)
    return folder


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose writer has gone after its second safe point."""
    folder = tmp_path_factory.mktemp("interrupted") / "run"
    recorder = Recorder.create(folder, small_life.experiment(), (7,), {})
    with recorder:
        small_life.hand_over(recorder, -1, 3)
        small_life.hand_over(recorder, 3, 6)
    return folder


def spoilt(whole: Path, folder: Path, spoil: Callable[[Path], object]) -> list[str]:
    """What `check` says of a copy that was spoilt, which must be what the command says too."""
    shutil.copytree(whole, folder)
    spoil(folder)
    found = Run(folder).check()
    answer = call("check", folder)
    assert answer.code == (1 if found else 0)
    assert answer.out.splitlines()[: len(found)] == found
    assert call("check", folder, "--json").json["problems"] == found
    return found


def cut(name: str, lines: int) -> Callable[[Path], object]:
    """Keep the first lines of a file."""

    def spoil(folder: Path) -> None:
        (folder / name).write_bytes(b"".join((folder / name).read_bytes().splitlines(keepends=True)[:lines]))

    return spoil


@pytest.mark.parametrize("name", ["index.jsonl", "metrics.jsonl"])
def test_a_file_cut_at_any_line_end_is_found(finished, interrupted, tmp_path, name):
    for whole, folder in ((finished, tmp_path / "finished"), (interrupted, tmp_path / "interrupted")):
        shutil.copytree(whole, folder)
        lines = (whole / name).read_bytes().splitlines(keepends=True)
        for many in range(len(lines)):
            (folder / name).write_bytes(b"".join(lines[:many]))
            found = [each for each in Run(folder).check() if "is not listed" not in each]
            lost = f"has {many} of the" if many else "is missing or empty, and with it the"
            assert found == [f"{name} {lost} {len(lines)} lines that were written; put back the file of this run"]


@pytest.mark.parametrize("name", ["index.jsonl", "metrics.jsonl"])
def test_a_file_that_is_gone_is_found(finished, tmp_path, name):
    found = spoilt(finished, tmp_path / "run", lambda folder: (folder / name).unlink())
    assert f"{name} is missing or empty, and with it the" in found[0]


def test_the_whole_run_and_the_interrupted_one_are_whole(finished, interrupted, tmp_path):
    assert spoilt(finished, tmp_path / "a", lambda _: None) == spoilt(interrupted, tmp_path / "b", lambda _: None) == []
    assert call("check", finished).out.endswith("everything listed verifies, and nothing is missing\n")
    assert spoilt(finished, tmp_path / "c", lambda folder: (folder / "resume.safetensors").unlink()) == []


def test_another_digit_and_a_line_too_many_are_found(finished, tmp_path):
    def digit(folder: Path) -> None:
        path = folder / "metrics.jsonl"
        path.write_bytes(path.read_bytes().replace(b"3.0", b"4.0", 1))

    def again(folder: Path) -> None:
        with (folder / "metrics.jsonl").open("ab") as file:
            file.write(b'{"step": 11}\n')

    assert spoilt(finished, tmp_path / "digit", digit) == [
        "metrics.jsonl is not what was written there; put back the file of this run"
    ]
    assert spoilt(finished, tmp_path / "again", again) == [
        "metrics.jsonl goes on after the 5 lines that the training wrote; put back the file of this run"
    ]


def test_an_interrupted_run_needs_its_resume_point(interrupted, tmp_path):
    assert spoilt(interrupted, tmp_path / "gone", lambda folder: (folder / "resume.safetensors").unlink()) == [
        "resume.safetensors is missing, so the training can only begin again; put it back"
    ]

    def flip(folder: Path) -> None:
        path = folder / "resume.safetensors"
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

    (found,) = spoilt(interrupted, tmp_path / "flipped", flip)
    assert "its numbers are not those that were saved" in found


def test_a_folder_from_before_is_judged_by_its_resume_point_or_says_that_it_cannot_tell(finished, tmp_path):
    def aged(folder: Path) -> None:
        import json

        about = json.loads((folder / "run.json").read_text())
        del about["written"], about["kept"]
        (folder / "run.json").write_text(json.dumps(about))

    assert spoilt(finished, tmp_path / "old", aged) == []
    assert (
        "are unverified: run.json has no sha256 of index.jsonl and metrics.jsonl" in call("check", tmp_path / "old").out
    )
    assert call("check", tmp_path / "old", "--json").json["unverified"] == ["index.jsonl", "metrics.jsonl"]
    for name in ("index.jsonl", "metrics.jsonl"):
        found = spoilt(finished, tmp_path / name, lambda folder, name=name: (aged(folder), cut(name, 3)(folder)))
        size, whole = (len(each.read_bytes()) for each in (tmp_path / name / name, finished / name))
        assert f"{name} has {size:,} of the {whole:,} bytes that were written; put back the file of this run" in found
    silent = tmp_path / "silent"
    spoilt(finished, silent, lambda folder: (aged(folder), (folder / "resume.safetensors").unlink()))
    assert call("check", silent, "--json").json["whole"] is None


@pytest.mark.parametrize(
    "nonsense",
    [
        {"written": 7},
        {"written": []},
        {"written": {"index.jsonl": 3}},
        {"written": {"metrics.jsonl": {"lines": "9", "sha256": []}}},
        {"written": {"metrics.jsonl": {"lines": 10**18, "sha256": "0" * 64}}},
        {"kept": "x"},
        {"last_step": -1},
        {"last_step": 10**9},
    ],
)
def test_what_a_foreign_folder_says_of_itself_is_not_believed_blindly(finished, tmp_path, nonsense):
    import json

    shutil.copytree(finished, tmp_path / "run")
    about = json.loads((tmp_path / "run" / "run.json").read_text()) | nonsense
    (tmp_path / "run" / "run.json").write_text(json.dumps(about))
    answer = call("check", tmp_path / "run")
    assert (answer.code, answer.out) == (1, "")
    assert "run.json is damaged" in answer.err


def test_beside_a_living_writer_nothing_is_cried_over(tmp_path):
    """Every look from the first instant on, while forty safe points are written, and the one after the end."""
    folder, ended, cries, looks = tmp_path / "run", threading.Event(), set(), 0

    def write() -> None:
        with Recorder.create(folder, small_life.experiment(), (7,), {}) as recorder:
            for point in range(1, 41):
                small_life.hand_over(recorder, point - 2, point - 1)
            recorder.finish("finished")
        ended.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not ended.is_set():
        if (folder / "run.json").exists():
            run = Run(folder)
            cries |= {*run.check(), run.status}
            looks += 1
    writer.join()
    assert cries <= {"running", "finished"}
    assert looks > 5, "the writer was too quick to be looked at"
    assert (Run(folder).check(), Run(folder).status) == ([], "finished")


def test_what_a_writer_has_in_hand_is_no_damage_but_what_a_dead_one_left_is_told(interrupted, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(interrupted, folder)
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 8, "valid')
    (folder / ".index.jsonl.1-aa.tmp").write_bytes(b"")
    (folder / "weights/000002.safetensors").write_bytes(b"")
    assert len(Run(folder).check()) == 3
    recorder, *_ = Recorder.resume(folder)
    with recorder:
        with (folder / "metrics.jsonl").open("ab") as file:
            file.write(b'{"step": 8, "valid')
        assert Run(folder).check() == []
    assert len(Run(folder).check()) == 3


def test_hostile_names_are_shown_and_not_obeyed(finished, tmp_path):
    """A13: of a foreign folder the status, the file names and the run's own name, in `check` and as a Run in Python."""
    import json

    folder = tmp_path / "run\x1b]0;owned\x07\u202e"

    def spoil(folder: Path) -> None:
        about = json.loads((folder / "run.json").read_text()) | {"status": "\x1b[31m\u202efine\x9b2J"}
        (folder / "run.json").write_text(json.dumps(about))
        (folder / "weights" / "\x1b[2J\u2066.safetensors").write_bytes(b"")

    shutil.copytree(finished, folder)
    spoil(folder)
    answer = call("check", folder)
    said = answer.out + answer.err + repr(Run(folder))
    assert r"\u001b[31m\u202efine\u009b2J" in said
    assert r"\u001b[2J\u2066.safetensors is not listed" in said
    assert not {"\x1b", "\x07", "\u202e", "\x9b", "\u2066"} & {*said}
    assert call("check", folder, "--json").json["status"] == "\x1b[31m\u202efine\x9b2J"


@pytest.mark.parametrize("name", ["weights/000000.safetensors", "times.jsonl"])
def test_a_link_that_leads_in_circles_is_one_thing_that_is_wrong(finished, tmp_path, name):
    """The rest is looked at all the same."""
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(Path(name).name)
    answer = call("check", folder)
    assert "MB on disk" in answer.out
    assert answer.code == (1 if name.startswith("weights") else 0)


def test_times_that_are_no_numbers_are_unknown(finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "run.json").write_text((folder / "run.json").read_text().replace('"times.jsonl"', '"none"'))  # no digest
    (folder / "times.jsonl").write_text('{"step": 0, "seconds": "\\u001b"}\n{"step": 1, "seconds": [1, 2]}\n')
    times = Run(folder).times
    assert times["step"].tolist() == [0, 1]
    assert np.isnan(times["seconds"]).tolist() == [True, True]
