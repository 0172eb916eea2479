"""Embedding, queries, keys and values with the three matrices between them, while they learn."""

import numpy as np

from glassformer.analyses._reel import Extent, Reel
from glassformer.analyses.attend.qkv import PARTS, Qkv
from glassformer.figures import _attend, _draw, _style
from glassformer.films._film import Stage, Update
from glassformer.films._labels import Spread, few

MOST_NUMBERS = 4  # cells of a matrix in which its numbers are written
NAMED = 6  # tokens with a name
TITLES = {"embedded": "embedding", "query": "queries", "key": "keys", "value": "values"}


def caption(reel: Reel) -> str:  # noqa: ARG001
    """How to read planes and matrices."""
    return (
        "Every token at every position as embedding, query, key and value; below, the three matrices that make "
        "them. Planes are those of the last "
        "step and do not move. The number of each matrix is its largest stretch (singular value)."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Four planes, fixed on the last step, and the three matrices."""
    last: Qkv = reel.still["last"]
    extent: Extent = reel.still["extent"]
    names, context = _attend.pair_labels(last.drawn["query"]), len(last.drawn["query"].axes["position"])
    words = [k for k, group in enumerate(last.groups) if group != "special"]  # without padding and the like
    middle = context // 2
    told = few(last.drawn["query"].values.reshape(-1, 2), NAMED, [k * context + middle for k in words])
    panels = stage.panels(1, 4, left=5, right=1.5, bottom=3.8, top=2.2, gap=(5.4, 0), within=(0, 0.36, 1, 1))[0]
    low = stage.panels(1, 4, left=5, right=1.5, bottom=3.6, top=1.8, gap=(5.4, 0), within=(0, 0, 1, 0.38))[0]
    limit = _draw.limits("signed", np.array([extent.largest]))
    _draw.bare(low[0])
    low[0].text(0, 0.9, _note(middle, last, limit[1]), va="top", transform=low[0].transAxes, color=stage.theme.quiet)
    moving, stamps, pictures, written = {}, {}, {}, {}
    palette = _style.colormap("signed", stage.theme.name)
    for panel, part in zip(panels, TITLES, strict=True):
        colour = stage.theme[part]
        _draw.plane_axes(panel, last.planes[part], extent.corners[part].values, theme=stage.theme)
        panel.set_title(TITLES[part], color=colour)
        panel.locator_params(nbins=4)
        marker, nowhere = _style.MARKER.get(part, "o"), np.full((1, 2), np.nan)
        moving[part] = stage.moving(_draw.dots(panel, nowhere, colour=colour, marker=marker, scale=0.5, alpha=0.7))
        stamps[part] = Spread(stage, panel, [names[k] for k in told], colour, above=0.9)
    for panel, part in zip(low[1:], PARTS, strict=True):
        matrix = last.matrices[part]
        rows, columns = matrix.values.shape
        panel.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
        _draw.bare(panel)
        _draw.places(panel, matrix.axes["feature"], "y", name="feature" if panel is low[1] else "", most=8)
        _draw.places(panel, matrix.axes["other_feature"], "x", name="head feature", most=12)
        panel.set_title(f"{part} matrix", color=stage.theme[part])
        pictures[part] = stage.picture(panel, kind="signed", limit=limit)
        written[part] = [
            stage.text(panel, column, row, ha="center", va="center")
            for row in range(rows)
            for column in range(columns)
            if rows * columns <= MOST_NUMBERS
        ]

    def update(seen: Qkv) -> None:
        for part in TITLES:
            points = seen.drawn[part].values.reshape(-1, 2)
            moving[part].set_offsets(points)
            stamps[part].move(points[told])
        for part in PARTS:
            values = seen.matrices[part].values
            pictures[part].show(values)
            for text, value in zip(written[part], values.ravel() if written[part] else (), strict=True):
                text.set_text(_draw.number(float(value), 1))
                share = (float(np.nan_to_num(value)) - limit[0]) / ((limit[1] - limit[0]) or 1)
                text.set_color(_style.on(palette(share)))

    return update


def _note(place: int, last: Qkv, most: float) -> str:
    head = f"block 0, head {last.head} of {last.heads}\n" if last.heads > 1 else ""
    return f"{head}named: some tokens\nat position {place}\ncolours of the\nmatrices: ±{most:.1f}"
