"""The physics of learning: run a model small enough to follow, and tell what happened."""

from pathlib import Path
from typing import Annotated, Any

import typer

from glassformer import terminal
from glassformer.commands import _shared
from glassformer.errors import CallError, unknown

ORDER = 90
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
    view: Annotated[int | None, typer.Option(help="1 school, 2 college, 3 physicist; none: all of them.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write; else physics/MODEL.")] = None,
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
    """Run a physics model, draw every figure, save every array, and tell the result three times on one page."""
    given = {name: value for name, value in locals().items() if value is not None and name not in NOT_SETTINGS}
    if model not in MODELS:
        raise unknown(model, "the physics models", MODELS)
    folder = out or Path("physics") / model
    with terminal.counting("figures", show=not as_json) as progress:
        made = _layer(given, folder, view, progress) if model == "one_layer" else _memory(given, folder, view, progress)
    if open_:
        terminal.show_page(made.page)
    if as_json:
        _shared.print_json({**made.numbers, "page": str(made.page), "files": [str(path) for path in made.files]})
        return
    for line in _lines(made.numbers):
        typer.echo(line)
    typer.echo(f"{_shared.counted(len(made.files), 'file')}: {made.page}")


NOT_SETTINGS = ("model", "view", "out", "open_", "as_json")


def _layer(given: dict[str, Any], folder: Path, view: int | None, progress: Any) -> Any:
    from glassformer.physics._publish import publish_layer
    from glassformer.physics.models.boltzmann_memory import BoltzmannMemory
    from glassformer.physics.models.one_layer import OneLayer

    memory = {name: value for name, value in given.items() if name in SHARED}
    own = {name: value for name, value in given.items() if name not in ("decay", "rate")}
    return publish_layer(OneLayer(**own), BoltzmannMemory(**memory), folder, view, progress)


def _memory(given: dict[str, Any], folder: Path, view: int | None, progress: Any) -> Any:
    from glassformer.physics._publish import publish_memory
    from glassformer.physics.models.boltzmann_memory import BoltzmannMemory

    known = BoltzmannMemory.__dataclass_fields__
    for name, value in given.items():
        if name not in known:
            raise CallError(
                f"--{name.replace('_', '-')} {value} is not a setting of boltzmann_memory; it has {', '.join(known)}"
            )
    return publish_memory(BoltzmannMemory(**given), folder, view, progress)


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
