"""Train an experiment, draw it, and make its page: everything from nothing in one command."""

from pathlib import Path
from typing import Annotated

import typer

from glassformer import stopping, terminal
from glassformer.commands import _complete, _shared
from glassformer.errors import DivergedError

ORDER = 25
STOPPED = "stopped; a training begun here goes on with `train ... --resume`, and `figures` draws what was trained"


def lab(
    experiment: Annotated[
        str | None,
        typer.Argument(
            help="A ready-made experiment, or a path to your own TOML or .py file; plus_last_even if none.",
            autocompletion=_complete.experiments,
        ),
    ] = None,
    text: Annotated[Path | None, typer.Option(help="Learn a text of your own in place of an experiment.")] = None,
    seed: Annotated[int | None, typer.Option(help="Initial weights, batches and dropout.")] = None,
    steps: Annotated[int | None, typer.Option(help="How many steps to train.")] = None,
    set_: _shared.Settings = None,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Show the page in a browser, if there is one.")
    ] = True,
) -> None:
    """Train an experiment, draw every figure that applies and write the page it lives in: runs/, figures/, reports/."""
    from glassformer.changed import run_name
    from glassformer.commands import _next
    from glassformer.commands.figures import figures
    from glassformer.commands.report import report
    from glassformer.commands.train import settings_of, train
    from glassformer.record import free_name
    from glassformer.run import open as open_run

    name = experiment if experiment or text else "plus_last_even"
    settings = settings_of(name, text, None, None, set_ or (), seed, steps)
    folder = free_name(Path("runs"), run_name(settings))
    try:
        train(name, text=text, seed=seed, steps=steps, set_=set_, out=folder, then=False)
    except DivergedError as problem:  # how far it came is worth a look
        typer.echo(f"glassformer: {problem}", err=True)
    stopping.heed()  # asked for so late that the training came to its end
    page = report([str(folder)])  # first, so that the gallery leads to it
    figures([str(folder)])
    typer.echo(f"the report of {folder.name}: {page}")
    if open_:
        terminal.show_page(page)
    _next.say(open_run(folder), "figures", "report")
