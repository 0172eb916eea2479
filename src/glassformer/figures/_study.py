"""What figures of studies share: rows of dots, dots over a scale of numbers, and a place for what is no number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from glassformer.analyses._result import Array, Labelled, thousands
from glassformer.analyses._study import OfStudy
from glassformer.figures import _draw, _style
from glassformer.study import Metric

DOT = 0.5  # of the text's size


def footing(seen: OfStudy) -> str:
    """How dots, bars and what is missing are to be read, and what follows; the same in every figure of a study."""
    text = (
        f"Each dot is one seed, the bar their median; {seen.interval}. "
        "A cross is a seed that never got there, or whose loss is no longer a number; it counts as the worst. "
        "All seeds share the data and differ in first weights and in the order of batches."
    )
    lost = f" Not trained: {', '.join(seen.missing)}." if seen.missing else ""
    return f"{text}{lost} {seen.conclusion}".strip()


def scale(ax: Axes, which: str, metric: Metric, values: Array, *, ticks: int = 5) -> float | None:
    """Lay out an axis for a metric; where seeds without a number are drawn, or None if there are none."""
    axis, known = (ax.xaxis if which == "x" else ax.yaxis), values[np.isfinite(values)]
    set_limits = ax.set_xlim if which == "x" else ax.set_ylim
    lost = bool(np.isnan(values).any())
    if metric.unit == "share":
        most = 1.0 if metric.higher or not len(known) or known.max() > 0.5 else float(known.max()) * 1.1 or 0.01
        set_limits(-0.03 * most, 1.04 * most)
        axis.set_major_locator(MaxNLocator(ticks))
        axis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:g} %" if -1e-9 <= v <= 1 + 1e-9 else ""))
        return -0.015 * most if lost else None
    if metric.unit == "nats":
        return _logarithmic(ax, which, known, lost)
    most = float(known.max()) if len(known) else 1.0
    never = 1.18 * most  # beyond the scale, and named on it
    set_limits(-0.03 * most, most * (1.27 if lost else 1.06))
    reach = most * (0.98 if lost else 1.06)
    marks = [v for v in MaxNLocator(ticks - 1, integer=True).tick_values(0, most) if 0 <= v <= reach and len(known)]
    texts = [thousands(round(v)) for v in marks]
    axis.set_ticks([*marks, never] if lost else marks, [*texts, "never"] if lost else texts)
    return never if lost else None


def _logarithmic(ax: Axes, which: str, known: Array, lost: bool) -> float | None:
    """Decades above the smallest positive number, straight around zero where there is anything to show."""
    positive = known[known > 0]
    least = 10.0 ** np.floor(np.log10(positive.min())) if len(positive) else 1e-3
    least, most = max(least, 1e-6), float(positive.max()) if len(positive) else 1.0
    if (known <= 0).any():
        least = max(least, 1e-3)
        (ax.set_xscale if which == "x" else ax.set_yscale)("symlog", linthresh=least, linscale=0.5)
        low = min(-0.4 * least, 1.2 * float(known.min()))
    else:
        (ax.set_xscale if which == "x" else ax.set_yscale)("log")
        low = 0.8 * (float(positive.min()) if len(positive) and most < 10 * positive.min() else min(least, most / 10))
    decades = max(np.log10(most / least), 1)
    top = most * 10 ** (0.05 * decades)
    high = top * 10 ** (0.16 * decades) if lost else top
    (ax.set_xlim if which == "x" else ax.set_ylim)(low, high)
    axis = ax.xaxis if which == "x" else ax.yaxis
    first, last = int(np.ceil(np.log10(max(low, 0.999 * least)))), int(np.floor(np.log10(top)))
    every = max(1, -(-(last - first + 1) // 6))
    marks = [*([0.0] if low < 0 else []), *(10.0**k for k in range(first, last + 1, every))]
    if len(marks) < 3 and low > 0:  # decades alone would leave the axis almost bare
        marks = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5) if low <= m * 10.0**k <= top]
        if len(marks) < 3:
            marks = [float(m) for m in MaxNLocator(3).tick_values(low, top) if low <= m <= top]
    axis.set_ticks(marks, [f"{mark:.6f}".rstrip("0").rstrip(".") for mark in marks])
    axis.set_minor_locator(NullLocator())
    at = top * 10 ** (0.09 * decades)
    if lost:
        _name(ax, which, at, "no number")
    return at if lost else None


def _name(ax: Axes, which: str, at: float, word: str) -> None:
    """Say what lies beyond the scale, just outside the panel."""
    if which == "x":
        ax.annotate(word, (at, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom",
                    xytext=(0, 2), textcoords="offset points", annotation_clip=False)  # fmt: skip
    else:
        ax.annotate(word, (0.0, at), xycoords=("axes fraction", "data"), ha="right", va="center",
                    xytext=(-4, 0), textcoords="offset points", annotation_clip=False)  # fmt: skip


def rows(
    ax: Axes, values: Labelled, spread: Labelled, metric: Metric, sheet: _draw.Sheet, *, named: bool,
    bounds: Array | None = None, marked: Sequence[str] = (),
) -> None:  # fmt: skip
    """One row per cell: a dot per seed, a bar at the median; `marked` cells in the colour of wrong."""
    t, size = sheet.theme, DOT * sheet.size.text
    cells, many = values.axes["cell"].labels, values.values.shape[1]
    every = np.append(values.values.ravel(), bounds[np.isfinite(bounds)] if bounds is not None else [])
    beyond = scale(ax, "x", metric, every)
    jitter = np.linspace(-0.24, 0.24, many) if many > 1 else np.zeros(1)
    for k, cell in enumerate(cells):
        colour = t.wrong if cell in marked else t.validation
        good = np.isfinite(values.values[k])
        ax.plot(values.values[k][good], k + jitter[good], "o", color=colour, markersize=size, alpha=0.85,
                linewidth=0, markeredgewidth=0, gid="seeds", clip_on=False)  # fmt: skip
        if beyond is not None and (~good).any():
            ax.plot(np.full((~good).sum(), beyond), k + jitter[~good], "X", color=t.wrong, markersize=size, gid="lost")
        if np.isfinite(spread.values[k, 0]):
            ax.plot([spread.values[k, 0]] * 2, [k - 0.36, k + 0.36], color=t.ink, linewidth=1.1 * sheet.size.line,
                    solid_capstyle="butt", gid="median", zorder=1.5)  # fmt: skip
        if bounds is not None and np.isfinite(bounds[k]):
            ax.plot([bounds[k]], [k], marker="<", markersize=1.6 * size, markerfacecolor="none",
                    markeredgecolor=t.ink, linewidth=0, gid="bound", zorder=4)  # fmt: skip
        ax.axhline(k + 0.5, color=t.faint, linewidth=0.3 * sheet.size.line, zorder=0)
    ax.set_ylim(len(cells) - 0.45, -0.55)
    _draw.name_rows(ax, cells if named else [""] * len(cells))
    ax.set_xlabel(metric.title if metric.unit != "nats" else f"{metric.title} (nats)")


def names_width(cells: Sequence[str]) -> float:
    """Ems that the longest name of a row takes."""
    return max((_draw.text_width(cell, 72) for cell in cells), default=0.0) + 1.8


def against(
    ax: Axes, at: Array, values: Labelled, spread: Labelled, metric: Metric, sheet: _draw.Sheet, label: str
) -> None:
    """A dot per seed over a logarithmic scale of numbers, and a line through the medians."""
    t, size = sheet.theme, DOT * sheet.size.text
    ax.set(xscale="log", xlim=(at.min() / 1.5, at.max() * 1.5))
    beyond = scale(ax, "y", metric, values.values)
    shift = 1 + 0.05 * np.linspace(-1, 1, values.values.shape[1])
    for k, x in enumerate(at):
        good = np.isfinite(values.values[k])
        ax.plot(x * shift[good], values.values[k][good], "o", color=t.validation, markersize=size, alpha=0.75,
                linewidth=0, markeredgewidth=0, gid="seeds")  # fmt: skip
        if beyond is not None and (~good).any():
            ax.plot(x * shift[~good], np.full((~good).sum(), beyond), "X", color=t.wrong, markersize=size, linewidth=0,
                    gid="lost")  # fmt: skip
    ax.plot(at, spread.values[:, 0], color=t.ink, linewidth=sheet.size.line, zorder=3, gid="median", marker="_",
            markersize=1.3 * sheet.size.text)  # fmt: skip
    ax.set(xlabel=label, ylabel=metric.title if metric.unit != "nats" else f"{metric.title} (nats)")
    ax.xaxis.set_minor_locator(NullLocator())


def few_ticks(ax: Axes, at: Array, texts: Sequence[str], sheet: _draw.Sheet) -> None:
    """A tick at every number, with its text where that has room, the last one first."""
    room = ax.get_window_extent().width / ax.figure.dpi
    span = np.log(ax.get_xlim()[1] / ax.get_xlim()[0])
    place = room * np.log(at / ax.get_xlim()[0]) / span
    wide = [max(_draw.text_width(line, sheet.size.text) for line in text.split("\n")) for text in texts]
    chosen: list[int] = []
    for k in reversed(range(len(at))):
        last = chosen[-1] if chosen else None
        if texts[k] and (last is None or place[last] - place[k] > (wide[k] + wide[last]) / 2 + 0.6 * sheet.em):
            chosen.append(k)
    ax.set_xticks(at, [text if k in chosen else "" for k, text in enumerate(texts)])


def shades(many: int, sheet: _draw.Sheet) -> list[Any]:
    """Colours for an ordered series."""
    palette = _style.colormap("time", sheet.theme.name)
    begin, end = (0.0, 0.85) if sheet.theme.name == "light" else (0.3, 1.0)  # away from the colour of the paper
    return [palette(begin + (end - begin) * k / max(many - 1, 1)) for k in range(many)]


LINES = ("-", "--", ":", "-.")


def curves(ax: Axes, found: dict[str, Labelled], metric: Metric, sheet: _draw.Sheet) -> list[Line2D]:
    """A line per cell over the steps; the legend's entries, named as the cells."""
    every = np.concatenate([each.values for each in found.values()])
    scale(ax, "y", metric, every[np.isfinite(every)])
    made = []
    for k, ((cell, each), colour) in enumerate(zip(found.items(), shades(len(found), sheet), strict=True)):
        (line,) = ax.plot(
            each.axes["step"].values, each.values, color=colour, linestyle=LINES[k % 4], gid="curve", label=cell
        )
        made.append(line)
    ax.set_xlim(0, max(each.axes["step"].values[-1] for each in found.values()) or 1)
    ax.locator_params(axis="x", nbins=4)
    _draw.steps_axis(ax)
    return made


def ends(ax: Axes, found: dict[str, Labelled], sheet: _draw.Sheet, most: float = 9.0) -> None:
    """Each line's name at its right end."""
    low, high = ax.get_ylim()
    names = []
    for (cell, each), colour in zip(found.items(), shades(len(found), sheet), strict=True):
        known = each.values[np.isfinite(each.values)]
        if len(known):
            names.append((float(np.clip(known[-1], low, high)), cell, colour))
    _draw.beside(ax, names, most=most)
