"""The physics of learning: run a model small enough to follow, and tell what happened."""

from pathlib import Path
from typing import Annotated, Any

import typer

from glassformer import terminal
from glassformer.commands import _shared
from glassformer.errors import CallError, unknown

ORDER = 90
STOPPED = "stopped before the end; every file written so far is whole, and the same command writes them all again"
MODELS = ("one_layer", "boltzmann_memory")
SHARED = (
    "steps",
    "temperatures",
    "coldest",
    "hottest",
    "seed",
    "gradients",
    "decay",
    "rate",
)  # by View 3's memory model


def physics(
    model: Annotated[str, typer.Argument(help="one_layer or boltzmann_memory.")] = "one_layer",
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE ...]", help="Figures by name, and nothing else; none: all, with a page."),
    ] = None,
    view: Annotated[int | None, typer.Option(help="1 school, 2 college, 3 physicist; none: all of them.")] = None,
    size: Annotated[str, typer.Option(help="screen, slide, print or print_narrow.")] = "screen",
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    format_: Annotated[
        str | None, typer.Option("--format", help="svg, png, pdf, csv (the numbers), with commas; svg,csv if none.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the figures named, as temperature=3.5."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", parser=_shared.place, help="Where to write; else physics/MODEL.")
    ] = None,
    tokens: Annotated[int | None, typer.Option(help="How many tokens there are.")] = None,
    context: Annotated[int | None, typer.Option(help="Positions of the window.")] = None,
    steps: Annotated[int | None, typer.Option(help="How many steps to live.")] = None,
    temperatures: Annotated[int | None, typer.Option(help="How many temperatures.")] = None,
    coldest: Annotated[float | None, typer.Option(help="The lowest temperature.")] = None,
    hottest: Annotated[float | None, typer.Option(help="The highest temperature.")] = None,
    output_rate: Annotated[float | None, typer.Option(help="Learning rate of the output matrix.")] = None,
    projection_rate: Annotated[float | None, typer.Option(help="Learning rate of the other matrices.")] = None,
    target: Annotated[int | None, typer.Option(help="The token that is always right.")] = None,
    start: Annotated[int | None, typer.Option(help="The first token.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the first weights, and of what is drawn.")] = None,
    feed_forward: Annotated[int | None, typer.Option(help="Neurons; else twice the tokens.")] = None,
    scale: Annotated[float | None, typer.Option(help="Width of the range of the first weights.")] = None,
    feedback: Annotated[str | None, typer.Option(help="argmax or sampled: what is read next.")] = None,
    gradients: Annotated[str | None, typer.Option(help="heuristic (as published) or true.")] = None,
    decay: Annotated[float | None, typer.Option(help="Memory model: share that outlives a step.")] = None,
    rate: Annotated[float | None, typer.Option(help="Memory model: learning rate.")] = None,
    open_: Annotated[bool, typer.Option("--open", help="Show the page in a browser, where there is one.")] = False,
    as_json: _shared.Json = False,
) -> None:
    """Run a physics model: draw it, save every array and tell it three times on one page, or draw the figures named."""
    given = {name: value for name, value in locals().items() if value is not None and name not in NOT_SETTINGS}
    if model not in MODELS:
        raise unknown(model, "the physics models", MODELS)
    from glassformer.figures import _draw, _style
    from glassformer.gallery import Wish

    _style.theme(theme), _style.size(size)
    if names and view is not None:
        raise CallError("--view is for the page; of the figures, thermodynamics takes --set view=1, 2 or 3")
    formats = _shared.formats(format_, _draw.FORMATS, "svg,csv")
    options = _shared.options(set_ or (), names or [], "figures")
    wish = Wish(size=size, theme=theme, formats=formats, options=options)
    if open_ and names:
        raise CallError("--open shows the page with all figures; leave it out, or the names")
    _shared.used({"size": size != "screen", "theme": theme != "light"}, (), options)
    folder = _shared.folder_for(out, Path("physics") / model)
    run = _layer if model == "one_layer" else _memory
    with terminal.counting("figures", show=not as_json) as progress:
        made = run(given, names or [], folder, view, wish, progress)
    if open_ and made.page:
        terminal.show_page(made.page)
    if as_json:
        page = {"page": str(made.page)} if made.page else {}
        _shared.print_json({**made.numbers, **page, "files": [str(path) for path in made.files]})
        return
    if not made.page:
        for path in made.files:
            typer.echo(path)
        return
    for line in _lines(made.numbers):
        typer.echo(line)
    typer.echo(f"{_shared.counted(len(made.files), 'file')}: {made.page}")


NOT_SETTINGS = ("model", "names", "view", "size", "theme", "format_", "set_", "out", "open_", "as_json")


def _layer(given: dict[str, Any], names: list[str], folder: Path, view: int | None, wish: Any, progress: Any) -> Any:
    from glassformer.physics._publish import publish_figures, publish_layer
    from glassformer.physics.models.boltzmann_memory import BoltzmannMemory
    from glassformer.physics.models.one_layer import OneLayer

    memory = {name: value for name, value in given.items() if name in SHARED}
    own = {name: value for name, value in given.items() if name not in ("decay", "rate")}
    if names and (left := [f"--{name}" for name in ("decay", "rate") if name in given]):
        raise CallError(f"{' and '.join(left)} change the memory model, which none of these figures of one_layer shows")
    if names:
        return publish_figures(OneLayer(**own), names, folder, wish, progress)
    return publish_layer(OneLayer(**own), BoltzmannMemory(**memory), folder, view, wish, progress)


def _memory(given: dict[str, Any], names: list[str], folder: Path, view: int | None, wish: Any, progress: Any) -> Any:
    from glassformer.physics._publish import publish_figures, publish_memory
    from glassformer.physics.models.boltzmann_memory import BoltzmannMemory

    known = BoltzmannMemory.__dataclass_fields__
    for name, value in given.items():
        if name not in known:
            raise CallError(
                f"--{name.replace('_', '-')} {value} is not a setting of boltzmann_memory; it has {', '.join(known)}"
            )
    if names:
        return publish_figures(BoltzmannMemory(**given), names, folder, wish, progress)
    return publish_memory(BoltzmannMemory(**given), folder, view, wish, progress)


def _lines(numbers: dict[str, Any]) -> list[str]:
    """What happened, in two lines."""

    def both(name: str, word: str) -> str:
        return f"{word} {numbers[name]['first']:.4f} → {numbers[name]['last']:.4f}"

    heat = numbers["mean_entropy"]
    cold, near, hot = (f"{heat[name]:.4f}" for name in ("coldest", "nearest_one", "hottest"))
    mean = f"mean entropy {cold} (coldest), {near} (T nearest 1), {hot} (hottest)"
    if numbers["model"] == "boltzmann_memory":
        return [
            f"at T = {numbers['temperature_nearest_one']:.4f}: {both('entropy', 'entropy')}, {both('loss', 'loss')}",
            mean,
        ]
    reached = numbers["reached_step"]
    sure = (
        "p(target) does not stay above 0.95" if reached is None else f"p(target) stays above 0.95 from step {reached}"
    )
    return [f"{both('training_entropy', 'entropy')}, {both('p_target', 'p(target)')}; {sure}", mean]
