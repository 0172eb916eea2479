"""What one query looks for: the plane of keys coloured by its score."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._attend import not_asking
from glassformer.analyses._pairs import drawn
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.query_key_space import TOP, query_key_space, say_focus
from glassformer.figures import _attend, _draw, _style
from glassformer.run import Run


@_draw.drawing
def plot_query_focus(
    run: Run,
    *,
    query: str | None = None,
    head: int | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """What one query (`+@5`) looks for: the plane of keys in the colours of its score, and its highest keys."""
    seen = query_key_space(run, query=query, head=head, step=step, member=member)
    narrow = size == "print_narrow"  # one column: the bars and lines stand below the plane
    sheet = _draw.Sheet(ax, theme, size, say_focus(seen), seen.clock, height=_style.inches(size, 84) if narrow else 7)
    first, second = ((0, 0.5, 1, 1), (0, 0.03, 1, 0.5)) if narrow else ((0, 0, 0.6, 1), (0.6, 0, 1, 1))
    plane = sheet.panels(1, 1, left=5.4, right=7.5, bottom=5.2, top=2.8, within=first)[0, 0]
    met = np.where(seen.can_see.values > 0, seen.scores.values, np.nan)
    close = _attend.near(seen.keys.values.reshape(-1, 2))  # the keys that are framed: the colours are for them
    here = np.abs(seen.keys.values).max(axis=-1) <= (np.inf if close is None else np.abs(close).max())
    limit = _attend.span(np.where(here, met, np.nan))
    _attend.focus(plane, seen, sheet.theme, limit)
    _attend.score_bar(sheet, limit, met, beside=plane)
    highest, lines = sheet.panels(
        2, 1, heights=[1, 1.5], left=5.4, right=1.5, bottom=5.2, top=2.8, gap=(0, 6.2), within=second
    )[:, 0]
    values = seen.top.values
    bars = highest.barh(range(len(values)), values, color=sheet.theme.key, height=0.66)
    highest.set_yticks(range(len(values)), drawn(seen.top.axes["key"].labels))
    highest.invert_yaxis()
    highest.tick_params(axis="y", length=0)
    low, high = min(0.0, float(np.nanmin(values, initial=0))), max(0.0, float(np.nanmax(values, initial=0)))
    highest.set_xlim(low * 1.25, (high or 1) * 1.25)
    for k, value in enumerate(values):
        digits = 2 if high >= 1 else 1 - int(np.floor(np.log10(high))) if high > 0 else 2
        highest.text(max(value, 0), k, f" {_draw.number(value, digits)}", va="center", ha="left")
    highest.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
    highest.axvline(0, color=sheet.theme.quiet, linewidth=0.5 * sheet.size.line)
    asker = drawn([seen.query])[0]
    if seen.answer:  # framed, as in every figure of attention
        bars[seen.top.axes["key"].labels.index(seen.answer)].set(edgecolor=sheet.theme.right, linewidth=1.6 * sheet.size.line)
    more = f" and {sought(seen.copied)}" if len(values) > TOP else ""
    _draw.heading(highest, f"the {min(len(values), TOP)} keys {asker} scores highest{more}")
    highest.set_xlabel(f"score: {seen.product}")
    shapes = _style.markers(run.task)
    ends = []
    for group, row in zip(seen.by_group.axes["group"].labels, seen.by_group.values, strict=True):
        known = np.flatnonzero(np.isfinite(row))
        if len(known):
            lines.plot(
                known, row[known], color=sheet.theme.key, marker=shapes[group], markerfacecolor=sheet.theme.paper
            )
            ends.append((row[known[-1]], known[-1], group))
    known_places = np.flatnonzero(np.isfinite(seen.by_group.values).any(axis=0))
    if len(known_places):
        lines.set_xlim(known_places[0] - 0.3, known_places[-1] + 0.3)
    _names(lines, ends, sheet)
    lines.axhline(0, color=sheet.theme.faint, linewidth=0.5 * sheet.size.line, zorder=0)
    lines.set_xticks(known_places[:: max(1, -(-len(known_places) // 8))])
    lines.set_xlabel("key position")
    lines.set_ylabel("score")
    lines.set_title("mean score of the keys of each group")
    (x0, x1), (y0, y1), keys = plane.get_xlim(), plane.get_ylim(), seen.keys.values.reshape(-1, 2)
    outside = int(((keys < [x0, y0]) | (keys > [x1, y1])).any(axis=1).sum())
    beyond = f" ({outside} of {len(keys)} keys lie outside)" if outside else ""
    _draw.heading(plane, f"the score of {asker} with a key drawn there{beyond}")
    words = ["query", ("key it can meet", "s", sheet.theme.key), ("key it cannot meet", "s", sheet.theme.masked)]
    sheet.legend(words, x=0.0, y=0.0)
    return sheet.done(seen, query=seen.query, head=seen.head)


def _names(ax: matplotlib.axes.Axes, ends: list[tuple[float, int, str]], sheet: _draw.Sheet) -> None:
    """Write each line's name at its end, in the room to the right, none over another."""
    if not ends:
        return
    x0, x1 = ax.get_xlim()
    longest = max(_draw.text_width(name, sheet.size.text) for _, _, name in ends) + 1.2 * sheet.em
    wide = ax.get_window_extent().width / ax.figure.dpi
    ax.set_xlim(x0, x0 + (x1 - x0) / max(1 - longest / wide, 0.3))
    y0, y1 = ax.get_ylim()
    y0, y1 = ax.set_ylim(y0, y1 + 0.12 * (y1 - y0))
    least = 1.25 * sheet.em / (ax.get_window_extent().height / ax.figure.dpi) * (y1 - y0)
    before = -np.inf
    for y, x, name in sorted(ends):
        before = max(float(y), before + least)
        ax.annotate(name, (x, y), xytext=(x1, before), va="center", ha="left", annotation_clip=False)
