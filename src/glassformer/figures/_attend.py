"""What the figures of attention share: fields of scores, planes of pairs, hatched triangles."""

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._pairs import at_position, drawn, paired, shown
from glassformer.analyses._result import Array, Axis, Labelled
from glassformer.analyses.attend.query_key_space import QueryKeySpace
from glassformer.figures import _draw, _style

TYPICAL = 0.95  # share of the scores that the colours tell apart where a few are far larger


def field(
    ax: Axes, values: Array, side: Axis, limit: tuple[float, float], theme: _style.Theme, lines: bool = True
) -> None:
    """Colour a plane by a linear score given on a square grid; between its points the colours are exact."""
    reach = float(side.values[-1])  # type: ignore[arg-type]
    half = reach / (len(values) - 1)  # the outer cells reach half a cell beyond
    image = ax.imshow(
        values,
        cmap=_style.colormap("signed", theme.name),
        vmin=limit[0],
        vmax=limit[1],
        origin="lower",
        extent=(-reach - half, reach + half, -reach - half, reach + half),
        interpolation="bilinear",
        zorder=0,
        aspect="equal",
        interpolation_stage="data",
    )
    image.set_gid("field")
    if lines and np.ptp(values) > 0:
        levels = MaxNLocator(7).tick_values(*limit)
        ax.contour(
            side.values,
            side.values,
            values,
            levels=levels,
            colors=theme.quiet,
            zorder=0.6,
            negative_linestyles="dotted",
            linewidths=0.35 * matplotlib.rcParams["lines.linewidth"],
        )


def span(*values: Array) -> tuple[float, float]:
    """Limits of colours for scores: ±the largest; where a few are far larger, ±what 19 in 20 stay below."""
    full = _draw.limits("signed", *values)
    sizes = np.abs(np.concatenate([np.ravel(each) for each in values]))
    sizes = sizes[np.isfinite(sizes)]
    usual = float(np.quantile(sizes, TYPICAL)) if len(sizes) else 0.0
    usual = float(f"{usual:.2g}")
    return (-usual, usual) if 0 < 2.5 * usual < full[1] else full


def score_bar(
    sheet: _draw.Sheet, limit: tuple[float, float], *values: Array, beside: Axes | Sequence[Axes]
) -> None:  # fmt: skip
    """A colour bar for scores that says how far they go where the colours end before."""
    most = _draw.limits("signed", *values)[1]
    beyond = most > 1.001 * limit[1]
    panels = [beside] if isinstance(beside, Axes) else list(beside)
    high = max(sheet.rects[p][1] + sheet.rects[p][3] for p in panels) - min(sheet.rects[p][1] for p in panels)
    said = f"score (some beyond, up to ±{_draw.number(most, 0)})"
    if _draw.text_width(said, sheet.size.text) > high * sheet.inches[1]:
        said = f"score, up to ±{_draw.number(most, 0)}"
    _draw.bar(sheet, "signed", limit, said if beyond else "score", beside=beside, beyond=beyond)


def plate(ax: Axes, since: int, theme: _style.Theme) -> None:
    """A pale plate behind the texts written since, so that they can be read on colours."""
    for text in ax.texts[since:]:
        text.set_bbox({"facecolor": theme.paper, "alpha": 0.72, "edgecolor": "none", "pad": 0.6})


def rings(ax: Axes, theme: _style.Theme) -> None:
    """Circles of equal length around the origin."""
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    far = max(abs(x0), abs(x1), abs(y0), abs(y1))
    for radius in MaxNLocator(4).tick_values(0, far):
        if 0 < radius < 1.5 * far:
            ax.add_patch(
                Circle(
                    (0, 0),
                    radius,
                    fill=False,
                    edgecolor=theme.faint,
                    linewidth=0.4 * matplotlib.rcParams["lines.linewidth"],
                    zorder=0.2,
                )
            )


