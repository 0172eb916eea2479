"""Which token wins where: entropy, winning regions, the embeddings and one input on them."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn
from glassformer.analyses.landscape import landscape, say_summary
from glassformer.figures import _draw, _regions, _style
from glassformer.run import Run

SECTION = "decide"
ORDER = 40
ANSWERS = ("4.r07",)
COST = "b"
WIDE = {"slide": 2.2, "print": 1.15, "screen": 1.25, "print_narrow": 1.5}  # width of a panel over its height
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
    shape = WIDE.get(size, 1.0)
    seen = landscape(run, sequence=sequence, points="middle", step=step, member=member, plane=plane, shape=shape)
    s = _style.size(size)
    rows, columns = (4, 1) if size == "print_narrow" else (2, 2)
    right = 7.5 if columns == 1 else 1.5
    each = (s.width * 72 / s.text - 5 - right - 9.5 * (columns - 1)) / columns / shape  # the panels fill the width
    height = _style.inches(size, 12.1 + rows * (each + 3.4) - 3.4 + (4 if columns == 1 else 0))
    sheet = _draw.Sheet(ax, theme, size, say_summary(seen), seen.clock, height=height)
    t = sheet.theme
    bottom = 5.6 + (1.5 if columns == 1 else 0)
    made = sheet.panels(rows, columns, left=5, right=right, bottom=bottom, top=2.2, gap=(9.5, 3.4), square=shape)
    panels = list(made.flat)
    entropy, winners, starts, ends = panels
    most = (0.0, float(np.log(len(seen.words))))
    _regions.field(entropy, seen.entropy.values, seen.frame, kind="entropy", theme=t, limit=most)
    entropy.set_title("how undecided: entropy")
    _draw.bar(sheet, "entropy", most, f"entropy (nats), up to ln {len(seen.words)}", beside=entropy)
    some = 0 < len(seen.edges.values) <= MOST_EDGES
    _regions.winners(winners, seen, t, edges=some)
    winners.set_title("which token wins" + (", where neurons switch" if some else ""))
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
        _regions.ticks(panel, seen.plane, x=k >= len(panels) - columns, y=k % columns == 0)
    sheet.legend(
        [*((name, mark, t.ink) for name, mark in marks.items()), "right", "wrong"], columns=8 if columns > 1 else 3
    )
    return sheet.done(seen, sequence=" ".join(seen.tokens))
