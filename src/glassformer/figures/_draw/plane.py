"""Planes: equal scales, a marked origin, points and arrows."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes as Axes
from matplotlib.collections import PathCollection

from glassformer.analyses._plane import PairPlane, Plane
from glassformer.analyses._result import Array
from glassformer.figures import _style


def plane_axes(
    ax: Axes,
    plane: Plane | PairPlane | None,
    points: Array,
    *,
    theme: _style.Theme,
    margin: float = 0.08,
    names: bool = True,
    origin: bool = True,
) -> None:
    """Make axes a plane: equal aspect, limits around the points (..., 2), marked origin, axis names from the plane."""
    frame(ax, points if not origin else np.vstack([np.reshape(points, (-1, 2)), _zero(plane)]), margin)
    if origin:
        x, y = _zero(plane)
        ax.axhline(y, color=theme.faint, linewidth=0.6 * matplotlib.rcParams["axes.linewidth"], zorder=0)
        ax.axvline(x, color=theme.faint, linewidth=0.6 * matplotlib.rcParams["axes.linewidth"], zorder=0)
        ax.plot(
            [x], [y], marker="+", color=theme.quiet, markersize=matplotlib.rcParams["font.size"], zorder=1, gid="origin"
        )
    if plane is not None and names:
        ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1])
    box, em = ax.get_window_extent(), matplotlib.rcParams["font.size"] * ax.get_figure(root=True).dpi / 72
    across, up = (int(np.clip(length / (share * em), 2, 5)) for length, share in ((box.width, 4.5), (box.height, 2.5)))
    ax.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(across))  # as many numbers as fit side by side
    ax.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(up))


def _zero(plane: Plane | PairPlane | None) -> Array:
    return plane.zero if isinstance(plane, Plane) else np.zeros(2)


def frame(ax: Axes, points: Array, margin: float = 0.08) -> None:
    """Limits around points (..., 2) with both axes to the same scale, filling the panel as it is."""
    flat = np.reshape(points, (-1, 2))
    flat = flat[np.isfinite(flat).all(axis=1)]
    low, high = (flat.min(axis=0), flat.max(axis=0)) if len(flat) else (np.zeros(2), np.ones(2))
    centre, reach = (low + high) / 2, np.maximum((high - low) * (0.5 + margin), 1e-9)
    if not reach.max() > 1e-8:
        reach = np.ones(2)
    box = ax.get_window_extent()
    shape = np.array([box.width, box.height]) / max(box.height, 1e-9)
    scale = float(np.max(reach / shape))
    ax.set_xlim(centre[0] - scale * shape[0], centre[0] + scale * shape[0])
    ax.set_ylim(centre[1] - scale * shape[1], centre[1] + scale * shape[1])
    ax.set_aspect("equal", adjustable="box")


def dots(
    ax: Axes,
    points: Array,
    *,
    colour: Any,
    marker: str = "o",
    scale: float = 1.0,
    alpha: Any = 1.0,
    zorder: float = 2,
    **more: Any,
) -> PathCollection:
    """Points (n, 2); `scale` 1 is a marker of about half the text's height; `alpha` may be one number per point."""
    flat = np.reshape(points, (-1, 2))
    more = {"linewidths": 0, "s": (0.5 * float(matplotlib.rcParams["font.size"]) * scale) ** 2} | more
    faded = np.clip(np.nan_to_num(alpha), 0, 1)
    return ax.scatter(flat[:, 0], flat[:, 1], c=colour, marker=marker, alpha=faded if np.ndim(alpha) else float(faded),
                      zorder=zorder, **more)  # fmt: skip


def squares(ax: Axes, points: Array, *, theme: _style.Theme, scale: float = 0.8, zorder: float = 2) -> PathCollection:
    """Positions (n, 2): empty squares, so that none wears the mark of a token group."""
    line = 0.6 * float(matplotlib.rcParams["lines.linewidth"])
    return dots(ax, points, colour=theme.paper, marker=_style.POSITION, scale=scale, zorder=zorder,
                edgecolors=theme.ink, linewidths=line)  # fmt: skip


def arrows(ax: Axes, begin: Array, end: Array, *, colours: Any, width: float = 1.0, zorder: float = 3) -> None:
    """Arrows from points (n, 2) to points (n, 2)."""
    line = width * float(matplotlib.rcParams["lines.linewidth"])
    many = [colours] * len(begin) if isinstance(colours, str) else colours
    for a, b, colour in zip(begin, end, many, strict=True):
        if np.isfinite([*a, *b]).all():
            ax.annotate("", xy=tuple(b), xytext=tuple(a), zorder=zorder, annotation_clip=False, arrowprops={
                "arrowstyle": "-|>", "color": colour, "linewidth": line, "shrinkA": 0, "shrinkB": 0,
                "mutation_scale": float(matplotlib.rcParams["font.size"]) * 1.1})  # fmt: skip
