"""What a query looks for: the plane of keys coloured by its score; or a small plane for each query of one input."""

from collections import Counter

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import at_position, drawn, shown
from glassformer.analyses._result import listed, percent
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.query_key_space import TOP, QueryKeySpace, by_group
from glassformer.analyses.attend.score_field import ScoreField
from glassformer.analyses.attend.scoring import Scoring
from glassformer.figures import _attend, _draw, _style


def draw(seen: ScoreField, look: _draw.Look) -> Figure:
    """What one query (`query="+@5"`) looks for, and its highest keys; `every`: a small plane per query of an input."""
    return _one(seen, seen.one, look) if seen.one is not None else _every(seen, look)


def _one(field: ScoreField, seen: QueryKeySpace, look: _draw.Look) -> Figure:
    """The plane of keys in the colours of one query's score, its highest keys, and the scores of each group."""
    narrow = look.size == "print_narrow"  # one column: the bars and lines stand below the plane
    height = _style.inches(look.size, 84) if narrow else 7
    sheet = look.sheet(field, _one_caption(seen), alt=_one_alt(field, seen), height=height, least=0)
    first, second = ((0, 0.5, 1, 1), (0, 0.03, 1, 0.5)) if narrow else ((0, 0, 0.6, 1), (0.6, 0, 1, 1))
    plane = sheet.panels(1, 1, left=5.4, right=7.5, bottom=5.2, top=2.8, within=first)[0, 0]
    met = np.where(seen.can_see.values, seen.scores.values, np.nan)
    close = _attend.near(seen.keys.values.reshape(-1, 2))  # the keys that are framed: the colours are for them
    here = np.abs(seen.keys.values).max(axis=-1) <= (np.inf if close is None else np.abs(close).max())
    limit = _attend.span(np.where(here, met, np.nan))
    _attend.focus(plane, seen, sheet.theme, limit)
    _attend.score_bar(sheet, limit, met, beside=plane)
    highest, lines = sheet.panels(
        2, 1, heights=[1, 1.5], left=5.4, right=1.5, bottom=5.2, top=2.8, gap=(0, 6.2), within=second
    )[:, 0]
    values, keys = seen.top.values, seen.top.axes["key_pair"]
    bars = highest.barh(range(len(values)), values, color=sheet.theme.key, height=0.66)
    _draw.name_rows(highest, drawn(keys))
    highest.invert_yaxis()
    low, high = min(0.0, float(np.nanmin(values, initial=0))), max(0.0, float(np.nanmax(values, initial=0)))
    highest.set_xlim(low * 1.25, (high or 1) * 1.25)
    for k, value in enumerate(values):
        digits = 2 if high >= 1 else 1 - int(np.floor(np.log10(high))) if high > 0 else 2
        highest.text(max(value, 0), k, f" {_draw.number(value, digits)}", va="center", ha="left")
    highest.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
    highest.axvline(0, color=sheet.theme.quiet, linewidth=0.5 * sheet.size.line)
    asker = at_position(*seen.query)
    if seen.answer:  # framed, as in every figure of attention
        bars[keys.values.index(seen.answer)].set(edgecolor=sheet.theme.right, linewidth=1.6 * sheet.size.line)
    more = f" and {sought(seen.copied)}" if len(values) > TOP else ""
    _draw.heading(highest, f"the {min(len(values), TOP)} keys {asker} scores highest{more}")
    highest.set_xlabel(f"score: {seen.product}")
    ends, shapes = [], _style.GROUP_MARKERS
    for k, (group, row) in enumerate(zip(seen.by_group.axes["group"].labels, seen.by_group.values, strict=True)):
        known = np.flatnonzero(np.isfinite(row))
        if len(known):
            shape = shapes[k % len(shapes)]
            lines.plot(known, row[known], color=sheet.theme.key, marker=shape, markerfacecolor=sheet.theme.paper)
            ends.append((row[known[-1]], known[-1], group))
    known_places = np.flatnonzero(np.isfinite(seen.by_group.values).any(axis=0))
    if len(known_places):
        lines.set_xlim(known_places[0] - 0.3, known_places[-1] + 0.3)
    _names(lines, ends, sheet)
    lines.axhline(0, color=sheet.theme.faint, linewidth=0.5 * sheet.size.line, zorder=0)
    lines.set(xticks=known_places[:: max(1, -(-len(known_places) // 8))], xlabel="key position", ylabel="score")
    lines.set_title("mean score of the keys of each group")
    (x0, x1), (y0, y1), cloud = plane.get_xlim(), plane.get_ylim(), seen.keys.values.reshape(-1, 2)
    outside = int(((cloud < [x0, y0]) | (cloud > [x1, y1])).any(axis=1).sum())
    beyond = f" ({outside} of {len(cloud)} keys lie outside)" if outside else ""
    _draw.heading(plane, f"the score of {asker} with a key drawn there{beyond}")
    words = ["query", ("key it can meet", "s", sheet.theme.key), ("key it cannot meet", "s", sheet.theme.masked)]
    sheet.legend(words, x=0.0, y=0.0)
    return sheet.done()


def _one_caption(seen: QueryKeySpace) -> str:
    said = (
        f"The plane is coloured by the score that {seen.asker} would give a key drawn there, {seen.product}, "
        "white (dark on a dark page) at zero. Straight lines join places of equal score. Squares are keys: those "
        "that the query can meet in colour, those it may not see, or that never stand there, in grey. "
        + (
            ""
            if seen.plane.lossless
            else f"The plane is the best one for the scores of this head and explains "
            f"{percent(seen.plane.kept)} of their variance; the scores beside it are the true ones. "
        )
        + "Attention is the softmax of these scores over the keys of one input: a score higher by 1 gets 2.7 times the "
        "weight. At its own position the query can meet only itself. The numbers are exact. If the head did not care "
        f"what the token is, the lines by group would coincide.{_attend.left_out(seen.left_out)}"
    )
    if not np.isfinite(seen.scores.values).all() or len(seen.means) < 2:
        return said
    asker, slope = f"{seen.asker}{seen.who}", float(seen.group_slope.values[0])
    said += f" {asker} gives {by_group(seen)}"
    if not (np.isfinite(slope) and abs(slope) >= 0.05 and seen.causal):
        return f"{said}."
    more = "more" if slope > 0 else "less"
    return f"{said}; {next(iter(seen.means))} keys score {abs(slope):.1f} {more} for each position later."


def _one_alt(field: ScoreField, seen: QueryKeySpace) -> str:
    """The title, and which keys are the highest."""
    if not np.isfinite(seen.scores.values).all():
        return field.title
    top, context = seen.top.axes["key_pair"], len(seen.keys.axes["position"])
    kinds = Counter(seen.groups[seen.row(pair) // context] for pair in top.values[:TOP])
    (most, count), names = kinds.most_common(1)[0], top.labels[:TOP]
    highest = f"The {len(names)} highest keys are {listed(list(names))}"
    return f"{field.title}. {highest}; {count} of them belong to the group {most}."


def _every(field: ScoreField, look: _draw.Look) -> Figure:
    """One small plane per query of the input, coloured by its score; `scoring` has the numbers."""
    seen, fields = field.every, field.fields
    assert seen is not None
    assert fields is not None
    length, names = len(seen.tokens), drawn(seen.attention.axes["key_position"])
    slide = _style.size(look.size).fixed is not None  # there is little height
    chosen = list(range(length)) if length <= 8 and not slide else _some(field, seen, 6 if slide else 8)
    columns = 3 if slide else 4
    rows = -(-len(chosen) // columns)
    text = " ".join(map(shown, seen.tokens))
    alt = f"{field.title}. Queries, keys, scores and attention of {text}. {seen.title}."
    sheet = look.sheet(field, _every_caption(seen, text), alt=alt, height=1.8 + 3.2 * rows)
    panels = sheet.panels(rows, columns, left=4.4, right=7.5, bottom=5.6, top=2.2, gap=(1.5, 2.6))
    weights = seen.attention.values
    future = ~np.tri(length, dtype=bool) if seen.causal else np.zeros((length, length), bool)
    limit = _attend.span(seen.allowed)
    keys = seen.drawn_key.values
    around = np.vstack([keys, seen.others["key"].values.reshape(-1, 2) if seen.others else seen.drawn_query.values])
    for panel, q in zip(panels.flat, chosen, strict=False):
        _draw.frame(panel, np.vstack([around, np.zeros((1, 2))]))
        window = panel.get_xlim(), panel.get_ylim()
        _attend.field(panel, fields.values[q], fields.axes["horizontal"], limit, sheet.theme, lines=False)
        panel.set(xlim=window[0], ylim=window[1])
        panel.plot([0], [0], marker="+", color=sheet.theme.quiet)
        may = ~future[q]
        area = np.clip(weights[q], 0.02, 1)
        for k in np.flatnonzero(may):
            _draw.dots(
                panel,
                keys[k][None],
                colour=sheet.theme.key,
                marker=_style.MARKER["key"],
                scale=0.5 + 1.6 * float(area[k]) ** 0.5,
                zorder=3,
                edgecolors=sheet.theme.paper,
                linewidths=0.5 * sheet.size.line,
            )
        since = len(panel.texts)
        order = [int(k) for k in np.argsort(-weights[q], kind="stable") if may[k]]
        _draw.labels(panel, keys[order], [names[k] for k in order], colours=sheet.theme.key, most=8)
        _attend.plate(panel, since, sheet.theme)
        best = order[0]
        panel.set_title(
            f"{names[q]} → {names[best]} {round(100 * float(weights[q, best]))} %"
            if np.isfinite(weights[q, best])
            else names[q],
            color=sheet.theme.query,
        )
        panel.set(xticks=[], yticks=[])
        if q in chosen[::columns]:
            panel.set_ylabel(seen.plane.labels[1])
        if chosen.index(q) + columns >= len(chosen):
            panel.set_xlabel(seen.plane.labels[0])
    _draw.remove_spare(panels, len(chosen))
    _draw.bar(
        sheet,
        "signed",
        limit,
        f"score: {seen.product}",
        beside=list(panels[:, -1]) if len(chosen) >= columns else panels[0, len(chosen) - 1],
        beyond=bool(np.nanmax(np.abs(seen.allowed), initial=0.0) > 1.001 * limit[1]),
    )
    told = ["squares: the keys it may see, larger: more attention", "above: the largest share"]
    told += [f"{len(chosen)} of {length} queries have a plane"] if len(chosen) < length else []
    sheet.note(" · ".join(told))
    return sheet.done()


def _every_caption(seen: Scoring, text: str) -> str:
    return (
        f"One small plane for each query of the input {text}{seen.who}, coloured by the score that a key drawn "
        f"there would get, {seen.product} (one scale for all); squares are the keys that this query may see, larger "
        "where it gives more attention. Above each plane: the query, the key that it gives most, and what share of its "
        "attention that is. "
        + (
            ""
            if seen.plane.lossless
            else f"The planes explain {percent(seen.plane.kept)} of the variance of the scores. "
        )
        + "Exact. A pale plane means a short query: it cares little where it looks."
    )


def _some(field: ScoreField, seen: Scoring, most: int) -> list[int]:
    """The queries with a plane: the two of the title, those that look something up, from the last back, the rest."""
    told, length = field.order, len(seen.tokens)
    asks = [q for q, s in enumerate(seen.source) if s >= 0][::-1] or [seen.followed]
    return sorted(list(dict.fromkeys([*told[:1], *told[-1:], *asks, *range(length - 1, -1, -1)]))[:most])


def _names(ax: Axes, ends: list[tuple[float, int, str]], sheet: _draw.Sheet) -> None:
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
