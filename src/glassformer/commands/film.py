"""Let a training run before your eyes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from glassformer import terminal
from glassformer.commands import _complete, _shared
from glassformer.errors import CallError, Error, StorageError

ORDER = 80
STOPPED = "stopped before the end; every film made so far is whole, and the same command makes them all again"


def film(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN] [NAME ...]",
            help="A run, then films by name; none: all that apply.",
            autocompletion=_complete.pieces("films"),
        ),
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="mp4, gif, with commas; mp4 if none, and gif without ffmpeg.")
    ] = None,
    fps: Annotated[int | None, typer.Option(help="Frames per second.")] = None,
    frames: Annotated[int | None, typer.Option(help="How many of the kept steps to show.")] = None,
    pace: Annotated[str | None, typer.Option(help="even (in steps) or change (in how far the weights move).")] = None,
    step: Annotated[
        str | None, typer.Option(metavar="STEP", help="The step of a film that shows a single one, also last or best.")
    ] = None,
    steps: Annotated[str | None, typer.Option(help="The very steps to show, with commas.")] = None,
    sequence: _shared.Sequences = None,
    member: _shared.Member = 0,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the films named; repeatable.")
    ] = None,
    edit: _shared.Edits = None,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", parser=_shared.place, help="Where to write; else films/RUN.")
    ] = None,
) -> None:
    """Let a training run before your eyes: films of what moves, as MP4 or GIF."""
    from glassformer import catalogue
    from glassformer.figures import _style
    from glassformer.films import _film, _make

    run, names = _shared.run_and_names(words or [], "films")
    _style.theme(theme)
    for text in sequence or ():
        run.tokens(text)  # refuses what this model cannot look at
    kinds = _shared.formats(format_, _film.FORMATS, "mp4" if _film.ffmpeg(needed=False) else "gif")
    _shared.checked_member(run, member)
    wanted = {"frames": frames, "pace": pace, "step": None if step is None else _shared.kept_step(run, step, member),
              "steps": _shared.kept_steps(run, steps, member), "theme": theme, "member": member}  # fmt: skip
    asked = _shared.options(set_ or (), names, "films")
    given: dict[str, Any] = {
        "frames": frames is not None,
        "pace": pace,
        "step": step,
        "steps": steps,
        "sequence": sequence,
    }
    given |= {"fps": fps is not None, "member": member, "theme": theme != "light"}
    _shared.used(given, [catalogue.entry("films", name) for name in names], asked)
    if steps is not None and (frames is not None or pace is not None):
        raise CallError("--steps names the very steps to show; leave out --frames and --pace, which choose them")
    folder = _shared.folder_for(out, Path("films") / run.name)
    run = run.edited(edit or ())
    wrong = 0
    for name in names or [each.name for each in catalogue.entries("films") if not catalogue.why_not(each, run)]:
        try:
            with terminal.counting(f"film {name}") as progress:
                written = list(_make.write(
                    name, run, folder, formats=kinds, fps=fps, sequences=tuple(sequence or ()),
                    wanted=wanted, asked=asked, progress=progress,
                ))  # fmt: skip
            for path in written:
                typer.echo(path)
        except StorageError:  # nor could the others be written
            raise
        except Error as problem:  # the other films are still made
            typer.echo(f"glassformer: film {name}: {problem}", err=True)
            if names or problem.exit_code != 2:  # of all films, one that cannot be had of this run is no failure
                wrong = wrong or problem.exit_code
        except Exception as problem:
            typer.echo(f"glassformer: film {name} could not be made: {type(problem).__name__}: {problem}", err=True)
            wrong = wrong or 1
    if wrong:
        raise typer.Exit(wrong)