def near(cloud: Array) -> Array | None:
    """The points of the middle, where a few far ones would crowd them; None: they have room."""
    cloud = cloud[np.isfinite(cloud).all(axis=1)]
    if not len(cloud):
        return None
    reach = np.abs(cloud).max(axis=1)
    most = 1.15 * float(np.quantile(reach, 0.9))
    return cloud[reach <= most] if 1.5 * most < reach.max() else None


def fitting(ax: Axes, which: str, text: float, each: float) -> int:
    """How many labels an axis has room for, `each` text sizes long."""
    box = ax.get_window_extent()
    return max(2, int((box.width if which == "x" else box.height) / ax.figure.dpi * 72 / text / each))


def places(
    ax: Axes, labels: Axis | Sequence[str], marks: Sequence[int], which: str, name: str = "", most: int = 32
) -> None:
    """Labels of a map's positions; of a long input the marked ones first, and a short line at the edge for each.

    Those between are named as far as there is room, so that every label can be read.
    """
    _draw.places(ax, labels, which, name=name, most=most)
    names = drawn(labels)
    axis = ax.xaxis if which == "x" else ax.yaxis
    if not marks or len(axis.get_ticklocs()) == len(labels) > 0:
        return
    along = ax.get_xaxis_transform() if which == "x" else ax.get_yaxis_transform()
    for place in marks:
        ends = ([place, place], [-0.022, -0.004]) if which == "x" else ([-0.022, -0.004], [place, place])
        ax.plot(*ends, transform=along, clip_on=False, color=matplotlib.rcParams["text.color"],
                linewidth=0.5 * matplotlib.rcParams["lines.linewidth"])  # fmt: skip
    if not labels:
        return
    box, text = ax.get_window_extent(), float(matplotlib.rcParams["font.size"])
    wide = box.width if which == "x" else box.height
    apart = 1.15 * text * ax.figure.dpi / 72 / wide * len(labels)  # positions from one label to the next
    every = [*marks, *range(0, len(labels), max(1, round(3 * apart)))]
    chosen: list[int] = []
    for place in every:
        if all(abs(place - other) >= apart for other in chosen):
            chosen.append(place)
    axis.set_ticks(sorted(chosen), [names[k] for k in sorted(chosen)])
    axis.set_tick_params(pad=0.55 * text)
    for label in axis.get_ticklabels():
        label.set_parse_math(False)
        label.set_rotation(90 if which == "x" else 0)


def marked(tokens: Sequence[str], marks: Sequence[int]) -> str:
    """What the short lines at the edges of a map mark: the one token, or what such tokens are."""
    there = {tokens[k] for k in marks}
    return shown(there.pop()) if len(there) == 1 else "punctuation and white space"


def left_out(many: int) -> str:
    """What a caption adds where not every token of the vocabulary is drawn."""
    return f" {many} rarer tokens are left out." if many else ""


def longest(names: Axis | Sequence[str]) -> float:
    """Length of the longest name, in text sizes."""
    return max((_draw.text_width(name, 72) for name in drawn(names)), default=0.0)


def pair_labels(values: Labelled) -> list[str]:
    """`8₇` for each pair of (token, position, ...), token by token."""
    return list(paired(values.axes["token"].labels, len(values.axes["position"])).labels)


def middle_first(tokens: int, context: int, place: int | None = None) -> list[int]:
    """An order for labels of pairs: one position of every token first, then the ends."""
    at = context // 2 if place is None else place
    return [token * context + p for p in dict.fromkeys((at, context - 1, 0)) for token in range(tokens)]


