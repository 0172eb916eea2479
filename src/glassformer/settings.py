"""Settings come as tables of plain values and leave as frozen dataclasses, or as one sentence about what is wrong."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from glassformer.errors import CallError, LimitError, unknown

T = TypeVar("T")
LARGEST = 2**53  # what every reader of JSON holds exactly


def read(kind: type[T], given: Mapping[str, Any], where: str) -> T:
    """A dataclass from a table; `where` is the table's name, used in every sentence about it."""
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    for name in given:
        if name not in known:
            raise unknown(name, f"[{where}]", known)
    values = {name: _value(hints[name], value, f"{where}.{name}") for name, value in given.items()}
    for name, value in values.items():
        _check_range(value, known[name].metadata, f"{where}.{name}")
    missing = [f.name for f in fields(kind) if f.name not in values and _required(f)]  # type: ignore[arg-type]
    if missing:
        raise CallError(f"[{where}] lacks {', '.join(missing)}; give it a value")
    return kind(**values)


def table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """One of several tables; an absent one is empty."""
    found = tables.get(name, {})
    if not isinstance(found, Mapping):
        raise CallError(f"{name} = {found!r} is not a table of settings; write [{name}] and one setting per line")
    return found


def assign(tables: dict[str, Any], assignments: list[str]) -> dict[str, Any]:
    """Tables with `train.rate=3e-3` and the like carried out; the tables given are left as they are."""
    changed = {name: dict(value) if isinstance(value, Mapping) else value for name, value in tables.items()}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        where, dot, name = path.strip().partition(".")
        if not equals or not dot:
            raise CallError(f"--set {assignment!r} is not of the form table.name=value, such as train.rate=3e-3")
        if where not in ("data", "architecture", "train"):
            raise unknown(where, "the tables of an experiment", ("data", "architecture", "train"))
        changed[where] = dict(table(changed, where))
        if text.strip().lower() == "none" and not _none_is_a_word(where, name):
            changed[where].pop(name, None)
        else:
            changed[where][name] = _literal(text.strip())
    return changed


def _none_is_a_word(where: str, name: str) -> bool:
    """Whether `none` is one of the words this setting can have, as for `norm` and `positions`; else it means absent."""
    from glassformer.architecture import Architecture

    return where == "architecture" and "none" in get_args(get_type_hints(Architecture).get(name))


def _literal(text: str) -> Any:
    """What TOML would read; a bare word is a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # not TOML, a number of thousands of digits, brackets without end
        return text


def _required(f: Any) -> bool:
    from dataclasses import MISSING

    return f.default is MISSING and f.default_factory is MISSING


def _value(hint: Any, value: Any, where: str) -> Any:
    """The value as its type wants it; a whole number may stand for a real one, nothing else is bent."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        options = [option for option in get_args(hint) if option is not NoneType]
        return None if value is None else _value(options[0], value, where)
    if origin is Literal:
        if value not in get_args(hint) or isinstance(value, bool):
            allowed = ", ".join(repr(option) for option in get_args(hint))
            raise CallError(f"{where} = {value!r} is not allowed; it is one of {allowed}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise CallError(f"{where} = {value!r} is not a list")
        return tuple(_value(get_args(hint)[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if isinstance(value, int) and abs(value) > LARGEST:
        raise LimitError(f"{where} = {_short(value)} is too large; whole numbers go up to {LARGEST:,}")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        wanted = {int: "a whole number", float: "a number", bool: "true or false", str: "a text in quotes"}[hint]
        raise CallError(f"{where} = {value!r} is not {wanted}")
    if hint is float and not isfinite(value):
        raise CallError(f"{where} = {value} is not a finite number")
    return value


def _short(value: int) -> str:
    digits = str(value)
    return digits if len(digits) <= 20 else f"{digits[:10]}… ({len(digits)} digits)"


def _check_range(value: Any, limits: Mapping[str, Any], where: str) -> None:
    if value is None or not limits:
        return
    if "least" in limits and value < limits["least"]:
        raise LimitError(f"{where} = {value} is too small; the least is {limits['least']:,}")
    if "above" in limits and value <= limits["above"]:
        raise LimitError(f"{where} = {value} is too small; it must be above {limits['above']:g}")
    if "most" in limits and value > limits["most"]:
        raise LimitError(f"{where} = {value} is too large; the most is {limits['most']:,}")
    if "below" in limits and value >= limits["below"]:
        raise LimitError(f"{where} = {value} is too large; it must be below {limits['below']:g}")
