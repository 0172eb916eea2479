"""Query, key and value: what the three matrices make of every token at every position."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses.attend.qkv import PARTS, Qkv
from glassformer.figures import _attend, _draw, _on_grey, _style

ROOM = 2.5  # times as far as the points may the ellipse reach to be drawn
MOST_FEATURES = 4  # heat maps per part when extended


def draw(seen: Qkv, look: _draw.Look) -> Figure:
    """The embedding, the three matrices and the three images; `extended` adds token × position maps of each feature."""
    features = min(MOST_FEATURES, seen.exact["query"].values.shape[-1]) if seen.extended else 0
    shows = "Planes of embeddings, queries, keys and values, and the three matrices"
    sheet = look.sheet(seen, _caption(seen), shows, height=8 + 2.1 * features)
    base = 0.0 if not features else 1 - 8 / (8 + 2.1 * features) if sheet.size.fixed is None else 0.45
    split = 0.58 if sheet.size.name == "slide" else 0.5  # the planes' share of the height: they hold the names
    slide = sheet.size.name == "slide"  # six panels at most: each matrix above its image, without what goes in
    upper = sheet.panels(
        1,
        3 if slide else 4,
        widths=[1, 1, 1] if slide else [1.35, 1, 1, 1],
        left=5.6,
        right=7.5,
        bottom=3.4,
        top=2.6,
        gap=(8 if slide else 4.2, 0),
        within=(0, base + split * (1 - base), 1, 1),
    )[0]
    lower = sheet.panels(
        1,
        3,
        left=5.6,
        right=7.5 if slide else 1.5,
        bottom=5.8,
        top=2.4,
        gap=(8 if slide else 4.6, 0),
        within=(0, base, 1, base + split * (1 - base)),
    )[0]
    if not slide:
        plane(upper[0], seen, "embedded", sheet)
    limit = _draw.limits("signed", *(each.values for each in seen.matrices.values()))
    for panel, part in zip(upper[-3:], PARTS, strict=True):
        matrix = seen.matrices[part]
        many = len(matrix.axes["feature"]) > 16
        _draw.heat(
            panel,
            matrix.values,
            kind="signed",
            theme=sheet.theme,
            limit=limit,
            rows=() if many else matrix.axes["feature"],
            columns=() if many else matrix.axes["other_feature"],
            row_name="feature in" if part == "query" else "",
            column_name="feature out",
        )
        panel.set_title(f"{part} matrix", color=sheet.theme[part])
    _draw.bar(sheet, "signed", limit, "weight", beside=upper[-1])
    for panel, part in zip(lower, PARTS, strict=True):
        plane(panel, seen, part, sheet)
    if features:
        _extended(sheet, seen, features, base)
    shape = "circle" if seen.width == 2 else "sphere"
    dashes = Line2D([], [], color=sheet.theme.quiet, linestyle="--", linewidth=0.6 * sheet.size.line)
    dashes.set_label(f"image of the unit {shape}")
    if seen.circles:
        sheet.legend([dashes])
    if seen.example:
        tokens = _on_grey.input_of(seen.drawn["query"], seen.example)
        sheet.note(_on_grey.fitting(sheet, "coloured: the input ", tokens, " (all others grey)", 0.66))
    return sheet.done()


def _caption(seen: Qkv) -> str:
    return (
        "Every token at every position, before and after the three matrices of the first block"
        + (f" (head {seen.head} of {seen.heads})" if seen.heads > 1 else "")
        + (", which read the embedding after its norm" if seen.normed else "")
        + f". Each image is the embedding times one matrix{_stretched(seen)} Labels: the pairs of the input, where "
        "there is room. "
        + (
            "The planes are those of the two largest principal components of the points drawn. "
            if seen.width > 2
            else ""
        )
        + "The numbers are exact. Two tokens that fall on one point in an image are one and the same to that part "
        f"of the head.{_attend.left_out(seen.left_out)}"
    )


def _stretched(seen: Qkv) -> str:
    """What is drawn of how each matrix stretches, and where its singular values are written."""
    headings = "In the headings: the largest and smallest singular value of each matrix."
    if seen.turned:
        return f"; queries and keys are then turned by an angle that grows with their position. {headings}"
    if seen.width > 2:
        return f"; the dashes, drawn where they have room, are the image of the unit sphere on the plane. {headings}"
    return (
        ": the ellipse, drawn where it has room, is the image of the unit circle, and its longest and shortest radius "
        "are the singular values, written in the headings."
    )


def plane(ax: Axes, seen: Qkv, part: str, sheet: _draw.Sheet) -> None:
    """One cloud of pairs with the image of the unit circle."""
    points = seen.drawn[part].values.reshape(-1, 2)
    colour = sheet.theme[part]
    circle = seen.circles[part].values if part in seen.circles else points[:0]
    if np.abs(circle).max(initial=0) > ROOM * np.abs(points).max(initial=0):
        circle = circle[:0]  # it would leave the points no room
    _draw.plane_axes(ax, seen.planes[part], np.vstack([points, circle]), theme=sheet.theme)
    if len(circle):
        ax.plot(*circle.T, color=sheet.theme.quiet, linewidth=0.8 * sheet.size.line, linestyle="--", zorder=3)
    _on_grey.cloud(ax, points, seen.example, colour=colour, marker=_style.MARKER.get(part, "o"), theme=sheet.theme)
    names = _attend.pair_labels(seen.drawn[part])
    told = list(seen.example) or list(range(len(names)))
    first = [told.index(k) for k in seen.asked if k in told]
    _on_grey.named(ax, points[told], [names[k] for k in told], colours=colour, theme=sheet.theme, first=first)
    said = {"embedded": "embedding", "query": "queries", "key": "keys", "value": "values"}[part]
    if part in PARTS:
        sizes = seen.singular.values[PARTS.index(part)]
        said += f" · × {sizes[0]:.2f}" + (f" to {sizes[-1]:.2f}" if len(sizes) > 1 else "")
    ax.set_title(said, color=colour)


def _extended(sheet: _draw.Sheet, seen: Qkv, features: int, base: float) -> None:
    foot = 5.8 + _draw.widest(seen.exact["query"].axes["token"])  # the tokens' names, what they are, and a note
    panels = sheet.panels(
        features, 3, left=5.6, right=7.5, bottom=foot, top=2.6, gap=(4.6, 2.4), within=(0, 0, 1, base)
    )
    limit = _draw.limits("signed", *(seen.exact[part].values for part in PARTS))
    for column, part in enumerate(PARTS):
        values = seen.exact[part]
        for row in range(features):
            panel = panels[row, column]
            _draw.heat(
                panel,
                values.values[:, :, row].T,
                kind="signed",
                theme=sheet.theme,
                limit=limit,
                numbers=False,
                columns=values.axes["token"] if row == features - 1 else (),
                rows=values.axes["position"] if column == 0 else (),
                row_name="position" if column == 0 else "",
                column_name="token" if row == features - 1 else "",
            )
            panel.set_title(f"{part}, feature {row}", color=sheet.theme[part])
    _draw.bar(sheet, "signed", limit, "query, key or value", beside=list(panels[:, -1]))
