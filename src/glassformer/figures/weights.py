"""Every number the model has learned, tensor by tensor."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses.weights import FEW, Weights, say, spoken, weights
from glassformer.figures import _draw
from glassformer.run import Run

SECTION = "know"
ORDER = 90
ANSWERS = ("3.§3.1", "1.P1")
COST = "b"
CELL = (3.7, 1.5)  # ems of a cell that holds a number
GAP = (3.4, 3.6)  # ems between tensors
MOST_PANELS, ON_A_SLIDE = 16, 5  # matrices on a page; on a slide the spread of values is the sixth panel


@_draw.drawing
def plot_weights(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    page: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """All tensors in the order of the computation: with numbers in small models, as maps and spreads in large ones."""
    seen = weights(run, step=step, member=member)
    small = seen.parameters <= FEW and size != "slide" and ax is None
    tiles = _flow(seen, 94 if size == "screen" else 70) if small else []
    high = (
        (tiles[-1][1][1] + max(t[1][3] for t in tiles if t[1][1] == tiles[-1][1][1]) + 4.5) * 9 / 72 + 0.6
        if small
        else 8.5
    )
    sheet = _draw.Sheet(
        ax, theme, size, say(seen), seen.clock, height=high * (1.0 if size == "screen" else 1.12), least=60
    )
    if small:
        _, pages = _draw.paged(tiles, len(tiles), page)
        _numbered(sheet, seen, tiles)
    else:
        pages = _mapped(sheet, seen, page)
    return sheet.done(seen, page=page, pages=pages)


def _lying(values: np.ndarray) -> bool:
    """Whether a tensor is drawn on its side: many rows, few columns."""
    return bool(values.shape[0] > 16 and values.shape[1] <= 4)


def _flow(seen: Weights, room: float) -> list[tuple[str, tuple[float, float, float, float]]]:
    """Tensor → (left, top, width, height) in ems: side by side while there is room, then the next line."""
    found: list[tuple[str, tuple[float, float, float, float]]] = []
    x, y, tallest = 3.5, 2.2, 0.0
    for name, tensor in seen.tensors.items():
        values = tensor.values.T if _lying(tensor.values) else tensor.values
        cell = min(CELL[0], (room - 7) / values.shape[1])
        wide = max(values.shape[1] * cell, 0.0)
        high = values.shape[0] * CELL[1]
        title = _draw.text_width(spoken(name), 10) * 72 / 9
        if found and x + max(wide, title) > room:
            x, y, tallest = 3.5, y + tallest + GAP[1], 0.0
        found.append((name, (x, y, wide, high)))
        x += max(wide, title) + GAP[0]
        tallest = max(tallest, high)
    return found


def _numbered(sheet: _draw.Sheet, seen: Weights, tiles: list[tuple[str, tuple[float, float, float, float]]]) -> None:
    limit = _draw.limits("signed", *(tensor.values for tensor in seen.tensors.values()))
    room_x, room_y = sheet.room
    for name, (x, y, wide, high) in tiles:
        panel = sheet.panels(1, 1, left=x, right=room_x - x - wide, top=y, bottom=room_y - y - high)[0, 0]
        tensor = seen.tensors[name]
        (row_name, rows), (column_name, columns) = tensor.axes.items()
        values = tensor.values
        if _lying(values):
            values, rows, columns = values.T, columns, rows
        del row_name, column_name
        fits = wide / values.shape[1]
        _draw.heat(panel, values, kind="signed", theme=sheet.theme, limit=limit, rows=rows if len(rows) > 1 else (),
                   columns=columns, numbers=fits > 2.0, digits=2 if fits > 3.5 else 1)  # fmt: skip
        panel.set_title(spoken(name) + (" (on its side)" if _lying(tensor.values) else ""))


def _mapped(sheet: _draw.Sheet, seen: Weights, page: int) -> int:
    """The matrices as maps; how many pages they take."""
    slide = sheet.size.name == "slide"
    most = ON_A_SLIDE if slide else MOST_PANELS
    every = [name for name, shape in seen.shapes.items() if len(shape) == 2]
    matrices, pages = _draw.paged(every, most, page)
    columns = min(3 if slide else 4, len(matrices))
    rows = -(-len(matrices) // columns)
    limit = _draw.limits("signed", *(seen.tensors[name].values for name in every))  # one scale on all pages
    panels = sheet.panels(rows, columns, left=1.2, right=7, bottom=2.2, top=2.2, gap=(1.2, 2.4), within=(0, 0, 0.66, 1))
    for panel, name in zip(panels.flat, matrices, strict=False):
        _draw.heat(panel, seen.tensors[name].values, kind="signed", theme=sheet.theme, limit=limit, numbers=False)
        shape = " × ".join(map(str, seen.shapes[name]))
        plain = _short(name, any(each.startswith("blocks.1.") for each in seen.shapes))
        title = f"{plain} {shape}"
        room = panel.get_window_extent().width / panel.figure.dpi
        panel.set_title(title if _draw.text_width(title, 1.1 * sheet.size.text) <= room else plain)
    for panel in panels.flat[len(matrices) :]:
        panel.remove()
    if pages > 1:
        sheet.note(f"page {page + 1} of {pages}: {len(matrices)} of {len(every)} matrices")
    _draw.bar(
        sheet,
        "signed",
        limit,
        "value",
        beside=list(panels[:, min(columns, len(matrices)) - 1][: max(1, len(matrices) // columns)]),
    )
    _spread(sheet.panels(1, 1, left=9, right=1.5, bottom=3.4, top=2.2, within=(0.66, 0, 1, 1))[0, 0], sheet, seen)
    return pages


def _spread(ax: Axes, sheet: _draw.Sheet, seen: Weights) -> None:
    names, q = seen.quantiles.axes["tensor"], seen.quantiles.values
    several = any(name.startswith("blocks.1.") for name in names)
    room = ax.get_window_extent().height / ax.figure.dpi / sheet.em
    every = max(1, int(np.ceil(len(names) * 1.15 / room)))
    t, line = sheet.theme, sheet.size.line
    at = np.arange(len(names))
    for (low, high), width in (((0, 6), 0.5), ((1, 5), 1.8), ((2, 4), 3.6)):
        ax.hlines(at, q[:, low], q[:, high], color=t.quiet if width < 3 else t.ink, linewidth=width * line)
    ax.axvline(0, color=t.faint, linewidth=0.5 * line, zorder=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_yticks(at[::every], [_short(name, several) for name in names][::every])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("value")
    ax.set_title("spread of values")


def _short(name: str, blocks: bool = True) -> str:
    """`blocks.0.expand_bias` → expand bias (0)."""
    if name.startswith("blocks."):
        _, block, leaf = name.split(".")
        return f"{leaf.replace('_', ' ')}" + (f" ({block})" if blocks else "")
    return name.replace("_", " ")
