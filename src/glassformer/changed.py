"""In what an experiment differs from the recipe it was begun from: in words, and in the name of its run."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from glassformer.words import shown

if TYPE_CHECKING:
    from glassformer.experiment import Experiment

LONGEST = 80  # characters of a run's name that tell of settings


def settings(begun: Mapping[str, Any], now: Mapping[str, Any], experiment: "Experiment") -> tuple[str, ...]:
    """The settings, as train.rate, in which the tables of an experiment differ from those of the recipe it began as.

    The seed is no change: every run has its own.
    """
    found = []
    for table, part in _parts(experiment).items():
        before, after = begun.get(table, {}), now.get(table, {})
        for each in fields(part):
            if each.name in {**before, **after} and f"{table}.{each.name}" != "train.seed":
                usual = None if each.default is MISSING else each.default
                was, is_ = (_written(tables.get(each.name, usual)) for tables in (before, after))
                found += [f"{table}.{each.name}"] if was != is_ else []
    return tuple(found)


def told(experiment: "Experiment") -> str:
    """`changed settings: train.rate = 0.001`; nothing where nothing was changed."""
    words = [f"{name} = {shown(value)}" for name, value in _values(experiment).items()]
    return f"changed settings: {', '.join(words)}" if words else ""


def run_name(experiment: "Experiment", seeds: int = 1) -> str:
    """plus_last_even-18, plus_last_even-18x16, plus_last_even-18-rate_0.001: fit for a folder on every system."""
    name = f"{experiment.name}-{experiment.train.seed}" + (f"x{seeds}" if seeds > 1 else "")
    parts = [f"-{_safe(name.rpartition('.')[2])}_{_safe(value)}" for name, value in _values(experiment).items()]
    fits = next(k for k in range(len(parts), -1, -1) if len("".join(parts[:k])) <= LONGEST)
    return name + "".join(parts[:fits]) + (f"-and_{len(parts) - fits}_more" if fits < len(parts) else "")


def _parts(experiment: "Experiment") -> dict[str, Any]:
    return {"data": experiment.task, "architecture": experiment.architecture, "train": experiment.train}


def _values(experiment: "Experiment") -> dict[str, str]:
    """Each changed setting as one would write it with --set."""
    parts, found = _parts(experiment), {}
    for name in experiment.changed:
        table, _, leaf = name.partition(".")
        found[name] = _written(getattr(parts[table], leaf))
    return found


def _written(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "+".join(map(_written, value)) or "none"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _safe(text: str) -> str:
    """As much of a text as the name of a folder may hold anywhere; of a file, its own name."""
    text = text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "+._-") else "_" for letter in text
    ).strip(".")
