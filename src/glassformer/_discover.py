"""The name is the registration: what lies in a folder of the package, or in its rooms, is what there is."""

import pkgutil
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from glassformer.errors import CallError, unknown


@cache
def places(folder: ModuleType) -> Mapping[str, str]:
    """Each piece of a folder and its module, nothing imported; a leading underscore marks a shared part, never listed.

    A piece lies in the folder itself or in one of its rooms: figures/attend/attention.py is `attention`.
    """
    found: dict[str, str] = {}
    for each in pkgutil.iter_modules(folder.__path__):
        if each.name.startswith("_"):
            continue
        inside = [f"{path}/{each.name}" for path in folder.__path__] if each.ispkg else []
        room = f"{folder.__name__}.{each.name}"
        found |= {piece.name: f"{room}.{piece.name}" for piece in pkgutil.iter_modules(inside) if piece.name[0] != "_"}
        found |= {} if each.ispkg else {each.name: room}
    return MappingProxyType(dict(sorted(found.items())))


def names(folder: ModuleType) -> list[str]:
    """The pieces in a folder, without importing them."""
    return list(places(folder))


def file(folder: ModuleType, name: str) -> ModuleType:
    """One file of a folder, imported: `file(figures, "loss")` imports figures/learn/loss.py and nothing beside it."""
    there = places(folder)
    if name not in there:
        raise unknown(name, folder.__name__.rpartition(".")[2], list(there))
    return import_module(there[name])


def piece(folder: ModuleType, name: str, attribute: str) -> Any:
    """One thing from one file: `piece(tasks, "lucky7", "Lucky7")` imports tasks/lucky7.py and nothing beside it."""
    try:
        return getattr(file(folder, name), attribute)
    except AttributeError:
        where = places(folder)[name].removeprefix("glassformer.").replace(".", "/")
        raise CallError(f"{where}.py holds no {attribute}; what it holds is called after the file") from None


class _Folder(ModuleType):
    """A folder one of whose pieces may be called like its room: `analyses.health` is always the piece."""

    def __setattr__(self, name: str, value: Any) -> None:
        inside = getattr(value, "__path__", ()) if isinstance(value, ModuleType) else ()
        if not any(Path(path, f"{name}.py").exists() for path in inside):
            super().__setattr__(name, value)


def _hint(name: str, prefix: str, there: list[str]) -> str:
    """What was perhaps meant by a name that is not there."""
    if name.startswith("_"):
        return ""
    bare = next((name.removeprefix(each) for each in ("plot_", "film_") if name.startswith(each)), name)
    near = [bare] if bare in there else get_close_matches(bare, there, n=1)
    return f"; did you mean {prefix}{near[0]}?" if near else f"; dir() lists its {len(there)} names"


def sign(function: Any, name: str, doc: str | None, asked: Signature, more: dict[str, Any], returns: str) -> None:
    """Give a function its public name, its help, and the signature of another with more keyword options."""
    options = [Parameter(key, Parameter.KEYWORD_ONLY, default=default) for key, default in more.items()]
    function.__signature__ = asked.replace(parameters=[*asked.parameters.values(), *options], return_annotation=returns)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc


def public(
    package: str, prefix: str = "", make: Callable[[ModuleType, str], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a folder whose pieces are its public names, each imported when first used."""
    make = make or (lambda folder, name: piece(folder, name, prefix + name))
    if not prefix:
        sys.modules[package].__class__ = _Folder

    def found(name: str) -> Any:
        here = sys.modules[package]
        if name.startswith(prefix) and not name.startswith("_"):
            bare = name.removeprefix(prefix)
            if bare in places(here):
                return make(here, bare)
        raise AttributeError(f"module {package!r} has no attribute {name!r}{_hint(name, prefix, names(here))}")

    return found, lambda: [prefix + name for name in names(sys.modules[package])]
