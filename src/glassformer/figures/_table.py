"""Tables of words and numbers, set in ems inside a panel."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from glassformer.figures import _draw
from glassformer.figures._style import Theme

LINE = 1.55  # ems from one row to the next, where there is room


def ems(ax: Axes, em: float) -> tuple[float, float]:
    """Width and height of a panel, in ems of so many inches."""
    box = ax.get_window_extent()
    return float(box.width) / ax.figure.dpi / em, float(box.height) / ax.figure.dpi / em


def page(ax: Axes, em: float) -> tuple[float, float]:
    """Make a panel a page measured in ems, (0, 0) at its top left and y growing downwards; its width and height."""
    width, height = ems(ax, em)
    _draw.bare(ax)
    ax.set(xlim=(0, width), ylim=(height, 0))
    return width, height


def table(
    ax: Axes,
    em: float,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    theme: Theme,
    align: str,
    widths: Sequence[float] | None = None,
    colours: Sequence[str] = (),
    line: float = LINE,
) -> float:
    """A table from the top of a panel; `align` has l or r per column. Columns are as wide as their words, or as said.

    Rows move together where they are many. How many ems it is high comes back.
    """
    width, height = page(ax, em)
    natural = [max(_draw.text_width(row[k], 72) for row in [header, *rows]) for k in range(len(header))]
    wide = list(widths) if widths is not None else natural
    gap = min(2.0, max(0.6, (width - sum(wide)) / max(len(wide) - 1, 1)))
    line = min(line, (height - 0.4) / (len(rows) + 1))
    x = 0.0
    for k, side in enumerate(align):
        at = x + (wide[k] if side == "r" else 0)
        where = "right" if side == "r" else "left"
        ax.text(at, 0.5 * line, header[k], ha=where, va="center", color=theme.quiet)
        for number, row in enumerate(rows):
            colour = colours[number] if colours else theme.ink
            ax.text(at, (number + 1.6) * line, row[k], ha=where, va="center", color=colour, parse_math=False)
        x += wide[k] + gap
    ax.plot([0, min(x - gap, width)], [line * 1.02] * 2, color=theme.faint, linewidth=0.8)
    return (len(rows) + 1.2) * line
