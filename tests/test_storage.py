"""What is written stays: killed at any call, or refused by the disk at any call, nothing recorded is lost."""

import errno
import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import small_life
from glassformer import lock, storage
from glassformer.errors import DamagedError, LockedError, StorageError
from glassformer.record import Recorder, free_name
from glassformer.run import Run

CHANGING = ("open", "write", "fsync", "close", "replace", "link", "unlink", "ftruncate", "mkdir", "lseek", "fstat")


class System:
    """Stands in for `os`: passes every call on, after asking whether it may, and waits for no real disk."""

    def __init__(self, ask: Callable[[str, tuple[Any, ...]], Any] = lambda *_: None) -> None:
        self._ask = ask

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CHANGING:
            return real

        def call(*given: Any, **places: Any) -> Any:
            answer = self._ask(name, (*given, places))
            if name == "close":
                real(*given)  # what is open must be closed even where the system complains
            if isinstance(answer, OSError):
                raise answer
            if name in ("fsync", "close"):
                return None
            return real(*given, **places) if answer is None else answer(real, *given, **places)

        return call


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a training that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert small_life.train(folder) == []
    return small_life.files(folder)


def sound(folder: Path) -> None:
    """Every step the folder lists is there, bit for bit."""
    run = Run(folder)
    for step in run.steps:
        expected = small_life.weights(int(step))
        assert all((array == expected[name]).all() for name, array in run.weights(int(step)).items())
    assert not [problem for problem in run.check() if "torn" not in problem and "not listed" not in problem
                and "never ended" not in problem]  # fmt: skip


def clean(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if not storage.is_temporary(Path(name).name)}


