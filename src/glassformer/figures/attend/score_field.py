"""What each query of one input is looking for: a small plane per query."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._attend import not_asking
from glassformer.analyses._pairs import drawn
from glassformer.analyses.attend.scoring import Scoring, say_field, scoring, spans, spoken
from glassformer.figures import _attend, _draw, _style
from glassformer.run import Run


@_draw.drawing
def plot_score_field(
    run: Run,
    *,
    sequence: str | None = None,
    block: int = 0,
    head: int | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """One small plane per query of the input, coloured by its score; `scoring` has the numbers."""
    seen = scoring(run, sequence=sequence, block=block, head=head, step=step, member=member)
    length = len(seen.tokens)
    names = drawn(seen.attention.axes["key_position"].labels)
    slide = sheet_is_low(size)
    chosen = list(range(length)) if length <= 8 and not slide else _some(seen, length, 6 if slide else 8)
    columns = 3 if slide else 4
    rows = -(-len(chosen) // columns)
    sheet = _draw.Sheet(ax, theme, size, say_field(seen), seen.clock, height=1.8 + 3.2 * rows, least=60)
    panels = sheet.panels(rows, columns, left=4.4, right=7.5, bottom=5.6, top=2.2, gap=(1.5, 2.6))
    weights = seen.attention.values
    future = ~np.tri(length, dtype=bool) if seen.causal else np.zeros((length, length), bool)
    limit = _attend.span(_attend.allowed(seen))
    keys = seen.drawn_key.values
    around = (
        np.vstack([keys, seen.drawn_query.values]) if not seen.others else np.vstack([keys, seen.others["key"].values])
    )
    for panel, q in zip(panels.flat, chosen, strict=False):
        _draw.frame(panel, np.vstack([around, np.zeros((1, 2))]))
        window = panel.get_xlim(), panel.get_ylim()
        _attend.field(panel, seen.field.values[q], seen.reach, limit, sheet.theme, lines=False)
        panel.set_xlim(window[0])
        panel.set_ylim(window[1])
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
        panel.set_xticks([])
        panel.set_yticks([])
        if q in chosen[::columns]:
            panel.set_ylabel(seen.plane.labels[1])
        if chosen.index(q) + columns >= len(chosen):
            panel.set_xlabel(seen.plane.labels[0])
    for panel in panels.flat[len(chosen) :]:
        panel.remove()
    _draw.bar(
        sheet,
        "signed",
        limit,
        f"score: {seen.product}",
        beside=list(panels[:, -1]) if len(chosen) >= columns else panels[0, len(chosen) - 1],
        beyond=bool(np.nanmax(np.abs(_attend.allowed(seen)), initial=0.0) > 1.001 * limit[1]),
    )
    told = ["squares: the keys it may see, larger: more attention", "above: the largest share"]
    told += [f"{len(chosen)} of {length} queries have a plane"] if len(chosen) < length else []
    sheet.note(" · ".join(told))
    return sheet.done(seen, sequence=" ".join(seen.tokens), block=block, head=seen.head)


def sheet_is_low(size: str) -> bool:
    """Whether a size leaves little height."""
    return _style.size(size).fixed is not None


def _some(seen: Scoring, length: int, most: int) -> list[int]:
    """The queries with a plane: the two of the title, those that look something up, from the last back, the rest."""
    told = list(spans(seen))
    asks = [q for q, s in enumerate(seen.source) if s >= 0][::-1] or [spoken(seen)]
    order = dict.fromkeys([*told[:1], *told[-1:], *asks, *range(length - 1, -1, -1)])
    return sorted(list(order)[:most])
