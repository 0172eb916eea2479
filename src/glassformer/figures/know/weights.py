"""Every number the model has learned, tensor by tensor."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import thousands
from glassformer.analyses.know.weights import FEW, MOST_SIDE, Weights, spoken
from glassformer.figures import _draw

CELL = (3.7, 1.5)  # ems of a cell that holds a number
GAP = (3.4, 3.6)  # ems between tensors
TOP = 2.2  # ems above the first
APART = 0.36  # ems between numbers, more than between words
MOST_PANELS, ON_A_SLIDE = 16, 6  # matrices on a page; on slides the spread of values is the last page
SLIDE = 31.0  # ems of a slide for tensors with numbers
Tile = tuple[str, tuple[float, float, float, float]]  # a tensor and its left, top, width and height in ems


def draw(seen: Weights, look: _draw.Look) -> Figure:
    """All tensors in the order of the computation: with numbers in small models, as maps and spreads in large ones."""
    small = seen.parameters <= FEW and look.ax is None
    shelves = _shelves(seen, {"screen": 94, "slide": 68}.get(look.size, 70)) if small else []
    bands = _bands(shelves, SLIDE if look.size == "slide" else float("inf")) if small else []
    high = (max(y + tall for _, (_, y, _, tall) in bands[0]) + 4.5) * 9 / 72 + 0.6 if small else 8.5
    high *= 1.0 if look.size == "screen" else 1.12
    sheet = look.sheet(seen, _caption(seen), "Heat maps of every tensor of the model", height=high)
    if small:
        (band,), pages = _draw.paged(bands, 1, look.page)
        _numbered(sheet, seen, band)
    else:
        pages = _mapped(sheet, seen, look.page)
    notes = [f"page {look.page + 1} of {pages}"] if pages > 1 else []
    if small:
        most = _draw.number(_draw.limits("signed", *(tensor.values for tensor in seen.tensors.values()))[1])
        notes.append(f"one scale for all: blue to −{most}, white 0, red to {most}")
    else:
        notes.append("down: what goes in, across: what comes out")
        notes += ["binned: root mean square of neighbours, sign of their sum"] if not all(seen.whole.values()) else []
    sheet.note(" · ".join(notes))
    return sheet.done(pages=pages)


def _caption(seen: Weights) -> str:
    small = seen.parameters <= FEW
    begin = (
        f"All {thousands(seen.parameters)} parameters in {len(seen.shapes)} tensors, in the order of the computation"
    )
    if small:
        said = f"{begin} (line by line, small ones one below the other); a matrix maps its rows to its columns, a "
        said += "vector is one row. "
    else:
        matrices = sum(len(shape) == 2 for shape in seen.shapes.values())
        said = f"{begin}: the {matrices} matrices as maps from their rows to their columns. "
    said += "Red is above zero, blue below, one scale for all. The typical size is the root of the mean square. "
    if not all(seen.whole.values()):
        said += f"Tensors with more than {MOST_SIDE} cells along an axis are binned: each cell is the "
        said += "root mean square of some neighbours, with the sign of their sum. "
    if not small:
        said += (
            "Bars: how the values of each tensor, vectors too, are spread: thin the whole range, thicker 5 to 95 %, "
        )
        said += "thickest the middle half. "
    return f"{said}All numbers are exact; a large number is not yet an important one."


def _bands(shelves: list[list[Tile]], room: float) -> list[list[Tile]]:
    """The shelves one below the other, as many on a page as fit in so many ems, counted from the top of each page."""
    pages: list[list[Tile]] = [[]]
    y = TOP
    for shelf in shelves:
        tall = max(top + high for _, (_, top, _, high) in shelf)
        if pages[-1] and y + tall > room:
            pages.append([])
            y = TOP
        pages[-1] += [(name, (x, y + top, wide, high)) for name, (x, top, wide, high) in shelf]
        y += tall + GAP[1]
    return pages


def _lying(values: np.ndarray) -> bool:
    """Whether a tensor is drawn on its side: many rows, few columns."""
    return bool(values.shape[0] > 16 and values.shape[1] <= 4)


def _shelves(seen: Weights, room: float) -> list[list[Tile]]:
    """Lines of tensors, their tops counted from the line's: side by side, small ones below their neighbour."""
    shelves: list[list[Tile]] = []
    x = below = column = 0.0
    for name, tensor in seen.tensors.items():
        values = np.atleast_2d(tensor.values)
        values = values.T if _lying(values) else values
        wide, high = values.shape[1] * min(CELL[0], (room - 4) / values.shape[1]), values.shape[0] * CELL[1]
        needed = max(wide, _draw.text_width(spoken(name), 10) * 72 / 9)  # a title may be wider than its tensor
        tallest = max((top + tall for _, (_, top, _, tall) in shelves[-1]), default=0.0) if shelves else 0.0
        if below + high <= 1.1 * tallest and x + needed <= room:
            column = max(column, needed)
        elif shelves and x + column + GAP[0] + needed <= room:
            x, below, column = x + column + GAP[0], 0.0, needed
        else:
            shelves.append([])
            x, below, column = 3.5, 0.0, needed
        shelves[-1].append((name, (x, below, wide, high)))
        below += high + GAP[1]
    return shelves


