"""What an analysis can be asked for: the types of its options carry their help and limits, for every reader of them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal


@dataclass(frozen=True)
class Option:
    """What an option means and what it may be: `Annotated[int, Option("the block looked at", least=0)]`.

    A parameter of an analysis without one is for other analyses, and not offered to people.
    """

    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[Any, ...] = ()


STEP_AXES = ("auto", "linear", "log", "learning")

Step = Annotated[int, Option("a kept step of the training; -1 is the last", least=-1)]
Steps = Annotated[tuple[int, ...] | None, Option("kept steps, one panel each; none: those worth a look", least=-1)]
CurveSteps = Annotated[tuple[int, ...] | None, Option("kept steps of the curves; none: a few", least=-1)]
StepAxis = Annotated[
    Literal["auto", "linear", "log", "learning"],
    Option("steps spaced evenly, by their logarithm, or by what the loss gains; auto: what leaves learning room"),
]  # how to use it: `_scale.py`
Member = Annotated[int, Option("which member of a population, counted from 0", least=0)]
Sequence = Annotated[str | None, Option("what to look at, in place of the task's own example")]
Block = Annotated[int, Option("the block looked at, counted from 0", least=0)]
Head = Annotated[int | None, Option("the head looked at; none: the one that looks most at the answers", least=0)]
Position = Annotated[int | None, Option("the position asked; none: the last one that is judged", least=0)]
Features = Annotated[tuple[int, int] | None, Option("two features to draw, in place of the main directions", least=0)]
Temperature = Annotated[float, Option("the temperature of the predictions", least=1e-3, most=1e6)]
Seed = Annotated[int, Option("the seed of what is drawn by chance", least=0)]
Frames = Annotated[int, Option("how many of the kept steps a film shows", least=2, most=5000)]
Pace = Annotated[Literal["even", "change"], Option("frames even in steps, or in how far the weights move")]
Shown = Annotated[tuple[int, ...] | None, Option("the very steps a film shows", least=-1)]
