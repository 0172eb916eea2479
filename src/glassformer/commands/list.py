"""What there is: experiments, tasks and the other pieces, each with its title; of a run, what can be shown of it."""

from typing import TYPE_CHECKING, Annotated

import typer

from glassformer.commands import _complete, _runs, _shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glassformer.catalogue import Entry, Subject

ORDER = 10


def list(
    kind: Annotated[str | None, typer.Argument(help="runs, experiments, tasks, figures …; none: an overview.")] = None,
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="A run or a study: what of this kind it can be asked for; of runs, how their names begin.",
            autocompletion=_complete.runs,
        ),
    ] = None,
    options: Annotated[bool, typer.Option("--options", help="What each can be asked for, too.")] = False,
    as_json: _shared.Json = False,
) -> None:
    """What there is, each with its title; of a run or a study what can be shown of it, and of the rest why not."""
    from glassformer import catalogue
    from glassformer.errors import CallError, unknown

    if kind == "runs" and options:
        raise CallError("--options is for analyses, figures, films and studies; runs have none, leave it out")
    if kind == "runs":
        _runs.listed(subject, as_json)
        return
    kinds = catalogue.kinds()
    if kind is not None and kind not in kinds:
        raise unknown(kind, "the things that can be listed", (*kinds, "runs"))
    known = [each for each in (kinds if kind is None else [kind]) if each in catalogue.SHOWN]
    if (subject is not None or options) and (kind is None or not known):
        raise CallError(f"{kind or 'everything'} cannot be listed for a run or with options; name one of "
                        f"{', '.join(catalogue.SHOWN)}")  # fmt: skip
    if subject is not None or options:
        _of(_found(subject, say=not as_json), catalogue.entries(str(kind)), options, as_json)
        return
    there = {each: catalogue.pieces(each) for each in (kinds if kind is None else [kind])}
    if as_json:
        _shared.print_json(there)
        return
    if kind is None:
        _overview(there)
    else:
        _titles(there[kind])


def _overview(there: "Mapping[str, Mapping[str, str]]") -> None:
    """What one needs first: an experiment for each task; of the rest, how many there are and what lists them."""
    every, tasks = there["experiments"], there["tasks"]
    plain = {name: title for name, title in every.items() if name in tasks}
    typer.echo("experiments, for `glassformer train NAME`:")
    _titles(plain)
    typer.echo(
        f"  and {len(every) - len(plain)} variants of these, larger, as published, ill: `glassformer list experiments`"
    )
    typer.echo("and, with `glassformer list KIND`:")
    counts = {each: str(len(pieces)) for each, pieces in there.items() if each != "experiments"} | {"runs": "yours"}
    for each, many in counts.items():
        typer.echo(f"  {each:{max(map(len, counts))}}  {many:>5}")


def _titles(pieces: "Mapping[str, str]") -> None:
    width = max(map(len, pieces), default=0)
    for name, title in pieces.items():
        typer.echo(f"  {name:{width}}  {title}")


def _found(name: str | None, say: bool) -> "Subject":
    from pathlib import Path

    from glassformer import catalogue, study

    if name is None:
        return None
    return catalogue.opened(name) if (Path(name) / study.ABOUT).is_file() else _shared.opened(name, say=say)


def _of(subject: "Subject", entries: "Sequence[Entry]", options: bool, as_json: bool) -> None:
    """Those that apply under their sections, then the others with their reasons."""
    from glassformer import catalogue

    why = {each.name: catalogue.why_not(each, subject) if subject else None for each in entries}
    if as_json:
        _shared.print_json([each.plain() | ({"why_not": why[each.name]} if subject else {}) for each in entries])
        return
    width = max(len(each.name) for each in entries)
    for key, section in catalogue.sections().items():
        inside = [each for each in entries if each.section == key and not why[each.name]]
        if inside:
            typer.echo(f"{section.title}")
        for each in inside:
            typer.echo(f"  {each.name:{width}}  {each.title}")
            for one in each.options if options else ():
                limits = [f"from {one.least:g}" if one.least is not None else "",
                          f"to {one.most:g}" if one.most is not None else "",
                          f"one of {', '.join(map(str, one.choices))}" if one.choices else ""]  # fmt: skip
                said = " ".join(filter(None, [one.type, *limits]))
                typer.echo(f"  {'':{width}}    {one.name}={one.default}: {one.help} ({said})")
    if subject and any(why.values()):
        typer.echo(f"not of {subject.name}:")
        for each in entries:
            if why[each.name]:
                typer.echo(f"  {each.name:{width}}  {why[each.name]}")
