"""What Windows and macOS do differently, stood in for on this system: the code for them runs, if not there."""

import ctypes
import errno
import importlib.util
import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import small_life
from glassformer import lock, stopping, storage, streams, terminal, words
from glassformer.errors import CallError, LockedError, StorageError
from glassformer.lock import Lock
from glassformer.run import Run
from glassformer.studies import _executors, _run
from glassformer.study import Cell

WINDOWS, MAC = SimpleNamespace(platform="win32"), SimpleNamespace(platform="darwin")


class Windows:
    """`os` as Windows has it: no folder is opened, and a file that a reader holds is not replaced for a while."""

    name = "nt"

    def __init__(self, held: int = 0) -> None:
        self.held, self.refused = held, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: Any, *flags: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return os.open(path, *flags)

    def replace(self, source: Any, target: Any) -> None:
        if Path(target).exists() and self.refused < self.held:
            self.refused += 1
            raise PermissionError(errno.EACCES, "Access is denied", str(target))
        self.refused = 0
        os.replace(source, target)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, without waiting."""
    found: list[float] = []
    monkeypatch.setattr(storage, "time", SimpleNamespace(sleep=found.append))
    return found


def test_d3_windows_a_replacement_is_tried_again_while_a_reader_holds_the_file(tmp_path, monkeypatch, slept):
    whole = tmp_path / "whole"
    small_life.train(whole)
    monkeypatch.setattr(storage, "os", Windows(held=7))
    small_life.train(tmp_path / "run")
    assert small_life.files(tmp_path / "run") == small_life.files(whole)
    assert len(slept) >= 7
    assert Run(tmp_path / "run").check() == []


def test_d4_windows_a_file_that_is_held_for_ever_is_a_sentence(tmp_path, monkeypatch, slept):
    monkeypatch.setattr(storage, "os", Windows(held=10**6))
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(StorageError, match="permission is denied while writing"):
        storage.replace(path, b"new")
    assert len(slept) == storage.PATIENCE
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"old"], "no temporary file is left"


def test_windows_every_file_is_opened_as_bytes(tmp_path, monkeypatch):
    """O_BINARY, else Windows turns each new line into two characters; here that number is a flag without effect."""
    monkeypatch.setattr(os, "O_BINARY", 0x8000, raising=False)
    module, opened = fresh(storage), []

    class Seen(Windows):
        def open(self, path: Any, *flags: int) -> int:
            opened.append(flags[0])
            return super().open(path, *flags)

    monkeypatch.setattr(module, "os", Seen())
    module.replace(tmp_path / "a", b"1")
    module.create(tmp_path / "b", b"2")
    assert module.append(tmp_path / "c", "line\n", 0) == 5
    module.cut(tmp_path / "c", 4)
    assert len(opened) == 4
    assert all(flags & 0x8000 for flags in opened)


def fresh(module: ModuleType) -> Any:
    """The same file, loaded once more, as it would be on a system that is stood in for."""
    spec = importlib.util.spec_from_file_location("fresh", str(module.__file__))
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_d3_a_file_system_without_links_creates_all_the_same(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "not supported")

    monkeypatch.setattr(storage.os, "link", refuse)
    assert storage.create(tmp_path / "file", b"one") is True
    assert storage.create(tmp_path / "file", b"two") is False
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"one"]


@pytest.mark.parametrize("known", [True, False], ids=["disk", "network drive"])
def test_d3_macos_syncs_through_the_drives_own_memory(tmp_path, monkeypatch, known):
    full, plain = [], []

    def fcntl(file: int, command: int) -> None:
        full.append((file, command))
        if not known:
            raise OSError(errno.ENOTSUP, "not supported")

    monkeypatch.setattr(storage, "sys", MAC)
    monkeypatch.setitem(sys.modules, "fcntl", SimpleNamespace(fcntl=fcntl, F_FULLFSYNC=51))
    monkeypatch.setattr(storage.os, "fsync", plain.append)
    storage.replace(tmp_path / "file", b"bytes")
    assert [command for _, command in full] == [51, 51], "the file and its folder"
    assert len(plain) == (0 if known else 2)


class Kernel:
    """Windows's answers about processes: 11 runs, 12 has ended, 13 is somebody else's, others do not exist."""

    def __init__(self) -> None:
        self.closed, self.error = [], 0
        self.OpenProcess, self.WaitForSingleObject, self.CloseHandle = map(self.function, ("open", "wait", "close"))

    def function(self, name: str) -> Callable[..., Any]:
        def call(*words: Any) -> Any:  # a function, as its argument types are set like attributes
            return getattr(self, f"_{name}")(*words)

        return call

    def _open(self, right: int, inherit: int, process: int) -> int | None:
        assert (right, inherit) == (0x0010_0000, 0)
        self.error = {11: 0, 12: 0, 13: 5}.get(process, 87)
        return None if self.error else process * 100

    def _wait(self, handle: int, milliseconds: int) -> int:
        assert milliseconds == 0
        return 0 if handle == 1200 else 258

    def _close(self, handle: int) -> None:
        self.closed.append(handle)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """Windows, as far as locks go: its processes, and no /proc."""
    made = Kernel()
    monkeypatch.setattr(lock, "sys", WINDOWS)
    monkeypatch.setattr(ctypes, "WinDLL", lambda name, use_last_error: made, raising=False)  # noqa: ARG005
    monkeypatch.setattr(ctypes, "get_last_error", lambda: made.error, raising=False)
    monkeypatch.setattr(lock, "_stat", lambda _: [])
    monkeypatch.setattr(lock, "SETTLING", 0.0)
    monkeypatch.setattr(lock.os, "kill", lambda *_: pytest.fail("os.kill ends a process on Windows"))
    return made


def test_d6_windows_tells_the_living_from_the_dead(kernel):
    assert [lock._runs(process) for process in (11, 12, 13, 14, 0, -1, 2**32 + 11, 10**18)] == [
        True, False, True, False, False, False, False, False,
    ]  # fmt: skip
    assert kernel.closed == [1100, 1200]


def held_by(folder: Path, process: int) -> None:
    folder.mkdir(exist_ok=True)
    table = {"host": lock.socket.gethostname(), "process": process, "start": None, "created": "then", "token": "theirs"}
    (folder / lock.NAME).write_text(json.dumps(table))


@pytest.mark.usefixtures("kernel")
def test_d6_windows_a_left_lock_is_taken_over_and_a_living_one_is_explained(tmp_path):
    held_by(tmp_path, 12)
    mine = Lock(tmp_path)
    assert lock.read(tmp_path) == mine.holder
    with pytest.raises(LockedError, match=f"process {os.getpid()} "):
        Lock(tmp_path)
    mine.release()
    assert not (tmp_path / lock.NAME).exists()
    for process in (11, 13):
        held_by(tmp_path, process)
        with pytest.raises(LockedError, match=rf"process {process} .*another program's by now, remove"):
            Lock(tmp_path)


@pytest.mark.usefixtures("kernel")
def test_d6_windows_of_two_who_take_over_at_once_one_has_it(tmp_path, monkeypatch):
    held_by(tmp_path, 12)
    monkeypatch.setattr(lock, "time", SimpleNamespace(sleep=lambda _: held_by(tmp_path, 11)))  # quicker by a moment
    with pytest.raises(LockedError, match="process 11 "):
        Lock(tmp_path)


def test_d6_macos_a_process_is_known_by_its_number_alone(tmp_path, monkeypatch):
    """There is no /proc: who runs is asked of os.kill, and when it began nobody says."""
    monkeypatch.setattr(lock, "_stat", lambda _: [])
    living = {11}

    def kill(process: int, number: int) -> None:
        assert number == 0
        if process not in living:
            raise ProcessLookupError

    monkeypatch.setattr(lock.os, "kill", kill)
    held_by(tmp_path, 12)
    with_it = Lock(tmp_path)
    assert with_it.holder.start is None
    assert with_it.holder.alive
    with_it.release()
    assert not with_it.holder.alive
    held_by(tmp_path, 11)
    with pytest.raises(LockedError, match="process 11 "):
        Lock(tmp_path)


def test_d7_a_run_may_be_renamed_by_a_system_that_knows_no_case(tmp_path):
    small_life.train(tmp_path / "run")
    shutil.move(tmp_path / "run", tmp_path / "RUN")
    assert Run(tmp_path / "RUN").check() == []


def test_cells_have_files_that_every_system_can_name(monkeypatch):
    names = ("aux", "CON", "nul.5", "com1", "rate 0.1", "a.", "console")
    assert [Cell(name=name).file for name in names] == [
        "aux_", "con_", "nul.5_", "com1_", "rate_0.1", "a", "console",
    ]  # fmt: skip
    file = _run.find("rate")
    monkeypatch.setattr(file, "rate", lambda _: [Cell(name="one A"), Cell(name="One_a")])
    with pytest.raises(CallError, match="'one A' and 'One_a' would share one file"):
        _run._plan(file, "rate", _run.shortened(_run.load("plus_last_even"), 3), 1, ())


def test_windows_without_masks_or_affinities_of_processes(monkeypatch):
    monkeypatch.delattr(signal, "pthread_sigmask")
    with stopping.unheard():
        pass
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert _executors.cores() == 3


def test_windows_commands_are_quoted_as_its_shell_reads_them(monkeypatch):
    typed = ["glassformer", "check", "my run's"]
    assert words.pasted(typed) == """glassformer check 'my run'"'"'s'"""
    monkeypatch.setattr(words, "os", SimpleNamespace(name="nt"))
    assert words.pasted(typed) == 'glassformer check "my run\'s"'


class Console(io.TextIOWrapper):
    """A terminal of some encoding."""

    def __init__(self, encoding: str) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding=encoding, errors="strict")

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("encoding", ["cp437", "cp1252", "cp932", "ascii", "utf-8", "utf-16"])
def test_consoles_of_any_encoding_show_something_and_never_fail(monkeypatch, encoding):
    console = Console(encoding)
    monkeypatch.setattr(sys, "stdout", console)
    monkeypatch.setattr(sys, "stderr", console)
    streams.cover()
    sys.stdout.write("a → b × 👍 \x1b[2J \ud800 ✗\n")
    sys.stdout.flush()
    told = console.bytes.getvalue().decode(encoding)
    assert told.startswith("a ")
    assert r"\u001b[2J \ud800" in told
    assert "\x1b" not in told
    assert streams.real(sys.stdout) is console


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "\x1b[31m\\u001b[2J\x1b[0m\n"),
        ("linux", {"NO_COLOR": "1"}, "\\u001b[2J\n"),
        ("linux", {"TERM": "dumb"}, "\\u001b[2J\n"),
        ("win32", {}, "\\u001b[2J\n"),
        ("win32", {"WT_SESSION": "1"}, "\x1b[31m\\u001b[2J\x1b[0m\n"),
    ],
)
def test_colours_are_ours_alone_and_only_where_they_are_shown(monkeypatch, platform, environment, expected):
    console = Console("utf-8")
    for name in ("NO_COLOR", "TERM", "WT_SESSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", console)
    monkeypatch.setattr(sys, "stderr", console)
    streams.cover()
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(platform=platform, stdout=sys.stdout, stderr=sys.stderr))
    terminal.coloured("\x1b[2J", "red")
    sys.stdout.flush()
    assert console.bytes.getvalue().decode() == expected
