"""How many numbers the model learns: tensor by tensor, by part, and beside published models."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from glassformer.analyses._result import percent, thousands
from glassformer.analyses.what.parameters import parameters, part_name, say
from glassformer.figures import _draw, _table
from glassformer.run import Run


@_draw.drawing
def plot_parameters(run: Run, *, ax: _draw.Host = None, theme: str = "light", size: str = "screen") -> Figure:
    """Table of tensors, bars by part, and a size axis with models everybody has heard of."""
    seen = parameters(run)
    sheet = _draw.Sheet(ax, theme, size, say(seen), height=6.2, least=60)
    repeated = any(row[3] for row in seen.rows)
    share = 0.52 if repeated or sheet.room[0] < 80 else 0.42
    left = sheet.panels(1, 1, left=1, right=1, bottom=0.6, top=1, within=(0, 0, share, 1))[0, 0]
    counts = [thousands(int(n)) for n in seen.tensors.values]
    rows = [
        (name, sides, shape, *([times] if repeated else []), count)
        for (name, sides, shape, times), count in zip(seen.rows, counts, strict=True)
    ]
    rows.append(("all", *[""] * (len(rows[0]) - 2), thousands(seen.total)))
    header = ("tensor", "sides", "shape", *(["blocks"] if repeated else []), "count")
    _table.table(left, sheet.em, header, rows, theme=sheet.theme, align="llr" + "r" * (len(header) - 3), line=2.4)
    names, values = seen.parts.axes["part"].labels, seen.parts.values
    blocks = run.architecture.blocks
    words = [part_name(name, blocks) for name in names]
    wide = max(_draw.text_width(word, 72) for word in words) + 1
    bars = sheet.panels(1, 1, left=wide, right=9, bottom=1, top=2.2, within=(share, 0.42, 1, 1))[0, 0]
    bars.set_title("parameters by part")
    colours = [
        sheet.theme.feed_forward if "feed" in n else sheet.theme.query if "attention" in n else sheet.theme.ink
        for n in names
    ]
    bars.barh(np.arange(len(names)), values, color=colours, height=0.7)
    for k, value in enumerate(values):
        bars.text(value, k, f" {thousands(int(value))} · {percent(float(value / seen.total))}", va="center", ha="left")
    bars.set_ylim(len(names) - 0.4, -0.6)
    bars.set_xlim(0, float(values.max()))
    bars.set_yticks(range(len(words)), words)
    bars.tick_params(length=0)
    bars.set_xticks([])
    bars.spines["bottom"].set_visible(False)
    axis = sheet.panels(1, 1, left=2.5, right=2.5, bottom=3.6, top=2.2, within=(share, 0, 1, 0.42))[0, 0]
    axis.set_title("beside published models")
    axis.set_xscale("log")
    axis.set_xlim(10 ** np.floor(np.log10(seen.total) - 0.3), 4e12)
    axis.set_ylim(5.7, -0.7)
    for side in ("left", "top", "right"):
        axis.spines[side].set_visible(False)
    axis.set_yticks([])
    axis.xaxis.set_major_formatter(_power)
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("parameters (log axis)")
    every = [
        ("this model", float(seen.total)),
        *zip(seen.published.axes["model"].labels, map(float, seen.published.values), strict=True),
    ]
    for k, (name, count) in enumerate(every):
        own = k == 0
        colour = sheet.theme.ink if own else sheet.theme.quiet
        axis.plot([count], [k], marker="o", color=colour)
        side, shift = (
            ("left", 0.7)
            if axis.transAxes.inverted().transform(axis.transData.transform((count, k)))[0] < 0.5
            else ("right", -0.7)
        )
        axis.annotate(
            f"{name} · {_short(count)}",
            (count, k),
            xytext=(shift * sheet.size.text, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            color=colour,
        )
    return sheet.done(seen)


def _short(count: float) -> str:
    """65 million, 1.5 thousand million as 1.5 billion."""
    for size, word in ((1e9, "billion"), (1e6, "million")):
        if count >= size:
            return f"{count / size:.3g} {word}"
    return thousands(int(count))


def _power(value: float, _: int) -> str:
    """10⁶."""
    return "10" + str(round(np.log10(value))).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
