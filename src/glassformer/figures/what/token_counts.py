"""How often each token occurs, and how much that alone would tell."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from glassformer.analyses._result import percent
from glassformer.analyses.what.token_counts import TokenCounts
from glassformer.figures import _draw, _style

MOST = 20


def draw(seen: TokenCounts, look: _draw.Look) -> Figure:
    """Bars of the most frequent tokens by group, and count against rank on logarithmic axes."""
    sheet = look.sheet(seen, _caption(seen), "Bars of token frequencies and a rank chart", height=5.2, least=0)
    counts, names = seen.counts.values, seen.counts.axes["token"].labels
    ranked = np.argsort(-counts, kind="stable")
    groups = list(dict.fromkeys(seen.groups))
    marks, shades = _style.markers(seen.families), dict(zip(groups, _shades(len(groups)), strict=True))
    top = [int(k) for k in ranked[:MOST] if counts[k] > 0]
    wide, each = _draw.widest([names[k] for k in top]), 0.6 * (sheet.room[0] - 13.5) / max(len(top), 1)
    below = 3.4 + (wide if wide > 0.8 * each else 1.0)  # where they do not fit side by side, words stand upright
    bars, rank = sheet.panels(1, 2, left=5, right=1.5, bottom=below, top=2.4, gap=7, widths=(1.5, 1))[0]
    share = counts / max(seen.total, 1)
    bars.bar(range(len(top)), share[top], width=0.75, edgecolor=sheet.theme.ink, linewidth=sheet.size.line * 0.5,
             color=[(sheet.theme.ink, shades[seen.groups[k]]) for k in top])  # fmt: skip
    for place, k in enumerate(top):
        bars.plot([place], [share[k] + 0.035 * share[top[0]]], marker=marks[seen.groups[k]], color=sheet.theme.ink)
    _draw.places(bars, [names[k] for k in top], "x", name="token")
    for text in bars.get_xticklabels():
        if not any(map(str.isalnum, text.get_text())):  # a comma that lies on its side is hard to know
            text.set_rotation(0)
    bars.set(ylim=(0, 1.12 * float(share[top[0]])), xlim=(-0.6, len(top) - 0.4))
    bars.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    bars.yaxis.set_major_formatter(lambda value, _: percent(value))
    bars.set_ylabel(f"share of {seen.counted}")
    bars.set_title("the most frequent tokens" if len(top) < len(names) else "all tokens")
    places = np.arange(1, len(ranked) + 1)
    some = counts[ranked] > 0
    rank.plot(places, np.where(some, counts[ranked[0]] / places, np.nan), linestyle=":", color=sheet.theme.rung)
    rank.text(
        places[some][-1],
        counts[ranked[0]] / places[some][-1],
        "1 / rank ",
        ha="right",
        va="top",
        color=sheet.theme.quiet,
    )
    rank.plot(places[some], counts[ranked][some], color=sheet.theme.faint, zorder=1)
    for group in groups:
        here = [k for k in range(len(ranked)) if some[k] and seen.groups[ranked[k]] == group]
        rank.plot(places[here], counts[ranked][here], linestyle="", marker=marks[group], color=sheet.theme.ink)
    rank.set(xscale="log", yscale="log")
    for axis in (rank.xaxis, rank.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(_plain)
        axis.set_minor_formatter(lambda *_: "")
    rank.set(xlabel="rank (log axis)", ylabel="count (log axis)", title="count by rank")
    used = [group for group in groups if any(counts[k] > 0 and seen.groups[k] == group for k in range(len(names)))]
    bars.legend(
        handles=[_draw.handle((group, marks[group], sheet.theme.ink), sheet.theme) for group in used],
        loc="upper right",
    )
    return sheet.done()


def _caption(seen: TokenCounts) -> str:
    rung = (
        f" The second rung of the ladder, the exact price of guessing what must be predicted by frequency alone, is "
        f"{seen.rung:.3f} nats; it differs from the entropy of these counts as far as predicted tokens differ from all."
        if np.isfinite(seen.rung)
        else ""
    )
    return (
        f"Left: the most frequent tokens of {seen.counted}, at most {MOST}, as shares; shade and marker give the "
        "group. Right: count against rank, both logarithmic; the dotted line is Zipf's 1/rank from the first token, "
        "which natural language follows roughly and this corpus need not. Counts are exact. Entropy of the counts: "
        f"{seen.nats:.3f} nats.{rung}"
    )


def _shades(many: int) -> list[float]:
    return [0.75 - 0.65 * k / max(many - 1, 1) for k in range(many)]


def _plain(value: float, _: int) -> str:
    return f"{value:,.0f}".replace(",", "\u202f") if value >= 1 else f"{value:g}"
