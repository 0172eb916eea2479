"""What the five sources say, and what is true: settle their claims, each by a computation."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer import streams, terminal
from glassformer.commands import _complete, _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from rich.progress import Progress

    from glassformer.claims._claim import Claim, Need
    from glassformer.claims._rows import Row
    from glassformer.claims._settle import Watch

ORDER = 85
STOPPED = "stopped; what is settled is kept, and the same command goes on from there; with --again it begins anew"
COLOURS = {
    "reproduced": "green", "corrected": "yellow", "refuted": "red", "illustrative": "blue", "not checkable": "grey",
}  # fmt: skip
RICH = {"grey": "bright_black"}  # colours that Rich calls otherwise
WIDE, NARROW = 100, 80  # columns from which on a table fits; columns of plain lines where there is no terminal
INDENT = 10


def claims(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE|ID ...]",
            help="Sources (S0 to S4) or single claims, as S3-05; none: all.",
            autocompletion=_complete.claims,
        ),
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Settle all that --out does not hold; takes an hour or more on two cores.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Settle the named claims anew, even if their results are known.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=_shared.place, help="Where results and trainings are kept; else claims/."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that work side by side; else one a core.")] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A Dask scheduler whose workers settle them; all of them must see --out."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE.md", parser=_shared.place, help="Write the table as a page, too.")
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Of one claim: write the report of the run that decides it, and show it.")
    ] = False,
    as_json: _shared.Json = False,
) -> None:
    """Show what the sources claim and what is true, and settle it on request.

    A claim is shown as it was settled in the folder of --out, otherwise as the record says that comes with the package.
    With --all or --again it is settled here. After an interruption, the same command with --all continues.
    """
    from glassformer.claims import _rows, _settle, _sources

    began = monotonic()
    chosen, folder = _sources.meant(names or []), _shared.folder_for(out, _settle.FOLDER)
    if workers is not None and scheduler is not None:
        raise CallError("--workers is for this machine and --scheduler for a cluster; leave one of them out")
    if open_ and len(chosen) != 1:
        raise CallError(f"--open is for one claim, and {len(chosen)} are named; name one, as in S3-05")
    if again and not (names or all_):
        raise CallError("--again settles the claims that are named anew; name some, as in S3-05, or add --all")
    unknown = [claim for claim in chosen if not claim.slow and "verdict" not in _rows.known(claim, folder)]
    todo = chosen if all_ or again else unknown
    with _watching(show=not as_json) as watch:
        from glassformer.commands.study import interruptible

        with interruptible(watch):
            found = _settle.settle(todo, folder, again=again, workers=workers, scheduler=scheduler, watch=watch)
    rows = [_rows.row(claim, found[claim.id] if claim.id in found else _rows.known(claim, folder)) for claim in chosen]
    if markdown is not None:
        from glassformer import storage
        from glassformer.claims import _page

        storage.make_folder(markdown.parent)
        storage.replace(markdown, _page.page(rows).encode())
    if as_json:
        _print_json(rows)
    elif len(rows) == 1 and names and rows[0]["id"] == names[0].upper():
        _in_full(rows[0])
    else:
        _table(rows, monotonic() - began)
    if open_:
        _open(chosen[0], folder)
    failed = {id: each["problem"] for id, each in found.items() if "problem" in each}
    for id, sentence in failed.items():
        typer.echo(f"glassformer: {id} failed: {sentence}", err=True)
    for sentence in dict.fromkeys(each["missing"] for each in found.values() if "missing" in each):
        many = sum(each.get("missing") == sentence for each in found.values())
        typer.echo(f"{_shared.counted(many, 'claim')} could not be settled: {sentence}", err=True)
    if failed:
        raise typer.Exit(1)


def _print_json(rows: "Sequence[Row]") -> None:
    """One claim a line, so that a record of them can be compared line by line."""
    import json

    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    streams.answer(f'{{"claims": [\n{lines}\n]}}')


def _open(claim: "Claim", folder: Path) -> None:
    """The report of the run that decides a claim, at its step, input and edits; trained first where it is not there."""
    from glassformer.claims import _rows, _settle
    from glassformer.commands.report import report

    if claim.experiment in _rows.PHYSICS:
        from glassformer.commands.physics import physics

        physics(claim.experiment, open_=True)
        return
    if not claim.experiment:
        raise CallError(f"{claim.id} is settled without a run, so there is no report to open")
    with terminal.progress(show=True) as draw:
        need = _rows.shown_by(claim)
        run = _settle.run_of(need, _settle.place(need, folder), draw)
    step = "last" if claim.step is None else str(claim.step)
    report([str(run.path)], step=step, input_=claim.input, edit=[claim.edits] if claim.edits else None, open_=True)


# ---- what a person sees ---------------------------------------------------------------------------------------------


def _table(rows: "Sequence[Row]", seconds: float) -> None:
    from rich.console import Console

    from glassformer import streams
    from glassformer.claims import _rows

    terminal_ = sys.stdout.isatty()
    console = Console(file=streams.real(sys.stdout))
    if terminal_ and console.width >= WIDE:
        _columns(console, rows)
    else:
        for row in rows:
            _listed(row, min(console.width, WIDE) if terminal_ else NARROW)
    counts = {verdict: many for verdict, many in _rows.counts(rows).items() if many}
    typer.echo(f"{_shared.counted(len(rows), 'claim')}: "
               f"{', '.join(f'{many} {verdict}' for verdict, many in counts.items())} ({seconds:.1f} s)")  # fmt: skip
    if rows:
        typer.echo(f"`glassformer claims {rows[0]['id']}` tells one in full")


def _columns(console: Any, rows: "Sequence[Row]") -> None:
    from rich.table import Table
    from rich.text import Text

    from glassformer.words import shown

    table = Table(show_lines=True, expand=True)
    table.add_column("id", no_wrap=True)
    for name, ratio in (("the source says", 3), ("measured", 3)):
        table.add_column(name, ratio=ratio)
    table.add_column("verdict", no_wrap=True)
    table.add_column("what is true", ratio=4)
    for row in rows:
        colour = COLOURS.get(row["verdict"] or "", "grey")
        verdict = Text(row["verdict"] or "–", style=RICH.get(colour, colour))
        says, measured, true = (Text(shown(each)) for each in (row["statement"], row["measured"] or "", _true(row)))
        table.add_row(row["id"], says, measured, verdict, true)
    console.print(table)


def _listed(row: "Row", wide: int) -> None:
    """A claim in lines, where a table would not fit."""
    import textwrap

    typer.echo(f"{row['id']:{INDENT}}", nl=False)
    terminal.coloured(row["verdict"] or "not settled", COLOURS.get(row["verdict"] or "", "grey"))
    for word, text in (("says", row["statement"]), ("measured", row["measured"]), ("true", _true(row))):
        if text:
            begin = f"{word:{INDENT}}"
            typer.echo(textwrap.fill(text, wide, initial_indent=begin, subsequent_indent=" " * INDENT))
    typer.echo("")


def _true(row: "Row") -> str:
    return "; ".join(each for each in (row["reason"], row["truth"], row["note"]) if each)


def _in_full(row: "Row") -> None:
    """All that is known of one claim."""
    from glassformer.claims import _rows, _settle

    _listed(row, NARROW)
    lines = {
        "source": f"{row['source']} {row['source_title']}, {row['place']}",
        "how": _rows.ways(row),
        "stated": f"{_settle.said(row['stated'])} (±{row['tolerance']:g})" if row["stated"] else "",
        "seeds": " and ".join(map(str, sorted(set(_rows.seeds(row))))),
        "settled": row["verdict"] and f"{row['settled']}, in {row['seconds']:.1f} s, by version {row['version']}",
        "run": row["run"],
        "train": row["train"],
        "figure": row["command"],
        "report": row["report"],
    }
    for word, text in lines.items():
        if text:
            typer.echo(f"{word:{INDENT}}{text}")


@contextmanager
def _watching(show: bool) -> Iterator["Watch"]:
    """Bars on a terminal, a line for each training and claim elsewhere, nothing when not shown."""
    from glassformer.claims._settle import Watch

    def begin(needs: "list[Need]", todo: "list[Claim]") -> None:
        if todo:
            first = f", {_shared.counted(len(needs), 'training')} first" if needs else ""
            typer.echo(f"{_shared.counted(len(todo), 'claim')} to settle{first}", err=True)

    lines = {
        "begin": begin, "trained": lambda name, lacking: typer.echo(_trained(name, lacking), err=True),
        "done": lambda claim, found: typer.echo(_settled(claim, found), err=True),
    }  # fmt: skip
    with terminal.watching(Watch, show, lines, _bars) as watch:
        yield watch


def _trained(name: str, lacking: dict[str, Any]) -> str:
    return next(iter(lacking.values()), f"{name}: trained")


def _settled(claim: "Claim", found: dict[str, Any]) -> str:
    if "verdict" in found:
        return f"{claim.id}: {found['verdict']} ({found['seconds']:.1f} s)"
    return f"{claim.id}: {found.get('missing') or 'failed: ' + found['problem']}"


def _bars(bar: "Progress") -> dict[str, Any]:
    """One bar for all claims, and one for each training."""
    from glassformer.words import shown

    tasks: dict[str, Any] = {}

    def begin(needs: "list[Need]", todo: "list[Claim]") -> None:  # noqa: ARG001
        if todo:
            tasks[""] = bar.add_task("", total=len(todo), cell="claims")

    def step(message: dict[str, Any]) -> None:
        cell = message["cell"]
        if cell not in tasks:
            tasks[cell] = bar.add_task("", total=None, cell=shown(cell))
        words = f"loss {message['loss']:.4f}"
        bar.update(tasks[cell], completed=message["step"], total=message["steps"], description=words)
        if message["step"] >= message["steps"]:
            bar.remove_task(tasks.pop(cell))

    def done(claim: "Claim", found: dict[str, Any]) -> None:
        bar.advance(tasks[""])
        if "verdict" not in found:
            bar.console.print(shown(_settled(claim, found)), highlight=False, markup=False)

    return {"begin": begin, "progress": step, "done": done}
