"""The entries of a legend, by meaning."""

from typing import Any

from matplotlib.axes import Axes as Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from glassformer.figures import _style


def handle(meaning: Any, theme: _style.Theme) -> Line2D | Patch:
    """A legend's entry. A meaning (`query`, `right`, `train`, `masked`, ...), or (label, marker, colour)."""
    if isinstance(meaning, tuple):
        label, marker, colour = meaning
        return Line2D([], [], linestyle="", marker=marker, color=colour, label=label)
    said = _style.SAID.get(meaning, meaning.replace("_", " "))
    if meaning in _style.MARKER:
        return Line2D([], [], linestyle="", marker=_style.MARKER[meaning], color=theme[meaning], label=said)
    if meaning in _style.LINE:
        return Line2D([], [], linestyle=_style.LINE[meaning], color=theme[meaning], label=said)
    if meaning in ("right", "wrong"):
        return Patch(
            facecolor=(theme[meaning], 0.22), edgecolor=theme[meaning], label=f"{_style.GLYPH[meaning]} {said}"
        )
    if meaning == "not_in_view":
        return Patch(facecolor=theme.unconstrained, edgecolor=theme.masked, hatch="////", label=f"∅ {said}")
    if meaning == "masked":
        return Patch(facecolor=theme.paper, edgecolor=theme.masked, hatch="xxxx", label=said)
    return Patch(facecolor=theme[meaning], edgecolor=theme.faint, label=said)
