"""A short description of a JSON value that can be compared later: its texts, its whole numbers, its other numbers.

A hash of all digits would differ between two processors, whose sums differ in the last bit. So texts and whole numbers
are hashed, and the other numbers of each field are described by four numbers that are compared with a tolerance: how
many there are, how many of them are not finite, their root mean square, and a weighted sum of their logarithms, which
changes if one number changes or if two change places.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from io import StringIO
from typing import Any

import numpy as np

NOT_FINITE = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
TOLERANCE = 2e-5  # relative; the largest difference between processors was measured, see SENSITIVE in tests/snapshot.py
ONE_SIGN = 1e-6  # of a rounding error that does not cancel, for each number
SMALL = 1e-2  # of the root mean square: numbers below count by their difference, numbers above by their ratio


def fingerprint(value: Any, ignore: Iterable[str] = ()) -> dict[str, Any]:
    """Describe a value made of dictionaries, lists, texts and numbers.

    `ignore` lists fields that are left out, by name (`seconds`) or by path from the top (`images.circles`).
    """
    texts: list[str] = []
    others: dict[str, list[Any]] = defaultdict(list)
    for path, leaf in _leaves(value, "", frozenset(ignore)):
        if isinstance(leaf, str) and leaf not in NOT_FINITE:
            texts.append(f"{path}={leaf}")
        else:
            others[path].append(NOT_FINITE.get(leaf, leaf))
    floats = {path: found for path, found in others.items() if any(isinstance(each, float) for each in found)}
    whole = {path: found for path, found in others.items() if path not in floats}
    return {
        "texts": _hash(texts),
        "whole": _hash([whole[path] for path in whole]),
        "numbers": {path: _describe(np.array(found, float)) for path, found in sorted(floats.items())},  # None is NaN
    }


def fingerprint_csv(text: str, ignore: Iterable[str] = ()) -> dict[str, Any]:
    """Describe a table whose first column names an array and whose last one holds its values.

    Arrays whose names begin as one in `ignore` are left out.
    """
    columns, *rows = csv.reader(StringIO(text))
    rows = [row for row in rows if not any(f"{row[0]}.".startswith(f"{name}.") for name in ignore)]
    fields: dict[str, Any] = {"columns": columns, "labels": [_number(cell) for row in rows for cell in row[:-1]]}
    for row in rows:
        fields.setdefault(row[0], []).append(_number(row[-1]))
    return fingerprint(fields)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say what differs between two descriptions; numbers come first, since texts may change and numbers may not."""
    before, after = old["numbers"], new["numbers"]
    found = [
        f"{path}: {before.get(path, 'absent')} is now {after.get(path, 'absent')}"
        for path in sorted({*before, *after})
        if not _alike(before.get(path), after.get(path))
    ]
    found += ["whole numbers"] if old["whole"] != new["whole"] else []
    return found + (["texts or names of fields"] if old["texts"] != new["texts"] else [])


def same_numbers(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two descriptions hold the same numbers, whatever their fields are called."""
    left = list(new["numbers"].values())
    for each in old["numbers"].values():
        match = next((other for other in left if _alike(each, other)), None)
        if match is None:
            return False
        left.remove(match)
    return not left and old["whole"] == new["whole"]


def _leaves(value: Any, path: str, ignore: frozenset[str]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        if "times" in value and "values" in value:  # a long row in which neighbours are equal
            value = {**value, "values": np.repeat(np.array(value["values"], object), value["times"]).tolist()}
            del value["times"]
        for key, each in value.items():
            below = f"{path}.{key}" if path else str(key)
            if not {key, below} & ignore:
                yield from _leaves(each, below, ignore)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each, path, ignore)
    else:
        yield path, value


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _describe(numbers: np.ndarray) -> str:
    finite = numbers[np.isfinite(numbers)]
    size = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    weights = 2 * (np.arange(1, 1 + finite.size) * 0.6180339887498949 % 1) - 1
    if size > 0:
        finite = np.arcsinh(finite / (SMALL * size))
    lost = numbers.size - finite.size
    return f"{numbers.size} {lost} {size:.7g} {float(weights @ finite):.7g}"


def _alike(old: str | None, new: str | None) -> bool:
    """Whether two descriptions of a field agree, up to the tolerance."""
    if old is None or new is None or old == new:
        return old == new
    before, after = old.split(), new.split()
    if len(before) != 4 or before[:2] != after[:2]:
        return False
    (size, total), (new_size, new_total) = map(float, before[2:]), map(float, after[2:])
    count = float(before[0])  # rounding errors of many logarithms mostly cancel, but a little of them has one sign
    spread = TOLERANCE * count**0.5 + ONE_SIGN * count
    return abs(size - new_size) <= TOLERANCE * size + 1e-12 and abs(total - new_total) <= spread


def _hash(value: Any) -> str:
    return sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:12]
