"""The loss over the plane in which training really moved, with its path, and how far that can be trusted."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._plane import DIRECTIONS
from glassformer.analyses._result import Array, percent, thousands
from glassformer.analyses.path.loss_surface import SHAPE, LossSurface
from glassformer.figures import _draw, _life, _style

FOOT = 0.34  # of the sheet, for the chart below
LIGHT = _style.THEMES["light"].paper  # lines on the map, in both themes: the map is the same
DARK = _style.THEMES["light"].ink


def draw(seen: LossSurface, look: _draw.Look) -> Figure:
    """Loss over the plane of the path's first two principal components; below, loss on the path and as projected."""
    shows = "A map of the loss over a plane of weights with the path of training"
    sheet = look.sheet(seen, caption(seen), shows, height=8.8 if look.size == "screen" else 7.2)
    panel = lay_out(sheet, foot=FOOT)
    relief(panel, seen, sheet)
    walk(panel, seen, sheet)
    below = sheet.panels(1, 1, left=6, right=10, bottom=3.8, top=2.4, within=(0, 0, 1, FOOT))[0, 0]
    _trust(below, seen, sheet)
    return sheet.done()


def caption(seen: LossSurface) -> str:
    """How to read the map."""
    return (
        f"Colours: loss of models whose weights lie in one plane of the {thousands(seen.parameters)}-"
        "dimensional space of weights, the plane of the first two principal components of the kept weights, laid "
        f"through the last of them ({seen.loss.values.shape[1]} × {seen.loss.values.shape[0]} models, each on "
        f"{seen.windows} {seen.whose} windows). Line: the path of training, seen in that plane, its start and end in "
        "the colour of their true loss; contours are the prices of the task's partial understandings. Below: the loss "
        "of the true weights along the way and of their projections "
        "into the plane; where the two part, the path has left the plane and the colours around it are not what "
        "training met. A slice can show valleys and walls, not how many there are in all other directions."
    )


def lay_out(sheet: _draw.Sheet, foot: float) -> Axes:
    """The map's panel: as large as the sheet allows at the map's own shape, with room for colours and rungs beside."""
    room_x, room_y = sheet.room
    left, right, bottom, top = 6.0, 23.0 if room_x > 60 else 19.0, 3.6, 1.2
    wide, high = room_x - left - right, room_y * (1 - foot) - bottom - top
    wide, high = min(wide, high * SHAPE), min(high, wide / SHAPE)
    return sheet.panels(
        1, 1, left=left, right=room_x - left - wide, top=top, bottom=room_y * (1 - foot) - top - high,
        within=(0, foot, 1, 1),
    )[0, 0]  # fmt: skip


def limits(seen: LossSurface) -> tuple[float, float]:
    """Colours from the lowest loss, on map or path, to a little above the highest rung and the path; cut off there."""
    top = max(float(seen.rungs.values[0]), float(seen.on_path.values[0].max()))
    low = float(min(np.nanmin(seen.loss.values), seen.on_path.values[0].min()))
    return low, top + 0.15 * (top - low)


def edges(seen: LossSurface) -> tuple[float, float, float, float]:
    """Left, right, bottom, top of the map, half a cell beyond its outermost places."""
    across, up = (np.array(seen.loss.axes[name].values) for name in DIRECTIONS)
    half = (across[1] - across[0]) / 2, (up[1] - up[0]) / 2
    return across[0] - half[0], across[-1] + half[0], up[0] - half[1], up[-1] + half[1]


def relief(ax: Axes, seen: LossSurface, sheet: _draw.Sheet) -> None:
    """The map, with the rungs as contours, named beside the colours."""
    low, high = limits(seen)
    x0, x1, y0, y1 = edges(seen)
    ax.imshow(seen.loss.values, cmap=_style.colormap("entropy", sheet.theme.name), vmin=low, vmax=high, origin="lower",
              extent=(x0, x1, y0, y1), aspect="auto", interpolation="bilinear", zorder=0)  # fmt: skip
    rungs = list(zip(seen.rungs.axes["rung"].values, seen.rungs.values.tolist(), strict=True))
    prices = np.unique([price for _, price in rungs])
    finite = seen.loss.values[np.isfinite(seen.loss.values)]
    inside = [price for price in prices if finite.min() < price < finite.max()]
    if inside:
        across, up = (np.array([low, *seen.loss.axes[name].values, high]) for name, low, high in zip(
            DIRECTIONS, (x0, y0), (x1, y1), strict=True))  # to the edges of the outermost cells  # fmt: skip
        heights = np.pad(np.nan_to_num(seen.loss.values, nan=1e9, posinf=1e9), 1, mode="edge")
        widths = [sheet.size.line * (1.1 if price == prices[0] else 0.6) for price in inside]
        ax.contour(across, up, heights, levels=inside, colors=LIGHT, linewidths=widths, linestyles="--", zorder=1)
    shares = seen.shares.values
    ax.set(xlim=(x0, x1), ylim=(y0, y1), xlabel=f"component 1 · {percent(float(shares[0]))} of the path's variance")
    ax.set_ylabel(f"component 2 · {percent(float(shares[1]))}" if len(shares) > 1 else "component 2")
    beyond = ", brightest: or more" if finite.max(initial=low) > high else ""
    colours = _draw.bar(sheet, "entropy", (low, high), f"loss (nats{beyond})", beside=ax, gap=5.2)
    colours.yaxis.set_ticks_position("left")
    colours.yaxis.set_label_position("left")
    _life.plain_powers(colours.yaxis)
    shown = [(name, price) for name, price in rungs if low <= price <= high]
    for _, price in shown:
        colours.axhline(price, color=LIGHT, linewidth=0.6 * sheet.size.line, linestyle="--")
    names = [(price, f"{name}  {price:.3f}", sheet.theme.quiet) for name, price in shown]
    _draw.beside(colours, names, most=12 if sheet.room[0] > 60 else 9)