def _numbered(sheet: _draw.Sheet, seen: Weights, tiles: list[Tile]) -> None:
    limit = _draw.limits("signed", *(tensor.values for tensor in seen.tensors.values()))
    room_x, room_y = sheet.room
    for name, (x, y, wide, high) in tiles:
        panel = sheet.panels(1, 1, left=x, right=room_x - x - wide, top=y, bottom=room_y - y - high)[0, 0]
        tensor = seen.tensors[name]
        values, (columns, *rows) = np.atleast_2d(tensor.values), reversed(tensor.axes.values())
        lying = _lying(values)
        if lying:
            values, columns, rows = values.T, rows[0], [columns]
        digits = next((many for many in (2, 1) if _widest(values, many) + APART <= wide / values.shape[1]), 0)
        _draw.heat(panel, values, kind="signed", theme=sheet.theme, limit=limit, columns=columns,
                   rows=rows[0] if len(values) > 1 else (), numbers=digits > 0, digits=digits)  # fmt: skip
        panel.set_title(spoken(name) + (" (on its side)" if lying else ""))


def _widest(values: np.ndarray, digits: int) -> float:
    """Ems of the longest number of a tensor."""
    return max(_draw.text_width(_draw.number(value, digits), 72) for value in values.ravel().tolist())


def _mapped(sheet: _draw.Sheet, seen: Weights, page: int) -> int:
    """The matrices as maps, and the spread of all values: beside them, on slides after them. How many pages."""
    slide = sheet.size.name == "slide"
    every = [name for name, shape in seen.shapes.items() if len(shape) == 2]
    most = ON_A_SLIDE if slide else MOST_PANELS
    maps = [every[k : k + most] for k in range(0, len(every), most)]
    (matrices,), pages = _draw.paged([*maps, []] if slide else maps, 1, page)
    if matrices:
        _matrices(sheet, seen, matrices, every, 1.0 if slide else 0.66)
    if not matrices or not slide:
        part = (0.0 if slide else 0.66, 0, 1, 1)
        _spread(sheet.panels(1, 1, left=9, right=1.5, bottom=3.4, top=2.2, within=part)[0, 0], sheet, seen)
    return pages


def _matrices(sheet: _draw.Sheet, seen: Weights, matrices: list[str], every: list[str], part: float) -> None:
    columns = min(3 if sheet.size.name == "slide" else 4, len(matrices))
    rows = -(-len(matrices) // columns)
    limit = _draw.limits("signed", *(seen.tensors[name].values for name in every))  # one scale on all pages
    several = any(each.startswith("blocks.1.") for each in seen.shapes)
    titles = [(_short(name, several), _shape(seen, name)) for name in matrices]
    size, across = 1.1 * sheet.size.text, (sheet.room[0] * part - 8.2 - 1.2 * (columns - 1)) / columns * sheet.em
    apart = "\n" if max(_draw.text_width(" ".join(each), size) for each in titles) > across else " "
    panels = sheet.panels(
        rows, columns, left=1.2, right=7, bottom=2.4, top=2.2 if apart == " " else 3.4,
        gap=(1.2, 2.4 if apart == " " else 3.6), within=(0, 0, part, 1),
    )  # fmt: skip
    for panel, name, title in zip(panels.flat, matrices, titles, strict=False):
        _draw.heat(panel, seen.tensors[name].values, kind="signed", theme=sheet.theme, limit=limit, numbers=False)
        panel.set_title(apart.join(title))
    _draw.bar(sheet, "signed", limit, "value", beside=list(panels[:, columns - 1]))
    _draw.remove_spare(panels, len(matrices))


def _shape(seen: Weights, name: str) -> str:
    return " × ".join(map(str, seen.shapes[name])) + ("" if seen.whole[name] else ", binned")


def _spread(ax: Axes, sheet: _draw.Sheet, seen: Weights) -> None:
    names, q = seen.quantiles.axes["tensor"].labels, seen.quantiles.values
    several = any(name.startswith("blocks.1.") for name in names)
    room = ax.get_window_extent().height / ax.figure.dpi / sheet.em
    every = max(1, int(np.ceil(len(names) * 1.02 / room)))
    t, line = sheet.theme, sheet.size.line
    at = np.arange(len(names))
    for (low, high), width in (((0, 6), 0.5), ((1, 5), 1.8), ((2, 4), 3.6)):
        ax.hlines(at, q[:, low], q[:, high], color=t.quiet if width < 3 else t.ink, linewidth=width * line)
    ax.axvline(0, color=t.faint, linewidth=0.5 * line, zorder=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_yticks(at[::every], [_short(name, several) for name in names][::every])
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="value (thick: middle half)", title="spread of values")


def _short(name: str, blocks: bool = True) -> str:
    """`blocks.0.expand_bias` → expand bias (0)."""
    if name.startswith("blocks."):
        _, block, leaf = name.split(".")
        return f"{leaf.replace('_', ' ')}" + (f" ({block})" if blocks else "")
    return name.replace("_", " ")
