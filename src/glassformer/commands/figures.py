"""Draw a run or a study."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glassformer import terminal
from glassformer.commands import _complete, _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glassformer.catalogue import Subject
    from glassformer.gallery import Made

ORDER = 70
STOPPED = "stopped before the end; every file drawn so far is whole, and the same command draws them all again"


def figures(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN] [NAME ...]",
            help="A run or a study, then figures by name; none: all of them.",
            autocompletion=_complete.pieces("figures"),
        ),
    ] = None,
    step: _shared.Step = "last",
    sequence: _shared.Sequences = None,
    member: _shared.Member = 0,
    size: Annotated[str, typer.Option(help="screen, slide, print or print_narrow.")] = "screen",
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    format_: Annotated[
        str | None, typer.Option("--format", help="svg, png, pdf, csv (the numbers), with commas; svg,png if none.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the figures named; repeatable."),
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="RUN", help="A further run, for figures that compare; repeatable."),
    ] = None,
    edit: _shared.Edits = None,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", parser=_shared.place, help="Where to write; else figures/RUN.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Show the page in a browser, where there is one.")] = False,
    as_json: _shared.Json = False,
) -> None:
    """Draw a run: every figure that applies with a page that shows them all, or the figures named."""
    from glassformer import catalogue, gallery
    from glassformer.figures import _draw, _style
    from glassformer.run import Run

    subject, names = _subject(words or [], say=not as_json)
    _style.theme(theme), _style.size(size)
    wish = gallery.Wish(
        step=_checked(subject, step, member, sequence or (), edit or ()),
        member=member,
        sequences=tuple(sequence or ()),
        size=size,
        theme=theme,
        formats=_shared.formats(format_, _draw.FORMATS, "svg,png"),
        options=_shared.options(set_ or (), names, "figures"),
        others=tuple(str(_shared.opened(each, say=not as_json).path) for each in with_ or ()),
        edits=tuple(edit or ()),
    )
    pieces = [catalogue.entry("figures", name) for name in names]
    for each in pieces:
        catalogue.chosen(each, wish.options)  # refuses what it does not take, before anything is drawn
    looks = {"size": size != "screen", "theme": theme != "light"}
    _shared.used({"step": step != "last", "member": member, "sequence": sequence, **looks}, pieces, wish.options)
    if with_ and not any(each.needs == "runs" for each in pieces):
        raise CallError("--with is for figures that compare runs; name one of them")
    if open_ and names:
        raise CallError("--open shows the page of all figures; leave it out, or the names")
    folder = _shared.folder_for(out, Path("figures") / (subject.path.resolve().name if subject else ""))
    with terminal.counting("figures", show=not as_json) as progress:
        tell = lambda done, many, name: progress(done, many)  # noqa: E731, ARG005
        if names or not isinstance(subject, Run):
            made = gallery.draw(subject, pieces, wish, folder, tell)
        else:
            made = gallery.gallery(subject, folder, wish, tell)
    if open_:
        terminal.show_page(folder / "index.html")
    if as_json:
        _print_json(subject, folder, made)
    else:
        _tell(subject, folder, made, bool(names))
    failed, absent = any(each.failed for each in made), any(each.absent for each in made)
    if failed or (absent and names):
        raise typer.Exit(1 if failed else 2)


def _subject(words: list[str], say: bool) -> "tuple[Subject, list[str]]":
    """What to draw and the figures named; a study without names is drawn as its own command draws it."""
    from glassformer import catalogue, study

    there = catalogue.pieces("figures")
    if words and (Path(words[0]) / study.ABOUT).is_file():
        found = study.open(words[0])
        if found.trained and found.unverified:
            typer.echo(f"notice: {found.unverified_words}", err=True)
        names = [_shared.named(name, "figures") for name in words[1:]]
        return found, names or [catalogue.figure_of(found.name)]
    if words and all(
        word in there and catalogue.entry("figures", word).needs in ("nothing", "study") for word in words
    ):
        return None, words  # no run is looked for where none is needed
    return _shared.run_and_names(words, "figures", say=say)


def _checked(subject: "Subject", step: str, member: int, sequences: "Sequence[str]", edits: "Sequence[str]") -> int:
    """The step; a step, a member, a sequence or an edit that this subject does not have is refused."""
    from glassformer.run import Run

    if isinstance(subject, Run):
        for text in sequences:
            subject.tokens(text)
        subject.edited(edits)
        at = _shared.kept_step(subject, step, _shared.checked_member(subject, member))
        return -1 if step in ("last", "-1") else at  # a step that was asked for is marked in figures over steps
    if step != "last" or member or sequences or edits:
        raise CallError("--step, --member, --sequence and --edit are for figures that are drawn from a run")
    return -1


def _print_json(subject: "Subject", folder: Path, made: "Sequence[Made]") -> None:
    from dataclasses import asdict

    from glassformer.run import Run

    kind = "run" if isinstance(subject, Run) else "study"
    about = {kind: str(subject.path), **_shared.mark(subject)} if subject else {}
    _shared.print_json({**about, "folder": str(folder), "figures": [asdict(each) for each in made]})


def _tell(subject: "Subject", folder: Path, made: "Sequence[Made]", named: bool) -> None:
    for each in made if named else ():
        for file in each.files:
            typer.echo(folder / file)
        if each.absent:
            whose = f" for {subject.path.resolve().name}" if subject else ""
            typer.echo(f"glassformer: {each.name} is not drawn{whose}: {each.absent}", err=True)
    for each in made:
        if each.failed:
            typer.echo(f"glassformer: {each.name} could not be drawn: {each.failed}", err=True)
    if subject and not named:
        many = sum(bool(each.files) and not each.page for each in made)
        typer.echo(f"{many} figures of {subject.name}: {folder / 'index.html'}")
