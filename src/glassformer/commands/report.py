"""A run as a page in one file: its whole life, to be mailed and opened anywhere, offline."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer import terminal
from glassformer.commands import _complete, _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from glassformer.catalogue import Entry
    from glassformer.report import Made
    from glassformer.run import Run

ORDER = 65
STOPPED = "stopped before the end; no report was written"


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN ...]",
            help="Runs by folder, or by the beginning of their names under runs/; none: the newest. Several share a "
            "file, in which they can be compared.",
            autocompletion=_complete.runs,
        ),
    ] = None,
    step: Annotated[
        str, typer.Option(metavar="STEP", help="Where it opens, and of what --with shows: a kept step, last, or best.")
    ] = "last",
    input_: Annotated[
        str | None,
        typer.Option("--input", metavar="TEXT", help="What it looks at first, in place of the task's own example."),
    ] = None,
    edit: _shared.Edits = None,
    mode: Annotated[str | None, typer.Option(help="How it opens: watch, predict, change, train or compare.")] = None,
    hide: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Controls to leave out, with commas, for a calm page.")
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="ANALYSIS",
            help="Put in the numbers of an analysis, as hessian; repeatable.",
            autocompletion=_complete.analyses,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the analyses named; repeatable."),
    ] = None,
    members: Annotated[
        str | None, typer.Option(metavar="MEMBERS", help="Of a population these, as 0,3,5; else all.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="At most so many of the kept steps, whatever the size.")
    ] = None,
    size: Annotated[
        float | None,
        typer.Option(metavar="MB", help="As many kept steps as a file of this size holds; else 2,000 in 20 MB."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", parser=_shared.place, help="Where to write; else reports/RUN.html."),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Show it in a browser, where there is one.")] = False,
    as_json: _shared.Json = False,
) -> Path:
    """Write a run as one HTML file that opens offline: scrub its training, ask it, change it, train it again."""
    from glassformer import report
    from glassformer.edits import written
    from glassformer.report import info, link
    from glassformer.report.payload import Wish

    report.check(out)
    found = _opened(runs or [], say=not as_json)
    first, chosen = found[0], _members(members)
    inside = [info.checked_members(run, chosen) for run in found]
    first.tokens(input_)  # refuses what this model cannot look at
    at = _shared.kept_step(first, step, inside[0][0])
    opens = {"step": at} if step != "last" else {}
    where = opens | ({} if input_ is None else {"sequence": input_})
    pieces, options = _analyses(with_ or [], set_ or [], where)
    _applying(pieces, found)
    names, edits = tuple(each.name for each in pieces), written(first.edited(edit or ()).edits)
    wish = Wish(size=size, steps=steps, members=chosen, analyses=names, options=options, where=where, always=((at,),))
    shown = link.link(**opens, mode=link.mode(mode), input=input_, edits=edits, hide=link.hidden(hide))
    with terminal.counting("report", show=not as_json) as progress:
        made = report.made(found, wish, shown, progress)
    path = report.put(made, out)
    if open_:
        terminal.show_page(path)
    if as_json:
        _shared.print_json(_about(made, path))
    else:
        _tell(made, path)
    return path


def _opened(names: Sequence[str], say: bool) -> "list[Run]":
    """The runs, each once."""
    found = [_shared.opened(name, say=say) for name in names] or [_shared.opened(None)]
    return list({run.path.resolve(): run for run in found}.values())


def _members(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise CallError(f"--members {text!r} is not a list of members with commas, such as 0,3,5") from None


def _analyses(
    names: Sequence[str], assignments: Sequence[str], given: dict[str, Any]
) -> "tuple[list[Entry], dict[str, Any]]":  # fmt: skip
    """The analyses asked for, and what they are asked; what one of them does not take is refused."""
    from glassformer import catalogue

    known = dict.fromkeys(_shared.named(name, "analyses") for name in names)
    pieces = [catalogue.entry("analyses", name) for name in known]
    options = _shared.options(assignments, [each.name for each in pieces], "analyses")
    for name, option in {"step": "--step", "sequence": "--input", "member": "--members"}.items():
        if name in options and name in given:
            raise CallError(f"{name} is given twice, by {option} and by --set; leave one out")
    for each in pieces:
        catalogue.chosen(each, options)
    return pieces, options


def _applying(pieces: "Sequence[Entry]", runs: "Sequence[Run]") -> None:
    """Refuse an analysis that none of the runs has."""
    from glassformer import catalogue

    for each in pieces:
        reasons = {run.name: catalogue.why_not(each, run) for run in runs}
        if all(reasons.values()):
            name, reason = next(iter(reasons.items()))
            raise CallError(f"{each.name} cannot be had of {name}: {reason}")


def _of_members(inside: int, many: int) -> str:
    if many == 1:
        return ""
    return f", all {many:,} members" if inside == many else f", {inside:,} of its {many:,} members"


def _about(made: "Made", path: Path) -> dict[str, Any]:
    held = [
        {"run": str(each.run.path), "id": each.identity, "members": each.members, "steps": len(each.steps),
         "kept_steps": len(each.run.steps), "analyses": list(each.analyses), "untrainable": each.about["untrainable"],
         **_shared.mark(each.run)}
        for each in made.runs
    ]  # fmt: skip
    return {"file": str(path), "bytes": path.stat().st_size, "link": made.link, "runs": held}


def _tell(made: "Made", path: Path) -> None:
    from glassformer import catalogue

    for each in made.runs:
        kept, inside = len(each.run.steps), len(each.steps)
        steps = _shared.counted(kept, "kept step") if inside == kept else f"{inside:,} of its {kept:,} kept steps"
        typer.echo(f"{each.run.name}: {steps}{_of_members(len(each.members), each.run.members)}")
        for name in made.asked:
            if name not in each.analyses:
                reason = catalogue.why_not(catalogue.entry("analyses", name), each.run)
                typer.echo(f"glassformer: {name} is not in it for {each.run.name}: {reason}", err=True)
    typer.echo(f"{path}, {_shared.megabytes(path.stat().st_size)}: open it in any browser, with no network")
