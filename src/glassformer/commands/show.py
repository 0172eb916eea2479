"""The settings of an experiment as TOML, to begin your own from."""

from typing import Annotated

import typer

from glassformer.commands import _complete

ORDER = 20


def show(
    experiment: Annotated[
        str, typer.Argument(help="The name of a ready-made experiment.", autocompletion=_complete.experiments)
    ],
) -> None:
    """The settings of an experiment as TOML, to begin your own from."""
    from glassformer.experiment import text

    typer.echo(text(experiment), nl=False)
