"""Compiled programs, kept in the user's cache folder: what one process has compiled, the next one reads.

JAX keeps them and knows them by all that they were compiled from; here is decided where, how many and whose. A program
that is read computes what the compiled one does, so that nothing depends on it but time. GLASSFORMER_CACHE names
another folder, or is `off`; where JAX_COMPILATION_CACHE_DIR is set, JAX does as it is told there.
"""

import os
import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import jax

from glassformer import corpora

FOLDER = "GLASSFORMER_CACHE"
MOST_BYTES = 256_000_000
TROUBLE = "Error (reading|writing) persistent compilation cache"  # how JAX begins to tell of an entry it cannot use
_ours: list[Path] = []  # the folder in use, once there is one


def use() -> None:
    """Let JAX keep what it compiles, if nobody has said otherwise and the folder is ours alone."""
    named = os.environ.get(FOLDER)
    if _ours or named == "off" or jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    folder = (Path(named) if named else corpora.folders()[-1] / "compiled") / _machine()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _trusted(folder):
            return
        _prune(folder)
    except OSError:  # a folder that cannot be made or read: then every process compiles for itself
        return
    _ours.append(folder)
    settings = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
        "jax_persistent_cache_enable_xla_caches": "none",  # measured choices of kernels would make results depend on it
    }
    for name, value in settings.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
    warnings.filterwarnings("ignore", message=TROUBLE)


@contextmanager
def mended() -> Iterator[None]:
    """Around compiling: an entry that cannot be read is compiled anew, and the folder emptied for those to come."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.filterwarnings("always", message=TROUBLE)
        yield
    troubles = [each for each in heard if str(each.message).startswith("Error ")]
    for each in heard:
        if each not in troubles:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if troubles:
        for folder in _ours:
            _forget(_entries(folder))


def _machine() -> str:
    """Programs hold instructions of one kind of processor, and a home folder may be shared by several."""
    said = [platform.machine(), platform.processor(), jax.__version__]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        said += sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
    return sha256("\n".join(said).encode()).hexdigest()[:16]


def _trusted(folder: Path) -> bool:
    """Compiled programs are run: none is read from a folder that another user owns or may write to."""
    if os.name == "nt":
        return True
    about = folder.stat()
    return about.st_uid == os.getuid() and not about.st_mode & 0o022


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return [each for each in found if each.is_file(follow_symlinks=False)]


def _prune(folder: Path) -> None:
    """Remove what was read longest ago until the rest fits, and whatever a killed process left empty."""
    found = [(each, each.stat(follow_symlinks=False)) for each in _entries(folder)]
    newest = sorted(found, key=lambda one: max(one[1].st_atime, one[1].st_mtime), reverse=True)
    room, leaving = MOST_BYTES, []
    for each, about in newest:
        room -= about.st_size
        if about.st_size == 0 or room < 0:
            leaving.append(each)
    _forget(leaving)


def _forget(entries: list[os.DirEntry[str]]) -> None:
    for each in entries:
        with suppress(OSError):  # another process was quicker
            os.unlink(each.path)
