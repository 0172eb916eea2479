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
    return np.stack([seen.by_step["entropy_at"].values[0], seen.by_step["loss_at"].values[0]], axis=1)


def rung_points(seen: Uncertainty) -> Array:
    """(rung, 2): entropy and price of every rung that can be reached, highest first."""
    points = np.stack([seen.rung_entropies.values, seen.rungs.values], axis=1)
    found: Array = points[np.array(seen.reachable, dtype=bool)]
    return found


def plane(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, rungs: bool = True) -> None:
    """What stands still on the plane: limits, the line of the calibrated, the rungs."""
    t, walked = sheet.theme, path(seen)
    prices = rung_points(seen)
    known = prices if len(prices) else np.array([[0, 0], [seen.highest] * 2])
    span = float(np.ptp(known)) or 1.0
    room = np.array([[known.max() + (0.25 * span if len(prices) and rungs else 0), known.max()]])  # for their names
    _draw.frame(ax, np.vstack([walked, known, room]), margin=0.07)
    ends = (min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1]))
    limits = ax.get_xlim(), ax.get_ylim()
    ax.plot(ends, ends, color=t.ink, linestyle="--", linewidth=0.8 * sheet.size.line, zorder=1)
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    box = ax.get_window_extent()
    for axis, length, each in ((ax.xaxis, box.width, 5), (ax.yaxis, box.height, 3)):
        axis.set_major_locator(MaxNLocator(int(np.clip(length / ax.figure.dpi / sheet.em / each, 2, 7))))
    ax.set_xlabel("entropy (nats)")
    ax.set_ylabel("loss (nats)")
    if len(prices):
        _draw.dots(ax, known, colour=t.rung, scale=1.5, zorder=2)
    if rungs:
        _rung_names(ax, seen, sheet)
        _truth(ax, seen, sheet)


def _rung_names(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    """Below and right of their points, the floor's first, none over another."""
    taken: list[float] = []
    t, size = sheet.theme, sheet.size.text
    names = [name for name, ok in zip(seen.rungs.axes["rung"], seen.reachable, strict=True) if ok]
    for (entropy, price), name in list(zip(rung_points(seen).tolist(), names, strict=True))[::-1]:
        x, y = map(float, ax.transData.transform((entropy, price)))
        if all(abs(y - other) > 1.25 * size * ax.figure.dpi / 72 for other in taken):
            taken.append(y)
            said = f"{name.rpartition(' = ')[2]}  {price:.2f}"
            wide = _draw.text_width(said, size) * ax.figure.dpi
            off = min(
                0.8 * size, (ax.get_window_extent().x1 - x - wide) * 72 / ax.figure.dpi
            )  # points; kept inside the panel
            ax.annotate(said, (entropy, price), xytext=(off, (-0.3 if off > 0 else -0.8) * size),
                        textcoords="offset points", ha="left", va="top", color=t.quiet, zorder=4,
                        bbox={"facecolor": (t.paper, 0.7), "edgecolor": "none", "pad": 0.4})  # fmt: skip


def _truth(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    """Where the exact predictor stands on these very inputs, which are a sample: near the last rung, not on it."""
    at = np.array([[seen.true("entropy"), seen.true("loss")]])
    if seen.subject == "run" and seen.exact and np.isfinite(at).all():
        ax.plot(at[:, 0], at[:, 1], marker="P", color=sheet.theme.ink, markeredgecolor=sheet.theme.paper, zorder=5.5)


def phase(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, rungs: bool = True, arrows: int = 5) -> None:
    """The path on the plane, early to late in shade, with arrow heads and the spread at some moments."""
    t = sheet.theme
    plane(ax, seen, sheet, rungs)
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
    if seen.inputs > 1 and rungs:
        at = [int(np.flatnonzero(seen.looked_at == step)[0]) for step in (seen.moments[0], seen.moments[-1])]
        low_x, high_x = seen.by_step["entropy_at"].values[1:]
        low_y, high_y = seen.by_step["loss_at"].values[1:]
        for k in at:
            style = {"color": shade[k], "linewidth": 0.5 * sheet.size.line, "zorder": 2.5}
            ax.plot([low_x[k], high_x[k]], [walked[k, 1]] * 2, **style)
            ax.plot([walked[k, 0]] * 2, [low_y[k], high_y[k]], **style)
    _heads(ax, walked[sound], shade[sound], arrows)
    if sound.sum() > 1 and rungs:
        for which, side in ((0, 0.5), (-1, -0.5)):
            if sound[which]:
                _end(ax, walked[which], f"step {thousands(int(seen.looked_at[which]))}", shade[which], side, sheet)
    if seen.step is not None and (seen.looked_at == seen.step).any():
        now = walked[seen.looked_at == seen.step]
        _draw.dots(ax, now, colour=t.paper, scale=2.2, zorder=6, linewidths=sheet.size.line, edgecolors=t.ink)


def _end(ax: Axes, at: Array, text: str, colour: Any, side: float, sheet: _draw.Sheet) -> None:
    """A large dot, and its name at the left where there is room."""
    t, size = sheet.theme, sheet.size.text
    _draw.dots(ax, at[None], colour=[colour], scale=1.8, zorder=5, linewidths=sheet.size.line * 0.5, edgecolors=t.ink)
    x = float(ax.transData.transform(at)[0])
    if x - (_draw.text_width(text, size) + 1.2 * size / 72) * ax.figure.dpi > ax.get_window_extent().x0:
        ax.annotate(text, tuple(at), xytext=(-0.8 * size, side * size), textcoords="offset points", color=t.ink,
                    zorder=6, ha="right", va="top" if side < 0 else "bottom",
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