class Disk:
    """Follows the calls like a disk that keeps only what it was told to keep."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def record(self, name: str, given: tuple[Any, ...]) -> Any:
        def call(real: Callable[..., Any], *given: Any, **places: Any) -> Any:
            result = real(*given, **places)
            self.calls.append((name, (*given, places, result)))
            return result

        if name in ("fsync", "close"):
            self.calls.append((name, given))
            return None
        return call

    def crashes(self) -> Iterator[tuple[str, dict[str, bytes]]]:
        """Every state the folder can be found in: after each call, what may have reached the disk."""
        contents: dict[int, bytes] = {}  # file → bytes, as the process sees them
        safe: dict[int, bytes] = {}  # file → bytes that are surely on the disk
        names: dict[str, int] = {}  # name → file
        safe_names: dict[str, int] = {}
        handles: dict[int, tuple[int | str, int]] = {}
        new = itertools.count()

        def whole(name: str | Path, folder: int | None) -> str:
            """The path of a name in an open folder."""
            return str(name) if folder is None else os.path.join(str(handles[folder][0]), name)

        for name, given in self.calls:
            if name == "open":
                path, flags = whole(given[0], given[-2].get("dir_fd")), given[1]
                if flags & os.O_WRONLY == 0:
                    handles[given[-1]] = (path, 0)  # a folder
                else:
                    if path not in names:
                        names[path] = file = next(new)
                        contents[file] = safe[file] = b""
                    handles[given[-1]] = (names[path], 0)
            elif name == "lseek":
                handles[given[0]] = (handles[given[0]][0], given[1])
            elif name == "write":
                file, at = handles[given[0]]
                data = bytes(given[1])[: given[-1]]
                contents[file] = contents[file][:at] + data + contents[file][at + len(data) :]
                handles[given[0]] = (file, at + len(data))
            elif name == "ftruncate":
                file = handles[given[0]][0]
                contents[file] = contents[file][: given[1]]
            elif name == "fsync":
                target = handles[given[0]][0]
                if isinstance(target, str):
                    here = {path for path in {*names, *safe_names} if str(Path(path).parent) == target}
                    safe_names = {path: file for path, file in safe_names.items() if path not in here}
                    safe_names |= {path: file for path, file in names.items() if path in here}
                else:
                    safe[target] = contents[target]
            elif name in ("replace", "link"):
                places = given[-2]
                old, target = whole(given[0], places.get("src_dir_fd")), whole(given[1], places.get("dst_dir_fd"))
                names[target] = names[old]
                if name == "replace":
                    del names[old]
            elif name == "unlink":
                del names[whole(given[0], given[-2].get("dir_fd"))]
            yield f"{name} {given[:1]}, killed", self._files(names, contents)
            if contents != safe or names != safe_names:
                yield f"{name}, only what was synced", self._files(safe_names, safe)
                yield f"{name}, names before data", self._files(names, safe)
                yield f"{name}, data before names", self._files(safe_names, contents)
                for how, fill in (
                    ("half", lambda rest: rest[: len(rest) // 2]),
                    ("zeros", lambda rest: bytes(len(rest))),
                ):
                    torn = {f: old + fill(contents[f][len(old) :]) for f, old in safe.items()}
                    yield f"{name}, {how} of what was not synced", self._files(names, torn)

    def _files(self, names: dict[str, int], contents: dict[int, bytes]) -> dict[str, bytes]:
        return {os.path.relpath(path, self.root): contents[file] for path, file in names.items()}


def test_d3_every_state_a_crash_can_leave_opens_and_resumes_to_the_same_bytes(tmp_path, monkeypatch, whole):
    """D1, D2, D3."""
    disk = Disk(tmp_path / "run")
    monkeypatch.setattr(storage, "os", System(disk.record))
    small_life.train(tmp_path / "run")
    assert small_life.files(tmp_path / "run") == whole
    monkeypatch.setattr(storage, "os", System())
    seen: set[int] = set()
    for place, (what, files) in enumerate(disk.crashes()):
        if (state := hash(frozenset(files.items()))) in seen:
            continue
        seen.add(state)
        folder = tmp_path / f"after-{place}"
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        if "run.json" in files:
            sound(folder)
        small_life.train(folder)
        assert clean(small_life.files(folder)) == whole, what
    assert len(seen) > 50


def failing(at: int, answer: Any) -> tuple[System, list[str]]:
    """A system whose k-th call goes wrong, and the call it was."""
    calls = itertools.count()
    failed: list[str] = []

    def ask(name: str, given: tuple[Any, ...]) -> Any:
        if next(calls) == at:
            failed.append(f"{name} {given[:1]}")
            return answer
        return None

    return System(ask), failed


@pytest.mark.parametrize("reason", ["ENOSPC", "EIO", "EROFS"])
def test_d4_a_disk_that_refuses_any_call_is_loud_and_loses_nothing(tmp_path, monkeypatch, whole, reason):
    """D4."""
    code = getattr(errno, reason)
    for place in itertools.count():
        folder = tmp_path / str(place)
        system, failed = failing(place, OSError(code, os.strerror(code)))
        monkeypatch.setattr(storage, "os", system)
        loud = None
        try:
            small_life.train(folder)
        except StorageError as problem:
            loud = str(problem)
        monkeypatch.setattr(storage, "os", System())
        if not failed:
            break
        if loud is None:  # only where the call was a courtesy: tidying up, or a way with another way round it
            assert clean(small_life.files(folder)) == whole, failed
            continue
        assert storage.REASONS[code][0] in loud, failed
        assert str(folder) in loud
        begun = (folder / "run.json").exists()  # until then there is nothing to go on with
        assert loud.endswith("then continue with --resume" if begun else "then run the same command again")
        if begun:
            sound(folder)
        small_life.train(folder)
        assert clean(small_life.files(folder)) == whole, failed
    assert place > 60


def test_d4_short_writes_are_completed(tmp_path, monkeypatch, whole):
    """D4: the system may take less than it is given."""

    def take_less(real: Callable[..., int], file: int, data: memoryview) -> int:
        return real(file, data[: len(data) // 2 + 1])

    monkeypatch.setattr(storage, "os", System(lambda name, _: take_less if name == "write" else None))
    small_life.train(tmp_path / "run")
    assert small_life.files(tmp_path / "run") == whole


def test_d4_a_write_that_takes_nothing_is_refused(tmp_path, monkeypatch):
    """D4."""
    monkeypatch.setattr(storage, "os", System(lambda name, _: (lambda *_, **__: 0) if name == "write" else None))
    with pytest.raises(StorageError, match="no space left"):
        storage.replace(tmp_path / "file", b"abc")
    assert list(tmp_path.iterdir()) == []


def test_d4_an_append_that_failed_twice_does_not_spoil_the_next(tmp_path, monkeypatch):
    """D4: neither the write nor the cleaning up succeeds; the next append begins where it should."""
    path, place = tmp_path / "lines", storage.Folder(tmp_path)
    length = place.append("lines", "one\n", at=0)

    def ask(name: str, _: tuple[Any, ...]) -> Any:
        if name == "write":
            return lambda real, file, data: real(file, data[:3])
        return OSError(errno.EIO, "") if name in ("fsync", "ftruncate") else None

    monkeypatch.setattr(storage, "os", System(ask))
    with pytest.raises(StorageError, match="the disk reports an error"):
        place.append("lines", "two, torn\n", at=length)
    monkeypatch.undo()
    assert path.read_bytes() != b"one\n"
    place.append("lines", "three\n", at=length)
    assert path.read_bytes() == b"one\nthree\n"


FULL = """
import resource, signal, sys, small_life
from pathlib import Path
from glassformer.errors import StorageError
if sys.argv[2] != "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    small_life.train(Path(sys.argv[1]), points=tuple(range(100, 2000, 100)))
except StorageError as problem:
    print(problem)
    sys.exit(1)
