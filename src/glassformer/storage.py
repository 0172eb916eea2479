"""Every write goes through here: written whole, brought to the disk, and only then given its name.

A file is replaced in one instant or not at all; a line is appended at a known place, so that what a failed write left
behind is cut off by the next one. Each refusal of the disk becomes one sentence: what, where, and what to do; how to go
on then is said by who wrote.
"""

import contextlib
import errno
import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from glassformer.errors import StorageError

BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)  # Windows would turn line ends otherwise
PATIENCE = 50  # times a replacement is tried while a reader on Windows holds the file, 0.1 s apart

REASONS = {
    errno.ENOSPC: ("no space left on the disk", "free some"),
    errno.EDQUOT: ("the disk quota is used up", "free some"),
    errno.EFBIG: ("the file would be larger than this system allows", "raise the limit"),
    errno.EIO: ("the disk reports an error", "check the disk"),
    errno.EACCES: ("permission is denied", "allow writing there"),
    errno.EPERM: ("permission is denied", "allow writing there"),
    errno.EROFS: ("the file system is read-only", "allow writing there"),
    errno.EXDEV: ("the folder lies on two file systems", "keep a run on one"),
    errno.EMFILE: ("too many files are open", "close some"),
    errno.ENFILE: ("too many files are open", "close some"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.ENOENT: ("the folder is gone", "put it back"),
    errno.ENOTDIR: ("a file lies where a folder should be", "choose another place"),
}


def replace(path: Path, data: bytes) -> None:
    """Put these bytes under this name: whoever reads sees the old file or the new one, never a part."""
    with _told("writing", path):
        temporary = _temporary(path, data)
        try:
            _rename(temporary, path)
        except BaseException:
            _forget(temporary)
            raise
        _sync_folder(path.parent)


def create(path: Path, data: bytes) -> bool:
    """The same for a name that must not exist yet; False, and nothing done, where it does."""
    with _told("writing", path):
        temporary = _temporary(path, data)
        try:
            os.link(temporary, path)  # unlike a rename, this never takes another's place
        except FileExistsError:
            return False
        except OSError:  # a file system without links: the name is safe, only the instant is not
            try:
                _write_new(path, data)
            except FileExistsError:
                return False
        finally:
            _forget(temporary)
        _sync_folder(path.parent)
        return True


def append(path: Path, text: str, at: int) -> int:
    """Add text to a file that is `at` bytes long, and give the new length.

    Whatever lies beyond `at` is the rest of an append that failed, and is cut off first.
    """
    data = text.encode("utf-8")
    with _told("writing", path):
        fresh = not path.exists()
        file = os.open(path, os.O_WRONLY | os.O_CREAT | BINARY, 0o666)
        try:
            length = os.fstat(file).st_size
            if length < at:
                raise StorageError(f"{path} has lost {at - length} bytes while it was written; copy the rest elsewhere")
            if length > at:
                os.ftruncate(file, at)
            os.lseek(file, at, os.SEEK_SET)
            try:
                _write(file, data)
                _sync(file)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(file, at)
                raise
        finally:
            os.close(file)
        if fresh:
            _sync_folder(path.parent)
    return at + len(data)


def cut(path: Path, length: int) -> None:
    """Shorten a file to so many bytes."""
    with _told("shortening", path):
        file = os.open(path, os.O_WRONLY | BINARY)
        try:
            os.ftruncate(file, length)
            _sync(file)
        finally:
            os.close(file)


def make_folder(path: Path) -> None:
    """A folder, with those above it; one that is there already stays as it is."""
    with _told("making the folder", path):
        missing = [path, *path.parents]
        missing = missing[: next((i for i, folder in enumerate(missing) if folder.is_dir()), len(missing))]
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):  # made by another in the meantime
                os.mkdir(folder)
            _sync_folder(folder.parent)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(path))


def remove(path: Path) -> None:
    """Take away a file that this process made."""
    with _told("removing", path), contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def is_temporary(name: str) -> bool:
    """Whether a file of this name is what an unfinished write leaves behind."""
    return name.startswith(".") and name.endswith(".tmp")


def _temporary(path: Path, data: bytes) -> Path:
    """The bytes on the disk, in the same folder, under a name nobody else uses."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    _write_new(temporary, data)
    return temporary


def _write_new(path: Path, data: bytes) -> None:
    """Fill a file that must not exist yet; if that fails, no part of it stays."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
    try:
        try:
            _write(file, data)
            _sync(file)
        finally:
            os.close(file)
    except BaseException:
        _forget(path)
        raise


def _write(file: int, data: bytes) -> None:
    """All of it: the system may take less than it is given."""
    rest = memoryview(data)
    while rest:
        taken = os.write(file, rest)
        if taken <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[taken:]


def _sync(file: int) -> None:
    if sys.platform == "darwin":  # there, fsync only reaches the drive's own memory
        import fcntl

        with contextlib.suppress(OSError):  # network drives do not know this call
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
            return
    os.fsync(file)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows opens no folders, and keeps their entries safe by itself
        return
    file = os.open(folder, os.O_RDONLY | BINARY)
    try:
        _sync(file)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems sync no folders
            raise
    finally:
        os.close(file)


def _rename(temporary: Path, path: Path) -> None:
    for _ in range(PATIENCE if os.name == "nt" else 0):
        try:
            os.replace(temporary, path)
            return
        except PermissionError:  # a reader holds the old file for a moment
            time.sleep(0.1)
    os.replace(temporary, path)


def _forget(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(temporary)


@contextlib.contextmanager
def _told(doing: str, path: Path) -> Iterator[None]:
    """Turn a refusal of the system into a sentence."""
    try:
        yield
    except OSError as problem:
        reason, remedy = REASONS.get(problem.errno or 0, (problem.strerror or str(problem), "see to it"))
        raise StorageError(f"{reason} while {doing} {path}", remedy) from problem


@contextlib.contextmanager
def advising(then: str) -> Iterator[None]:
    """Refusals in here end with this advice; `{}` stands for what can be done about the disk."""
    try:
        yield
    except StorageError as problem:
        raise StorageError(problem.what, problem.remedy, then) from problem
