"""Draw a run."""

from pathlib import Path
from typing import Annotated

import typer

from glassformer import terminal
from glassformer.commands import _shared

ORDER = 70


def figures(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN] [NAME ...]", help="A run, then figures by name; none: all that apply."),
    ] = None,
    step: _shared.Step = -1,
    sequence: Annotated[
        list[str] | None, typer.Option(help="What to look at, in place of the task's own example; repeatable.")
    ] = None,
    member: _shared.Member = 0,
    size: Annotated[str, typer.Option(help="screen, slide, print or print_narrow.")] = "screen",
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    format_: Annotated[
        str | None, typer.Option("--format", help="svg, png, pdf, with commas; svg,png if none.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the figures named; repeatable."),
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="RUN", help="A further run, for figures that compare; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write; else figures/RUN.")] = None,
    open_: Annotated[bool, typer.Option("--open", help="Show the page in a browser, where there is one.")] = False,
    as_json: _shared.Json = False,
) -> None:
    """Draw a run: every figure that applies with a page that shows them all, or the figures named."""
    from glassformer import gallery
    from glassformer.analyses import _clock
    from glassformer.figures import _draw, _style
    from glassformer.run import find

    run, names = _shared.run_and_names(words or [], "figures")
    _style.theme(theme), _style.size(size), _clock.resolve(run, step)
    for text in sequence or ():
        run.tokens(text)  # refuses what this model cannot look at
    wish = gallery.Wish(
        step=step,
        member=_shared.checked_member(run, member),
        sequences=tuple(sequence or ()),
        size=size,
        theme=theme,
        formats=_shared.formats(format_, _draw.FORMATS, "svg,png"),
        options=_shared.options(set_ or (), names, "figures"),
        others=tuple(str(find(each).path) for each in with_ or ()),
    )
    folder = out or Path("figures") / run.name
    with terminal.counting("figures", show=not as_json) as progress:
        tell = lambda done, many, name: progress(done, many)  # noqa: E731, ARG005
        if names:
            made = gallery.draw(run, [gallery.piece(name) for name in names], wish, folder, tell)
        else:
            made = gallery.gallery(run, folder, wish, tell)
    failed, absent = [each for each in made if each.failed], [each for each in made if each.absent]
    if open_ and not names:
        terminal.show_page(folder / "index.html")
    if as_json:
        from dataclasses import asdict

        _shared.print_json({"run": str(run.path), "folder": str(folder), "figures": [asdict(each) for each in made]})
    else:
        for each in made:
            for file in each.files if names else ():
                typer.echo(folder / file)
        for each in absent if names else ():
            typer.echo(f"glassformer: {each.name} is not drawn for {run.name}: {each.absent}", err=True)
        for each in failed:
            typer.echo(f"glassformer: {each.name} could not be drawn: {each.failed}", err=True)
        if not names:
            typer.echo(f"{sum(bool(each.files) for each in made)} figures of {run.name}: {folder / 'index.html'}")
    if failed or (absent and names):
        raise typer.Exit(1 if failed else 2)
