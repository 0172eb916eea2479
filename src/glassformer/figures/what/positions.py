"""How the model tells places apart: position embeddings, their cosines, and the ladder they form."""

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._result import percent
from glassformer.analyses.what.positions import Positions
from glassformer.figures import _draw


def draw(seen: Positions, look: _draw.Look) -> Figure:
    """Position by feature, cosine of every two, and the positions in the plane joined in order."""
    count, width = seen.embedding.values.shape
    shows = f"A heat map, a matrix of cosines and a chain of {count} points"
    sheet = look.sheet(seen, _caption(seen), shows, height=5.0)
    names = seen.embedding.axes["position"]
    wide = min(1.0, 0.34 + 0.06 * width)
    left, middle, right = sheet.panels(
        1, 3, left=4.5, right=1.5, bottom=4, top=2.4, gap=(12.4, 0), widths=(wide, 1.16, 1.1)
    )[0]
    limit = _draw.limits("signed", seen.embedding.values)
    _draw.heat(left, seen.embedding.values, kind="signed", limit=limit, theme=sheet.theme, rows=names,
               columns=seen.embedding.axes["feature"], row_name="position", column_name="feature")  # fmt: skip
    left.set_title("embedding")
    _draw.bar(sheet, "signed", limit, "value", beside=left, gap=0.7)
    _draw.heat(middle, seen.cosine.values, kind="signed", limit=(-1, 1), theme=sheet.theme, rows=names, columns=names,
               row_name="position", column_name="position",
               numbers=False if count > 10 else None, digits=1)  # fmt: skip
    _draw.heading(middle, "cosine of each pair")
    _draw.bar(sheet, "signed", (-1, 1), "cosine", beside=middle, gap=0.7).set_yticks([-1, -0.5, 0, 0.5, 1])
    points = seen.points.values
    _draw.plane_axes(right, seen.plane, points, theme=sheet.theme, margin=0.12)
    right.set_title("joined in order")
    right.plot(points[:, 0], points[:, 1], color=sheet.theme.faint, linewidth=sheet.size.line * 0.7, zorder=1)
    _draw.squares(right, points, theme=sheet.theme)
    if np.isfinite(points).any():
        joins = np.concatenate([np.linspace(a, b, 12) for a, b in pairwise(points)]) if count > 1 else points
        _draw.labels(
            right, points, names.labels, colours=sheet.theme.ink, first=[0, count - 1], keep_clear=joins, tied=True
        )
    return sheet.done()


def _caption(seen: Positions) -> str:
    how = "learned" if seen.kind == "learned" else "sinusoidal: fixed sines and cosines, not learned"
    return (
        f"Position embeddings ({how}). Left: one row per position, one column per feature. Middle: the cosine between "
        "every two of them, 1 for the same direction, −1 for opposite ones. Right: the positions in the plane, joined "
        "in order"
        + ("" if seen.plane.lossless else f"; principal components, {percent(seen.plane.kept)} of the variance")
        + f". Neighbours lie on average {seen.near:.2f} times as far apart as any two positions (1 without any order). "
        f"Exact values of the step. {_proves(seen)}"
    )


def _proves(seen: Positions) -> str:
    """What order among the positions says about the model: only what was learned says anything."""
    if seen.kind != "learned":
        return "Their order is given, not found: it does not say whether the model uses it."
    return (
        "If the model made no use of order, no order would be seen here, but order seen here does not prove that the "
        "model uses it."
    )