def walk(ax: Axes, seen: LossSurface, sheet: _draw.Sheet) -> None:
    """The path with its start, its end and some steps on the way."""
    way, line = seen.path.values, sheet.size.line
    ax.plot(*way.T, color=DARK, linewidth=2.4 * line, solid_joinstyle="round", zorder=3)
    ax.plot(*way.T, color=LIGHT, linewidth=1.1 * line, solid_joinstyle="round", zorder=4)
    (low, high), palette = limits(seen), _style.colormap("entropy", sheet.theme.name)
    for k, marker, scale in ((0, "o", 0.9), (-1, "*", 1.5)):  # in the colour of the true loss, on or off the plane
        own = palette((float(seen.on_path.values[0, k]) - low) / (high - low))
        ax.plot(*way[k], marker=marker, color=own, markeredgecolor=LIGHT, markersize=sheet.size.text * scale,
                markeredgewidth=line, zorder=5)  # fmt: skip
    moved = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    wanted = np.searchsorted(moved, np.linspace(0, moved[-1], 7)[1:-1])
    picked = [0, *sorted({int(k) for k in wanted if 0 < k < len(way) - 1}), len(way) - 1]
    texts = [thousands(seen.looked_at[k]) for k in picked]
    texts[0], texts[-1] = f"start ({texts[0]})", f"end ({texts[-1]})"
    ax.plot(*way[picked[1:-1]].T, linestyle="", marker="o", color=DARK, markersize=sheet.size.text * 0.4, zorder=5)
    star = _around(ax, way[-1], 0.8 * sheet.size.text * ax.figure.dpi / 72)  # its rays are longer than dots are wide
    clear = np.vstack([_dense(way), star])
    _draw.labels(ax, way[picked], texts, colours=LIGHT, first=[0, len(picked) - 1], keep_clear=clear, tied=True)
    for text in ax.texts:
        text.set_bbox({"facecolor": DARK, "alpha": 0.5, "linewidth": 0, "pad": 0.8})


def _around(ax: Axes, at: Array, far: float) -> Array:
    """Points on a circle so many pixels around a point."""
    turn = np.linspace(0, 2 * np.pi, 16)
    on = ax.transData.transform(at) + far * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return ax.transData.inverted().transform(on)


def _dense(way: Array) -> Array:
    """The path as many points, so that no label lies on it."""
    at = np.linspace(0, len(way) - 1, 20 * len(way))
    return np.stack([np.interp(at, np.arange(len(way)), side) for side in way.T], axis=1)


def _trust(ax: Axes, seen: LossSurface, sheet: _draw.Sheet) -> None:
    t, line = sheet.theme, sheet.size.line
    true, shadow = seen.on_path.values
    ax.plot(seen.looked_at, true, color=t.validation, linewidth=line, marker="o" if len(seen.looked_at) < 4 else "")
    ax.plot(seen.looked_at, shadow, color=t.ink, linewidth=line, linestyle=":")
    low, high = limits(seen)
    high, peak = max(high, float(np.nanmax(true))), float(np.nanmax(shadow, initial=low))
    cut = peak > high + (high - low)  # so far off that the rest would be flat
    high = high if cut else max(high, peak + 0.03 * (peak - low))
    ax.set(ylim=(low - 0.05 * (high - low), high), ylabel="loss (nats)")
    _life.plain_powers(ax.yaxis)
    far = f"; dotted: up to {peak:.3g}, cut off" if cut else ""
    _draw.heading(ax, f"loss of the weights, and of their projections into the plane ({seen.windows} windows{far})")
    names = [(float(true[-1]), "true weights", t.validation), (float(shadow[-1]), "projected", t.ink)]
    _draw.beside(ax, names, most=8)
    _life.steps_axis(ax, seen.scale, 0.0, True, seen.step)
