"""Queries and keys on one plane: who points at whom."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses._attend import not_asking
from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array, percent
from glassformer.analyses.query_key import QueryKey, means, query_key, say
from glassformer.figures import _attend, _draw, _style
from glassformer.run import Run

SECTION = "attend"
ORDER = 30
ANSWERS = ("4.09", "4.r9_10")
COST = "b"
applies = not_asking
APART = 0.35  # of the variance of the keys may lie within their groups, for the groups to be named


@_draw.drawing
def plot_query_key_space(
    run: Run,
    *,
    head: int | None = None,
    with_focus: str | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """All queries and keys on one plane; `with_focus="+@5"` adds the plane as one query sees it."""
    seen = query_key(run, query=with_focus, head=head, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=7, least=60)
    cloud = np.vstack([seen.queries.values.reshape(-1, 2), seen.keys.values.reshape(-1, 2)])
    near = _attend.near(cloud)
    panels = sheet.panels(
        1,
        2 if with_focus is not None or near is not None else 1,
        left=5,
        right=1.5 if with_focus is None else 7.5,
        bottom=5.4,
        top=2.4,
    )[0]
    _space(panels[0], seen, cloud, sheet)
    if near is not None and with_focus is None:
        _space(panels[1], seen, cloud, sheet, near)
        panels[0].set_title("all of them")
        panels[1].set_title("the middle, enlarged")
        (x0, x1), (y0, y1) = panels[1].get_xlim(), panels[1].get_ylim()
        panels[0].add_patch(
            Rectangle(
                (x0, y0),
                x1 - x0,
                y1 - y0,
                fill=False,
                edgecolor=sheet.theme.quiet,
                linewidth=0.6 * sheet.size.line,
                linestyle="--",
            )
        )
    if with_focus is not None:
        limit = _attend.span(seen.scores.values)
        _attend.focus(panels[1], seen, sheet.theme, limit)
        panels[1].set_title(f"the score of {drawn([seen.query])[0]} with a key drawn there")
        _attend.score_bar(sheet, limit, seen.scores.values, beside=panels[1])
    told = "labelled: the first showcase" if seen.example else "labelled: some of each token"
    sheet.note(told if seen.plane.lossless else f"{told} · {percent(seen.plane.kept)} of the scores' variance")
    sheet.legend(["query", "key"])
    return sheet.done(seen, head=seen.head, with_focus=with_focus)


def _space(ax: Axes, seen: QueryKey, cloud: Array, sheet: _draw.Sheet, near: Array | None = None) -> None:
    """All queries and keys on one plane (or its middle), with rings, and labels at those of the showcase."""
    half = len(cloud) // 2
    _draw.plane_axes(ax, seen.plane, cloud if near is None else near, theme=sheet.theme)
    _attend.rings(ax, sheet.theme)
    _draw.dots(ax, cloud[:half], colour=sheet.theme.query, marker=_style.MARKER["query"], scale=0.75, alpha=0.75)
    _draw.dots(ax, cloud[half:], colour=sheet.theme.key, marker=_style.MARKER["key"], scale=0.75, alpha=0.75)
    named = _followed(ax, seen, sheet)
    names = _attend.pair_labels(seen.queries)
    told = list(seen.example) or _attend.middle_first(len(seen.groups), len(seen.queries.axes["position"]))
    token, _, place = seen.query.rpartition("@")
    asker = seen.queries.axes["token"].index(token) * len(seen.queries.axes["position"]) + int(place)
    order = list(dict.fromkeys([asker, *(k + half for k in told), *told]))
    _draw.labels(
        ax,
        cloud[order],
        [(names * 2)[k] for k in order],
        colours=[sheet.theme.query if k < half else sheet.theme.key for k in order],
        keep_clear=named if half > 120 else np.vstack([cloud, named]),
    )


def _followed(ax: Axes, seen: QueryKey, sheet: _draw.Sheet) -> Array:
    """The arrow of the query that is followed, and where groups of keys lie apart their names and mean scores.

    Points that labels should not cover come back.
    """
    token, _, place = seen.query.rpartition("@")
    at: Array = seen.queries.values[seen.queries.axes["token"].index(token), int(place)]
    _draw.arrows(ax, np.zeros((1, 2)), at[None], colours=sheet.theme.query, width=1.6, zorder=4)
    groups, keys = np.array(seen.groups), seen.keys.values
    score = means(seen)
    middles = {name: keys[groups == name].reshape(-1, 2).mean(axis=0) for name in score}
    if not np.isfinite(keys).all() or len(middles) < 2:
        return np.array([at])
    flat = keys.reshape(-1, 2)
    within = sum(float(((keys[groups == name] - middle) ** 2).sum()) for name, middle in middles.items())
    if within > APART * float(((flat - flat.mean(axis=0)) ** 2).sum()):
        return np.array([at])
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    spots = [at]
    for name, (x, y) in middles.items():
        if x0 < x < x1 and y0 < y < y1:
            text = f"{name} keys: {_draw.number(score[name], 1)}"
            reach = float(keys[groups == name][..., 0].min())
            ax.text(reach - 0.03 * (x1 - x0), y, text, color=sheet.theme.key, fontweight="bold", ha="right",
                    va="center", zorder=6, parse_math=False)  # fmt: skip
            spots.append(np.array([reach - 0.1 * (x1 - x0), y]))
    return np.array(spots)
