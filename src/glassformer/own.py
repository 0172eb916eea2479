"""Tasks from outside the package: a class in a file or a notebook, checked like every other task, and recorded.

A file is executed because a person named it: `glassformer train my_rule.py`, `glassformer --task my_rule.py COMMAND`.
A run records which class it was trained on, and keeps its source for reading; opening it executes nothing. Whoever
opens it gives the class, unless this process knows it already.
"""

import inspect
import linecache
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.abc import ExecutionLoader
from importlib.util import decode_source, module_from_spec, spec_from_loader
from pathlib import Path
from types import FrameType
from typing import Any

from glassformer import notebook, stopping
from glassformer.errors import CallError, DamagedError, Error, LimitError, MissingError
from glassformer.tasks import Task
from glassformer.words import pasted

SOURCE = "task.py"  # under this name a run keeps it; folder.py knows it
MOST_SOURCE = 1_000_000  # bytes of a file with a task
PACKAGE = "glassformer.tasks."


class NeededError(MissingError):
    """A run can be opened only with a class that Glassformer does not have."""


@dataclass(frozen=True)
class Code:
    """Which code a task is."""

    name: str  # of the class
    file: str | None  # its name, without the folder; None: it stood in none
    sha256: str | None  # of the source; None: it could not be had
    source: bytes | None = field(default=None, repr=False, compare=False)

    def table(self) -> dict[str, str | None]:
        """What a run records."""
        return {"class": self.name, "file": self.file, "sha256": self.sha256}

    def __str__(self) -> str:
        return f"the class {self.name}" + (f" of {self.file}" if self.file else "")


_codes: dict[type[Task], Code] = {}  # every class that this process was given, the newest last
_files: dict[type[Task], Path] = {}  # those that another process can load
_said: set[tuple[str, str | None]] = set()  # of which it was said that their source has changed


def load(path: str | Path, name: str | None = None) -> type[Task]:
    """The task of a file, which is executed; `name` says which class, where it holds several."""
    path = Path(path)
    data = _content(path)
    digest = sha256(data).hexdigest()
    called = f"glassformer_task_{digest[:16]}"
    module = sys.modules.get(called) or _executed(called, path, data)
    kind = _the_one(path, [each for each in vars(module).values() if _is_task(each, called)], name)
    _files[kind] = path.resolve()
    return _known(kind, Code(kind.__name__, path.name, digest, data))


def remember(given: Any) -> type[Task]:
    """A class that a person gave, so that its runs open in this process from now on."""
    kind = given if isinstance(given, type) else type(given)
    if not issubclass(kind, Task):
        raise CallError(f"{kind.__name__} is not a task: derive it from glassformer.tasks.Rule, or from Task")
    if lacks := sorted(getattr(kind, "__abstractmethods__", ())):
        raise CallError(f"{kind.__name__} lacks {', '.join(lacks)}; docs/add-a-task.md has a whole task")
    if kind.__module__.startswith(PACKAGE) or kind in _codes:
        return kind
    return _known(kind, _code(kind))


def code(kind: type[Task]) -> Code | None:
    """Which code a task is; None: it is one of Glassformer's own."""
    return _codes.get(kind)


def named(name: str) -> type[Task] | None:
    """The class that was given under this name, as my_rule for MyRule."""
    return next((kind for kind in reversed(_codes) if word(kind) == name), None)


def word(kind: type[Task]) -> str:
    """What a task is called in settings: the file's name of Glassformer's own, my_rule of MyRule."""
    if kind.__module__.startswith(PACKAGE):
        return kind.__module__.removeprefix(PACKAGE)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower()


def recorded(record: Any, where: Path | None = None) -> Code:
    """The code that a run tells of."""
    found = record if isinstance(record, Mapping) else {}
    name, file, digest = (found.get(key) for key in ("class", "file", "sha256"))
    good = (
        isinstance(name, str) and name.isidentifier() and len(name) <= 200,
        file is None or (isinstance(file, str) and re.fullmatch(r"[^/\\\x00-\x1f\x7f]{1,255}", file)),
        digest is None or (isinstance(digest, str) and re.fullmatch(r"[0-9a-f]{64}", digest)),
    )
    if not all(good):
        raise DamagedError(f"{where or 'the experiment'} is damaged: it does not say what code its task is")
    return Code(str(name), file, digest)


