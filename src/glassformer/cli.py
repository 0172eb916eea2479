"""The command line: every verb in commands/, and one sentence for whatever goes wrong."""

import sys
from importlib import import_module

import typer

from glassformer import _discover, commands
from glassformer.errors import Error

INTERRUPTED = 130  # how typer ends a command that Ctrl-C cut short

app = typer.Typer(
    name="glassformer",
    help="A laboratory for tiny transformers: train one in seconds, and look at every number inside it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _verb in sorted(
    (import_module(f"{commands.__name__}.{name}") for name in _discover.names(commands)), key=lambda verb: verb.ORDER
):
    _name = _verb.__name__.rpartition(".")[2]
    app.command(_name)(getattr(_verb, _name))


def main() -> None:
    """Run a command; anything wrong is one sentence and an exit code: 1 the work failed, 2 the call was wrong."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows a question mark, not a traceback
    try:
        app(standalone_mode=True)
    except Error as problem:
        typer.echo(f"glassformer: {problem}", err=True)
        sys.exit(problem.exit_code)
    except OSError as problem:
        typer.echo(f"glassformer: {problem.strerror}: {problem.filename}", err=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            typer.echo("glassformer: stopped at once; a training begun here goes on with --resume", err=True)
            sys.exit(1)
        raise
