"""Which token wins where: entropy, winning regions, the embeddings and one input on them."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array
from glassformer.analyses.landscape import landscape, say_summary
from glassformer.figures import _draw, _regions, _style
from glassformer.run import Run

SECTION = "decide"
ORDER = 40
ANSWERS = ("4.r07",)
COST = "b"
MOST_EDGES = 48  # more lines hide the regions


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return "a model with one feature has a line and no regions; see landscape" if run.architecture.width == 1 else None


@_draw.drawing
def plot_landscape_summary(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    plane: tuple[int, int] | None = None,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Entropy over the plane, the winning token's regions, all embeddings and one input on them."""
    seen = landscape(run, sequence=sequence, points="middle", step=step, member=member, plane=plane)
    sheet = _draw.Sheet(ax, theme, size, say_summary(seen), seen.clock, height=10.6)
    t = sheet.theme
    slide = sheet.size.name == "slide"
    panels = _three(sheet) if slide else list(_four(sheet).flat)  # on a slide the winners stand under the points only
    entropy, starts, ends = panels[0], panels[-2], panels[-1]
    most = (0.0, float(np.log(len(seen.words))))
    _regions.field(entropy, seen.entropy.values, seen.frame, kind="entropy", theme=t, limit=most)
    entropy.set_title("how undecided: entropy")
    _draw.bar(sheet, "entropy", most, f"entropy (nats), up to ln {len(seen.words)}", beside=entropy)
    if not slide:
        some = 0 < len(seen.edges.values) <= MOST_EDGES
        _regions.winners(panels[1], seen, t, edges=some)
        panels[1].set_title("which token wins" + (", where neurons switch" if some else ""))
    starts.set_title("all pairs as embedded")
    marks = _style.markers(dict.fromkeys(seen.pair_groups))
    xy, groups, fade = seen.points["embedded"].values, np.array(seen.pair_groups), seen.near["embedded"].values
    for name, mark in marks.items():
        _draw.dots(
            starts,
            xy[groups == name],
            colour=t.ink,
            marker=mark,
            scale=0.6,
            alpha=np.maximum(0.15, fade[groups == name]),
        )
    first = [
        int(np.flatnonzero(np.char.startswith(seen.points["embedded"].axes["pair"], f"{word}@"))[-1])
        for word in seen.words
        if any(pair.startswith(f"{word}@") for pair in seen.points["embedded"].axes["pair"])
    ]
    named = drawn(seen.points["embedded"].axes["pair"])
    _regions.winners(starts, seen, t, avoid=xy[first])
    _draw.labels(starts, xy[first], [named[k] for k in first], colours=t.ink)
    ends.set_title("attention moves this input")
    begin, end = seen.points["begin"].values, seen.points["end"].values
    _regions.winners(ends, seen, t, avoid=np.concatenate([begin, (begin + end) / 2, end]))
    colours = [_regions.colour(verdict, t) for verdict in seen.verdicts]
    _draw.arrows(ends, begin, end, colours=colours)
    names = [
        _regions.signed(text, v)
        for text, v in zip(drawn(seen.points["end"].axes["position"]), seen.verdicts, strict=True)
    ]
    _draw.labels(ends, end, names, colours=colours, first=_regions.important(seen.verdicts), keep_clear=begin)
    for panel in (starts, ends):
        for text in panel.texts:
            if text.get_fontsize() < 1.3 * matplotlib.rcParams["font.size"]:
                _regions.halo_one(text, t)
    for k, panel in enumerate(panels):
        _regions.ticks(panel, seen.plane, x=slide or k > 1, y=k == 0 or (k == 2 and not slide))
    sheet.legend([*((name, mark, t.ink) for name, mark in marks.items()), "right", "wrong"])
    return sheet.done(seen, sequence=" ".join(seen.tokens))


def _four(sheet: _draw.Sheet) -> Array:
    return sheet.panels(2, 2, left=5, right=7.5, bottom=6.2, top=2.2, gap=(9, 4.6), square=True)


def _three(sheet: _draw.Sheet) -> list[Axes]:
    """One row of equal squares, with room for the colour bar behind the first."""
    each = (sheet.room[0] - 15.5) / 3
    edge = (5 + each + 7) / sheet.room[0]
    first = sheet.panels(1, 1, left=5, right=7, bottom=5.2, top=2.4, within=(0, 0, edge, 1), square=True)
    rest = (edge, 0, 1, 1)
    other = sheet.panels(1, 2, left=0.5, right=1, bottom=5.2, top=2.4, gap=(2, 2), within=rest, square=True)
    return [*first.flat, *other.flat]
