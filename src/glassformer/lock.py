"""One writer at a time: a small file that says who is writing.

Readers need no lock. A lock whose process has ended is taken over; one from another machine cannot be judged from
here, so it is explained and left alone.
"""

import json
import os
import secrets
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from glassformer import folder
from glassformer.errors import DamagedError, LockedError, StorageError
from glassformer.storage import Folder

NAME = "lock"
SETTLING, ATTEMPTS = 0.3, 30  # seconds in which two who take over a lock at once see who has it; looks in that time
_HELD: set[str] = set()  # tokens of the locks this process holds now


@dataclass(frozen=True)
class Holder:
    """Who writes: `start` tells a process from a later one with the same number; `token` is this one lock's own."""

    host: str
    process: int
    start: str | None
    created: str
    token: str

    @property
    def here(self) -> bool:
        """Whether it runs on this machine."""
        return self.host == socket.gethostname()

    @property
    def alive(self) -> bool:
        """Whether it may still be writing; on another machine nobody here can know, so it may."""
        if not self.here:
            return True
        if self.process == os.getpid() and self.start == _start(self.process):
            return self.token in _HELD
        return _runs(self.process) and (self.start is None or self.start == _start(self.process))


class Lock:
    """The right to write into one run's folder, which stays open until it is given back."""

    def __init__(self, run: Path | Folder) -> None:
        self.folder = folder.at(run)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.holder = Holder(socket.gethostname(), os.getpid(), _start(os.getpid()), now, secrets.token_hex(8))
        content = json.dumps(asdict(self.holder)).encode()
        _HELD.add(self.holder.token)
        self.folder.hold()
        try:
            while not self.folder.create(NAME, content) and not self._take_over(content):
                pass  # released, or taken by another, between the two: look again
        except BaseException:
            _HELD.discard(self.holder.token)
            self.folder.close()
            raise

    def release(self) -> None:
        """Give the right back; a lock that is no longer ours stays."""
        _HELD.discard(self.holder.token)
        with suppress(LockedError, StorageError):  # one that cannot be removed is known to be left over
            if read(self.folder) == self.holder:
                self.folder.remove(NAME)
        self.folder.close()

    def _take_over(self, content: bytes) -> bool:
        """Put our lock in the place of one that was left over; False if another has changed it by now."""
        with _alone(self.folder) as unchanged:
            held = read(self.folder)
            if held is None or not unchanged:
                return False
            if held.alive:
                raise LockedError(_refusal(held, self.folder.path / NAME))
            self.folder.replace(NAME, content)
            if sys.platform == "win32":  # where nobody was kept from judging too: the last to take over has it
                time.sleep(SETTLING)
            return read(self.folder) == self.holder


def read(run: Path | Folder) -> Holder | None:
    """Who holds the lock, if there is one."""
    path = folder.at(run).path / NAME
    try:
        table = folder.table(folder.at(run).read(NAME, most=10_000), str(path))
        return Holder(
            host=str(table["host"])[:100], process=int(table["process"]), token=str(table["token"]),
            start=table.get("start") and str(table["start"]), created=str(table["created"])[:100],
        )  # fmt: skip
    except FileNotFoundError:
        return None
    except (DamagedError, KeyError, TypeError, ValueError, OSError):
        raise LockedError(f"{path} cannot be read; if no training writes there any more, remove this file") from None


def _refusal(held: Holder, path: Path) -> str:
    who = f"process {held.process} on {held.host} has been writing in {path.parent} since {held.created}"
    if held.here and held.start is None:  # a system that does not tell when a process began
        return f"{who}; wait for it, or stop it; if that number is another program's by now, remove {path} by hand"
    if held.here:
        return f"{who}; wait for it, or stop it, then try again"
    return f"{who}; whether it still runs cannot be seen from here: if it does not, remove {path} by hand"


@contextmanager
def _alone(run: Folder) -> Iterator[bool]:
    """Judge an old lock while no other process judges it too; whether it is still the one we waited for."""
    if sys.platform == "win32":
        yield True
        return
    import fcntl

    try:
        file = run.open(NAME)
    except (OSError, DamagedError):  # gone, or not ours to open: the caller looks again and says so
        yield True
        return
    with file:
        for _ in range(ATTEMPTS):  # judging takes a moment; whoever holds on longer is not waited for
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(SETTLING / ATTEMPTS)
            except OSError:  # a file system without such locks
                break
        now = run.stat(NAME)
        yield now is not None and os.path.samestat(os.fstat(file.fileno()), now)


def _runs(process: int) -> bool:
    """Whether a process of this number runs here."""
    if process <= 0:
        return False
    if sys.platform == "win32":
        return _runs_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return _stat(process)[:1] != ["Z"]  # one that has ended and was not yet buried


def _runs_on_windows(process: int) -> bool:
    """The same, asked of Windows, where os.kill would end the process."""
    import ctypes

    if process >= 1 << 32:
        return False
    system = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    handle, number = ctypes.c_void_p, ctypes.c_uint32
    system.OpenProcess.restype, system.OpenProcess.argtypes = handle, (number, ctypes.c_int, number)
    system.WaitForSingleObject.argtypes, system.CloseHandle.argtypes = (handle, number), (handle,)
    found = system.OpenProcess(0x0010_0000, 0, process)  # the right to wait for its end
    if not found:  # 5: it exists, but belongs to someone else
        return bool(ctypes.get_last_error() == 5)  # type: ignore[attr-defined,unused-ignore]
    ended = system.WaitForSingleObject(found, 0) == 0
    system.CloseHandle(found)
    return not ended


def _start(process: int) -> str | None:
    """When a process began, as a text that no other process of the same number shares; None where nobody can say."""
    fields = _stat(process)
    if len(fields) < 20:
        return None
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {fields[19]}"
    return None


def _stat(process: int) -> list[str]:
    """What Linux says of a process, from its state on; the name before it may hold anything, brackets included."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    return []
