"""Answer a question that takes many trainings: a table over seeds, a figure, and a conclusion."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer import terminal
from glassformer.commands import _complete, _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from rich.progress import Progress

    from glassformer.studies._run import Watch
    from glassformer.study import Study

ORDER = 80
STOPPED = "stopped; the finished cells are kept, and the same command goes on from there"


def study(
    name: Annotated[
        str,
        typer.Argument(
            help="ablation, training_size, rate, ...; `glassformer list studies`.", autocompletion=_complete.studies
        ),
    ],
    experiment: Annotated[
        str,
        typer.Argument(
            help="A ready-made experiment, or a path to your own TOML or .py file.",
            autocompletion=_complete.experiments,
        ),
    ] = "five_operations",
    seeds: Annotated[int, typer.Option(help="How many seeds each cell is trained with.")] = 8,
    steps: Annotated[
        int | None, typer.Option(help="Steps of each training; else as many as a small machine can do in seconds.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="TABLE.NAME=VALUE", help="Change a setting of every cell; repeatable."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="TABLE.NAME=VALUE", help="ablation: a further cell with this setting; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", parser=_shared.place, help="The study's folder; else studies/NAME-EXPERIMENT."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that train side by side; else one a core.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler whose workers train the cells.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no table; just the study's folder.")] = False,
    as_json: _shared.Json = False,
) -> None:
    """Train many models, compare them over seeds, and say what follows.

    The same command again goes on where an interrupted study stopped.
    """
    from glassformer.experiment import load
    from glassformer.studies import _run

    _run.find(name)
    given = load(experiment, set_ or ())  # before JAX: a wrong setting is answered at once
    if workers is not None and scheduler is not None:
        raise CallError("--workers is for this machine and --scheduler for a cluster; leave one of them out")
    with _watching(show=not (quiet or as_json)) as watch, interruptible(watch):
        found = _run.run(
            name, given, seeds=seeds, steps=steps, without=tuple(without or ()), out=out, workers=workers,
            scheduler=scheduler, watch=watch,
        )  # fmt: skip
    draw(found)
    if as_json:
        _shared.print_json({**found.result, **_shared.mark(found)})
    elif quiet:
        typer.echo(found.path)
    else:
        _tell(found)
    for cell, sentence in found.failed.items():
        typer.echo(f"glassformer: the cell {cell!r} failed: {sentence}", err=True)
    if found.missing:
        raise typer.Exit(1)


def draw(found: "Study") -> list[Path]:
    """The study's figure, as SVG and PNG, and the numbers behind it."""
    from glassformer import catalogue, figures
    from glassformer.figures import _draw

    if not found.rows():
        return []
    name = catalogue.figure_of(found.name)
    figure = getattr(figures, f"plot_{name}")(found)
    files = [_draw.save(figure, found.path / f"{name}.{kind}") for kind in ("svg", "png")]
    about = {"figure": name, "study": found.path.name}
    return [*files, _draw.save_numbers(figure, found.path / f"{name}.json", about)]


def _tell(found: "Study") -> None:
    if found.trained and found.unverified:
        typer.echo(f"notice: {found.unverified_words}", err=True)
    for line in found.lines():
        typer.echo(line)
    steps = sorted({row.experiment.train.steps for row in found.rows()} or {found.experiment.train.steps})
    typer.echo(f"({found.interval}; {' to '.join(f'{each:,}' for each in {steps[0]: 0, steps[-1]: 0})} steps)")
    typer.echo(found.result["conclusion"])
    typer.echo(f"study: {found.path} ({_shared.counted(len(found.trained), 'cell')}, {found.seconds:.0f} s)")


@contextmanager
def interruptible(watch: Any) -> Iterator[None]:
    """A polite request to end is Ctrl-C by another name; neither is lost.

    Python drops what a signal raises while it is tidying up, so the request is heeded at the next progress as well.
    """
    asked = False

    def end(number: int, frame: Any) -> None:  # noqa: ARG001
        nonlocal asked
        asked = True
        raise KeyboardInterrupt

    def heeding(tell: Callable[..., None]) -> Callable[..., None]:
        def told(*words: Any) -> None:
            tell(*words)
            if asked and threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt

        return told

    watch.progress, watch.done = heeding(watch.progress), heeding(watch.done)
    heard = [each for each in (signal.SIGTERM, signal.SIGINT) if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, end) for each in heard}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def _watching(show: bool) -> Iterator["Watch"]:
    """A bar per cell on a terminal, a line per cell elsewhere, nothing when not shown."""
    from glassformer.studies._run import Watch

    def begin(study: "Study", todo: list[Any]) -> None:  # noqa: ARG001
        done = len(study.trained)
        again = f", {done} of them done before" if done else ""
        typer.echo(f"{study.path}: {_shared.counted(len(study.cells), 'cell')}{again}", err=True)

    lines = {
        "begin": begin, "done": lambda study, cell: typer.echo(_line(study, cell), err=True),
        "failed": lambda cell, sentence: typer.echo(f"{cell.name}: failed: {sentence}", err=True),
    }  # fmt: skip
    with terminal.watching(Watch, show, lines, _bars) as watch:
        yield watch


def _line(study: "Study", cell: Any) -> str:
    """What one finished cell has reached."""
    row, metric = study.trained[cell.name], study.main
    lost = f", {len(row.diverged)} of {len(row.seeds)} seeds diverged" if row.diverged else ""
    return (
        f"[{len(study.trained)}/{len(study.cells)}] {cell.name}: {study.metrics[metric].title} "
        f"{study.shown(row, metric)}{lost} ({row.seconds:.0f} s)"
    )


def _bars(bar: "Progress") -> dict[str, Any]:
    """One bar for each cell."""
    from glassformer.words import shown

    tasks: dict[str, Any] = {}

    def begin(study: "Study", todo: list[Any]) -> None:  # noqa: ARG001
        for cell in todo:
            tasks[cell.name] = bar.add_task("waiting", total=None, cell=shown(cell.name))

    def step(message: dict[str, Any]) -> None:
        words = f"loss {message['loss']:.4f}, excess {message['excess']:.4f}"
        bar.update(tasks[message["cell"]], completed=message["step"], total=message["steps"], description=words)

    def done(study: "Study", cell: Any) -> None:
        bar.remove_task(tasks[cell.name])
        bar.console.print(shown(_line(study, cell)), highlight=False, markup=False)

    def failed(cell: Any, sentence: str) -> None:
        bar.remove_task(tasks[cell.name])
        bar.console.print(shown(f"{cell.name}: failed: {sentence}"), highlight=False, markup=False)

    return {"begin": begin, "progress": step, "done": done, "failed": failed}