def found(wanted: Code, where: Path | None) -> type[Task]:
    """The class that a run was trained on, if this process was given it; that its source differs is said once."""
    fitting = [kind for kind in reversed(_codes) if kind.__name__ == wanted.name]
    if not fitting:
        digest = f" (sha256 {wanted.sha256[:12]}…)" if wanted.sha256 else ""
        kept = f"; its source is in {where / SOURCE}, for reading" if where and wanted.sha256 else ""
        command = pasted(["glassformer", "--task", wanted.file or "FILE.py", "COMMAND"])
        raise NeededError(
            f"{where or 'this experiment'} needs {wanted}{digest}, which is not part of Glassformer: give it with "
            f"glassformer.open(path, task={wanted.name}), or `{command}`{kept}"
        )
    kind = next((kind for kind in fitting if _codes[kind].sha256 == wanted.sha256), fitting[0])
    now = _codes[kind].sha256
    if now != wanted.sha256 and (key := (str(where), now)) not in _said:
        _said.add(key)
        notebook.say(
            f"notice: {where or 'this experiment'} was trained on {wanted} with the sha256 "
            f"{wanted.sha256 or '(unknown)'}, and the one given has {now or '(unknown)'}: it may judge otherwise"
        )
    return kind


def files() -> list[tuple[str, str, str | None]]:
    """What `load_all` needs in another process: file, class and sha256; the classes of a notebook stand in none.

    A file that has changed or gone since is left out: another process would load other code, or nothing.
    """
    return [(str(path), kind.__name__, _codes[kind].sha256) for kind, path in _files.items() if portable(kind)]


def load_all(there: Iterable[tuple[str, str, str | None]]) -> None:
    """Know the classes that the process which asks knows."""
    for file, name, digest in there:
        if _codes[load(file, name)].sha256 != digest:
            raise CallError(f"{file} has changed since it was loaded; begin again")


def option(kind: type[Task]) -> list[str]:
    """What a command about a run of this class needs: `--task my_rule.py`; nothing for Glassformer's own."""
    path = _files.get(kind)
    return [] if path is None else ["--task", os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)]


def portable(kind: type[Task]) -> bool:
    """Whether another process can know this class."""
    if kind not in _codes:
        return True
    try:
        return kind in _files and sha256(_content(_files[kind])).hexdigest() == _codes[kind].sha256
    except Error:
        return False


@contextmanager
def blamed(kind: type[Task]) -> Iterator[None]:
    """What goes wrong in a class from outside is its own, and said in one sentence with the line."""
    try:
        yield
    except BaseException as problem:
        if kind.__module__.startswith(PACKAGE) or (said := failure(problem, kind.__name__)) is None:
            raise
        raise said from problem


def failure(problem: BaseException, name: str = "") -> Error | None:
    """The sentence about a problem that arose in the class of this name, or in any of one's own; None: in none."""
    at = place(reversed(list(traceback.walk_tb(problem.__traceback__)))) or name
    if not at or isinstance(problem, Error) or _is_ctrl_c(problem):
        return None
    kind, _, where = at.partition(" ")
    return CallError(f"{kind} fails{where and f' {where}'}: {_what(problem)}")


def place(frames: Iterable[tuple[FrameType, int]]) -> str:
    """The task at work in the first of these frames that belongs to one: `MyRule (my_rule.py, line 7)`; or nothing."""
    files = {name: kind for kind in _codes for name in _files_of(kind)}
    for frame, line in frames:
        if kind := files.get(frame.f_code.co_filename):
            return f"{kind.__name__} ({_codes[kind].file or 'its source'}, line {line})"
    return ""


def line_of(kind: type[Task], sentence: str) -> str:
    """Where the first method that a sentence names is defined, as ` (my_rule.py, line 7)`, if its source is known."""
    for name in re.findall(r"\w+", sentence):
        found = inspect.getattr_static(kind, name, None)
        found = inspect.unwrap(getattr(found, "fget", None) or getattr(found, "func", None) or found)
        if kind in _codes and (at := getattr(found, "__code__", None)) and at.co_filename in _files_of(kind):
            return f" ({_codes[kind].file or 'its source'}, line {at.co_firstlineno})"
    return ""


def _is_ctrl_c(problem: BaseException) -> bool:
    return isinstance(problem, KeyboardInterrupt) and not stopping.by_hand()


def _what(problem: BaseException) -> str:
    """What was raised, on one line of sane length; an exception may hold anything, or fail to tell."""
    return f"{' '.join(traceback.format_exception_only(problem)[-1].split()):.300}"


