"""Nine pictures from tokens to what the head passes on."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._attend import not_asking
from glassformer.analyses._pairs import drawn
from glassformer.analyses.qkv_overview import QkvOverview, qkv_overview, say
from glassformer.figures import _attend, _draw, _style
from glassformer.run import Run

SECTION = "attend"
ORDER = 20
ANSWERS = ("4.S7",)
COST = "c"
TITLES = {
    "token": "tokens",
    "position": "positions",
    "embedded": "embedding: token + position",
    "query": "queries",
    "key": "keys",
    "value": "values",
}
applies = not_asking


@_draw.drawing
def plot_qkv_overview(
    run: Run,
    *,
    sequence: str | None = None,
    head: int | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Token, position, sum; query, key, value; queries with keys, attention of one input, what the head passes on."""
    seen = qkv_overview(run, sequence=sequence, head=head, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=11, least=60)
    names = sheet.size.fixed is None
    panels = sheet.panels(
        3 if names else 2, 3, left=5.6, right=3, bottom=5, top=2.4, gap=(9.6 if names else 8, 5.8 if names else 4.6)
    )
    parts = list(TITLES) if names else ["embedded", "query", "key", "value"]  # a slide has six panels at most
    for panel, part in zip(panels.flat, parts, strict=False):
        if part not in seen.planes_of:
            _draw.bare(panel)
            panel.text(
                0.5, 0.5, "no position is added\nto the token", ha="center", va="center", transform=panel.transAxes
            )
            continue
        values = seen.planes_of[part]
        points, colour = values.values.reshape(-1, 2), sheet.theme[part] if part in _style.MARKER else sheet.theme.ink
        _draw.plane_axes(panel, seen.planes[part], points, theme=sheet.theme, names=names)
        single = len(values.axes) == 2
        labels = drawn(next(iter(values.axes.values()))) if single else _attend.pair_labels(values)
        _draw.dots(panel, points, colour=colour, marker=_style.MARKER.get(part, "o"), scale=0.45, alpha=0.7)
        told = list(range(len(labels))) if single or not seen.example else list(seen.example)
        _draw.labels(panel, points[told], [labels[k] for k in told], colours=colour, most=40 if single else 12)
        alone = part == "embedded" and "position" not in seen.planes_of
        panel.set_title("embedding" if alone else TITLES[part], color=colour)
    if names:
        _both(panels[2, 0], seen, sheet)
    _input(panels[-1, 1], panels[-1, 2], seen, sheet, names)
    if not names:
        sheet.note("six of nine panels: tokens, positions and the plane of queries with keys are left out")
    return sheet.done(seen, sequence=" ".join(seen.tokens), head=seen.head)


def _both(both: Axes, seen: QkvOverview, sheet: _draw.Sheet) -> None:
    """Queries with keys."""
    cloud = {part: each.values.reshape(-1, 2) for part, each in seen.paired.items()}
    _draw.plane_axes(both, seen.pair, np.vstack(list(cloud.values())), theme=sheet.theme)
    for part, points in cloud.items():
        _draw.dots(both, points, colour=sheet.theme[part], marker=_style.MARKER[part], scale=0.5, alpha=0.7)
    asks = sorted({q for q, s in enumerate(seen.source) if s >= 0}) or list(range(len(seen.tokens)))
    vocabulary, context = seen.paired["query"].axes["token"], len(seen.paired["query"].axes["position"])
    tell = [vocabulary.index(seen.tokens[q]) * context + q for q in asks if seen.tokens[q] in vocabulary]
    tell += [len(cloud["query"]) + k for k in seen.example]
    texts = _attend.pair_labels(seen.paired["query"]) * 2
    tone = [sheet.theme.query] * len(cloud["query"]) + [sheet.theme.key] * len(cloud["key"])
    _draw.labels(
        both, np.vstack([cloud["query"], cloud["key"]]), texts, colours=tone, first=tell, most=min(len(tell), 12)
    )
    both.set_title("● queries with ■ keys")


def _input(grid: Axes, last: Axes, seen: QkvOverview, sheet: _draw.Sheet, names: bool) -> None:
    """The attention on the input, and what the head passes on."""
    length = len(seen.tokens)
    labels_at = seen.attention.axes["key_position"]
    _draw.heat(
        grid,
        seen.attention.values,
        kind="share",
        theme=sheet.theme,
        rows=labels_at,
        columns=labels_at,
        numbers=False,
        masked=~np.tri(length, dtype=bool) if seen.causal else None,
        row_name="query position" if names else "",
        column_name="key position" if names else "",
    )
    grid.set_title("attention on the input")
    _draw.outline(grid, ((q, s) for q, s in enumerate(seen.source) if s >= 0), sheet.theme.right)
    _draw.bar(sheet, "share", (0, 1), "", beside=grid, wide=0.7, gap=0.5)
    values = seen.planes_of["value"].values.reshape(-1, 2)
    mixed = seen.mixed.values
    _draw.plane_axes(last, seen.planes["value"], np.vstack([values, mixed]), theme=sheet.theme, names=names)
    _draw.dots(last, values, colour=sheet.theme.faint, marker=_style.MARKER["value"], scale=0.5)
    _draw.dots(last, mixed, colour=sheet.theme.value, marker=_style.MARKER["value"], scale=1.0, zorder=3)
    _draw.labels(last, mixed, drawn(seen.mixed.axes["query_position"]), colours=sheet.theme.ink)
    last.set_title("passed on: mixed values", color=sheet.theme.value)
