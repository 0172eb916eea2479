"""Settings come as tables of plain values and leave as frozen dataclasses, or as one sentence about what is wrong.

What a setting means and what it may be stands with its field, written with `setting`; all that is said of it elsewhere,
in errors and in `glassformer show EXPERIMENT --all`, is read from there.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import date, datetime, time
from functools import cache
from math import isfinite
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from glassformer.errors import CallError, LimitError, check_name

T = TypeVar("T")
LARGEST = 2**53  # what every reader of JSON holds exactly
TABLES = ("data", "architecture", "train")
TYPES = {int: "whole number", float: "number", bool: "true or false", str: "text"}
MOST_SHOWN = 100  # characters of a wrong value


def setting(
    meaning: str,
    default: Any = MISSING,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> Any:
    """A field of a table of settings: what it means, its value unless another is given, and its limits."""
    limits = {"least": least, "above": above, "most": most, "below": below}
    metadata = {"meaning": meaning, **{name: limit for name, limit in limits.items() if limit is not None}}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Setting:
    """What can be said of one setting."""

    name: str
    type: str  # whole number, number, text, true or false; `list of ...` for several
    default: Any  # MISSING: it must be given
    optional: bool  # it may be absent
    meaning: str
    limits: Mapping[str, float]  # least, above, most, below
    choices: tuple[Any, ...]

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.choices:
            return f"{'any of' if self.type.startswith('list') else 'one of'} {', '.join(map(str, self.choices))}"
        words = {"least": "from", "above": "above", "most": "up to", "below": "below"}
        bounds = [f"{words[name]} {_number(limit)}" for name, limit in self.limits.items()]
        return " ".join([self.type, *bounds])


@cache
def described(kind: Any) -> Mapping[str, Setting]:
    """Every setting of a dataclass by name; one whose default alone was changed is described where it was first."""
    hints = get_type_hints(kind)
    return {each.name: _described(each, hints[each.name], _metadata(kind, each.name)) for each in fields(kind)}


def _described(each: "Field[Any]", hint: Any, about: Mapping[str, Any]) -> Setting:
    limits = {name: about[name] for name in ("least", "above", "most", "below") if name in about}
    main, optional = _main(hint)
    several = get_origin(main) is tuple
    one = get_args(main)[0] if several else main
    choices = get_args(one) if get_origin(one) is Literal else ()
    word = "text" if choices else TYPES.get(one)
    if word is None:
        raise CallError(f"{each.name} is of the type {one!r}, which no setting has; allowed are int, float, bool, str, "
                        "Literal[...], a tuple of one of these, or None beside them")  # fmt: skip
    default = each.default if each.default_factory is MISSING else each.default_factory()
    return Setting(each.name, f"list of {word}s" if several else word, default, optional, about.get("meaning", ""),
                   limits, choices)  # fmt: skip


def _metadata(kind: type, name: str) -> Mapping[str, Any]:
    """What stands with a field, or with the field that it changes the default of."""
    for base in kind.__mro__:
        found = base.__dict__.get("__dataclass_fields__", {}).get(name)
        if found is not None and found.metadata:
            return found.metadata
    return {}


def _main(hint: Any) -> tuple[Any, bool]:
    """A type without its None, and whether it had one."""
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    options = [option for option in get_args(hint) if option is not NoneType]
    return options[0], len(options) < len(get_args(hint))


def read(kind: type[T], given: Mapping[str, Any], where: str) -> T:
    """A dataclass from a table; `where` is the table's name, used in every sentence about it."""
    known = described(kind)  # type: ignore[arg-type]
    for name in given:
        check_name(name, f"[{where}]", known)
    values = checked(kind, given, where)
    missing = [name for name, each in known.items() if name not in values and each.default is MISSING]
    if missing:
        raise CallError(f"[{where}] lacks {', '.join(missing)}; give it a value")
    return kind(**values)


