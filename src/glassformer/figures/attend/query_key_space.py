"""Queries and keys on one plane: who points at whom."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import at_position
from glassformer.analyses._result import Array, percent
from glassformer.analyses.attend.query_key_space import QueryKeySpace
from glassformer.figures import _attend, _draw, _on_grey, _regions, _style

BARS = 20  # ems that a panel of scores needs
LEFT = 5.6  # ems for the ticks and the name at the left of a plane
LEAST = 0.45  # width over height of a plane, and height over width: labels need some room
APART = 0.35  # of the variance of the keys may lie within their groups, for the groups to be named


def draw(seen: QueryKeySpace, look: _draw.Look) -> Figure:
    """All queries and keys on one plane; `with_focus` adds the plane as one query sees it."""
    sheet = look.sheet(seen, _caption(seen), "Plane of all queries and keys", height=7)
    cloud = np.vstack([seen.queries.values.reshape(-1, 2), seen.keys.values.reshape(-1, 2)])
    near = _attend.near(cloud)
    beside = 1.5 + max((_draw.text_width(text, 1.1 * 72) for text in _apart(seen).values()), default=0.0)
    clouds = [cloud] if near is None or seen.with_focus else [cloud, near]
    panels, bars = _panels(sheet, clouds, beside, seen.with_focus, seen.row(seen.query) in seen.example)
    for panel in panels:
        panel.set_anchor("W" if len(panels) > 1 or bars is not None else "C")
    if bars is not None:
        _scores(bars, seen, sheet)
    _space(panels[0], seen, cloud, sheet)
    if near is not None and not seen.with_focus:
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
    if seen.with_focus:
        limit = _attend.span(seen.scores.values)
        _attend.focus(panels[1], seen, sheet.theme, limit)
        panels[1].set_title(f"the score of {at_position(*seen.query)} with a key drawn there")
        _attend.score_bar(sheet, limit, seen.scores.values, beside=panels[1])
    kept = "" if seen.plane.lossless else f" · {percent(seen.plane.kept)} of the scores' variance"
    tokens = _on_grey.input_of(seen.queries, seen.example)
    rings = f"; rings: equal length; score: {seen.product}{kept}"
    told = _on_grey.fitting(sheet, "coloured: the input ", tokens, rings, 0.8)
    sheet.note(told if seen.example else f"labelled: some of each token{rings}")
    sheet.legend(["query", "key"])
    return sheet.done()


def _caption(seen: QueryKeySpace) -> str:
    said = (
        "All queries (circles) and keys (squares) of "
        + (f"head {seen.head} of {seen.heads}, " if seen.heads > 1 else "the head, ")
        + "one of each for every token at every position; rings join places equally far from the origin. The score of "
        f"a query with a key is {seen.product}: the product of their lengths times the cosine of the angle between them"
        + (f", divided by {seen.product.rpartition(' / ')[2]}" if " / " in seen.product else "")
        + ". A query looks along its own direction, the further out a key lies there the better. "
        + (
            ""
            if seen.plane.lossless
            else f"Drawn is the plane whose dot products come closest to the true scores; it explains "
            f"{percent(seen.plane.kept)} of their variance. "
        )
        + f"The arrow is the query of {seen.asker}"
        + ("; bold, beside the keys of each group: their mean score for that query" if _apart(seen) else "")
        + ". In `4₇` the small number is the position. In colour: the "
        "queries and keys of the input, named where there is room; bars, where there is room: the scores of "
        "that query with the keys of the input that it may see. Exact, no input needed. If the head asked for "
        f"nothing, all queries would lie at the origin.{_attend.left_out(seen.left_out)}"
    )
    if not np.isfinite(seen.lengths.values).all():
        return said
    return f"{said} {seen.longest}."


def _panels(
    sheet: _draw.Sheet, clouds: Sequence[Array], beside: float, focus: bool, scores: bool
) -> tuple[list[Axes], Axes | None]:
    """A plane for each cloud, as wide as it needs, and in what is left a panel for `scores`, if that is enough.

    `focus`: one more plane of its own shape; nothing is left then.
    """
    wide, high = sheet.room
    rest: dict[str, Any] = {"bottom": 5.4, "top": 3.6 if sheet.size.name == "slide" else 2.4}
    if focus:
        return list(sheet.panels(1, 2, left=LEFT, right=7.5, gap=(LEFT + beside, 0), **rest)[0]), None
    shapes = [_limits(each) for each in clouds]
    needs = [LEFT + beside + (high - 7.8) * float(np.ptp(x) / np.ptp(y)) for x, y in shapes]
    if not scores or sum(needs) + BARS > wide:
        return list(sheet.panels(1, len(clouds), left=LEFT, right=beside, gap=(LEFT + beside, 0), **rest)[0]), None
    more = min(1.3, (wide - 1.4 * BARS) / sum(needs)) if sum(needs) + 1.4 * BARS < wide else 1.0  # some air
    ends = np.append(0, np.cumsum(needs)) * more / wide
    planes = [
        sheet.panels(1, 1, left=LEFT, right=beside, within=(float(ends[k]), 0, float(ends[k + 1]), 1), **rest)[0, 0]
        for k in range(len(clouds))
    ]
    return planes, sheet.panels(1, 1, left=4, right=4, within=(float(ends[-1]), 0, 1, 1), **rest)[0, 0]


def _scores(ax: Axes, seen: QueryKeySpace, sheet: _draw.Sheet) -> None:
    """The scores of the one query with the keys of the input that it may see, in their order; the answer framed."""
    context, can = len(seen.queries.axes["position"]), seen.can_see.values.ravel()
    met = sorted((k for k in seen.example if can[k]), key=lambda k: k % context)
    names, values = _attend.pair_labels(seen.keys), seen.scores.values.ravel()[met]
    bars = ax.barh(range(len(met)), values, color=sheet.theme.key, height=0.66)
    if seen.answer and (answer := seen.row(seen.answer)) in met:
        bars[met.index(answer)].set(edgecolor=sheet.theme.right, linewidth=1.6 * sheet.size.line)
    _draw.name_rows(ax, [names[k] for k in met])
    ax.invert_yaxis()
    texts = [f" {_draw.number(value, 1)} " for value in values]
    known = values[np.isfinite(values)]
    low, high = float(known.min(initial=0.0)), float(known.max(initial=0.0))
    high = high if high > low else 1.0  # nothing to see
    wide = ax.get_window_extent().width / ax.figure.dpi
    room = max((_draw.text_width(text, sheet.size.text) for text in texts), default=0.0) / wide  # share, for a number
    span = (high - low) / max(1 - room * ((low < 0) + (high > 0)), 0.2)
    ax.set_xlim(low - room * span * (low < 0), high + room * span * (high > 0))
    for k, (value, text) in enumerate(zip(values, texts, strict=True)):
        ax.text(value, k, text, va="center", ha="right" if value < 0 else "left")
    ax.axvline(0, color=sheet.theme.quiet, linewidth=0.5 * sheet.size.line)
    ax.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
    ax.set_xlabel(f"score: {seen.product}")
    _draw.heading(ax, f"scores of {at_position(*seen.query)} with the input's keys")


def _space(ax: Axes, seen: QueryKeySpace, cloud: Array, sheet: _draw.Sheet, near: Array | None = None) -> None:
    """All queries and keys on one plane (or its middle), with rings; those of the input coloured and labelled."""
    half, theme = len(cloud) // 2, sheet.theme
    _draw.plane_axes(ax, seen.plane, cloud if near is None else near, theme=theme)
    _crop(ax, cloud if near is None else near)
    _attend.rings(ax, theme)
    asker = seen.row(seen.query)
    for part, points in (("query", cloud[:half]), ("key", cloud[half:])):
        chosen = {*seen.example, asker} if part == "query" and seen.example else seen.example
        _on_grey.cloud(ax, points, list(chosen), colour=theme[part], marker=_style.MARKER[part], theme=theme)
    _draw.arrows(ax, np.zeros((1, 2)), cloud[asker][None], colours=theme.query, width=1.6, zorder=2.5)
    joined = _groups(ax, seen, sheet)
    names = _attend.pair_labels(seen.queries)
    told = list(seen.example) or _attend.middle_first(len(seen.groups), len(seen.queries.axes["position"]))
    score, met = np.nan_to_num(seen.scores.values.ravel()), seen.can_see.values.ravel()
    by_score = sorted(told, key=lambda k: (not met[k], -score[k]))  # what the query can meet, highest score first
    order = list(dict.fromkeys([asker, *(k + half for k in by_score), *told]))
    _on_grey.named(
        ax,
        cloud[order],
        [(names * 2)[k] for k in order],
        colours=[theme.query if k < half else theme.key for k in order],
        theme=theme,
        keep_clear=np.vstack([_shaft(ax, cloud[asker]), joined]),
    )


def _limits(points: Array) -> tuple[Array, Array]:
    """From where to where a plane goes that ends where its points end, with room for labels: across, and up."""
    flat = np.vstack([points[np.isfinite(points).all(axis=1)], np.zeros((1, 2))])
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = float((high - low).max()) or 1.0
    reach = np.maximum((high - low) * 0.58, 0.58 * LEAST * size)
    middle = (low + high) / 2
    return np.array([middle[0] - reach[0], middle[0] + reach[0]]), np.array(
        [middle[1] - reach[1], middle[1] + reach[1]]
    )


def _crop(ax: Axes, points: Array) -> None:
    """End the plane where its points end, both axes to one scale: the panel gets narrower instead of half empty."""
    across, up = _limits(points)
    ax.set_xlim(*across)
    ax.set_ylim(*up)
    locator = ax.get_axes_locator()
    ax.apply_aspect(locator(ax, None) if locator else None)  # labels are placed on the panel as it will be drawn


def _shaft(ax: Axes, tip: Array) -> Array:
    """Points all over the arrow from the origin and its head, for labels to keep off."""
    begin, end = ax.transData.transform([[0.0, 0.0], tip])
    em = _em(ax)
    length = float(np.hypot(*(end - begin)))
    if not length > 0:
        return np.zeros((1, 2))
    along = (end - begin) / length
    across = np.array([-along[1], along[0]])
    line = [begin + along * s for s in np.arange(0, length, 0.3 * em)]
    head = [end - along * s * em + across * side * em for s in (0.0, 0.3, 0.6) for side in (-0.3, 0.0, 0.3)]
    return np.asarray(ax.transData.inverted().transform(np.array(line + head)))


def _apart(seen: QueryKeySpace) -> dict[str, str]:
    """Names and mean scores of the groups of keys, where the groups lie apart."""
    groups, keys, score = np.array(seen.groups), seen.keys.values, seen.means
    if not np.isfinite(keys).all() or len(score) < 2:
        return {}
    flat = keys.reshape(-1, 2)
    parts = [keys[groups == name].reshape(-1, 2) for name in score]
    within = sum(float(((part - part.mean(axis=0)) ** 2).sum()) for part in parts)
    if within > APART * float(((flat - flat.mean(axis=0)) ** 2).sum()):
        return {}
    return {name: f"{name} keys: {_draw.number(score[name], 1)}" for name in score}


def _groups(ax: Axes, seen: QueryKeySpace, sheet: _draw.Sheet) -> Array:
    """The names of groups that lie apart, in the margin at the right, each joined to its keys.

    Points on the joining lines come back, for labels to keep off.
    """
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    found = []
    for name, text in _apart(seen).items():
        keys = seen.keys.values[np.array(seen.groups) == name].reshape(-1, 2)
        middle = keys.mean(axis=0)
        if x0 < middle[0] < x1 and y0 < middle[1] < y1:
            found.append((keys[np.argmax(keys[:, 0] - np.abs(keys[:, 1] - middle[1]))], float(middle[1]), text))
    step = 1.4 * _em(ax) * (y1 - y0) / ax.get_window_extent().height
    last, lines = -np.inf, [np.zeros((1, 2))]
    for key, y, text in sorted(found, key=lambda each: each[1]):
        last = max(y, last + step)
        ax.plot([key[0], x1], [key[1], last], color=sheet.theme.key, linewidth=0.4 * sheet.size.line, zorder=1,
                scalex=False, scaley=False, clip_on=False)  # fmt: skip
        lines.append(np.linspace(key, (x1, last), 40))
        made = ax.annotate(text, (x1, last), xytext=(0.3 * sheet.size.text, 0), textcoords="offset points",
                           color=sheet.theme.key, fontweight="bold", ha="left", va="center", zorder=6,
                           annotation_clip=False, parse_math=False)  # fmt: skip
        _regions.halo([made], sheet.theme)
    return np.vstack(lines)


def _em(ax: Axes) -> float:
    """The size of the text in pixels."""
    return float(matplotlib.rcParams["font.size"] * ax.get_figure(root=True).dpi / 72)
