"""The data sets that are not shipped: what there is, and fetching one."""

from typing import Annotated

import typer

from glassformer.errors import CallError

ORDER = 150


def data(
    action: Annotated[str, typer.Argument(help="list or fetch.")] = "list",
    name: Annotated[str | None, typer.Argument(help="The data set to fetch.")] = None,
) -> None:
    """Download a data set that is not shipped, once and verified; `data list` says what there is and where it lies."""
    from glassformer import corpora
    from glassformer.errors import MissingError

    if action == "list" and name is not None:
        raise CallError(f"data list takes no name; `glassformer data fetch {name}` fetches one")
    if action == "list":
        for each in corpora.CORPORA:
            try:
                size = len(corpora.read(each))
                typer.echo(f"{each}: here, {size:,} bytes, verified")
            except MissingError:
                typer.echo(f"{each}: not on this machine; `glassformer data fetch {each}` downloads it")
        return
    if action != "fetch":
        raise CallError(f"data {action!r} is not something to do; it is list or fetch")
    if name is None:
        raise CallError(f"data fetch needs a name; there are: {', '.join(corpora.CORPORA)}")
    typer.echo(corpora.fetch(name))
