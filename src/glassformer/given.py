"""Numbers that a caller gives: as they are meant, or refused in one sentence that names the field.

`step=1.5`, `member=True` and `seed="5"` are mistakes; nothing is rounded, cut or guessed.
"""

from math import isfinite
from operator import index
from typing import Any

from glassformer.errors import CallError
from glassformer.words import shown

MOST_SHOWN = 60  # characters of a value that is refused
MOST_SEED = 2**53  # what every reader of JSON holds exactly


def whole(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """A whole number, NumPy's among them; no truth value, no number with a fraction, no text."""
    found = _index(value)
    if found is None or (least is not None and found < least) or (most is not None and found > most):
        limits = ""
        if least is not None:
            limits = f" from {least:,} up" if most is None else f" between {least:,} and {most:,}"
        raise CallError(f"{name} = {written(value)} is not a whole number{limits}")
    return found


def step(value: Any) -> int:
    """A step: a whole number from 0 up, or -1 for the last one."""
    found = _index(value)
    if found is None or found < -1:
        raise CallError(f"step = {written(value)} is not a kept step: a whole number from 0 up, or -1 for the last")
    return found


def seed(value: Any) -> int:
    """A seed of what is drawn by chance."""
    return whole("seed", value, 0, MOST_SEED)


def number(name: str, value: Any, wanted: str = "a number") -> float:
    """A real number that is finite."""
    try:
        if _is_true_or_false(value) or isinstance(value, str | bytes):
            raise TypeError
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise CallError(f"{name} = {written(value)} is not {wanted}") from None
    if not isfinite(found):
        raise CallError(f"{name} = {found} is not {wanted}")
    return found


def written(value: Any) -> str:
    """A value as a sentence can hold it: short, on one line, and nothing in it that a terminal obeys."""
    try:
        said = shown(repr(value)).replace("\n", " ")
    except ValueError:  # Python writes no number of thousands of digits
        said = "a number of thousands of digits"
    except Exception:  # an object of somebody's own that cannot be written
        said = f"an object of the class {type(value).__name__}"
    return said if len(said) <= MOST_SHOWN else f"{said[:MOST_SHOWN]}…"


def _index(value: Any) -> int | None:
    try:
        return None if _is_true_or_false(value) else index(value)
    except TypeError:
        return None


def _is_true_or_false(value: Any) -> bool:
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"