"""


def test_d4_a_really_full_file_system(tmp_path):
    """D4: on a small file system where one can be mounted, else with the system's own limit on the size of files."""
    here = Path(__file__).parent
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], capture_output=True).returncode
    limit = "0" if mounted == 0 else "60000"
    try:
        command = [sys.executable, "-c", FULL, disk / "run"]
        child = subprocess.run([*command, limit], cwd=here, capture_output=True, text=True)
        assert child.returncode == 1, child.stderr
        assert ("no space left" if mounted == 0 else "larger than this system allows") in child.stdout
        sound(disk / "run")
        kept = len(Run(disk / "run").steps)
        assert kept >= 100
        if mounted == 0:
            subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        child = subprocess.run([*command, "0"], cwd=here, capture_output=True, text=True)
        assert child.returncode == 0, child.stderr
        sound(disk / "run")
        assert len(Run(disk / "run").steps) == 1901
    finally:
        if mounted == 0:
            subprocess.run(["umount", disk], check=True)


def test_d3_a_file_system_without_hard_links_still_creates_a_file_only_once(tmp_path, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOTSUP, "not supported")

    monkeypatch.setattr(storage.os, "link", refuse)
    assert storage.create(tmp_path / "file", b"one") is True
    assert storage.create(tmp_path / "file", b"two") is False
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"one"]


def test_a_name_that_is_too_long_is_a_sentence(tmp_path):
    with pytest.raises(StorageError, match="the name is too long"):
        Recorder.create(tmp_path / ("x" * 300), small_life.experiment(), [0])


def test_names_are_never_taken_twice(tmp_path):
    assert free_name(tmp_path, "a-1").name == "a-1"
    (tmp_path / "a-1").mkdir()
    assert free_name(tmp_path, "a-1").name == "a-1"  # empty, so nothing can be lost there
    (tmp_path / "a-1" / "run.json").touch()
    (tmp_path / "a-1-2").symlink_to("nowhere")
    assert free_name(tmp_path, "a-1").name == "a-1-3"


def test_what_a_killed_creation_left_is_in_nobodys_way(tmp_path):
    """It wrote its lock and began run.json; a living one, or one that holds anything else, keeps its folder."""
    code = "import os, sys, pathlib, glassformer.lock as l; l.Lock(pathlib.Path(sys.argv[1])); os._exit(9)"
    path = tmp_path / "run"
    path.mkdir()
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert (path / "lock").exists()
    half = path / ".run.json.1-ab.tmp"
    half.touch()
    assert storage.is_temporary(half.name)
    assert free_name(tmp_path, "run") == path
    held = lock.Lock(path)
    assert free_name(tmp_path, "run").name == "run-2"
    held.release()
    with Recorder.create(free_name(tmp_path, "run"), small_life.experiment(), [0]) as recorder:
        assert recorder.path == path
    assert not half.exists()
    assert free_name(tmp_path, "run").name == "run-2"


