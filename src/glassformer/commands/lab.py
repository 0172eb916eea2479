"""Train an experiment and draw it: everything from nothing in one command."""

from pathlib import Path
from typing import Annotated

import typer

from glassformer.errors import DivergedError

ORDER = 25


def lab(
    experiment: Annotated[
        str | None,
        typer.Argument(help="A ready-made experiment, or a path to your own TOML file; plus_last_even if none."),
    ] = None,
    text: Annotated[Path | None, typer.Option(help="Learn a text of your own in place of an experiment.")] = None,
    seed: Annotated[int | None, typer.Option(help="Initial weights, batches and dropout.")] = None,
    steps: Annotated[int | None, typer.Option(help="How many steps to train.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="TABLE.NAME=VALUE", help="Change a setting, as train.rate=3e-3; repeatable."),
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Show the page in a browser, if there is one.")
    ] = True,
) -> None:
    """Train an experiment and draw every figure that applies: a run in runs/, a page in figures/."""
    from glassformer.commands.figures import figures
    from glassformer.commands.train import settings_of, train
    from glassformer.record import free_name

    name = experiment if experiment or text else "plus_last_even"
    settings = settings_of(name, text, None, None, set_ or (), seed, steps)
    folder = free_name(Path("runs"), f"{settings.name}-{settings.train.seed}")
    try:
        train(name, text=text, seed=seed, steps=steps, set_=set_, out=folder)
    except DivergedError as problem:  # how far it came is worth a look
        typer.echo(f"glassformer: {problem}", err=True)
    figures([str(folder)], open_=open_)
