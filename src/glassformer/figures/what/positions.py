"""How the model tells places apart: position embeddings, their cosines, and the ladder they form."""

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._result import numbers
from glassformer.analyses.what.positions import positions, say
from glassformer.figures import _draw
from glassformer.run import Run


@_draw.drawing
def plot_positions(
    run: Run, *, step: int = -1, member: int = 0, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """Position by feature, cosine of every two, and the positions in the plane joined in order."""
    seen = positions(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=5.0, least=60)
    count, width = seen.embedding.values.shape
    names = seen.embedding.axes["position"].labels
    wide = min(1.0, 0.34 + 0.06 * width)
    left, middle, right = sheet.panels(
        1, 3, left=4.5, right=1.5, bottom=4, top=2.4, gap=(12.4, 0), widths=(wide, 1.16, 1.1)
    )[0]
    limit = _draw.limits("signed", seen.embedding.values)
    _draw.heat(left, seen.embedding.values, kind="signed", limit=limit, theme=sheet.theme, rows=names,
               columns=numbers(width), row_name="position", column_name="feature")  # fmt: skip
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
            right, points, numbers(count), colours=sheet.theme.ink, first=[0, count - 1], keep_clear=joins, tied=True
        )
    return sheet.done(seen)
