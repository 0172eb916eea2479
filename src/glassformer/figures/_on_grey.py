"""The points of one input in front of all others: those coloured and named, the others small and grey."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array, Labelled
from glassformer.figures import _draw, _regions, _style

MOST = 5  # labels in a plane: more of them hide the points they name


def cloud(ax: Axes, points: Array, chosen: Sequence[int], *, colour: str, marker: str, theme: _style.Theme) -> None:
    """All points (n, 2) pale, the chosen ones in their colour and larger; without a choice all are coloured."""
    picked = np.zeros(len(points), dtype=bool)
    picked[list(chosen)] = True
    if not picked.any():
        _draw.dots(ax, points, colour=colour, marker=marker, scale=0.55, alpha=0.8)
        return
    _draw.dots(ax, points[~picked], colour=theme.faint, marker=marker, scale=0.45)
    _draw.dots(ax, points[picked], colour=colour, marker=marker, scale=0.95, zorder=3,
               edgecolors=theme.paper, linewidths=0.05 * ax.xaxis.label.get_fontsize())  # fmt: skip


def named(
    ax: Axes,
    points: Array,
    texts: Sequence[str],
    *,
    colours: str | Sequence[str],
    theme: _style.Theme,
    first: Sequence[int] = (),
    most: int = MOST,
    keep_clear: Array | None = None,
) -> None:
    """Labels beside points with a pale rim, so that they can be read on other points; `first` matter most."""
    since = len(ax.texts)
    clear = None if keep_clear is None else np.vstack([points, keep_clear])
    _draw.labels(ax, points, texts, colours=colours, first=first, most=most, keep_clear=clear, tied=True)
    _regions.halo(ax.texts[since:], theme)


def input_of(values: Labelled, chosen: Sequence[int]) -> str:
    """The tokens of the chosen pairs (token, position, axis) in the order of their positions."""
    context = len(values.axes["position"])
    names = drawn(values.axes["token"])
    return " ".join(names[k // context] for k in sorted(chosen, key=lambda k: k % context))


def fitting(sheet: _draw.Sheet, before: str, tokens: str, after: str, share: float) -> str:
    """A line for the foot within a share of the sheet's width: of a long input, its beginning and an ellipsis."""
    parts, room = tokens.split(" "), share * sheet.inches[0]
    for count in range(len(parts), 0, -1):
        said = before + " ".join(parts[:count]) + (" …" if count < len(parts) else "") + after
        if _draw.text_width(said, sheet.size.text) <= room:
            return said
    return before.rstrip() + after
