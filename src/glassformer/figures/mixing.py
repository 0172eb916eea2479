"""What attention carries away: values, and the mixes made of them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn
from glassformer.analyses.mixing import Mixing, mixing, say
from glassformer.figures import _draw, _regions, _style
from glassformer.run import Run

SECTION = "decide"
ORDER = 10
ANSWERS = ("4.14", "4.r16")
COST = "b"
MOST_HEADS = 4  # rows on one page
FAINT = 0.05  # a smaller share of attention gets no line


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return "this model has no attention" if run.architecture.attention == "off" else None


@_draw.drawing
def plot_mixing(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    block: int = 0,
    page: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Attention × values = mixes: heat maps, and the plane with each mix joined to what it averages."""
    seen = mixing(run, sequence=sequence, step=step, member=member, block=block)
    rows = 1 if size == "slide" else MOST_HEADS
    order = list(range(len(seen.planes)))
    if len(order) > rows:  # the head of the title first
        order = [seen.told[0], *(head for head in order if head != seen.told[0])]
    some, pages = _draw.paged(order, rows, page)
    heads = sorted(some)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=1.6 + 3.2 * len(heads), least=60)
    t = sheet.theme
    narrow = min(1.0, 0.3 + 0.07 * seen.value.values.shape[-1])
    slide = sheet.size.name == "slide"
    widths = [0.95, 0.5 * narrow, 0.5 * narrow, 1.9, 1.9] if slide else [1.25, narrow, narrow, 1.3, 1.3]
    panels = sheet.panels(len(heads), 5, widths=widths, left=4, right=1.2, bottom=5.4, top=2.4, gap=(4.9, 5.8))
    names = seen.attention.axes["key_position"]
    limit = _draw.limits("signed", seen.value.values, seen.mixed.values)
    future = ~np.tri(len(names), dtype=bool) if seen.causal else None
    for row, head in enumerate(heads):
        look, values, mixes, left, right = panels[row]
        _draw.heat(look, seen.attention.values[head], kind="share", theme=t, rows=names, columns=names, masked=future)
        _draw.heat(values, seen.value.values[head], kind="signed", theme=t, limit=limit, rows=names)
        _draw.heat(mixes, seen.mixed.values[head], kind="signed", theme=t, limit=limit, rows=names)
        for panel in (values, mixes):
            _regions.features(panel, seen.value.values.shape[-1])
        said = f"head {head}: " if len(seen.planes) > 1 else ""
        for panel, title in zip(
            panels[row],
            (f"{said}attention", "value", "mixed", "values in the plane", "what mixes average"),
            strict=True,
        ):
            panel.set_title(title)
        _planes(left, right, seen, head, t)
    sheet.legend(
        [
            ("value", _style.MARKER["value"], t.value),
            ("mixed", "o", t.ink),
            *([("all pairs", "^", t.faint)] if seen.all_points.values.size else []),
        ]
    )
    more = f"page {page + 1} of {pages}: {len(heads)} of {len(order)} heads · " if pages > 1 else ""
    sheet.note(
        f"{more}colours of the numbers from {_draw.number(limit[0])} (blue) to {_draw.number(limit[1])} (red)"
        if t.name == "light"
        else f"{more}colours of the numbers from {_draw.number(limit[0])} to {_draw.number(limit[1])}"
    )
    return sheet.done(seen, sequence=" ".join(seen.tokens), block=block, page=page, pages=pages)


def _planes(left: Axes, right: Axes, seen: Mixing, head: int, t: _style.Theme) -> None:
    plane, names = seen.planes[head], drawn(seen.value.axes["key_position"])
    grey, values, mixes = seen.all_points.values[head], seen.value_points.values[head], seen.mixed_points.values[head]
    if plane.width == 1:
        spread = np.linspace(0.1, 0.9, len(names))
        values, mixes = np.column_stack([values[:, 0], spread]), np.column_stack([mixes[:, 0], spread])
    everything = np.concatenate([grey, values, mixes])
    told = sorted({*seen.places, *(s for s in seen.source if s >= 0)}, reverse=True)
    for ax in (left, right):
        _draw.plane_axes(ax, plane, everything, theme=t, names=True)
        if ax is right:
            ax.set_ylabel("")
        _draw.dots(ax, grey, colour=t.faint, marker="^", scale=0.6, zorder=1)
        _draw.dots(ax, values, colour=t.value, marker=_style.MARKER["value"], scale=1.0, zorder=3)
    weights = seen.attention.values[head]
    shown_queries = [q for q in range(len(names)) if q in seen.places] or list(range(len(names)))
    pairs = [(q, k) for q in shown_queries for k in range(len(names)) if weights[q, k] > FAINT]
    lines = LineCollection([[mixes[q], values[k]] for q, k in pairs], colors=t.query, alpha=0.7, zorder=2,
                           linewidths=[3 * float(weights[q, k]) for q, k in pairs])  # fmt: skip
    right.add_collection(lines, autolim=False)
    _draw.dots(right, mixes, colour=t.ink, scale=0.6, zorder=3.5)
    _draw.dots(right, mixes[shown_queries], colour=t.ink, scale=1.1, zorder=4)
    _draw.labels(left, values, names, colours=t.value, first=told)
    _draw.labels(right, mixes, names, colours=t.ink, first=told, keep_clear=np.concatenate([mixes, values]))
    for ax in (left, right):
        for text in ax.texts:
            _regions.halo_one(text, t)
