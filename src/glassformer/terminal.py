"""What a person at a terminal sees and does while work goes on: bars, plain lines, Ctrl-C, a page that opens."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from glassformer import stopping, streams
from glassformer.errors import CallError, DivergedError, Error
from glassformer.words import shown

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn

    from glassformer.notes import Progress

W = TypeVar("W")  # a class of watches
COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "grey": 90}


def coloured(text: str, colour: str, nl: bool = True) -> None:
    """Print a text in one of COLOURS, on a terminal that may show it; the text itself is shown, not obeyed."""
    out, plain = streams.real(sys.stdout), os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    plain = plain or (sys.platform == "win32" and "WT_SESSION" not in os.environ)  # older consoles print the codes
    if plain or out is None or not out.isatty():
        typer.echo(text, nl=nl)
        return
    out.write(f"\x1b[{COLOURS[colour]}m{shown(text)}\x1b[0m" + "\n" * nl)
    out.flush()


@contextmanager
def bars(*columns: "str | ProgressColumn") -> Iterator["Bars"]:
    """Bars that move, on the real terminal; whatever else is written meanwhile is still shown, not obeyed."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=streams.real(sys.stderr))
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as made:
        outer = sys.stderr  # of Rich, which keeps the bars below what is written
        sys.stderr = streams.Shown(outer)
        try:
            yield made
        finally:
            sys.stderr = outer


@contextmanager
def watching(
    watch: Callable[..., W], show: bool, lines: Mapping[str, Any], draw: "Callable[[Bars], Mapping[str, Any]]"
) -> Iterator[W]:
    """A watch over many trainings: bars on a terminal, lines elsewhere, only notices when nothing is to be shown."""
    from rich import progress as rich

    notice = lambda sentence: typer.echo(f"notice: {sentence}", err=True)  # noqa: E731
    if not (show and sys.stderr.isatty()):
        yield watch(notice=notice, **(lines if show else {}))
        return
    columns = (
        rich.TextColumn("{task.fields[cell]}", markup=False), rich.BarColumn(), rich.MofNCompleteColumn(),
        rich.TextColumn("{task.description}"), rich.TimeRemainingColumn(),
    )  # fmt: skip
    with bars(*columns) as bar:
        yield watch(notice=notice, **draw(bar))


@contextmanager
def safe_stop(on_input: bool = False) -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks the training to stop at its next safe point; a second one stops it at once.

    With `on_input`, anything that comes in on standard input asks too, and so does its end; nobody else looks there.
    """
    from glassformer import own

    asked = False

    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        if asked:
            signal.signal(number, stopping.interrupt)  # the third one ends the process, should a task catch this one
            signal.default_int_handler(number, frame)
        asked = True
        stopping.remember()
        at = own.place(traceback.walk_stack(frame))
        typer.echo(f"\nstopping at the next safe point (Ctrl-C again stops at once){at and f'; now in {at}'}", err=True)

    def listen(file: int) -> None:
        nonlocal asked
        with suppress(OSError):  # an input that cannot be read has ended
            os.read(file, 1)
        if not asked:
            asked = True
            typer.echo("\nstopping at the next safe point (Ctrl-C stops at once)", err=True)

    if on_input and sys.stdin is None:  # else its number would be another file's by now
        raise CallError("--stop-on-stdin needs a standard input, and there is none; leave it out")
    if on_input:
        threading.Thread(target=listen, args=(sys.stdin.fileno(),), daemon=True).start()
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress(
    show: bool, tell: Callable[[dict[str, Any]], None] | None = None
) -> Iterator[Callable[["Progress"], None]]:
    """A bar on a terminal, about ten plain lines elsewhere, nothing when not shown; or tables, told to a program."""
    if tell is not None:
        try:
            yield lambda p: _tell(p, tell)
        except Error as problem:
            tell({"status": "diverged" if isinstance(problem, DivergedError) else "failed", "error": str(problem)})
            raise
    elif not show:
        yield lambda _: None
    elif sys.stderr.isatty():
        from rich import progress as rich

        columns = (
            rich.TextColumn("step"), rich.MofNCompleteColumn(), rich.BarColumn(), rich.TextColumn("{task.description}"),
            rich.TimeRemainingColumn(),
        )  # fmt: skip
        with bars(*columns) as bar:
            task = bar.add_task("compiling", total=None)

            def draw(p: "Progress") -> None:
                words = f"{p.steps_per_second:,.0f} steps/s, loss {p.loss:.4f}, excess {p.excess:.4f}"
                bar.update(task, completed=p.step, total=p.steps, description=words)

            yield draw
    else:
        tenths = -1

        def line(p: "Progress") -> None:
            nonlocal tenths
            if 10 * p.step // p.steps > tenths:
                tenths = 10 * p.step // p.steps
                left = p.seconds_left
                speed = "compiling" if left is None else f"{p.steps_per_second:,.0f} steps/s, {left:.0f} s left"
                typer.echo(f"step {p.step:,}/{p.steps:,}  loss {p.loss:.4f}  excess {p.excess:.4f}  {speed}", err=True)

        yield line


def _tell(p: "Progress", tell: Callable[[dict[str, Any]], None]) -> None:
    left = p.seconds_left
    table = {
        "status": "running",
        "run": str(p.run),
        "step": p.step,
        "steps": p.steps,
        "loss": p.loss,
        "excess": p.excess,
        "steps_per_second": round(p.steps_per_second, 1),
        "seconds_left": None if left is None else round(left, 1),
        "safe_point": p.safe_point,
    }
    with suppress(BrokenPipeError):  # whoever read along is gone; that is no reason to stop
        tell(table)


@contextmanager
def counting(what: str, show: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, about five plain lines elsewhere, nothing when not shown; each count heeds Ctrl-C."""
    if not show:
        yield lambda _, __: stopping.heed()
    elif sys.stderr.isatty():
        from rich import progress as rich

        named = rich.TextColumn(shown(what), markup=False)
        with bars(named, rich.MofNCompleteColumn(), rich.BarColumn(), rich.TimeRemainingColumn()) as bar:
            task = bar.add_task(what, total=None)

            def move(done: int, many: int) -> None:
                bar.update(task, completed=done, total=many)
                stopping.heed()

            yield move
    else:
        fifths = -1

        def line(done: int, many: int) -> None:
            nonlocal fifths
            if 5 * done // many > fifths:
                fifths = 5 * done // many
                typer.echo(f"{what}: {done} of {many}", err=True)
            stopping.heed()

        yield line


def show_page(page: Path) -> None:
    """Open a page in the person's browser; without a screen there is none, and the path is printed anyway."""
    screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
