"""How attention learns to move each position: arrows of one input over the winning regions, verdicts turning."""

from collections.abc import Callable

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._reel import Reel
from glassformer.analyses._result import Array
from glassformer.analyses._verdicts import read
from glassformer.analyses.decide.residual import Residual
from glassformer.figures import _draw, _regions, _style
from glassformer.films._film import Picture, Stage, Update
from glassformer.films._labels import Spread

NOTE = "lines: from before the last attention to after it (dot) · large: the token that would be said there"
SLICE = "the plane is a slice, bent to pass through these points: around each it shows what the model says there"


def caption(reel: Reel) -> str:
    """How to read the lines and areas."""
    return (
        "Lines run from each position's place before the last attention to that after it (dot); grey areas and "
        "borders show the token that would win there, colours and signs whether the answer read at each position is "
        "right. Plane and frame are fixed; beside it, the most probable next token of each position."
        + (
            " The plane is a slice, all other directions at their mean at the last step, bent to pass through the "
            "positions: around each of them it shows what the model says there."
            if reel.still["last"].is_slice
            else ""
        )
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Arrows from before to after the last attention, over the token that would win there."""
    last: Residual = reel.still["last"]
    t, frame, cut = stage.theme, last.frame, last.is_slice
    groups = list(dict.fromkeys(last.groups))
    shade = np.array([groups.index(group) / max(len(groups), 1) * 0.6 for group in last.groups])
    shape = (frame[1] - frame[0]) / (frame[3] - frame[2])
    ax = stage.panels(1, 1, left=6, right=1, bottom=6.4, top=1, within=(0, 0, 0.7, 1), square=shape)[0, 0]
    table = _table(stage, ax, last)
    _regions.square(ax, frame)
    _regions.ticks(ax, last.plane)
    palette = LinearSegmentedColormap.from_list(
        "regions", [(0, t.paper), (0.8, t.unconstrained), (0.81, t.quiet), (1, t.quiet)]
    )
    picture = Picture(palette, 0, 1, False)
    picture.origin = "lower"
    ax.add_artist(picture)
    stage.moving(picture)
    names = stage.labels(ax, [shown(word) for word in last.words], t.quiet, scale=1.5, halo=t.paper)
    names.set_zorder(1)
    lines = LineCollection([], zorder=3)
    ax.add_collection(lines, autolim=False)
    stage.moving(lines)
    heads = stage.moving(ax.scatter([], [], s=stage.size.text * 4, zorder=4, linewidths=0))
    words = drawn(last.before.axes["position"])
    marks = Spread(stage, ax, words, t.ink, above=0.9)
    y = (stage.foot + 0.1) * stage.em / stage.inches[1]
    stage.note(NOTE + (f"\n{SLICE}" if cut else ""), y=y, linespacing=1.3)

    def update(seen: Residual) -> None:
        won = (seen.regions.fine_winner or seen.regions.winner).values
        picture.show(np.where(_borders(won), 1.0, shade[won]))
        begin, end = seen.points["begin"].values, seen.points["end"].values
        colours = [_regions.colour(verdict, t) for verdict in seen.verdicts]
        lines.set_segments(list(np.stack([begin, end], 1)))
        lines.set_color(colours)
        lines.set_linewidth([stage.size.line * (1.4 if v in ("right", "wrong") else 0.6) for v in seen.verdicts])
        heads.set_offsets(end)
        heads.set_facecolor(colours)
        signed = [_regions.signed(word, verdict) for word, verdict in zip(words, seen.verdicts, strict=True)]
        marks.write(signed, colours)
        names.move(_name_places(ax, seen, np.vstack([marks.move(end), end])))
        table(seen)

    return update


def _borders(won: Array) -> Array:
    """(y, x): cells beside one with another winner, on both sides: a line of one cell may fall between two pixels."""
    edge = np.zeros(won.shape, dtype=bool)
    for kept, cells in ((edge, won), (edge.T, won.T)):
        differ = cells[1:] != cells[:-1]
        kept[1:] |= differ
        kept[:-1] |= differ
    return edge


def _table(stage: Stage, ax: Axes, last: Residual) -> Callable[[Residual], None]:
    """Beside the plane: what is said after each position; the function that comes back writes it anew."""
    t, words = stage.theme, drawn(last.before.axes["position"])
    left, low, wide, high = stage.rects[ax]
    begin = left + wide + 2 * stage.em / stage.inches[0]
    side = stage.place((begin, low, 1 - begin, high))
    rows = read(last.verdicts)
    _draw.bare(side)
    side.set_xlim(0, (1 - begin) * stage.inches[0] / stage.em)  # ems
    side.set_ylim(max(len(rows), 8) - 0.5, -1.5)
    side.text(0, -1, "after", va="center", color=t.quiet)
    side.text(6, -1, "the model says next", va="center", color=t.quiet)
    said = [stage.text(side, 6, k, va="center", parse_math=False) for k in range(len(rows))]
    for k, place in enumerate(rows):
        side.text(0, k, words[place], va="center", color=t.ink, parse_math=False)

    def write(seen: Residual) -> None:
        for text, place in zip(said, rows, strict=True):
            chances, verdict = seen.at_end.values[place], seen.verdicts[place]
            best = int(np.nan_to_num(chances).argmax())
            text.set_text(f"{shown(seen.words[best])}  {chances[best]:.2f}  {_style.GLYPH.get(verdict, '')}")
            text.set_color(_regions.colour(verdict, t) if verdict in ("right", "wrong") else t.quiet)

    return write


def _name_places(ax: Axes, seen: Residual, avoid: Array) -> Array:
    """(token, 2): where the name of each winner stands, deep in its region and away from points; NaN: no room."""
    regions, frame = seen.regions.winner.values, seen.frame
    up, across = (np.linspace(frame[k], frame[k + 1], n) for k, n in zip((2, 0), regions.shape, strict=True))
    em = float(matplotlib.rcParams["font.size"]) * ax.figure.dpi / 72
    em *= (frame[1] - frame[0]) / ax.get_window_extent().width
    free = np.ones(regions.shape, dtype=bool)
    for x, y in avoid[np.isfinite(avoid).all(axis=1)]:
        free &= ~np.outer(abs(up - y) < 1.3 * em, abs(across - x) < 2.2 * em)
    places = np.full((len(seen.words), 2), np.nan)
    for token, at, depth in _regions.centres(regions, frame, free):
        if depth > 1:
            places[token] = at
    return places