def checked(kind: type, given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values as their types want them, each within its limits."""
    hints, known = get_type_hints(kind), described(kind)
    values = {name: _value(hints[name], value, f"{where}.{name}") for name, value in given.items()}
    for name, value in values.items():
        _check_range(value, known[name].limits, f"{where}.{name}")
    return values


def table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """One of several tables; an absent one is empty."""
    found = tables.get(name, {})
    if not isinstance(found, Mapping):
        raise CallError(f"{name} = {_said(found)} is not a table of settings; write [{name}] and one setting per line")
    return found


def assign(tables: Mapping[str, Any], assignments: list[str]) -> dict[str, Any]:
    """Tables with `train.rate=3e-3` and the like carried out; the tables given are left as they are."""
    changed = {name: dict(value) if isinstance(value, Mapping) else value for name, value in tables.items()}
    seen: dict[tuple[str, str], str] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        where, dot, name = (part.strip() for part in path.partition("."))
        if not equals or not dot:
            raise CallError(f"--set {_said(assignment)} is not of the form table.name=value, such as train.rate=3e-3")
        check_name(where, "the tables of an experiment", TABLES)
        if not text.strip():
            raise CallError(f'--set {_said(assignment)} gives no value; none means absent, "" an empty text')
        if any(letter in assignment for letter in "\n\r\v\f\0\x1c\x1d\x1e\x85\u2028\u2029"):
            raise CallError(f"--set {_said(assignment)} is more than one line; write one setting in each --set")
        if (where, name) in seen and seen[where, name] != text:
            raise CallError(
                f"{where}.{name} is set twice, to {_said(seen[where, name])} and to {_said(text)}; leave one out"
            )
        seen[where, name] = text
        changed[where] = dict(table(changed, where))
        if text.strip().lower() == "none" and not _none_is_a_word(where, name):
            changed[where].pop(name, None)
        else:
            changed[where][name] = _literal(text.strip())
    return changed


def assignments(given: Mapping[str, Any] | Iterable[str]) -> list[str]:
    """Changes of settings as `assign` takes them, from texts as they are or from a table: `{"train.rate": 3e-3}`.

    A table of tables, `{"train": {"rate": 3e-3}}`, is the same; None means absent.
    """
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Mapping):
        return list(given)
    flat: dict[str, Any] = {}
    for name, value in given.items():
        nested = isinstance(value, Mapping)
        flat |= {f"{name}.{leaf}": each for leaf, each in value.items()} if nested else {name: value}
    for name in flat:
        if not isinstance(name, str) or "=" in name or "." not in name:
            raise CallError(f"settings[{_said(name)}] is not the name of a setting, such as train.rate")
    return [f"{name}={_toml(value, name)}" for name, value in flat.items()]


def _toml(value: Any, name: str) -> str:
    """A plain value as TOML writes it."""
    if hasattr(value, "tolist"):  # NumPy's numbers
        value = value.tolist()
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(each, name) for each in value)}]"
    if isinstance(value, bool | str | PurePath):
        return json.dumps(value if isinstance(value, bool | str) else str(value), ensure_ascii=False)
    if isinstance(value, int | float):
        return repr(value)
    raise CallError(f"settings[{_said(name)}] = {_said(value)} is neither number, text, true, false nor a list")


def _none_is_a_word(where: str, name: str) -> bool:
    """Whether `none` is one of the words this setting can have, as for `norm` and `positions`; else it means absent."""
    from glassformer.architecture import Architecture

    return where == "architecture" and "none" in get_args(get_type_hints(Architecture).get(name))


def _literal(text: str) -> Any:
    """What TOML would read; a bare word is a string, and so is whatever TOML would read only in part, or as a date."""
    try:
        found = tomllib.loads(f"value = {text}")["value"]
        (_,) = tomllib.loads(f"value = [{text}]")["value"]  # a comment would swallow the bracket
    except (ValueError, RecursionError):  # not TOML, a number of thousands of digits, brackets without end
        return text
    return text if isinstance(found, date | datetime | time) else found


def _value(hint: Any, value: Any, where: str) -> Any:
    """The value as its type wants it; a whole number may stand for a real one, nothing else is bent."""
    hint, optional = _main(hint)
    if value is None and optional:
        return None
    origin = get_origin(hint)
    if origin is Literal:
        if value not in get_args(hint) or isinstance(value, bool):
            allowed = ", ".join(repr(option) for option in get_args(hint))
            raise CallError(f"{where} = {_said(value)} is not allowed; it is one of {allowed}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise CallError(f"{where} = {_said(value)} is not a list")
        return tuple(_value(get_args(hint)[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if isinstance(value, int) and abs(value) > LARGEST:
        raise LimitError(f"{where} = {_short(value)} is too large; whole numbers go up to {LARGEST:,}")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        wanted = {int: "a whole number", float: "a number", bool: "true or false", str: "a text in quotes"}[hint]
        raise CallError(f"{where} = {_said(value)} is not {wanted}")
    if hint is float and not isfinite(value):
        raise CallError(f"{where} = {value} is not a finite number")
    return value


def _said(value: Any) -> str:
    """A value as it is quoted in a sentence."""
    text = str(value) if isinstance(value, date | datetime | time) else repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _short(value: int) -> str:
    if value.bit_length() > 4_000:  # more digits than Python writes out
        return "a number of thousands of digits"
    digits = str(value)
    return digits if len(digits) <= 20 else f"{digits[:10]}… ({len(digits)} digits)"


def _number(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"


def _check_range(value: Any, limits: Mapping[str, Any], where: str) -> None:
    if value is None or not limits:
        return
    if "least" in limits and value < limits["least"]:
        raise LimitError(f"{where} = {value} is too small; the least is {_number(limits['least'])}")
    if "above" in limits and value <= limits["above"]:
        raise LimitError(f"{where} = {value} is too small; it must be above {limits['above']:g}")
    if "most" in limits and value > limits["most"]:
        raise LimitError(f"{where} = {value} is too large; the most is {_number(limits['most'])}")
    if "below" in limits and value >= limits["below"]:
        raise LimitError(f"{where} = {value} is too large; it must be below {limits['below']:g}")
