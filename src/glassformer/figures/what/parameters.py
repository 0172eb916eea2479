"""How many numbers the model learns: tensor by tensor, by part, and beside published models."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from glassformer.analyses._result import percent, thousands
from glassformer.analyses.what.parameters import Parameters
from glassformer.figures import _draw, _table


def draw(seen: Parameters, look: _draw.Look) -> Figure:
    """Table of tensors, bars by part, a size axis with models everybody has heard of, and the GPTs in numbers.

    On slides the GPTs have a page of their own.
    """
    pages = 2 if look.size == "slide" else 1
    _draw.paged(range(pages), 1, look.page)
    parts, values = seen.parts.axes["part"], seen.parts.values
    each = "; ".join(f"{word} {int(count)}" for word, count in zip(parts.labels, values, strict=True))
    shows = f"A table of tensors, bars of parameters by part and a size axis. {each}"
    sheet = look.sheet(seen, _caption(seen), shows, height=8.0)
    base = 0.0 if pages > 1 else (3.4 + 1.6 * len(seen.compared.values)) / sheet.room[1]  # the GPTs, at the bottom
    if look.page or pages == 1:
        part = (0, 0, 1, base or 1)
        _gpts(sheet.panels(1, 1, left=1, right=1, bottom=0.6, top=1.4, within=part)[0, 0], seen, sheet)
    if look.page == 0:
        _own(sheet, seen, base)
    if pages > 1:
        sheet.note(f"page {look.page + 1} of 2", x=1.0, ha="right")
    return sheet.done(pages=pages)


def _own(sheet: _draw.Sheet, seen: Parameters, base: float) -> None:
    """The model itself, above the table of the GPTs."""
    parts, values, split = seen.parts.axes["part"], seen.parts.values, base + 0.42 * (1 - base)
    repeated = any(row.times > 1 for row in seen.rows)
    share = 0.52 if repeated or sheet.room[0] < 80 else 0.42
    left = sheet.panels(1, 1, left=1, right=1, bottom=0.6, top=1, within=(0, base, share, 1))[0, 0]
    rows: list[tuple[str, ...]] = []
    for row, count in zip(seen.rows, seen.tensors.values, strict=True):
        times = [f"× {row.times}" if row.times > 1 else ""] if repeated else []
        shape = " × ".join(map(str, row.shape))
        rows.append((row.name, " · ".join(row.sides), shape, *times, thousands(int(count))))
    rows.append(("all", *[""] * (len(rows[0]) - 2), thousands(seen.total)))
    header = ("tensor", "sides", "shape", *(["blocks"] if repeated else []), "count")
    _table.table(left, sheet.em, header, rows, theme=sheet.theme, align="llr" + "r" * (len(header) - 3), line=2.4)
    wide = max(_draw.text_width(word, 72) for word in parts.labels) + 1
    bars = sheet.panels(1, 1, left=wide, right=9, bottom=1, top=2.2, within=(share, split, 1, 1))[0, 0]
    bars.set_title("parameters by part")
    colours = [
        sheet.theme.feed_forward if "feed" in word else sheet.theme.query if "attention" in word else sheet.theme.ink
        for word in parts.labels
    ]
    bars.barh(np.arange(len(parts)), values, color=colours, height=0.7)
    for k, value in enumerate(values):
        bars.text(value, k, f" {thousands(int(value))} · {_share(float(value / seen.total))}", va="center", ha="left")
    bars.set(ylim=(len(parts) - 0.4, -0.6), xlim=(0, float(values.max())))
    bars.set_yticks(range(len(parts)), parts.labels)
    bars.tick_params(length=0, pad=0.6 * sheet.size.text)
    bars.set_xticks([])
    bars.spines["bottom"].set_visible(False)
    axis = sheet.panels(1, 1, left=2.5, right=2.5, bottom=3.6, top=2.2, within=(share, base, 1, split))[0, 0]
    axis.set(title="beside published models", xscale="log", xlim=(10 ** np.floor(np.log10(seen.total) - 0.3), 4e12))
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


def _gpts(ax: Axes, seen: Parameters, sheet: _draw.Sheet) -> None:
    """This model beside the GPTs, number by number."""
    header = ("beside the GPTs", *seen.compared.axes["quantity"].labels)
    names = seen.compared.axes["model"].labels
    rows = [(name, *map(_short, row)) for name, row in zip(names, seen.compared.values, strict=True)]
    wide = _table.ems(ax, sheet.em)[0] / len(header) - 2
    colours = [sheet.theme.ink, *[sheet.theme.quiet] * (len(rows) - 1)]
    _table.table(ax, sheet.em, header, rows, theme=sheet.theme, align="l" + "r" * (len(header) - 1), line=1.6,
                 widths=[wide] * len(header), colours=colours)  # fmt: skip


def _caption(seen: Parameters) -> str:
    cited = zip(seen.published.axes["model"].labels, seen.cited, strict=True)
    return (
        "Left: every tensor with what its sides are, its shape and its count; a matrix maps rows to columns, and "
        "tensors that all blocks have stand once. Right, above: the same counts by part. Right, below: this model on a "
        "logarithmic axis beside published sizes, as printed in: "
        f"{'; '.join(f'{name} {where}' for name, where in cited)}. Below: the same model beside the GPTs, theirs from "
        f"{seen.compared_from}; for ours, each position of each batch counts, however often the same text comes. Our "
        "counts are exact and add up to the total."
    )


def _share(part: float) -> str:
    """15 %; of what is there, but hardly, less than 0.1 %."""
    return "< 0.1 %" if 0 < part < 5e-4 else percent(part)


def _short(count: float) -> str:
    """65 million, 1.5 thousand million as 1.5 billion."""
    for size, word in ((1e9, "billion"), (1e6, "million")):
        if count >= size:
            return f"{count / size:.3g} {word}"
    return thousands(int(count))


def _power(value: float, _: int) -> str:
    """10⁶."""
    return "10" + str(round(np.log10(value))).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
