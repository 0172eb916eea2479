"""The plane of entropy and loss: the line of the calibrated, the rungs, the path."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import Array, thousands
from glassformer.analyses._uncertain import Uncertainty
from glassformer.figures import _draw, _style


def path(seen: Uncertainty) -> Array:
    """(step, 2): entropy and loss at the temperature."""
    return np.stack([seen.by_step[name].values[0] for name in ("entropy_at", "loss_at")], axis=1)


def rung_points(seen: Uncertainty) -> Array:
    """(rung, 2): entropy and price of every rung, highest first; a life without a ladder has none."""
    rungs = [seen.ladder[name].values for name in ("entropy", "price")] if seen.ladder else [np.zeros(0)] * 2
    return np.stack(rungs, axis=1)


def plane(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, rungs: bool = True, names: float = 10.0) -> None:
    """What stands still on the plane: limits, the line of the calibrated, the rungs with names at the right."""
    t, walked = sheet.theme, path(seen)
    prices = rung_points(seen)
    known = prices if len(prices) else np.array([[0, 0], [seen.highest] * 2])
    _limits(ax, np.vstack([walked, known]))
    ends = (min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1]))
    limits = ax.get_xlim(), ax.get_ylim()
    ax.plot(ends, ends, color=t.ink, linestyle="--", linewidth=0.8 * sheet.size.line, zorder=1)
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    box = ax.get_window_extent()
    for axis, length, each in ((ax.xaxis, box.width, 5), (ax.yaxis, box.height, 3)):
        most = int(np.clip(length / ax.figure.dpi / sheet.em / each, 2, 7))
        axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))
    ax.set(xlabel="entropy (nats)", ylabel="loss (nats)")
    if len(prices) and rungs:
        _draw.dots(ax, known, colour="none", scale=2.0, zorder=4.5, linewidths=0.8 * sheet.size.line, edgecolors=t.ink)
        _rung_names(ax, seen, sheet, names)


def _limits(ax: Axes, points: Array) -> None:
    """Around all points, and hardly below 0, where there are neither entropies nor losses."""
    flat = points[np.isfinite(points).all(axis=1)]
    low, high = flat.min(axis=0), flat.max(axis=0)
    room = np.maximum(high - low, 1e-9)
    least, most = np.maximum(low - 0.07 * room, -0.03 * room).tolist(), (high + 0.07 * room).tolist()
    ax.set(xlim=(least[0], most[0]), ylim=(least[1], most[1]))


def _rung_names(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, most: float) -> None:
    """At the right of the panel, each joined to its point by a thin line, which runs under the path."""
    t, end = sheet.theme, ax.get_xlim()[1]
    told, names = [], seen.ladder["price"].axes["rung"].values
    for (entropy, price), name in zip(rung_points(seen).tolist(), names, strict=True):
        ax.plot([entropy, end], [price] * 2, color=t.faint, linewidth=0.4 * sheet.size.line, zorder=0.5,
                scalex=False, scaley=False)  # fmt: skip
        told.append((float(price), f"{name}  {price:.3f}", t.quiet))
    _draw.beside(ax, told, most=most)


def phase(
    ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, rungs: bool = True, arrows: int = 5, names: float = 10.0
) -> None:
    """The path on the plane, early to late in shade, with arrow heads."""
    t = sheet.theme
    plane(ax, seen, sheet, rungs, names)
    walked = path(seen)
    sound: Array = np.asarray(np.isfinite(walked).all(axis=1))
    palette = _style.colormap("time", t.name)
    shade = palette(np.linspace(0, 1, len(walked)))
    pieces = np.stack([walked[:-1], walked[1:]], axis=1)
    keep = sound[:-1] & sound[1:]
    ax.add_collection(
        LineCollection(
            list(pieces[keep]), colors=shade[1:][keep], linewidths=0.5 * sheet.size.line, alpha=0.6, zorder=3
        ),
        autolim=False,
    )
    _draw.dots(ax, walked[sound], colour=shade[sound], scale=0.75 if len(walked) < 100 else 0.6, zorder=3.5)
    _heads(ax, walked[sound], shade[sound], arrows)
    if sound.sum() > 1 and rungs:
        for which in (0, -1):
            if sound[which]:
                said = f"step {thousands(int(seen.looked_at[which]))}"
                _end(ax, walked[which], said, shade[which], which == 0, sheet)
    if seen.step in seen.looked_at:
        now = walked[[seen.looked_at.index(seen.step)]]
        _draw.dots(ax, now, colour=t.paper, scale=2.2, zorder=6, linewidths=sheet.size.line, edgecolors=t.ink)


def _end(ax: Axes, at: Array, text: str, colour: Any, first: bool, sheet: _draw.Sheet) -> None:
    """A large dot, and its name where there is room: left of the first, right below the last, off the dashed line."""
    t, size = sheet.theme, sheet.size.text
    _draw.dots(ax, at[None], colour=[colour], scale=1.8, zorder=5, linewidths=sheet.size.line * 0.5, edgecolors=t.ink)
    x, box, side = float(ax.transData.transform(at)[0]), ax.get_window_extent(), -1 if first else 1
    far = x + side * (_draw.text_width(text, size) + 1.2 * size / 72) * ax.figure.dpi
    if box.x0 < far < box.x1:
        ax.annotate(text, tuple(at), xytext=(side * 0.8 * size, -side * 0.3 * size), textcoords="offset points",
                    color=t.ink, zorder=6, ha="right" if first else "left", va="bottom" if first else "top",
                    bbox={"facecolor": (t.paper, 0.75), "edgecolor": "none", "pad": 0.5})  # fmt: skip


def _heads(ax: Axes, walked: Array, shade: Array, many: int) -> None:
    """Arrow heads spread evenly over the length of the path as drawn."""
    if len(walked) < 3:
        return
    drawn = ax.transData.transform(walked)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(drawn, axis=0), axis=1))])
    em = float(matplotlib.rcParams["font.size"]) * ax.figure.dpi / 72
    for share in (np.arange(many) + 0.5) / many:
        middle = share * way[-1]
        reached = [middle - 0.7 * em, middle + 0.7 * em]
        ends = np.stack([np.interp(reached, way, drawn[:, axis]) for axis in (0, 1)], axis=1)
        if np.linalg.norm(ends[1] - ends[0]) > 0.6 * em:  # where the path turns back on itself, an arrow would mislead
            begin, end = ax.transData.inverted().transform(ends)
            colour = shade[int(np.searchsorted(way, middle))]
            _draw.arrows(ax, begin[None], end[None], colours=[colour], width=0.6, zorder=4)
