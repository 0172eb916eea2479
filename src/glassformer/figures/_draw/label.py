"""Labels beside points, none over another."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes as Axes

from glassformer.analyses._result import Array
from glassformer.figures._draw.text import text_width

CENTRE = ((0.0, 0.0),)
TIED = tuple((r, k * np.pi / 8) for r in (2.0, 3.0, 4.2, 5.6) for k in range(16))  # ems away, at which angle
AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8))


def labels(
    ax: Axes,
    points: Array,
    texts: Sequence[str],
    *,
    colours: Any,
    first: Sequence[int] | None = None,
    around: bool = True,
    keep_clear: Array | None = None,
    scale: float = 1.0,
    most: int = 10_000,
    zorder: float = 5,
    tied: bool = False,
) -> list[int]:
    """Write labels beside points (n, 2), or on them (`around=False`), and leave out those that would cover another.

    `first`: order of importance (indices; those not named come after). `keep_clear`: other points not to cover.
    `tied`: a label without room beside its point may stand farther off, joined to it by a thin line.
    The indices that were written come back, so that the rest can be counted or shown as dots.
    """
    flat = np.reshape(points, (-1, 2))
    at = ax.transData.transform(flat)
    size = float(matplotlib.rcParams["font.size"]) * scale
    dot = size * ax.figure.dpi / 72
    box = ax.get_window_extent()
    clear = (
        ax.transData.transform(np.reshape(keep_clear, (-1, 2))) if keep_clear is not None else at if around else at[:0]
    )
    order = list(dict.fromkeys([*(first or ()), *range(len(flat))]))
    taken: list[tuple[float, float, float, float]] = []
    written: list[int] = []
    one = isinstance(colours, str) or (
        isinstance(colours, tuple) and len(colours) in (3, 4) and not isinstance(colours[0], str)
    )
    for index in order:
        if len(written) >= most or not np.isfinite(at[index]).all():
            continue
        half_w, half_h = text_width(texts[index], size) * ax.figure.dpi / 2 + 0.08 * dot, 0.52 * dot
        near = [
            (at[index, 0] + dx * (half_w + 0.4 * dot), at[index, 1] + dy * (half_h + 0.35 * dot), False)
            for dx, dy in (AROUND if around else CENTRE)
        ]
        away = [(x, y, True) for x, y in _away(at, index, half_w, dot)] if tied else []
        for x, y, line in near + away:
            if not (box.x0 <= x - half_w and x + half_w <= box.x1 and box.y0 <= y - half_h and y + half_h <= box.y1):
                continue
            spot = (x - half_w, y - half_h, x + half_w, y + half_h)
            if taken and _hits(spot, np.array(taken)):
                continue
            if len(clear) and _covers(spot, clear, index if keep_clear is None else -1):
                continue
            if around and not line and _is_anothers(spot, at, index):
                continue
            taken.append(spot)
            written.append(index)
            where = ax.transData.inverted().transform((x, y))
            ax.text(where[0], where[1], texts[index], color=colours if one else colours[index], fontsize=size,
                    ha="center", va="center", zorder=zorder, parse_math=False, clip_on=True)  # fmt: skip
            if line:
                nearest = np.clip(at[index], (x - half_w, y - half_h), (x + half_w, y + half_h))
                ends = ax.transData.inverted().transform([at[index], nearest])
                ax.plot(*ends.T, color=colours if one else colours[index], zorder=zorder - 1, scalex=False,
                        scaley=False, linewidth=0.3 * matplotlib.rcParams["lines.linewidth"])  # fmt: skip
            break
    return written


def _away(at: Array, index: int, half_w: float, dot: float) -> list[tuple[float, float]]:
    """Places some ems from a point, the near ones first, and of these first those that lead away from all points."""
    out = at[index] - np.nanmean(np.where(np.isfinite(at), at, np.nan), axis=0)
    turn = float(np.arctan2(out[1], out[0]))
    found = sorted(TIED, key=lambda each: (each[0], abs((each[1] - turn + np.pi) % (2 * np.pi) - np.pi)))
    return [
        (at[index, 0] + np.cos(angle) * (r * dot + half_w), at[index, 1] + np.sin(angle) * r * dot)
        for r, angle in found
    ]


def _hits(spot: tuple[float, float, float, float], taken: Array) -> bool:
    x0, y0, x1, y1 = spot
    return bool(((taken[:, 0] < x1) & (taken[:, 2] > x0) & (taken[:, 1] < y1) & (taken[:, 3] > y0)).any())


def _covers(spot: tuple[float, float, float, float], points: Array, own: int) -> bool:
    x0, y0, x1, y1 = spot
    inside = (points[:, 0] > x0) & (points[:, 0] < x1) & (points[:, 1] > y0) & (points[:, 1] < y1)
    if own >= 0:
        inside[own] = False
    return bool(inside.any())


def _is_anothers(spot: tuple[float, float, float, float], points: Array, own: int) -> bool:
    """Whether a label there would be read as that of another point, which lies clearly nearer to it."""
    x0, y0, x1, y1 = spot
    far = np.hypot(
        np.clip(points[:, 0], x0, x1) - points[:, 0],
        np.clip(points[:, 1], y0, y1) - points[:, 1],
    )
    return bool((far < 0.8 * far[own]).any())
