"""One file per figure: `figures.plot_loss(run)` asks analyses/learn/loss.py and draws it with figures/learn/loss.py.

A figure's file holds `draw(seen, look)`, which takes the result of the analysis of the same name and nothing else.
"""

from functools import cache
from inspect import signature
from types import ModuleType
from typing import TYPE_CHECKING, Any

from glassformer import _discover

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

LOOK = {"ax": None, "theme": "light", "size": "screen", "page": 0}  # what every figure can be asked for


@cache
def _plot(folder: ModuleType, name: str) -> "Callable[..., Figure]":
    """The public function of a figure: its analysis, then its drawing. Given a result, it only draws."""
    from glassformer import analyses
    from glassformer.analyses._lost import quietly
    from glassformer.analyses._result import Result
    from glassformer.errors import CallError
    from glassformer.figures import _draw

    file = _discover.file(folder, name)
    analyse = getattr(analyses, name)
    asked = signature(analyse)

    def plot(*subject: Any, **options: Any) -> "Figure":
        look = {key: options.pop(key, default) for key, default in LOOK.items()}
        given = len(subject) == 1 and isinstance(subject[0], Result)
        if given and not isinstance(subject[0], asked.return_annotation):
            raise CallError(f"plot_{name} draws what analyses.{name} gives, not a {type(subject[0]).__name__}")
        seen = subject[0] if given else analyse(*subject, **options)
        with quietly(subject[0] if subject else None):
            return _draw.drawn(file.draw, seen, _draw.Look(**look, options=options))

    _discover.sign(plot, f"plot_{name}", file.draw.__doc__, asked, LOOK, "Figure")
    return plot


__getattr__, __dir__ = _discover.public(__name__, "plot_", _plot)
