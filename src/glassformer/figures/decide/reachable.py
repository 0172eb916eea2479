"""What attention can reach: one position held, the plane is what may be added to it, the hull what can be."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array, listed
from glassformer.analyses.decide.reachable import Reachable
from glassformer.figures import _draw, _regions, _style

SMALL = {"slide": 4}  # maps of single tokens; else nine
NAMED = 4  # values with a name, if there are several heads


def draw(seen: Reachable, look: _draw.Look) -> Figure:
    """The winning token for every push to one position, the hull of the values in view, and the push that happens."""
    size = look.size
    s = _style.size(size)
    narrow = size == "print_narrow"  # one column: the small maps stand below the large one
    side = (1.0 if narrow else 0.45) * s.width * 72 / s.text - 6
    below = 2 * (side / 3 + 3) + 9 if narrow else 0.0
    height = _style.inches(size, 12.5 + side + below)  # as high as the large square needs
    shows = "Maps of what a push to one position would make it say"
    sheet = look.sheet(seen, _caption(seen), shows, height=height, least=0)
    t, edge = sheet.theme, below / sheet.room[1]
    first, second = ((0, edge, 1, 1), (0, 0, 1, edge)) if narrow else ((0, 0, 0.45, 1), (0.45, 0, 1, 1))
    big = sheet.panels(1, 1, left=6, right=1, bottom=5.2, top=2.4, within=first, square=True)[0, 0]
    lines = _along(seen)
    _regions.winners(big, seen.regions, t, avoid=np.concatenate([seen.values.values.reshape(-1, 2), lines]))
    _inside(big)
    grounds = len(big.texts)
    lines = np.concatenate([lines, *(_across(big, text) for text in big.texts)])
    _hull(big, seen, t.ink, 1.4 * sheet.size.line)
    values, weights = seen.values.values, seen.weights.values
    names = drawn(seen.values.axes["key_position"])
    for head in range(len(values)):
        _draw.dots(big, values[head], colour=t.value, marker=_style.MARKER["value"], scale=1.1, zorder=4)
    push = seen.push.values
    _draw.arrows(big, np.zeros((1, 2)), push[None], colours=[_regions.colour(seen.verdict, t)], width=1.5, zorder=5)
    big.plot([0], [0], marker="+", color=t.ink, markersize=1.4 * sheet.size.text)
    flat = values.reshape(-1, 2)
    texts = [name if len(values) == 1 else f"{name} (head {h})" for h in range(len(values)) for name in names]
    order = np.argsort(-np.nan_to_num(weights.ravel()), kind="stable").tolist()
    most = NAMED if len(values) > 1 else len(flat)
    _draw.labels(big, flat, texts, colours=t.value, first=order, most=most, keep_clear=np.concatenate([flat, lines]))
    _regions.halo(big.texts[grounds:], t)
    big.set(xlabel=f"added along {seen.plane.labels[0]}", ylabel=f"added along {seen.plane.labels[1]}")
    big.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    big.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    big.set_title(f"what {seen.name} would say", parse_math=False)
    every = seen.shown_tokens
    picked = every[: SMALL.get(size, 9)]
    columns = 3 if len(picked) > 4 else 2
    rows = -(-len(picked) // columns)
    small = sheet.panels(
        rows, columns, left=2, right=6.5, bottom=6 if narrow else 3.4, top=2.4, gap=(1, 2.4), within=second, square=True
    )
    light = _style.theme("dark")
    _draw.remove_spare(small, len(picked))
    for k, panel in enumerate(small.flat[: len(picked)]):
        token = picked[k]
        _regions.field(panel, seen.probabilities.values[k], seen.frame, kind="probability", theme=t)
        for colour, width in (
            (_style.theme("light").ink, 2.2),
            (light.ink, 0.8),
        ):  # dark below light: seen on any ground
            _hull(panel, seen, colour, width * sheet.size.line)
            _draw.arrows(panel, np.zeros((1, 2)), push[None], colours=[colour], width=width)
        sign = f" {_style.GLYPH['right']}" if token in seen.right else ""
        name = f"P({shown(seen.words[token])}) = {seen.said.values[token]:.2f}{sign}"
        panel.set_title(name, parse_math=False)
    _draw.bar(sheet, "probability", (0, 1), "probability", beside=small[0, min(columns, len(picked)) - 1])
    several = "all sums that the heads can add" if len(values) > 1 else "all that attention can add"
    hull = Line2D([], [], linestyle="--", color=t.ink, label=f"hull: {several}")
    glyph = f" {_style.GLYPH[seen.verdict]}" if seen.verdict in ("right", "wrong") else ""
    added = Line2D([], [], color=_regions.colour(seen.verdict, t), marker=">", label=f"what it does add{glyph}")
    sheet.legend(["value", hull, added], columns=2 if narrow else 8)
    if rest := every[len(picked) :]:
        few = listed([shown(seen.words[k]) for k in rest]) if len(rest) < 6 else f"{len(rest)} more tokens"
        sheet.note(f"in reach too, without a map of their own: {few}")
    return sheet.done()


def _caption(seen: Reachable) -> str:
    flat = "plane" if seen.plane.lossless else "slice"
    return (
        f"The input {' '.join(map(shown, seen.tokens))} with {seen.name} held still; the {flat} is what attention "
        f"{'of the last block ' if seen.blocks > 1 else ''}may add to it, + is adding nothing. Left: the likeliest "
        "token after each push, hatched where it has less than half; triangles are the pushes of the values in view, "
        "the arrow is the actual push. Attention's weights are shares, so it cannot leave the outlined "
        f"hull{' (of the sums of one push from each head)' if len(seen.values.values) > 1 else ''}. Right: maps of "
        "single tokens and the probability each does get: "
        f"{'the right one, ' if seen.right else ''}the one that is said, then those that win most of the hull"
        f"{_likely(seen)}. "
        + (
            ""
            if seen.plane.lossless
            else "All directions off the slice are kept as in this input; the outline is the hull's shadow. "
        )
        + (
            "If the hull did not reach the region of the right token, no attention pattern could give the right answer."
            if seen.right
            else "If the hull lay within one region, whatever is looked at would make no difference."
        )
    )


def _likely(seen: Reachable) -> str:
    """That maps are added where few tokens can be reached."""
    reached = seen.reachable.values[list(seen.shown_tokens)] > 0
    return "" if reached.all() else ", then those it says with most probability"


def _inside(ax: Axes) -> None:
    """Take away the names of regions of which only a corner is drawn: the edge would cut them."""
    frame = ax.get_window_extent()
    for text in list(ax.texts):
        box = text.get_window_extent()
        if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1:
            text.remove()


def _across(ax: Axes, text: Text) -> Array:
    """Points along a name, which others should not cover."""
    box = text.get_window_extent()
    x = np.linspace(box.x0, box.x1, 7)
    return ax.transData.inverted().transform(np.column_stack([x, np.full(7, (box.y0 + box.y1) / 2)]))


def _along(seen: Reachable) -> Array:
    """Points along the hull and the push, which names should not cover."""
    corners = seen.corners.values
    ends = [(np.zeros(2), seen.push.values), *zip(corners, np.roll(corners, -1, 0), strict=True)]
    share = np.linspace(0, 1, 25)[:, None]
    return np.concatenate([begin + share * (end - begin) for begin, end in ends])


def _hull(ax: Axes, seen: Reachable, colour: str, line: float) -> None:
    if len(seen.corners.values) > 1:
        ax.add_patch(
            Polygon(
                seen.corners.values, closed=True, fill=False, edgecolor=colour, linewidth=line, linestyle="--", zorder=3
            )
        )