HOLD = """
import sys
from pathlib import Path
from glassformer.lock import Lock
Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_d6_a_second_writer_is_refused_until_the_first_is_dead(tmp_path):
    """D6: two processes; the first is killed and leaves its lock behind."""
    small_life.train(tmp_path / "run")
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        held = lock.read(tmp_path / "run")
        assert held is not None
        assert held.process == first.pid
        with pytest.raises(LockedError) as refused:
            Recorder.resume(tmp_path / "run")
        for part in (held.host, str(held.process), held.created):
            assert part in str(refused.value)
        first.kill()
        first.wait()
    assert (tmp_path / "run" / "lock").exists()
    Recorder.resume(tmp_path / "run")[0].close()
    assert not (tmp_path / "run" / "lock").exists()


def forge(folder: Path, **changes: Any) -> bytes:
    """A lock as this process would write it, with some things changed."""
    import dataclasses
    import json

    folder.mkdir(exist_ok=True)
    mine = lock.Lock(folder)
    content = json.dumps({**dataclasses.asdict(mine.holder), **changes}).encode()
    mine.release()
    (folder / "lock").write_bytes(content)
    return content


def test_d6_a_lock_from_another_machine_is_explained_and_left_alone(tmp_path):
    """D6."""
    content = forge(tmp_path, host="elsewhere")
    with pytest.raises(LockedError, match=r"elsewhere.*by hand"):
        lock.Lock(tmp_path)
    assert (tmp_path / "lock").read_bytes() == content


@pytest.mark.parametrize("changes", [{"start": "another 1"}, {"process": 2**22 + 1}, {"token": "released badly"}])
def test_d6_a_lock_left_by_a_dead_process_is_taken_over(tmp_path, changes):
    """D6: its number is used again, or by nobody, or it is our own that could not be removed; the file is read-only."""
    forge(tmp_path, **changes)
    (tmp_path / "lock").chmod(0o444)
    mine = lock.Lock(tmp_path)
    assert lock.read(tmp_path) == mine.holder
    mine.release()


def test_d6_without_proc_a_process_is_known_by_its_number_alone(tmp_path, monkeypatch):
    """/proc may be hidden. Then only the number tells whether the holder runs, so the refusal says what else to do."""
    monkeypatch.setattr(lock, "_stat", lambda _: [])
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        forge(tmp_path, process=other.pid)
        with pytest.raises(LockedError, match=rf"process {other.pid} .*another program's by now, remove"):
            lock.Lock(tmp_path)
        other.kill()
    mine = lock.Lock(tmp_path)
    assert mine.holder == lock.read(tmp_path)
    assert mine.holder.start is None


def test_d6_of_many_who_find_a_dead_lock_one_gets_it(tmp_path):
    """D6."""
    from concurrent.futures import ThreadPoolExecutor

    forge(tmp_path, start="another 1")

    def attempt(_: int) -> bool:
        try:
            lock.Lock(tmp_path)
        except LockedError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


def test_d6_a_lock_that_cannot_be_read_is_not_broken(tmp_path):
    """D6."""
    (tmp_path / "lock").write_bytes(b"{")
    with pytest.raises(LockedError, match="remove this file"):
        lock.Lock(tmp_path)


def test_d6_only_ones_own_lock_is_removed(tmp_path):
    """D6, D9."""
    mine = lock.Lock(tmp_path)
    content = forge(tmp_path / "other", host="elsewhere")
    (tmp_path / "lock").write_bytes(content)
    mine.release()
    assert (tmp_path / "lock").read_bytes() == content


def test_d9_a_run_never_begins_where_something_lies(tmp_path):
    """D9."""
    from glassformer.errors import CallError

    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(CallError, match=r"not empty.*mine\.txt"):
        Recorder.create(tmp_path, small_life.experiment(), [0])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_safe_point_handed_over_again_changes_nothing(tmp_path, whole):
    """D2: also within one process, after a refusal."""
    recorder = Recorder.create(tmp_path / "run", small_life.experiment(), [7], {"versions": {"glassformer": "0"}})
    for before, point in zip((-1, *small_life.POINTS), small_life.POINTS, strict=False):
        small_life.hand_over(recorder, before, point)
        small_life.hand_over(recorder, before, point)
    recorder.finish("finished")
    assert small_life.files(tmp_path / "run") == whole


def test_what_is_listed_stays_when_another_machine_computes_other_bits(tmp_path, monkeypatch):
    """D9, D10: cut off inside the index, resumed where rounding differs: each step keeps what its line promises."""
    folder = tmp_path / "run"
    with Recorder.create(folder, small_life.experiment(), [7]) as recorder:
        small_life.hand_over(recorder, -1, 3)
        small_life.hand_over(recorder, 3, 6)
        late = {name: (folder / name).read_bytes() for name in ("run.json", "resume.safetensors")}
        small_life.hand_over(recorder, 6, 9)
    before = {path: data for path, data in small_life.files(folder).items() if path.startswith("weights")}
    lines = (folder / "index.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "index.jsonl").write_bytes(b"".join(lines[:9]))
    for name, data in late.items():  # neither of them was written before the cut
        (folder / name).write_bytes(data)
    saved = small_life.files(folder)["resume.safetensors"]
    recorder, _, _ = Recorder.resume(folder)
    real = small_life.weights
    monkeypatch.setattr(small_life, "weights", lambda *given: {k: v + 1 for k, v in real(*given).items()})
    with recorder:
        small_life.hand_over(recorder, 6, 9)
    after = small_life.files(folder)
    assert {path: after[path] for path in before} == before
    assert (Run(folder).weights(8)["token"] == real(8)["token"]).all()
    assert (Run(folder).weights(9)["token"] == real(9)["token"] + 1).all()
    assert Run(folder).check() == []
    assert saved != after["resume.safetensors"]


def test_weights_that_are_not_the_architectures_are_refused(tmp_path):
    from glassformer.errors import CallError

    with Recorder.create(tmp_path / "run", small_life.experiment(), [7]) as recorder:
        stacks = {name: array[None] for name, array in small_life.weights(0).items()}
        with pytest.raises(CallError, match="token has the shape"):
            recorder.safe_point(0, [0], {**stacks, "token": stacks["token"][..., :1]}, [], {})
        with pytest.raises(CallError, match="the architecture has"):
            recorder.safe_point(0, [0], {}, [], {})


def test_a_damaged_state_is_not_resumed_from(tmp_path):
    """D1: the one file that is replaced is checked like the others."""
    small_life.train(tmp_path / "run")
    path = tmp_path / "run" / "resume.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(DamagedError, match="not those that were saved"):
        Recorder.resume(tmp_path / "run")
    assert not (tmp_path / "run" / "lock").exists()


def test_a_folder_that_is_removed_meanwhile_is_not_made_again(tmp_path):
    recorder = Recorder.create(tmp_path / "run", small_life.experiment(), [7])
    small_life.hand_over(recorder, -1, 3)
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(StorageError, match="was removed, or is being removed, while the training wrote there"):
        small_life.hand_over(recorder, 3, 6)
    recorder.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes among files")
@pytest.mark.parametrize("name", ["file", "folder/file"])
def test_a8_only_regular_files_are_read_and_written(tmp_path, name):
    """A8: a link, a pipe or a socket in the place of a file or of its folder; what it leads to stays as it is."""
    import socket

    outside, place = tmp_path / "outside", storage.Folder(tmp_path / "place")
    outside.mkdir()
    (outside / "file").write_text("precious")
    path = place.path / name
    path.parent.mkdir(parents=True)
    pair = socket.socket(socket.AF_UNIX)
    for put in (
        lambda: path.symlink_to(outside / "file"),
        lambda: path.symlink_to(outside / "new"),
        lambda: path.symlink_to(path),
        lambda: os.mkfifo(path),
        lambda: pair.bind(str(path)),
        lambda: path.mkdir(),
    ):
        put()
        with pytest.raises((DamagedError, StorageError)):
            place.append(name, "more", at=0)
        for work in (lambda: place.read(name, 100), lambda: place.open(name)):
            with pytest.raises((DamagedError, IsADirectoryError)):
                work()
        with pytest.raises((DamagedError, StorageError)):
            place.cut(name, 0)
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    pair.close()
    path.symlink_to(outside / "file")
    place.replace(name, b"mine")  # takes the link's place, not the file's it leads to
    assert place.read(name, 100) == b"mine"
    if name != "file":
        shutil.rmtree(path.parent)
        path.parent.symlink_to(outside)
        for work in (lambda: place.read(name, 100), lambda: place.replace(name, b""), lambda: place.remove(name)):
            with pytest.raises(DamagedError, match="not a folder but a link"):
                work()
        assert place.stat(name) is None
        with pytest.raises(DamagedError, match="not a folder but a link"):
            place.entries("folder")
    with pytest.raises(DamagedError, match="leads out of"):
        place.read("../outside/file", 100)
    assert [each.name for each in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "precious"


def test_files_of_a_run_are_opened_in_one_place():
    """Whoever reads or writes in a folder from a stranger does it through `storage.Folder`."""
    package = Path(storage.__file__).parent
    files = [
        package / f"{name}.py" for name in ["folder", "glance", "lock", "record", "run", "study", "tensors", "whole"]
    ]
    files += [*(package / "studies").glob("*.py"), *(package / "report").glob("*.py"), package / "claims/_settle.py"]
    files += [package / "tasks/_text.py", *(package / "tokenizers").glob("*.py"), package / "gallery/shape.py"]
    own = {"filling.py": 3, "_settle.py": 1, "lock.py": 2}  # files of the package itself, and of /proc
    for path in files:
        calls = re.findall(r"\b(?:os\.open|(?<![.\w])open|io\.open|path\.open)\(|\.(?:read|write)_(?:text|bytes)\(",
                           re.sub(r"def open\(|opened\.open\(", "", path.read_text("utf-8")))  # fmt: skip
        assert len(calls) == own.get(path.name, 0), (path, calls)
