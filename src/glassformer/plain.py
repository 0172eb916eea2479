"""Plain values: what JSON can hold, and the typed value back from it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

SPECIAL = {math.inf: "Infinity", -math.inf: "-Infinity"}  # JSON has no words for these
SCALARS = (bool, int, float, str, NoneType)
LONG, SHORTER = 1000, 1.5  # numbers from which on repetitions are looked for; how many times fewer are worth it


def plain(value: Any) -> Any:
    """Plain values that JSON can hold: numbers that are none as texts, arrays as lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        if value and all(type(each) is float for each in value) and math.isfinite(math.fsum(value)):
            return list(value)  # numbers over many members, the bulk of a line
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):  # any array or single number, of NumPy or another library
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return SPECIAL.get(value, "NaN")
    return value


# ---- there and back -------------------------------------------------------------------------------------------------


def given(value: Any) -> Any:
    """A typed value as plain ones, with nothing left out: `taken` makes the equal value of it again."""
    if hasattr(value, "plain"):
        return value.plain()
    if isinstance(value, np.ndarray):
        return array(value)
    if is_dataclass(value):
        return {field.name: given(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: given(each) for key, each in value.items()}
        return [[given(key), given(each)] for key, each in value.items()]
    if isinstance(value, tuple | list):
        return [given(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, SCALARS):
        raise TypeError(f"a {type(value).__name__} cannot be given as plain values")
    return plain(value)


def array(values: np.ndarray) -> dict[str, Any]:
    """An array as its type, its shape and its numbers in one row."""
    return {"dtype": values.dtype.str, "shape": list(values.shape)} | row(values)


def row(values: np.ndarray) -> dict[str, Any]:
    """An array's numbers in one row, the last axis fastest; of a long one that repeats itself each number once.

    Then `times` says how often each of the `values` stands there in a row: maps are large areas of the same.
    """
    if values.dtype.kind not in "biufU":
        raise TypeError(f"an array of {values.dtype} cannot be given as plain values")
    flat = values.ravel()
    if len(flat) < LONG:
        return {"values": _listed(flat)}
    bits = flat
    if flat.dtype.kind == "f":  # −0 is not 0, and NaN is NaN, of which a processor knows several
        bits = np.where(np.isnan(flat), flat.dtype.type("nan"), flat).view(f"u{flat.itemsize}")
    first = np.flatnonzero(np.concatenate([[True], bits[1:] != bits[:-1]]))
    if SHORTER * len(first) > len(flat):
        return {"values": _listed(flat)}
    return {"values": _listed(flat[first]), "times": np.diff(first, append=len(flat)).tolist()}


def _listed(values: np.ndarray) -> list[Any]:
    """As a list; of numbers with fewer digits than Python's no more digits than they have."""
    narrow = values.dtype.kind == "f" and values.itemsize < 8
    found: list[Any] = (values.astype(str).astype(float) if narrow else values).tolist()
    return plain(found) if values.dtype.kind == "f" and not np.isfinite(values).all() else found


def unrolled(given: Mapping[str, Any]) -> np.ndarray:
    """The numbers that `row` gave, in one row."""
    values = np.array(given["values"], dtype=given["dtype"])
    return np.repeat(values, given["times"]) if "times" in given else values


def taken(kind: Any, value: Any) -> Any:
    """The value of a type from what `given` made of it."""
    origin, inner = _origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None or all(each in SCALARS for each in inner):
            return float(value) if isinstance(value, str) and float in inner and str not in inner else value
        (main,) = (each for each in inner if each not in SCALARS)
        return taken(main, value)
    if origin is np.ndarray:
        return unrolled(value).reshape(value["shape"])
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1:] == (...,) else inner
        return tuple(taken(each, one) for each, one in zip(kinds, value, strict=True))
    if origin is list:
        return [taken(inner[0], one) for one in value]
    if origin in (dict, Mapping):
        pairs = value.items() if isinstance(value, dict) else value
        return {taken(inner[0], key): taken(inner[1], one) for key, one in pairs}
    if hasattr(kind, "from_plain"):
        return kind.from_plain(value)
    if hasattr(kind, "__dataclass_fields__"):
        return kind(**{name: taken(each, value[name]) for name, each in hints(kind).items()})
    if hasattr(kind, "_fields"):  # a named tuple
        return kind(*(taken(each, one) for each, one in zip(hints(kind).values(), value, strict=True)))
    return float(value) if kind is float and isinstance(value, str) else value


def _origin(kind: Any) -> Any:
    """What a type is a kind of; newer NumPy's NDArray is a name for one, and stands for what it names."""
    origin = get_origin(kind)
    return get_origin(origin.__value__) if hasattr(origin, "__value__") else origin


def untold(kind: Any) -> str | None:
    """The part of a type that `given` and `taken` cannot carry, by name; None: all of it can be."""
    origin, inner = _origin(kind), get_args(kind)
    if kind in SCALARS or origin in (np.ndarray, Literal) or hasattr(kind, "from_plain"):
        return None
    if origin in (Union, UnionType):
        wrong = [each for each in inner if each not in SCALARS]
        if len(wrong) > 1:
            return f"{kind} (one of several structures)"
    elif is_dataclass(kind) or hasattr(kind, "_fields"):
        inner = tuple(hints(kind).values())
    elif origin not in (tuple, list, dict, Mapping):
        return str(kind)
    return next((found for each in inner if each is not ... and (found := untold(each))), None)


def _hints(kind: Any) -> dict[str, Any]:
    """Field → type of a dataclass or named tuple."""
    found = get_type_hints(kind)
    return {name: found[name] for name in getattr(kind, "__dataclass_fields__", found) if name in found}


hints: Callable[[Any], dict[str, Any]] = cache(_hints)