def focus(ax: Axes, seen: QueryKeySpace, theme: _style.Theme, limit: tuple[float, float]) -> None:
    """The plane coloured by one query's score, with the keys it can meet and those it cannot."""
    at = seen.queries.values.reshape(-1, 2)[seen.row(seen.query)]
    keys, can = seen.keys.values.reshape(-1, 2), seen.can_see.values.ravel()
    close = near(np.vstack([keys, at]))
    _draw.plane_axes(ax, seen.plane, np.vstack([keys, at]) if close is None else np.vstack([close, at]), theme=theme)
    window = ax.get_xlim(), ax.get_ylim()
    field(ax, seen.field.values, seen.field.axes["horizontal"], limit, theme)
    ax.set(xlim=window[0], ylim=window[1])
    ax.set_aspect("equal", adjustable="box")
    _draw.dots(ax, keys[~can], colour=theme.masked, marker=_style.MARKER["key"], scale=0.7)
    rim = {"edgecolors": theme.paper, "linewidths": 0.4 * matplotlib.rcParams["lines.linewidth"]}  # on dark colours
    _draw.dots(ax, keys[can], colour=theme.key, marker=_style.MARKER["key"], scale=1.1, zorder=3, **rim)
    _draw.arrows(ax, np.zeros((1, 2)), at[None], colours=theme.query)
    _draw.dots(ax, at[None], colour=theme.query, marker=_style.MARKER["query"], scale=1.7, zorder=4)
    names, context = pair_labels(seen.keys), len(seen.keys.axes["position"])
    first = [seen.row(pair) for pair in seen.top.axes["key_pair"].values]
    met = sorted((k for k in seen.example if can[k]), key=lambda k: -seen.scores.values.ravel()[k])
    rest = middle_first(len(seen.groups), context, max(seen.query[1] - 1, 0))
    answer = [] if seen.answer is None else [seen.row(seen.answer)]
    order = [k for k in [*answer, *met, *first, *rest] if can[k]]
    since = len(ax.texts)
    told = list(dict.fromkeys(order))
    _draw.labels(
        ax,
        np.vstack([at[None], keys[told]]),
        [at_position(*seen.query), *(names[k] for k in told)],
        colours=[theme.query] + [theme.key] * len(told),
        most=26,
        keep_clear=np.vstack([at[None], keys[can]]),
    )
    plate(ax, since, theme)


def staircase(ax: Axes, blocks: Sequence[tuple[int, int]], size: int, theme: _style.Theme) -> None:
    """Cross-hatch the future of each block of a map: (row, column) of its first cell, `size` positions on a side."""
    corners: list[tuple[float, float]] = []
    codes: list[int] = []
    for row, column in blocks:
        if size < 2:
            continue
        outline = [
            (1, 0),
            (size, 0),
            (size, size - 1),
            *[(c, r) for q in range(size - 2, -1, -1) for c, r in ((q + 2, q + 1), (q + 1, q + 1))],
        ]
        corners += [(column + c - 0.5, row + r - 0.5) for c, r in outline] + [(0.0, 0.0)]
        codes += [Path.MOVETO, *[Path.LINETO] * (len(outline) - 1), Path.CLOSEPOLY]
    if corners:
        ax.add_patch(
            PathPatch(Path(corners, codes), facecolor=theme.paper, edgecolor=theme.masked, hatch="xxxxx", linewidth=0)
        )


def atlas(ax: Axes, tokens: Sequence[str], context: int, theme: _style.Theme, one_row: bool = False) -> None:
    """Lines between the token blocks of an atlas and the tokens beside them."""
    line = 0.4 * matplotlib.rcParams["lines.linewidth"]
    marks = [context * (k + 0.5) - 0.5 for k in range(len(tokens))]
    for k in range(1, len(tokens)):
        ax.axvline(k * context - 0.5, color=theme.quiet, linewidth=line)
        if not one_row:
            ax.axhline(k * context - 0.5, color=theme.quiet, linewidth=line)
    names, wide = drawn(tokens), ax.get_window_extent().width / ax.figure.dpi / len(tokens)
    text = float(matplotlib.rcParams["font.size"])
    crowded = max(_draw.text_width(name, text) for name in names) > 0.95 * wide
    every = -(-len(tokens) // fitting(ax, "x", text, 1.1)) if crowded else 1  # of names that would touch, some
    ax.set_xticks(marks[::every], names[::every], rotation=90 if crowded else 0)
    ax.tick_params(length=0)
    if not one_row:
        every = -(-len(tokens) // fitting(ax, "y", text, 1.1))
        ax.set_yticks(marks[::every], names[::every])
