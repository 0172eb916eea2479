"""The settings of an experiment as TOML, to begin your own from; with --all, every setting there is."""

from typing import Annotated

import typer

from glassformer.commands import _shared
from glassformer.errors import CallError

ORDER = 20


def show(
    experiment: _shared.ExperimentName = None,
    all_: Annotated[
        bool,
        typer.Option(
            "--all", help="Every setting, with its value here, its default, what it may be and what it means."
        ),
    ] = False,
    as_json: _shared.Json = False,
) -> None:
    """The settings of an experiment as TOML, to begin your own from.

    With --all, every setting: its value here, its default, what it may be, and what it means; without an experiment,
    the settings of all tasks as one page.
    """
    if experiment is None and (as_json or not all_):
        raise CallError("name an experiment (`glassformer list experiments`), or give --all alone for every setting")
    if not all_ and not as_json:
        from glassformer.experiment import text

        typer.echo(text(str(experiment)), nl=False)
        return
    from glassformer import listing

    if experiment is None:
        typer.echo(listing.page(), nl=False)
        return
    kind, found = listing.lines(experiment)
    if as_json:
        _shared.print_json({
            "experiment": experiment, "about": listing.about(kind), "settings": [line.plain() for line in found],
        })  # fmt: skip
        return
    for line in listing.text(kind, found):
        typer.echo(line)
