"""Films by name: what each asks for, what a run can give, and where the files go."""

from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from glassformer import _discover, films, storage
from glassformer.errors import CallError, unknown
from glassformer.films._film import Film, Progress
from glassformer.run import Run


def names() -> list[str]:
    """Every film."""
    return _discover.names(films)


def options(name: str) -> list[str]:
    """What can be chosen in a film."""
    make = _discover.piece(films, name, f"film_{name}")
    return [each.name for each in signature(make).parameters.values() if each.kind is each.KEYWORD_ONLY]


def suits(name: str, run: Run) -> str | None:
    """Why a film cannot be made of this run, as half a sentence; None: it can."""
    file = import_module(f"{films.__name__}.{name}")
    if getattr(file, "NEEDS", "run") == "population" and run.members == 1:
        return "it needs a population; `glassformer train ... --seeds 8` makes one"
    applies = getattr(file, "applies", None)
    return applies(run) if applies else None


def film(name: str, run: Run, wanted: dict[str, Any], asked: dict[str, Any]) -> Film:
    """One film, with what its function takes of `wanted`, and all of `asked`."""
    known = options(name)
    for option in asked:
        if option not in known:
            raise unknown(option, f"the options of film {name}", known)
    chosen = {key: value for key, value in wanted.items() if key in known and value is not None}
    made: Film = _discover.piece(films, name, f"film_{name}")(run, **chosen, **asked)
    return made


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
    if reason := suits(name, run):
        raise CallError(f"film {name} is not made of {run.name}: {reason}")
    storage.make_folder(folder)
    several = sequences if sequences and "sequence" in options(name) else (None,)
    for k, sequence in enumerate(several):
        made = film(name, run, wanted | ({} if sequence is None else {"sequence": sequence}), asked)
        detail = "" if sequence is None else f"_seq{k + 1}"
        theme = "" if made.theme == "light" else f"_{made.theme}"
        stem = f"{name}{detail}_film{theme}"
        yield from made.save(*(folder / f"{stem}.{kind}" for kind in formats), fps=fps, progress=progress)
