"""One answer, step by step: scores, shares of attention, the push they give, and the answer that comes of it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from glassformer.analyses._pairs import at_position, drawn, shown
from glassformer.analyses._result import percent
from glassformer.analyses._sought import sought
from glassformer.analyses.decide.one_answer import OneAnswer
from glassformer.figures import _draw, _regions

MOST_KEYS, MOST_ANSWERS = 8, 6
LEAST = 0.005  # probability from which an answer is worth a bar


def draw(seen: OneAnswer, look: _draw.Look) -> Figure:
    """What one position asks, where it looks, where that moves it, what it answers."""
    shows = "Bars of scores and shares, an arrow on a plane, bars of probabilities"
    sheet = look.sheet(seen, _caption(seen), shows, height=6.4, least=70)
    edge = max(5.0, 1.5 + max(_draw.text_width(name, 72) for name in drawn(seen.scores.axes["key_position"])))
    bars = sheet.panels(2, 2, left=edge, right=1.5, bottom=5.4, top=2.8, gap=(3.2, 5.6), within=(0, 0, 0.56, 1))
    _keys(bars[0, 0], seen, sheet, "score")
    _keys(bars[0, 1], seen, sheet, "share")
    wide = bars[1, 0].get_position().union([bars[1, 0].get_position(), bars[1, 1].get_position()])
    bars[1, 1].remove()
    bars[1, 0].set_position(wide)
    _answers(bars[1, 0], seen, sheet)
    plane = sheet.panels(1, 1, left=5, right=1, bottom=5.8, top=2.8, square=True, within=(0.56, 0, 1, 1))[0, 0]
    _push(plane, seen, sheet)
    left = len(seen.shares.values) - MOST_KEYS
    if left > 0:
        rest = float(np.sort(np.nan_to_num(seen.shares.values))[:left].sum())
        sheet.note(f"{left} other positions in view share {percent(rest)} of the attention")
    return sheet.done()


def _caption(seen: OneAnswer) -> str:
    me = at_position(seen.tokens[seen.place], seen.place)
    return (
        f"The input {' '.join(map(shown, seen.tokens))}, followed at {me}{seen.where}. 1: the score of each position "
        f"in view, the query of {me} times its key, divided by √{seen.divided}. 2: the softmax of the scores"
        + (f"; framed is {sought(seen.copied)}. " if seen.source >= 0 else ". ")
        + "3: the values, mixed by these shares, push the point from ○ to ●"
        + (" (the push of all heads)" if seen.heads > 1 else "")
        + "; the map tells which token is likeliest where, after the feed-forward. "
        + ("" if seen.plane.lossless else "It is the plane through ○ and ●: exact at both and a slice elsewhere. ")
        + "4: the probabilities without this attention (pale) and with it (dark). Exact numbers. A position that "
        "decided without looking would have equal bars in 4."
    )


def _keys(ax: Axes, seen: OneAnswer, sheet: _draw.Sheet, kind: str) -> None:
    """One bar per position in view; where there are many, those looked at most, in the order of the text."""
    each, t = (seen.scores if kind == "score" else seen.shares), sheet.theme
    kept = np.sort(np.argsort(-seen.shares.values, kind="stable")[:MOST_KEYS])
    values, rows = each.values[kept], np.arange(len(kept))
    ax.barh(rows, values, height=0.7, color=t.key if kind == "score" else t.query)
    least, most = min(0.0, float(values.min())), max(0.0, float(values.max()))
    span = (most - least) or 1.0
    for row, value in zip(rows, values, strict=True):
        text = percent(float(value)) if kind == "share" else _draw.number(float(value))
        ax.text(max(value, 0.0) + 0.02 * span, row, text, va="center", ha="left")
    ax.set(xlim=(least - 0.03 * span, most + 0.34 * span), ylim=(len(kept) - 0.4, -0.6))
    ax.axvline(0, color=t.quiet, linewidth=0.5 * sheet.size.line)
    names = drawn(each.axes["key_position"])
    ax.set_yticks(rows, [names[k] for k in kept] if kind == "score" else [])
    ax.tick_params(axis="y", length=0)
    ax.set_xticks([])
    for side in ("bottom", "left"):
        ax.spines[side].set_visible(False)
    if seen.source in kept:
        at = int(np.flatnonzero(kept == seen.source)[0])
        ax.axhspan(at - 0.45, at + 0.45, facecolor="none", edgecolor=t.right, linewidth=1.4 * sheet.size.line)
    me = names[seen.place]
    _draw.heading(ax, f"1  query of {me} · key / √{seen.divided}" if kind == "score" else "2  its attention")


def _answers(ax: Axes, seen: OneAnswer, sheet: _draw.Sheet) -> None:
    """The likeliest answers, with and without what attention added."""
    t = sheet.theme
    high = np.maximum(seen.without.values, seen.answer.values)
    first = np.argsort(-high, kind="stable")[:MOST_ANSWERS]
    kept = np.sort(first[: max(1, int((high[first] >= LEAST).sum()))])
    most = float(np.nanmax(high, initial=0.0)) or 1.0
    shown_bars = max(len(kept), 3)
    unit = ax.get_window_extent().width / ax.figure.dpi / shown_bars
    tight = 0.4 * unit < 1.1 * _draw.text_width("100 %", sheet.size.text)
    colours = [t.right if seen.right and k in seen.right else t.wrong if seen.right else t.ink for k in kept]
    for values, other, shift, faint in (
        (seen.without.values, seen.answer.values, -0.2, 0.3),
        (seen.answer.values, np.full_like(high, -1.0), 0.2, 1.0),
    ):
        ax.bar(np.arange(len(kept)) + shift, values[kept], width=0.36, color=colours, alpha=faint)
        for x, k in enumerate(kept):
            alike = tight and abs(values[k] - other[k]) < 0.1 * most and other[k] >= LEAST  # numbers would run together
            if values[k] >= LEAST and not alike:
                ax.text(x + shift, values[k] + 0.02 * most, percent(float(values[k])), ha="center", va="bottom")
    ax.set_xticks(range(len(kept)), [shown(seen.answer.axes["token"].labels[k]) for k in kept])
    ax.tick_params(axis="x", length=0)
    middle = (len(kept) - 1) / 2
    ax.set(xlim=(middle - shown_bars / 2 - 0.1, middle + shown_bars / 2 + 0.1), ylim=(0, 1.15 * most))
    ax.yaxis.set_major_locator(MaxNLocator(3) if most < 0.75 else FixedLocator([0, 0.5, 1]))
    ax.set(xlabel="answer", ylabel="probability")
    which = "attention" if seen.blocks == 1 else "the last block's attention"
    _draw.heading(ax, f"4  its answer without {which} (pale), and with it")


def _push(ax: Axes, seen: OneAnswer, sheet: _draw.Sheet) -> None:
    """The arrow that attention draws, over the token that wins there."""
    t = sheet.theme
    begin, _, end = seen.points.values
    colour = _regions.colour(seen.verdict, t)
    onward = 1 if end[0] >= begin[0] else -1
    beside = np.array([0.08 * onward * (seen.regions.frame[1] - seen.regions.frame[0]), 0])  # where the words stand
    way = _regions.along(begin[None], end[None])
    _regions.winners(ax, seen.regions, t, avoid=np.concatenate([way, [begin - beside, end + beside]]))
    _draw.arrows(ax, begin[None], end[None], colours=[colour], width=1.6, zorder=4)
    ax.plot(*begin, marker="o", color=colour, markerfacecolor=t.paper, markersize=0.7 * sheet.size.text, zorder=5)
    ax.plot(*end, marker="o", color=colour, markersize=0.7 * sheet.size.text, zorder=5)
    names = [shown(seen.answer.axes["token"].labels[int(each.values.argmax())]) for each in (seen.without, seen.answer)]
    for at, name, side in ((begin, names[0], -onward), (end, names[1], onward)):  # away from the arrow
        text = ax.annotate(
            f"says {name}", at, (0.9 * side * sheet.size.text, 0), textcoords="offset points", va="center",
            ha="left" if side > 0 else "right", color=colour, zorder=6,
        )  # fmt: skip
        _regions.halo([text], t)
    _regions.ticks(ax, seen.plane)
    _draw.heading(ax, "3  attention moves it from ○ to ●, over the likeliest token after the feed-forward")
