"""Tokens in cells that say whether they are right."""

from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes as Axes
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.figures import _style
from glassformer.figures._draw.axes import bare, places


def cells(
    ax: Axes,
    tokens: Sequence[Sequence[str]],
    verdicts: Sequence[Sequence[str | None]],
    *,
    theme: _style.Theme,
    row_names: Sequence[str] = (),
    glyphs: bool = True,
) -> None:
    """Sequences as rows of cells, each by its verdict (see `_verdicts`; none: a plain cell, such as a prompt)."""
    columns, line = max(map(len, tokens), default=1), float(matplotlib.rcParams["lines.linewidth"])
    size = float(matplotlib.rcParams["font.size"])
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(len(tokens) - 0.5, -0.5))
    for row, (words, said) in enumerate(zip(tokens, verdicts, strict=True)):
        for column, (word, verdict) in enumerate(zip(words, said, strict=True)):
            cell(ax, column, row, word, verdict, theme=theme, size=size, line=line, glyph=glyphs)
    bare(ax)
    if row_names:
        places(ax, row_names, "y", most=1000)


def cell(ax: Axes, x: float, y: float, word: str, verdict: str | None, *, theme: _style.Theme, size: float, line: float,
         glyph: bool = True) -> None:  # fmt: skip
    """One token in a box coloured, outlined, hatched and signed by its verdict."""
    judged = verdict in ("right", "wrong")
    grey = theme.unconstrained if verdict in ("unconstrained", "not_in_view") else theme.paper
    face: Any = (theme[verdict], 0.22) if judged and verdict else grey
    edge = theme[verdict] if judged and verdict else theme.masked if verdict == "not_in_view" else theme.faint
    ax.add_patch(Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, facecolor=face, edgecolor=edge,
                           linewidth=line * (1 if judged else 0.4),
                           hatch="////" if verdict == "not_in_view" else None))  # fmt: skip
    sign = _style.GLYPH.get(verdict or "", "") if glyph else ""
    ax.text(x - (0.12 if sign else 0), y, shown(word), ha="center", va="center", fontsize=size, color=theme.ink,
            parse_math=False, clip_on=True)  # fmt: skip
    if sign:
        colour = theme[verdict] if judged and verdict else theme.quiet
        ax.text(x + 0.26, y, sign, ha="center", va="center", fontsize=size, color=colour, clip_on=True)
