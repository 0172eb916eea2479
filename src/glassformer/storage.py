"""Every file of a run, a study or a report is opened here, for reading and for writing.

A folder may come from anybody. What is in it is opened from the folder's own descriptor, never through a symbolic link,
and never in a way that waits: a pipe, a device or a socket in the place of a file is refused. The folder itself was
named by a person, so links on the way to it are followed.

A file is written whole, brought to the disk, and only then given its name, so it is replaced in one instant or not at
all. A line is appended at a known place, so that the next write cuts off what a failed one left behind. Each refusal of
the disk becomes one sentence: what, where, and what to do.
"""

import contextlib
import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

from glassformer.errors import DamagedError, StorageError

RELATIVE = os.open in os.supports_dir_fd  # whether this system opens a file from a folder's descriptor; not Windows
PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)  # Windows would turn line ends otherwise
CAREFUL = PLAIN | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
DIRECTORY = os.O_RDONLY | PLAIN | getattr(os, "O_DIRECTORY", 0)
PATIENCE = 50  # times a replacement is tried while a reader on Windows holds the file, 0.1 s apart
PUT_BACK = "put back the one that was written there"
MOST_ENTRIES = 100_000  # files in one folder

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
NOT_A_FILE = {errno.ELOOP, errno.ENXIO, errno.EMLINK, errno.EOPNOTSUPP}  # what opening a link, pipe or socket gives


