"""Which run `train --resume` goes on with, and whether that is what was asked for."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from glassformer.errors import CallError, Error, MissingError

if TYPE_CHECKING:
    from glassformer.experiment import Experiment
    from glassformer.run import Run


def run_to_resume(
    name: str | None,
    text: Path | None,
    wanted: Callable[[], "Experiment"],
    seeds: int,
    out: Path | None,
    given: dict[str, Any],
) -> Path:
    """The run to resume: the folder named, or the newest interrupted one with these settings, or else finished one.

    A run goes on with what its folder keeps, so the text or table it was begun with need not be there any more.
    """
    from glassformer.run import open as open_run

    root = out or Path("runs")
    if out is not None and (out / "run.json").exists():
        run = open_run(out)
        _agree(run, name, seeds, given)
        _say_what_counts(run, text, given)
        return out
    own = name is None or text is not None or "file" in given["data"]  # known without the file it was begun with
    settings = None if own else wanted()
    fits = _begun_so(name, seeds, given) if settings is None else _same_as(settings, seeds)
    train = {} if settings is None else {"seed": settings.train.seed, "steps": settings.train.steps}
    found = _newest(root, fits, lambda about: _may(about, name, seeds, train))
    if found is None:
        which = f"of {name} with these settings" if name else "with these settings" if any(given.values()) else "at all"
        raise MissingError(f"no interrupted run {which} in {root}; leave out --resume to begin one")
    _say_what_counts(found, text, given)
    return found.path


def _newest(root: Path, fits: Callable[["Run"], bool], may: Callable[[dict[str, Any]], bool]) -> "Run | None":
    """The newest interrupted run that fits, or else the newest finished one; `may` spares the opening of most."""
    from glassformer import folder, glance
    from glassformer.run import newest_first
    from glassformer.run import open as open_run

    finished: Run | None = None
    for name in newest_first(root):
        with suppress(Error):  # a damaged run beside the one we look for
            about = folder.about(root / name)
            status = glance.status(about, root / name)
            if status == "interrupted" and may(about) and fits(run := open_run(root / name)):
                return run
            if status == "finished" and finished is None and may(about) and fits(run := open_run(root / name)):
                finished = run
    return finished


def _may(about: dict[str, Any], name: str | None, seeds: int, train: dict[str, int]) -> bool:
    """Whether run.json speaks of such a run at all."""
    experiment = about.get("experiment")
    begun = experiment.get("train") if isinstance(experiment, dict) else None
    if not isinstance(experiment, dict) or not isinstance(begun, dict) or about.get("engine") == "page":
        return False
    same = all(begun.get(setting, value) == value for setting, value in train.items())
    return name is None or (experiment.get("name") == name and about.get("members") == seeds and same)


def name_of(experiment: str | None, text: Path | None) -> str | None:
    """What a run of this is a run of; None: of anything."""
    from glassformer.experiment import name_of_text, names

    if text is not None:
        return name_of_text(text)
    return experiment if experiment is None or experiment in names() else Path(experiment).stem


def _same_as(settings: "Experiment", seeds: int) -> Callable[["Run"], bool]:
    wanted = {key: value for key, value in settings.tables().items() if key != "code"}  # that it differs is said

    def fits(run: "Run") -> bool:
        tables = run.experiment.tables()
        return {key: value for key, value in tables.items() if key != "code"} == wanted and run.members == seeds

    return fits


def _begun_so(name: str | None, seeds: int, given: dict[str, Any]) -> Callable[["Run"], bool]:
    """Whether a run has this name and these settings, and no others that were given when it was begun."""
    asked = {(table, setting): value for table, values in given.items() for setting, value in values.items()}

    def fits(run: "Run") -> bool:
        if name is None:
            return not given_otherwise(run) and seeds in (1, run.members)
        others = set(run.experiment.changed) - {f"{table}.{setting}" for table, setting in asked}
        return run.experiment.name == name and not given_otherwise(run) and not others and run.members == seeds

    def given_otherwise(run: "Run") -> bool:
        begun = run.experiment.tables()
        return any(begun[table].get(setting) != value for (table, setting), value in asked.items())

    return fits


def _say_what_counts(run: "Run", text: Path | None, given: dict[str, Any]) -> None:
    """A file of one's own that is no longer what the run was begun with changes nothing, and that is said."""
    from glassformer import corpora
    from glassformer.folder import TEXT

    file = str(text) if text is not None else given["data"].get("file")
    kept = run.task.files().get(TEXT)
    if not isinstance(file, str) or kept is None:
        return
    try:
        same = corpora.decoded(corpora.read_file(file), file).encode() == kept
    except Error:
        typer.echo(f"notice: {file} cannot be read now; the run goes on with the copy in {run.path / TEXT}", err=True)
        return
    if not same:
        typer.echo(
            f"notice: {file} has changed since the run was begun; the run goes on with the copy in {run.path / TEXT}",
            err=True,
        )


def _agree(run: "Run", name: str | None, seeds: int, given: dict[str, Any]) -> None:
    """A resumed run keeps the settings it was begun with; to ask for others is refused, not ignored."""
    if name not in (None, run.experiment.name):
        raise CallError(f"{run.path} is a run of {run.experiment.name}, not of {name}; name the one it is")
    if seeds not in (1, run.members):
        raise CallError(f"{run.path} was begun with {run.members} seeds, not {seeds}; leave out --seeds")
    begun = run.experiment.tables()
    for table, values in given.items():
        for name, value in values.items():
            if begun[table].get(name) != value:
                raise CallError(
                    f"{run.path} was begun with {table}.{name} = {begun[table].get(name)}, not {value}; "
                    "a resumed run keeps its settings"
                )
