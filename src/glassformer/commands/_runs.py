"""The runs in a folder, newest first, each at a glance: how far it is and how well it does."""

from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

import typer

from glassformer.commands import _shared
from glassformer.errors import Error

MOST_TEXT = 100  # characters of a name or a time
MOST = 25  # that are shown to a person who names no beginning


def listed(beginning: str | None, as_json: bool) -> None:
    """The runs that begin so; those that cannot be read say why."""
    from glassformer.run import newest_first

    found = newest_first(Path("runs"), beginning or "")
    if as_json:
        _shared.print_json({"runs": [_row(Path("runs") / name) for name in found]})
        return
    if not found:
        whose = f" that begin with {beginning}" if beginning else ""
        typer.echo(f"there are no runs{whose} in runs; `glassformer train plus_last_even` makes one")
        return
    shown = found if beginning else found[:MOST]
    rows = [_row(Path("runs") / name) for name in shown]
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        typer.echo(f"  {row['name']:{width}}  {_words(row)}")
    typer.echo("losses are unverified: only the end of each metrics.jsonl was read; `glassformer check RUN` reads all")
    if len(found) > len(shown):
        typer.echo(
            f"  and {len(found) - len(shown):,} older ones; `glassformer list runs BEGINNING` shows all that fit"
        )


def _row(path: Path) -> dict[str, Any]:
    from glassformer.glance import glance

    try:
        seen = glance(path)
    except Error as problem:
        return {"name": path.name, "problem": str(problem)}
    newest, about = seen.newest or {}, seen.about
    experiment, times = about.get("experiment"), about.get("times")
    return {
        "name": path.name,
        "experiment": _text(experiment.get("name")) if isinstance(experiment, dict) else None,
        "status": seen.status,
        "members": about.get("members"),
        "last_step": seen.last_step,
        "kept_steps": seen.kept,
        "validation_loss": _loss(newest.get("validation_loss"), about.get("members")),
        "unverified": ["metrics.jsonl"],  # of which only the end was read
        "bytes": seen.size,
        "created": _text(times.get("created")) if isinstance(times, dict) else None,
    }


def _text(value: Any) -> str | None:
    """A short text from a file that was not verified."""
    return value[:MOST_TEXT] if isinstance(value, str) else None


def _loss(value: Any, members: Any) -> Any:
    """A number, or one for each member; a text stands for what is no number."""
    fits = isinstance(value, float | int) or (isinstance(value, list) and len(value) == members)
    return value if fits else _text(value)


def _words(row: dict[str, Any]) -> str:
    if "problem" in row:
        return f"cannot be read: {row['problem']}"
    loss, created = row["validation_loss"], str(row["created"])[:16].replace("T", " ")
    numbers = [each for each in (loss if isinstance(loss, list) else [loss]) if isinstance(each, int | float)]
    middle = median(numbers) if numbers else float("nan")
    said = f"loss {middle:.4f}" if isfinite(middle) else "no loss"
    said += f" (median of {len(numbers)})" if len(numbers) > 1 else ""
    return f"{row['status']} at step {row['last_step']:,}, {said}, begun {created}"
