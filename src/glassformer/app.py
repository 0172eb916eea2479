"""The command line: every verb in commands/, and one sentence for whatever goes wrong."""

import errno
import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Annotated, Any

import typer
from typer._completion_classes import completion_init
from typer._completion_shared import install

from glassformer import __version__, _discover, commands, stopping, streams
from glassformer.errors import Error
from glassformer.streams import TRACEBACK

INTERRUPTED = 130  # how typer ends a command that Ctrl-C cut short before it was ours

app = typer.Typer(
    name="glassformer",
    no_args_is_help=True,
    add_completion=False,  # below, in words without colour codes
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"color": True},  # a text stays as it is on its way: streams.py shows what would be obeyed
)


completion_init()


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"glassformer {__version__}")
        raise typer.Exit


def _install_completion(asked: bool) -> None:
    if asked:
        shell, path = install()
        typer.echo(f"{shell} completes commands, runs and experiments from your next terminal on ({path})")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
    install_completion: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--install-completion",
            callback=_install_completion,
            is_eager=True,
            help="Let Tab complete commands, runs and experiments: bash, zsh, fish, PowerShell.",
        ),
    ] = False,
    task: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE.py", help="Run this file, which holds a task of your own; repeatable."),
    ] = None,
) -> None:
    """A laboratory for tiny transformers: train one in seconds, and look at every number inside it.

    Begin with `glassformer lab`, or `glassformer list` for what there is; `glassformer COMMAND --help` tells the rest.
    """
    for file in task or ():
        from glassformer import own

        own.load(file)


class StoppedError(Error):
    """Ctrl-C."""


def _stoppable(verb: ModuleType, work: Callable[..., None]) -> Callable[..., None]:
    """A command that ends with one sentence on Ctrl-C (the file's own `STOPPED`, if any), or where a task fails."""

    @wraps(work)
    def command(*words: Any, **options: Any) -> None:
        try:
            work(*words, **options)
        except BaseException as problem:
            own = sys.modules.get("glassformer.own")  # where it is not loaded, no task is at work
            if failure := own and own.failure(problem):
                raise failure from problem
            if not isinstance(problem, KeyboardInterrupt):
                raise
            at = own and own.place(reversed(list(walk_tb(problem.__traceback__))))
            raise StoppedError(getattr(verb, "STOPPED", "stopped") + (f"; it was in {at}" if at else "")) from None

    return command


for _verb in sorted(
    (import_module(f"{commands.__name__}.{name}") for name in _discover.names(commands)), key=lambda verb: verb.ORDER
):
    _name = _verb.__name__.rpartition(".")[2]
    app.command(_name, short_help=(_verb.__doc__ or "").partition("\n")[0])(_stoppable(_verb, getattr(_verb, _name)))


def run() -> None:
    """Run a command; anything wrong is one sentence and an exit code: 1 the work failed, 2 the call was wrong."""
    streams.cover()
    if {"--json", "--json-lines"} & {*takewhile(lambda word: word != "--", sys.argv)}:
        streams.reserve()
    os.environ["MPLBACKEND"] = "agg"  # drawn into files, whatever a person's own programs draw with
    stopping.working()
    try:
        code = _code()
    except KeyboardInterrupt:  # before the command had begun, or while it said how it ended
        code = _failed("stopped", 1)
    stopping.ending(code)
    sys.exit(code)


def _code() -> int:
    """The exit code of the command, which has said what there was to say."""
    try:
        app(standalone_mode=True)
    except Error as problem:
        return _failed(str(problem), problem.exit_code)
    except OSError as problem:
        if problem.errno == errno.EPIPE:
            return 1
        return _failed(f"{problem.strerror or problem}: {problem.filename or 'the output cannot be written'}", 1)
    except MemoryError:
        return _failed("there is not enough memory for this; ask for less at a time", 1)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            return _failed("stopped", 1)
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # Exception, or a panic of a library that is written in Rust
        if os.environ.get(TRACEBACK):
            raise
        what = ": ".join(word for word in (type(problem).__name__, str(problem)) if word)
        return _failed(f"{what}\nThis was not foreseen; please report it. {TRACEBACK}=1 shows where it came from.", 1)
    return 0


def _failed(sentence: str, code: int) -> int:
    typer.echo(f"glassformer: {sentence}", err=True)
    return code
