"""The winning regions of a landscape, and marks on it: shared by the figures that move points over them."""

from collections.abc import Iterable, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from glassformer.analyses._land import CLEARLY, Frame, Land, Regions
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import Plane
from glassformer.analyses._result import Array, Labelled, percent
from glassformer.analyses._verdicts import judged, read
from glassformer.figures import _draw, _style

HATCH = "//"
MOST_SPOTS = 30  # places tried for the name of a region
UNSURE = " likeliest"  # after the name of a token where it has less than half


def field(ax: Axes, values: Array, frame: Frame, *, kind: str, theme: _style.Theme,
          limit: tuple[float, float] | None = None) -> None:  # fmt: skip
    """A map of numbers over the plane."""
    low, high = limit or _draw.limits(kind, values)
    ax.imshow(values, cmap=_style.colormap(kind, theme.name), vmin=low, vmax=high, extent=frame, origin="lower",
              aspect="equal", interpolation="bilinear", zorder=0)  # fmt: skip
    square(ax, frame)


def square(ax: Axes, frame: Frame) -> None:
    """The plane without ticks."""
    ax.set(xlim=(frame[0], frame[1]), ylim=(frame[2], frame[3]))
    _draw.bare(ax)


def ticks(ax: Axes, plane: Plane, *, x: bool = True, y: bool = True) -> None:
    """Numbers and names on the axes of a panel at the edge."""
    if x:
        ems = ax.get_window_extent().width / ax.figure.dpi * 72 / float(matplotlib.rcParams["font.size"])
        low, high = ax.get_xlim()
        found = matplotlib.ticker.MaxNLocator(4).tick_values(low, high)
        edge = min(1 / max(ems, 1.0), 0.2) * (high - low)  # a number nearer to the edge would touch the neighbour's
        ax.set(xticks=[v for v in found if low + edge <= v <= high - edge], xlabel=plane.labels[0])
    if y:
        ax.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
        ax.set_ylabel(plane.labels[1])


def tints(groups: Sequence[str], theme: _style.Theme) -> list[tuple[float, float, float]]:
    """A grey for each token, by its group; the paper's own for the first group."""
    names = list(dict.fromkeys(groups))
    paper, grey = np.array(to_rgb(theme.paper)), np.array(to_rgb(theme.unconstrained))
    found = {}
    for k, name in enumerate(names):
        share = 0.85 * k / max(len(names) - 1, 1)
        red, green, blue = paper + share * (grey - paper)
        found[name] = (float(red), float(green), float(blue))
    return [found[group] for group in groups]


def winners(ax: Axes, where: Regions, theme: _style.Theme, *, edges: Labelled | None = None, names: bool = True,
            avoid: Array | None = None) -> None:  # fmt: skip
    """Which token wins where: greys by group, borders, a large pale name in each region, away from points `avoid`.

    Hatched where even the winner has less than half of the probability; `edges` are lines where a neuron switches.
    """
    line = float(matplotlib.rcParams["lines.linewidth"])
    if edges is not None:
        _edges(ax, where.frame, edges.values, theme, 0.35 * line)
    if where.fine_winner is not None and where.fine_best is not None and where.fine_lead is not None:
        won, best, lead = where.fine_winner.values, where.fine_best.values, where.fine_lead.values
        y, x = (np.array(axis.values) for axis in where.fine_winner.axes.values())
        colours = tints(where.groups, theme)
        for tint in dict.fromkeys(colours):
            mine = np.array([colour == tint for colour in colours])
            if (here := mine[won]).any() and not mine.all():
                ax.contourf(x, y, np.where(here, lead, -lead), levels=[0, np.inf], colors=[tint], zorder=0)
        if (best < CLEARLY).any():
            _hatched(ax, x, y, np.log(best), theme)
        for token in np.unique(won):
            ahead = np.where(won == token, lead, -lead)
            ax.contour(x, y, ahead, levels=[0], colors=[theme.quiet], linewidths=0.6 * line, zorder=1)
    square(ax, where.frame)
    if names:
        region_names(ax, where, theme, avoid)


