"""What there is: experiments, tasks and the other pieces, each with its title."""

from typing import Annotated

import typer

ORDER = 10


def list(
    kind: Annotated[str | None, typer.Argument(help="experiments, tasks, ...; none: all of them.")] = None,
) -> None:
    """What there is: experiments, tasks and the other pieces, each with its title."""
    from glassformer import catalogue

    kinds = catalogue.kinds()
    if kind is not None and kind not in kinds:
        from glassformer.errors import unknown

        raise unknown(kind, "the things that can be listed", kinds)
    for each in kinds if kind is None else [kind]:
        pieces = catalogue.pieces(each)
        if kind is None:
            typer.echo(f"{each}:")
        width = max(map(len, pieces), default=0)
        for name, title in pieces.items():
            typer.echo(f"  {name:{width}}  {title}")
