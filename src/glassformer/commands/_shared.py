"""What several commands share: their common arguments, and the words of their answers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer import streams
from glassformer.commands import _complete
from glassformer.errors import CallError, Error, MissingError

if TYPE_CHECKING:
    from glassformer.catalogue import Entry
    from glassformer.run import Run
    from glassformer.study import Study

RunName = Annotated[
    str | None,
    typer.Argument(
        metavar="[RUN]",
        help="A run's folder, or the beginning of its name under runs/; none: the newest.",
        autocompletion=_complete.runs,
    ),
]
ExperimentName = Annotated[
    str | None,
    typer.Argument(
        help="A ready-made experiment, or a path to your own TOML or .py file.",
        autocompletion=_complete.experiments,
    ),
]
Step = Annotated[
    str,
    typer.Option(metavar="STEP", help="A kept step of the training, last, or best: the lowest validation loss kept."),
]
Member = Annotated[int, typer.Option(help="Which member of a population, counted from 0.")]
Edits = Annotated[
    list[str] | None,
    typer.Option(
        "--edit",
        metavar="EDIT",
        help="Change a value inside the model, as zero(mixed, block=0, head=1): zero, mean, patch, add, scale or set; "
        "repeatable.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="TABLE.NAME=VALUE", help="Change a setting, as train.rate=3e-3; repeatable."),
]
Sequences = Annotated[
    list[str] | None, typer.Option(help="What to look at, in place of the task's own example; repeatable.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def place(text: str) -> Path:
    """A path as typed; an empty one, as of a variable of the shell that is not set, would be the current folder."""
    if not text.strip():
        raise typer.BadParameter("an empty text names no folder")
    return Path(text)


def folder_for(out: Path | None, otherwise: Path) -> Path:
    """Where to write: the folder asked for, which may be there already, or the usual one."""
    folder = otherwise if out is None else out
    if folder.exists() and not folder.is_dir():
        raise CallError(f"{folder} is not a folder, so nothing can be written into it; choose another with --out")
    return folder


def used(given: "dict[str, Any]", pieces: "Sequence[Entry]", options: "dict[str, Any]") -> None:
    """Refuse what was asked for and would change nothing: options that none of these takes, or that --set sets too."""
    for name, value in given.items():
        if not value:
            continue
        if name in options:
            raise CallError(f"{name} is given twice, by --{name} and by --set; leave one out")
        if pieces and not any(each.option(name) for each in pieces):
            raise CallError(f"--{name} changes nothing in {' or '.join(each.name for each in pieces)}; leave it out")


MOST_SAID = 60  # characters of a text that are said again


def counted(number: int, word: str) -> str:
    """A number of things: 1 problem, 2 problems."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def megabytes(size: int) -> str:
    """A number of bytes, in words."""
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e6:.2g} MB"


def opened(name: str | None, *, say: bool = True, verify: bool = True) -> "Run":
    """The run that a name means, its metrics verified; a notice if the name fits several."""
    from glassformer import folder
    from glassformer.run import meant
    from glassformer.run import open as open_run

    path, among = meant(name)
    if say and name is not None and among > 1:
        typer.echo(f"{name} means {path}, the newest of {among:,} that begin so", err=True)
    run = open_run(path)
    if verify:
        folder.verify_metrics(run.folder, run.about)
    return run


def mark(subject: "Run | Study") -> dict[str, Any]:
    """What a JSON answer says of numbers from files without a digest; nothing where all have one."""
    return {"unverified": list(subject.unverified)} if subject.unverified else {}


def speaks_of(run: "Run", step: int, member: int | None = None, after: str | None = None) -> None:
    """Which run an answer is about, beside the answer itself; of a population, which member."""
    of_many = member is not None and run.members > 1
    at = f", member {member} (seed {run.seeds[member or 0]}) of {run.members}," if of_many else ""
    at += f" at step {step:,}"
    said = "" if after is None else f", after {after if len(after) <= MOST_SAID else f'{after[:MOST_SAID]}…'!r}"
    typer.echo(f"{run.name}{at}{said}", err=True)