class Folder:
    """One folder. A name such as `weights/000001.safetensors` is a file in it; inside `with` the folder stays open."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._descriptor: int | None = None

    def hold(self) -> Self:
        """Keep the folder open until `close`: whatever happens to its name, this is the folder that is meant."""
        if RELATIVE and self._descriptor is None:
            with _explain("opening", self.path):
                self._descriptor = os.open(self.path, DIRECTORY)
        return self

    def close(self) -> None:
        """Let go of it."""
        opened, self._descriptor = self._descriptor, None
        if opened is not None:
            _close_folder(opened)

    __enter__ = hold

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- reading -----------------------------------------------------------------------------------------------------

    def open(self, name: str) -> BinaryIO:
        """A regular file, opened for reading."""
        if self._descriptor is not None and "/" not in name:
            return os.fdopen(self._regular(name, name, os.O_RDONLY, self._descriptor), "rb")
        with self._parent(name) as (last, parent):
            return os.fdopen(self._regular(name, last, os.O_RDONLY, parent), "rb")

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a file of limited size."""
        with self.open(name) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(most + 1) if size <= most else b""
        if size > most or len(data) > most:
            raise DamagedError(f"{self.path / name} is larger than {most:,} bytes, the most such a file may have")
        return data

    def stat(self, name: str) -> os.stat_result | None:
        """What the system knows of a file or folder; None if there is none. A link is not followed."""
        try:
            with self._parent(name) as (last, parent):
                return os.stat(self._at(last, parent), dir_fd=parent, follow_symlinks=False)
        except (OSError, DamagedError):
            return None

    def entries(self, name: str = "") -> list[tuple[str, os.stat_result]]:
        """Name and facts of everything in the folder or in a folder within it; what comes and goes may be left out."""
        found: list[tuple[str, os.stat_result]] = []
        with self._parent(f"{name}/" if name else "") as (_, parent):
            for entry in os.scandir(self.path / name if parent is None else parent):
                if len(found) == MOST_ENTRIES:
                    raise DamagedError(f"{self.path / name} holds more than {MOST_ENTRIES:,} files; remove some")
                try:
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
                except OSError:  # gone by now
                    continue
        return found

    # ---- writing -----------------------------------------------------------------------------------------------------

    def replace(self, name: str, data: bytes) -> None:
        """Put these bytes under this name: whoever reads sees the old file or the new one, never a part."""
        with _explain("writing", self.path / name), self._parent(name) as (last, parent):
            temporary = self._write_temporary(last, data, parent)
            try:
                self._rename(temporary, last, parent)
            except BaseException:
                self._forget(temporary, parent)
                raise
            _sync_entries(parent)

    def create(self, name: str, data: bytes) -> bool:
        """The same for a name that must not exist yet; False, and nothing done, where it does."""
        with _explain("writing", self.path / name), self._parent(name) as (last, parent):
            temporary = self._write_temporary(last, data, parent)
            try:
                # unlike a rename, this never takes another's place
                os.link(self._at(temporary, parent), self._at(last, parent), src_dir_fd=parent, dst_dir_fd=parent)
            except FileExistsError:
                return False
            except OSError:  # a file system without links: the name is safe, only the instant is not
                try:
                    self._write_new(last, data, parent)
                except FileExistsError:
                    return False
            finally:
                self._forget(temporary, parent)
            _sync_entries(parent)
            return True

    def append(self, name: str, text: str, at: int) -> int:
        """Add text to a file that is `at` bytes long, and give the new length.

        Whatever lies beyond `at` is the rest of an append that failed, and is cut off first.
        """
        data = text.encode("utf-8")
        with _explain("writing", self.path / name), self._parent(name) as (last, parent):
            path, new = self.path / name, 0 if at else os.O_CREAT
            try:
                file = self._regular(name, last, os.O_WRONLY | new, parent)
            except FileNotFoundError:
                raise StorageError(f"{path} was removed while it was written", "put it back") from None
            try:
                length = os.fstat(file).st_size
                if length < at:
                    raise StorageError(
                        f"{path} has lost {at - length} bytes while it was written; copy the rest elsewhere"
                    )
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
            if length == 0:  # perhaps a new name
                _sync_entries(parent)
        return at + len(data)

    def cut(self, name: str, length: int) -> None:
        """Shorten a file to so many bytes."""
        with _explain("shortening", self.path / name), self._parent(name) as (last, parent):
            file = self._regular(name, last, os.O_WRONLY, parent)
            try:
                os.ftruncate(file, length)
                _sync(file)
            finally:
                os.close(file)

    def make_folder(self, name: str) -> None:
        """A folder in this one; one that is there already stays as it is."""
        with _explain("making the folder", self.path / name), self._parent(name) as (last, parent):
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._at(last, parent), dir_fd=parent)
                _sync_entries(parent)
            with self._parent(f"{name}/"):  # refuses what is not a folder
                pass

    def remove(self, name: str) -> None:
        """Take away a file that this process made."""
        with (
            _explain("removing", self.path / name),
            self._parent(name) as (last, parent),
            contextlib.suppress(FileNotFoundError),
        ):
            os.unlink(self._at(last, parent), dir_fd=parent)

    # ---- places ------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _parent(self, name: str) -> Iterator[tuple[str, int | None]]:
        """The last part of a name, and the descriptor of the folder that part is in."""
        *above, last = name.split("/")
        if ".." in (*above, last):
            raise DamagedError(f"{name!r:.100} leads out of {self.path}; a file is named from within its folder")
        opened: list[int] = []
        try:
            parent = self._descriptor
            if parent is None and RELATIVE:
                parent = os.open(self.path, DIRECTORY)
                opened.append(parent)
            for depth, each in enumerate(above, 1):
                if not RELATIVE:
                    _refuse_link(self.path.joinpath(*above[:depth]))
                    continue
                try:
                    parent = os.open(each, DIRECTORY | CAREFUL, dir_fd=parent)
                except OSError as problem:
                    if problem.errno not in (*NOT_A_FILE, errno.ENOTDIR):
                        raise
                    path = self.path.joinpath(*above[:depth])
                    raise DamagedError(f"{path} is not a folder but a link or a file; {PUT_BACK}") from None
                opened.append(parent)
            yield "/".join([*above, last]) if not RELATIVE else last, parent
        finally:
            for descriptor in opened:
                _close_folder(descriptor)

    def _at(self, last: str, parent: int | None) -> str | Path:
        """How the system is told of a file: by its name in the open folder, or by its whole path on Windows."""
        return self.path / last if parent is None else last

    def _regular(self, name: str, last: str, flags: int, parent: int | None) -> int:
        """The descriptor of a regular file; anything else in its place is refused without waiting for it."""
        if parent is None:
            _refuse_link(self.path / name)
        try:
            file = os.open(self._at(last, parent), flags | CAREFUL, 0o666, dir_fd=parent)
            if stat.S_ISREG(os.fstat(file).st_mode):
                return file
            os.close(file)
        except OSError as problem:
            if problem.errno not in NOT_A_FILE:
                raise
        raise DamagedError(f"{self.path / name} is not a regular file but a link, a pipe or the like; {PUT_BACK}")

    def _write_temporary(self, last: str, data: bytes, parent: int | None) -> str:
        """The bytes on the disk, in the same folder, under a name nobody else uses."""
        above, _, name = last.rpartition("/")
        temporary = f"{above}/" * bool(above) + f".{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
        self._write_new(temporary, data, parent)
        return temporary

    def _write_new(self, last: str, data: bytes, parent: int | None) -> None:
        """Fill a file that must not exist yet; if that fails, no part of it stays."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | PLAIN
        file = os.open(self._at(last, parent), flags, 0o666, dir_fd=parent)
        try:
            try:
                _write(file, data)
                _sync(file)
            finally:
                os.close(file)
        except BaseException:
            self._forget(last, parent)
            raise

    def _rename(self, temporary: str, last: str, parent: int | None) -> None:
        old, new = self._at(temporary, parent), self._at(last, parent)
        for _ in range(PATIENCE if os.name == "nt" else 0):
            try:
                os.replace(old, new)
                return
            except PermissionError:  # a reader holds the old file for a moment
                time.sleep(0.1)
        os.replace(old, new, src_dir_fd=parent, dst_dir_fd=parent)

    def _forget(self, temporary: str, parent: int | None) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._at(temporary, parent), dir_fd=parent)


# ---- files and folders that a person named ---------------------------------------------------------------------------


def replace(path: Path, data: bytes) -> None:
    """Put these bytes under a name that a person chose."""
    Folder(path.parent).replace(path.name, data)


def create(path: Path, data: bytes) -> bool:
    """The same for a name that must not exist yet; False, and nothing done, where it does."""
    return Folder(path.parent).create(path.name, data)


def make_folder(path: Path) -> None:
    """A folder, with those above it; one that is there already stays as it is."""
    with _explain("making the folder", path):
        missing = [path, *path.parents]
        missing = missing[: next((i for i, folder in enumerate(missing) if folder.is_dir()), len(missing))]
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):  # made by another in the meantime
                os.mkdir(folder)
            with Folder(folder.parent)._parent("") as (_, parent):
                _sync_entries(parent)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(path))


def is_temporary(name: str) -> bool:
    """Whether a file of this name is what an unfinished write leaves behind."""
    return name.startswith(".") and name.endswith(".tmp")


def _refuse_link(path: Path) -> None:
    """Where nothing opens from a descriptor, look before; between the two somebody could still put a link there."""
    with contextlib.suppress(FileNotFoundError):
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", False):
            raise DamagedError(f"{path} is a link; {PUT_BACK}")


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


def _close_folder(folder: int) -> None:
    with contextlib.suppress(OSError):  # it was only looked at, so nothing can be lost
        os.close(folder)


def _sync_entries(folder: int | None) -> None:
    """The names in an open folder; Windows opens none, and keeps their entries safe by itself."""
    try:
        if folder is not None:
            _sync(folder)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems sync no folders
            raise


@contextlib.contextmanager
def _explain(doing: str, path: Path) -> Iterator[None]:
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
