"""Films by name: made of a run, and written where they belong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glassformer import catalogue, storage
from glassformer.errors import CallError
from glassformer.films._film import Film, Progress
from glassformer.run import Run


def film(name: str, run: Run, wanted: dict[str, Any], asked: dict[str, Any]) -> Film:
    """One film, with what it takes of `wanted`, and all of `asked`."""
    each = catalogue.entry("films", name)
    chosen = {key: value for key, value in wanted.items() if each.option(key) and value is not None}
    return catalogue.ask("films", name, run, **chosen | asked)


def write(
    name: str,
    run: Run,
    folder: Path,
    *,
    formats: tuple[str, ...],
    fps: int | None = None,
    sequences: tuple[str, ...] = (),
    wanted: dict[str, Any],
    asked: dict[str, Any],
    progress: Progress | None = None,
) -> Iterator[Path]:
    """Make a film, once per sequence if it takes any, and write it with poster, numbers and words."""
    each = catalogue.entry("films", name)
    if reason := catalogue.why_not(each, run):
        raise CallError(f"film {name} is not made of {run.name}: {reason}")
    storage.make_folder(folder)
    several = sequences if sequences and each.option("sequence") else (None,)
    for k, sequence in enumerate(several):
        made = film(name, run, wanted | ({} if sequence is None else {"sequence": sequence}), asked)
        detail = "" if sequence is None else f"_seq{k + 1}"
        theme = "" if made.theme == "light" else f"_{made.theme}"
        stem = f"{name}{detail}_film{theme}"
        yield from made.save(*(folder / f"{stem}.{kind}" for kind in formats), fps=fps, progress=progress)