def _hatched(ax: Axes, x: Array, y: Array, best: Array, theme: _style.Theme) -> None:
    """Where the logarithm of the highest probability is too low for a decision."""
    made = ax.contourf(x, y, best, levels=[-np.inf, np.log(CLEARLY)], colors="none", hatches=[HATCH], zorder=0.5)
    made.set(edgecolor=theme.rung, linewidth=0)


def undecided(theme: _style.Theme) -> Patch:
    """The legend's entry for the hatching."""
    return Patch(facecolor=theme.paper, edgecolor=theme.rung, hatch=HATCH, linewidth=0, label="no token has half")


def apart(points: Array, least: float, order: list[int]) -> Array:
    """Which of some labels (n, 2) to keep so that none is nearer than `least` to one before it in order."""
    kept: list[int] = []
    for k in order:
        if all(np.hypot(*(points[k] - points[j])) >= least for j in kept):
            kept.append(k)
    return np.isin(np.arange(len(points)), kept)


def region_names(ax: Axes, where: Regions, theme: _style.Theme, avoid: Array | None = None) -> None:
    """The winner's name where its region is widest and free of points and texts; very small regions stay without."""
    size = 1.5 * float(matplotlib.rcParams["font.size"])
    box = ax.get_window_extent()
    free = np.ones(where.winner.values.shape, dtype=bool)
    if avoid is not None and len(avoid):
        em = size / 1.5 * ax.figure.dpi / 72 / box.width * (where.frame[1] - where.frame[0])
        across, up = (np.linspace(where.frame[k], where.frame[k + 1], free.shape[1 - k // 2]) for k in (0, 2))
        for left, low in avoid[np.isfinite(avoid).all(-1)]:  # as far as a label beside the point reaches
            free &= ~(np.outer(abs(up - low) < 1.9 * em, abs(across - left) < 3.4 * em))
    dots = ax.figure.dpi
    taken = [
        (ax.transData.transform(text.get_position()), _half(text.get_text(), text.get_fontsize(), dots))
        for text in ax.texts
        if text.get_text()
    ]
    many, regions, exact = len(where.words), _split(where), _split(where, fine=True)
    for region, centre, _ in sorted(centres(regions, where.frame, free), key=lambda each: -each[2]):
        name = shown(where.words[region % many]) + (UNSURE if region >= many else "")
        cells = _cells(regions, region, where.frame, free)
        spots = np.vstack([centre, cells[:: -(-len(cells) // MOST_SPOTS) or 1]])
        for here in (size / 1.5,) if region >= many else (size, size / 1.5):  # a small region has a small name
            half = _half(name, here, dots)
            need = half * (0.9, 1.5 if region >= many else 0.8)  # the longer names shun strips between two regions
            if (at := _fitting(ax, exact, region, where.frame, spots, half, need, taken)) is not None:
                taken.append((at, half))
                x, y = ax.transData.inverted().transform(at)
                text = ax.text(x, y, name, fontsize=here, fontweight="bold", color=theme.quiet, ha="center",
                               va="center", zorder=1.5, parse_math=False)  # fmt: skip
                text.set_path_effects([withStroke(linewidth=0.2 * here, foreground=theme.paper, alpha=0.7)])
                break


def _half(text: str, points: float, dpi: float) -> Array:
    """Half the width and height of a text, in pixels."""
    return np.array([_draw.text_width(text, points) / 2, 0.5 * points / 72]) * dpi


def _split(where: Regions, *, fine: bool = False) -> Array:
    """(vertical, horizontal): the winner's id, larger by the number of tokens where it has less than half."""
    exact = (where.fine_winner, where.fine_best) if fine and where.asked else (where.winner, where.best)
    winner, best = (each or there for each, there in zip(exact, (where.winner, where.best), strict=True))
    return winner.values + len(where.words) * (best.values < CLEARLY)


def _fitting(ax: Axes, exact: Array, region: int, frame: Frame, spots: Array, half: Array,
             need: Array, taken: list[tuple[Array, Array]]) -> Array | None:  # fmt: skip
    """The first of some places, in pixels, where a name of this half size lies inside its region, off the others."""
    box = ax.get_window_extent()
    low, high = np.array([box.x0, box.y0]) + half, np.array([box.x1, box.y1]) - half
    pixels = np.array([box.width, box.height]) / np.array(exact.shape[::-1])
    for spot in spots:
        share = (spot - frame[::2]) / (np.array(frame[1::2]) - frame[::2])
        column, row = np.clip(share * exact.shape[::-1], 0, np.array(exact.shape[::-1]) - 1).astype(int)
        row, up = _chord(exact[:, column] == region, row, int(2.5 * half[1] / pixels[1]))
        column, across = _chord(exact[row] == region, column, int(2.5 * half[0] / pixels[0]))
        at: Array = np.array([box.x0, box.y0]) + (np.array([column, row]) + 0.5) * pixels
        if (
            2 * need[1] <= up * pixels[1] and 2 * need[0] <= across * pixels[0]
            and (at >= low).all() and (at <= high).all()
            and all((abs(at - other) > half + reach + 2).any() for other, reach in taken)
        ):  # fmt: skip
            return at
    return None


def _chord(inside: Array, at: int, enough: int = 0) -> tuple[int, int]:
    """The middle and the length of the stretch of True around a place; where it is long `enough`, the place itself."""
    if not inside[at]:
        return at, 0
    ends = np.flatnonzero(~inside)
    low, high = ends[ends < at].max(initial=-1) + 1, ends[ends > at].min(initial=len(inside))
    clear = min(at - low, high - at) >= enough > 0
    return (at if clear else int(low + high) // 2), int(high - low)


def _cells(regions: Array, region: int, frame: Frame, free: Array) -> Array:
    """(n, 2): places well inside a region, from the right edge of the plane inwards: there wedges are widest.

    The `free` ones come first.
    """
    high, wide = regions.shape
    inner = inside = np.pad(regions == region, 1)
    depth = np.zeros(inside.shape)
    while inner.any():
        depth += inner
        inner = inner & np.roll(inner, 1, 0) & np.roll(inner, -1, 0) & np.roll(inner, 1, 1) & np.roll(inner, -1, 1)
    rows, columns = np.nonzero((depth[1:-1, 1:-1] >= max(0.6 * depth.max(), 1)) & inside[1:-1, 1:-1])
    order = np.lexsort((-columns, ~free[rows, columns]))
    x = frame[0] + (frame[1] - frame[0]) * columns[order] / max(wide - 1, 1)
    y = frame[2] + (frame[3] - frame[2]) * rows[order] / max(high - 1, 1)
    return np.column_stack([x, y])


def centres(regions: Array, frame: Frame, free: Array | None = None) -> list[tuple[int, tuple[float, float], int]]:
    """For each winner: its id, the point deepest inside its region (if some of it is `free`, there), how many cells."""
    found = []
    for token in np.unique(regions):
        left = np.pad(regions == token, 1)
        empty = left if free is None else np.pad(free, 1)
        core, depth, layer = left, 0, 0
        while left.any():
            layer += 1
            if (left & empty).any():
                core, depth = left & empty, layer
            elif not depth:  # nowhere free: the deepest
                core = left
            left = left & np.roll(left, 1, 0) & np.roll(left, -1, 0) & np.roll(left, 1, 1) & np.roll(left, -1, 1)
        depth = depth or layer
        rows, columns = np.nonzero(core)
        middle = int(np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2))
        high, wide = regions.shape
        x = frame[0] + (frame[1] - frame[0]) * (columns[middle] - 1) / max(wide - 1, 1)
        y = frame[2] + (frame[3] - frame[2]) * (rows[middle] - 1) / max(high - 1, 1)
        found.append((int(token), (float(x), float(y)), depth))
    return found


def _edges(ax: Axes, frame: Frame, lines: Array, theme: _style.Theme, width: float) -> None:
    x0, x1, y0, y1 = frame
    for a, b, c in lines:
        ends = (
            [(x, -(a * x + c) / b) for x in (x0, x1)]
            if abs(b) > abs(a)
            else [(-(b * y + c) / a, y) for y in (y0, y1)]
            if a
            else []
        )
        if ends and np.isfinite(ends).all():
            ax.plot(*zip(*ends, strict=True), color=theme.rung, linewidth=width, alpha=0.6, zorder=0.8, scalex=False,
                    scaley=False)  # fmt: skip


def along(begin: Array, end: Array) -> Array:
    """(n, 2): points on arrows from `begin` to `end`, which no label should cover."""
    share = np.linspace(0, 1, 40)[:, None, None]
    return np.reshape(begin + share * (end - begin), (-1, 2))


def moves(ax: Axes, seen: Land, theme: _style.Theme, where: Regions | None = None) -> None:
    """The input's arrows over the winners (`where`: of a closer frame); those with an answer heavy, named and signed.

    On a slice, whose regions may be too small for a name, that of a tip tells what is said there.
    """
    begin, end, where = seen.points["begin"].values, seen.points["end"].values, where or seen.regions
    winners(ax, where, theme, names=False)
    colours = [colour(verdict, theme) for verdict in seen.verdicts]
    asked = judged(seen.verdicts)
    free = [k for k in read(seen.verdicts) if k not in asked]  # others are never read out
    _draw.arrows(ax, begin[free], end[free], colours=theme.quiet, width=0.6)
    _draw.arrows(ax, begin[asked], end[asked], colours=[colours[k] for k in asked], width=1.3, zorder=4)
    _draw.dots(ax, begin[asked + free], colour=theme.ink, scale=0.4, zorder=3)
    told, before = asked or free, len(ax.texts)
    clear = along(begin[asked + free], end[asked + free])
    _draw.labels(ax, end[told], [_told(seen, k) for k in told], colours=[colours[k] for k in told], keep_clear=clear,
                 tied=True)  # fmt: skip
    halo(ax.texts[before:], theme)
    region_names(ax, where, theme, clear)  # last: off the names of the tips


def _told(seen: Land, place: int) -> str:
    """The name of a position with its verdict; on a slice with what it says."""
    name = seen.label(place)
    if seen.is_slice and seen.verdicts[place] in ("right", "wrong"):
        name += f" → {shown(seen.words[int(seen.at_end.values[place].argmax())])}"
    return signed(name, seen.verdicts[place])


def on_slice(seen: Land, at: str = "middle", through: str = "this input's points") -> str:
    """What the plane is, for a caption."""
    over = "`middle`, the stream after the last attention" if at == "middle" else "`final`, what the read-out reads"
    if not seen.is_slice:
        return (
            f"The plane is that of {over}; all that follows acts on one position alone, so the probabilities are exact."
        )
    return (
        f"The plane is a slice through {over}: its two principal components over {seen.of_part} windows "
        f"({percent(seen.plane.kept)} of the variance), all other directions at their mean, bent to pass through "
        f"{through}: there it shows what the model says of them. The colours are exact on the slice."
    )


def colour(verdict: str, theme: _style.Theme) -> str:
    """Of an arrow or a mark, by verdict."""
    return theme[verdict] if verdict in ("right", "wrong") else theme.quiet


def signed(text: str, verdict: str) -> str:
    """A label with its verdict's glyph."""
    return f"{text} {_style.GLYPH[verdict]}" if verdict in ("right", "wrong", "not_in_view") else text


def halo(texts: Iterable[Text], theme: _style.Theme, colour: str | None = None) -> None:
    """Make labels readable on any ground, over borders and arrows."""
    for text in texts:
        text.set_path_effects([withStroke(linewidth=0.28 * text.get_fontsize(), foreground=colour or theme.paper)])


def important(verdicts: tuple[str, ...]) -> list[int]:
    """Positions whose label matters most, first."""
    order = {"wrong": 0, "right": 0, "not_in_view": 1, "unconstrained": 2, "none": 3}
    return sorted(range(len(verdicts)), key=lambda k: (order[verdicts[k]], k))


def features(ax: Axes, count: int, name: str = "feature") -> None:
    """Numbers along the columns of a heat map: all where they are few and have room, else every so many."""
    _draw.places(ax, [str(k) for k in range(count)], "x", most=8 if count <= 8 else 4, name=name)