# ---- a file ----------------------------------------------------------------------------------------------------------


class _Given(ExecutionLoader):
    """The loader of one file whose bytes are known, so that what is executed is what is recorded."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data = path, data

    def get_filename(self, fullname: str) -> str:  # noqa: ARG002
        return str(self.path.resolve())

    def get_source(self, fullname: str) -> str:  # noqa: ARG002
        return decode_source(self.data)

    def is_package(self, fullname: str) -> bool:  # noqa: ARG002
        return False


def _content(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise CallError(f"{path} is not a file; name one that holds a task")
        with path.open("rb") as file:
            data = file.read(MOST_SOURCE + 1)
    except FileNotFoundError:
        raise MissingError(f"there is no file {path}; docs/add-a-task.md has one to begin from") from None
    except (OSError, ValueError) as problem:
        raise CallError(f"cannot read {path}: {getattr(problem, 'strerror', None) or problem}") from None
    if len(data) > MOST_SOURCE:
        raise LimitError(f"{path} is larger than {MOST_SOURCE:,} bytes; a task is a page of Python")
    return data


def _executed(called: str, path: Path, data: bytes) -> Any:
    """A file as a module of its own, found by nobody's import."""
    loader = _Given(path, data)
    spec = spec_from_loader(called, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[called] = module  # where dataclasses look for the types of their fields
    try:
        loader.exec_module(module)
    except SyntaxError as problem:
        del sys.modules[called]
        raise CallError(f"{path}, line {problem.lineno or 1}: {problem.msg}") from None
    except BaseException as problem:
        del sys.modules[called]
        lines = [line for frame, line in traceback.walk_tb(problem.__traceback__) if frame.f_globals is vars(module)]
        where = f"{path}, line {lines[-1]}" if lines else str(path)
        if _is_ctrl_c(problem):
            raise Error(f"stopped in {where}") from None
        raise CallError(f"{where}: {_what(problem)}") from None
    return module


def _is_task(each: Any, module: str) -> bool:
    return isinstance(each, type) and issubclass(each, Task) and each.__module__ == module


def _the_one(path: Path, kinds: list[type[Task]], name: str | None) -> type[Task]:
    """The task of a file: the only one, or the one of several that has its name."""
    kinds = list(dict.fromkeys(kinds))
    whole = [kind for kind in kinds if not inspect.isabstract(kind)]
    chosen = [kind for kind in whole if kind.__name__ == name] if name else whole
    if len(chosen) > 1:
        chosen = [kind for kind in chosen if word(kind) == path.stem] or chosen
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        names = ", ".join(kind.__name__ for kind in chosen)
        camel = "".join(part.capitalize() for part in path.stem.split("_"))
        raise CallError(f"{path} holds several tasks: {names}; leave one of them, or call it {camel} after the file")
    if kinds:
        lacks = ", ".join(sorted(kinds[-1].__abstractmethods__))
        raise CallError(f"{path}: the class {kinds[-1].__name__} lacks {lacks}; docs/add-a-task.md has a whole task")
    raise CallError(f"{path} holds no task: no class in it is derived from glassformer.tasks.Rule, or from Task")


# ---- a class ---------------------------------------------------------------------------------------------------------


def _known(kind: type[Task], about: Code) -> type[Task]:
    _codes.pop(kind, None)
    _codes[kind] = about
    return kind


def _code(kind: type[Task]) -> Code:
    """What can be found out about a class: its module's file, or the cell that defined it."""
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", None)
    if path and os.path.isfile(path):
        data = _content(Path(path))
        if kind.__module__ != "__main__" and "." not in kind.__module__:
            _files[kind] = Path(path).resolve()
        return Code(kind.__name__, Path(path).name, sha256(data).hexdigest(), data)
    for name in _files_of(kind):
        if lines := linecache.getlines(name):
            data = "".join(lines).encode()
            return Code(kind.__name__, None, sha256(data).hexdigest(), data)
    return Code(kind.__name__, None, None)


def _files_of(kind: type[Task]) -> list[str]:
    """The files, or cells of a notebook, in which the functions of a class stand; at last that of its module."""
    functions = (inspect.unwrap(each) for each in vars(kind).values() if inspect.isfunction(each))
    names = [each.__code__.co_filename for each in functions if each.__module__ == kind.__module__]
    return list(dict.fromkeys([*names, getattr(sys.modules.get(kind.__module__), "__file__", None) or ""]))