def run_and_text(words: Sequence[str], *, say: bool = True) -> "tuple[Run, str | None]":
    """The run and the text of `[RUN] [TEXT]`, for whoever asks or lets write.

    Of a single word: a run if one is called so, whole or up to a hyphen, else the text for the newest run.
    """
    from glassformer.run import called

    if len(words) > 2:
        raise CallError(f"{len(words)} words are more than a run and a text; put the text in quotes")
    if len(words) == 2:
        return opened(words[0], say=say), words[1]
    if words and not called(words[0]):
        newest = opened(None)
        try:
            newest.task.encode(words[0])
        except Error as problem:  # nobody has said which run should understand it
            raise CallError(f"{problem}; asked was the newest run, {newest.name}") from None
        return newest, words[0]
    return opened(words[0] if words else None, say=say), None


def run_and_names(words: list[str], kind: str, *, say: bool = True) -> "tuple[Run, list[str]]":
    """The run, and the pieces named after it; where the first word is a piece, the run is the newest."""
    from glassformer import catalogue

    if words and words[0] in catalogue.pieces(kind) and not Path(words[0]).is_dir():
        run, names = opened(None, say=say), words
    else:
        run, names = opened(words[0] if words else None, say=say), words[1:]
    return run, list(dict.fromkeys(named(name, kind) for name in names))


def named(name: str, kind: str) -> str:
    """The name of a piece, if there is one."""
    from glassformer import catalogue
    from glassformer.errors import unknown

    there = catalogue.pieces(kind)
    if name not in there:
        raise unknown(name, kind, there)
    return name


def formats(given: str | None, known: Sequence[str], otherwise: str) -> tuple[str, ...]:
    """File formats written with commas, each of them known."""
    found = tuple(dict.fromkeys(word.strip().lower().lstrip(".") for word in (given or otherwise).split(",")))
    for each in found:
        if each not in known:
            from glassformer.errors import unknown

            raise unknown(each, "the formats", known)
    return found


def options(assignments: Sequence[str], names: list[str], kind: str) -> dict[str, Any]:
    """NAME=VALUE texts as options: whole numbers, numbers, true, false, none, or the text itself."""
    if assignments and not names:
        raise CallError(f"--set needs the names of the {kind} it is for")
    found: dict[str, Any] = {}
    for text in assignments:
        name, sign, value = text.partition("=")
        if not sign or not name.isidentifier():
            raise CallError(f"--set {text!r} is not of the form NAME=VALUE")
        try:
            found[name] = {"true": True, "false": False, "none": None}.get(value.lower(), json.loads(value))
        except json.JSONDecodeError:
            found[name] = {"true": True, "false": False, "none": None}.get(value.lower(), value)
    return found


def kept_step(run: "Run", text: str, member: int = 0) -> int:
    """The kept step that is meant: a number, last, or best."""
    try:
        return _step(run, text, member)
    except ValueError:
        raise CallError(f"--step {text!r} is neither a kept step, nor last, nor best") from None


def _step(run: "Run", text: str, member: int) -> int:
    from glassformer.analyses import _clock

    word = text.strip()
    if word == "best":
        return run.best_step(member)
    return _clock.resolve(run, -1 if word == "last" else int(word))


def kept_steps(run: "Run", text: str | None, member: int = 0) -> list[int] | None:
    """Kept steps written with commas; none may be missing."""
    if text is None:
        return None
    try:
        return [_step(run, word, member) for word in text.split(",")]
    except ValueError:
        raise CallError(f"--steps {text!r} is not a list of kept steps with commas, such as 0,500,best") from None


def checked_member(run: "Run", member: int) -> int:
    """The member, if there is one."""
    if not 0 <= member < run.members:
        raise MissingError(f"there is no member {member} in {run.path}; there are 0 to {run.members - 1}")
    return member


def print_json(value: Any) -> None:
    """One JSON object, for scripts."""
    from glassformer.plain import plain

    streams.answer(json.dumps(plain(value), ensure_ascii=False, allow_nan=False))
