"""The course: lessons that compute while you read, in the terminal, as a page, or as a notebook."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glassformer import terminal
from glassformer.commands import _complete, _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from glassformer.teaching.script import Script

ORDER = 15
STOPPED = "stopped; the same command begins the lesson again, and what it has trained is kept"


def lesson(
    name: Annotated[
        str | None,
        typer.Argument(help="A lesson by name or number; none: the course.", autocompletion=_complete.lessons),
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="As a page in one file, with the model alive beside the text.")
    ] = False,
    notebook: Annotated[bool, typer.Option("--notebook", help="As a Jupyter notebook, not yet run.")] = False,
    worksheet: Annotated[
        bool, typer.Option("--worksheet", help="Its questions as a page to print, and beside it the key.")
    ] = False,
    pack: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.zip",
            parser=_shared.place,
            help="For teachers: pages, worksheets, keys and 45-minute plans of all lessons, or of the one named.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the trainings, and of what the questions draw.")] = 18,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=_shared.place, help="Where --html, --notebook or --worksheet write."),
    ] = None,
    code: Annotated[
        bool, typer.Option("--code/--no-code", help="Show the lines that compute, in the terminal.")
    ] = True,
    open_: Annotated[bool, typer.Option("--open", help="Show the page in a browser, where there is one.")] = False,
    as_json: _shared.Json = False,
) -> None:
    """List the course, or take a lesson: read, guess, look, and check yourself.

    In the terminal Enter goes on to the next step and q ends; pictures are saved under lessons/NAME and named.
    """
    from glassformer.teaching.script import course, script

    ways = [each for each, asked in (("--html", html), ("--notebook", notebook), ("--worksheet", worksheet)) if asked]
    ways += ["--pack"] if pack is not None else []
    if len(ways) > 1:
        raise CallError(f"{' and '.join(ways)} are different files; ask for one at a time")
    if out is not None and not ways:
        raise CallError(
            "--out is for --html, --notebook or --worksheet; in the terminal nothing is written but pictures"
        )
    if out is not None and pack is not None:
        raise CallError("--pack names its file itself; leave --out out")
    if ways and name is None and pack is None:
        raise CallError(f"{ways[0]} needs a lesson; `glassformer lesson` lists them")
    if name is None and pack is None:
        return _course(course(), as_json)
    chosen = [script(_named(name))] if name is not None else course()
    if not ways:
        if as_json:
            return _shared.print_json(_about(chosen[0]))
        return _told(chosen[0], seed, code)
    path = _made(ways[0], chosen, seed, pack or out)
    if open_ and path.suffix == ".html":
        terminal.show_page(path)
    if as_json:
        return _shared.print_json({"file": str(path), "bytes": path.stat().st_size})
    return typer.echo(f"{path}, {_shared.megabytes(path.stat().st_size)}")


def _named(text: str) -> str:
    """A lesson by its name, or by its number in the course."""
    from glassformer.teaching.script import names

    there = names()
    if text.isascii() and text.isdecimal():
        if not 1 <= int(text) <= len(there):
            raise CallError(f"there is no lesson {text}; the course has 1 to {len(there)}")
        return there[int(text) - 1]
    return text


def _about(script: "Script") -> dict[str, object]:
    return {
        "name": script.name, "title": script.title, "minutes": script.minutes, "aims": list(script.aims),
        "before": list(script.before),
    }  # fmt: skip


def _course(scripts: "list[Script]", as_json: bool) -> None:
    if as_json:
        return _shared.print_json({"lessons": [_about(each) for each in scripts]})
    wide = max(len(each.name) for each in scripts)
    for number, each in enumerate(scripts, 1):
        typer.echo(f"{number:3}  {each.name:<{wide}}  {each.minutes:3} min  {each.title}")
    total = sum(each.minutes for each in scripts)
    typer.echo(f"\n{len(scripts)} lessons, {total // 60} h {total % 60} min. Begin with `glassformer lesson 1`;")
    return typer.echo("--html makes a page of a lesson, --notebook a notebook, --pack FILE.zip all of it for a class.")


def _told(script: "Script", seed: int, code: bool) -> None:
    """In the terminal: paced where somebody sits in front of it."""
    from glassformer.teaching.running import run
    from glassformer.teaching.tellers import FOLDER, EndedError, Paced, Plain

    kind = Paced if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() else Plain
    stage = kind(seed, FOLDER / script.name, code=code)
    aims = "\n".join(f"- {each}" for each in script.aims)
    before = f"\n\nBefore it: {', '.join(script.before)}." if script.before else ""
    stage.write(f"# {script.title}\n\nAbout {script.minutes} minutes. Afterwards you can\n\n{aims}{before}")
    try:
        run(script, stage)
    except EndedError:
        typer.echo("ended here; the same command begins again, and what it has trained is kept")
        return
    following = _next(script)
    typer.echo(f"This was {script.title} {following}")


def _next(script: "Script") -> str:
    from glassformer.teaching.script import names

    there = names()
    after = there[there.index(script.name) + 1 :]
    return f"Next: `glassformer lesson {after[0]}`" if after else "It was the last one of the course."


def _made(way: str, chosen: "list[Script]", seed: int, out: Path | None) -> Path:
    """The file that was asked for."""
    if way == "--html":
        from glassformer.teaching import page

        return page.write(chosen[0], seed, out)
    if way == "--notebook":
        from glassformer.teaching import as_notebook

        return as_notebook.write(chosen[0], seed, out)
    if way == "--worksheet":
        from glassformer.teaching import worksheet

        return worksheet.write(chosen[0], seed, out)
    from glassformer.teaching import pack

    assert out is not None
    return pack.write(chosen, seed, out)
