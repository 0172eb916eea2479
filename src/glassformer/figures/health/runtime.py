"""What training costs: speed over the run, memory and operations by part, and how they grow with context and width."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import Labelled, percent, thousands
from glassformer.analyses.health.runtime import Runtime, size
from glassformer.figures import _draw

BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "bytes"))
OPERATIONS = ((1e9, "billion operations"), (1e6, "million operations"), (1e3, "thousand operations"), (1, "operations"))


def draw(seen: Runtime, look: _draw.Look) -> Figure:
    """Speed, memory and operations of a training, and what was measured at other contexts and widths."""
    shows = "A curve of speed, bars of memory and operations, lines of cost by size"
    sheet = look.sheet(seen, _caption(seen), shows, height=7.6, least=70)
    wide = max(_draw.text_width(part, 72) for part in seen.memory.axes["part"].labels) + 1.2
    timed = bool(np.isfinite(seen.speed.values).any())
    top = sheet.panels(1, 2 + timed, widths=[1.2, 1, 1][-2 - timed :], left=6 if timed else wide + 1, right=3,
                       bottom=4.2, top=3.6, gap=(wide + 1, 0), within=(0, 0.5, 1, 1))[0]  # fmt: skip
    foot = 5.4 if seen.parts is not None else 3.8
    low = sheet.panels(1, 2, left=7, right=15, bottom=foot, top=2.4, gap=(20, 0), within=(0, 0, 1, 0.5))[0]
    if timed:
        _speed(top[0], seen, sheet)
    held, spent = (None, None) if seen.parts is None else _beside(seen.parts)
    most = max([float(seen.memory.values.max()), *(held or {}).values()])
    _bars(top[-2], seen.memory, *_unit(BYTES, most), "memory of one step", sheet, held)
    if spent is None:
        unit = _unit(OPERATIONS, float(seen.operations.values.max()))
        _bars(top[-1], seen.operations, *unit, "operations of one step", sheet)
    else:
        share = Labelled(seen.operations.values / seen.operations.values.sum(), seen.operations.axes)
        _bars(top[-1], share, 0.01, "% of the step", "operations and time by part", sheet, spent)
        sheet.legend([Patch(color=sheet.theme.rung, label="counted"),
                      Line2D([], [], **_diamond(sheet), label="measured, each part alone")])  # fmt: skip
    for panel, name in zip(low, ("context", "width"), strict=True):
        _growth(panel, seen, name, sheet)
    return sheet.done()


def _caption(seen: Runtime) -> str:
    speed = (
        "Steps per second between logged lines; the first fifth of them is left out of the usual speed. "
        if np.isfinite(seen.usual)
        else "No times were logged, so no speed is shown. "
    )
    heads, blocks = (f"{many} {word}{'s' if many > 1 else ''}" for many, word in
                     ((seen.heads, "head"), (seen.blocks, "block")))  # fmt: skip
    return (
        f"{speed}Bytes and operations of one training step are counted from the shapes (activations, which the "
        f"backward pass needs, are {percent(seen.activations_held)} of the bytes): with B = {seen.batch} windows of L "
        f"= {seen.context} tokens, H = {heads}, width d = {seen.width} and {blocks}, attention holds 2·B·H·L² numbers "
        "a block (O(B·H·L²)) and costs O(B·L²·d) operations; the other activations grow with L, parameters not at all. "
        "Attention would cost more operations than the matrices of its block from "
        f"a context of {thousands(round(seen.overtakes))} on. Below: cost of one window at other contexts and widths, "
        "with the fitted slope of each line (feed-forward in proportion to the width)."
        + (_measured(seen) or " The option `measure=true` measures all of this on the machine at hand.")
        + " Who holds that attention is what costs most must find its bars the longest."
    )


def _measured(seen: Runtime) -> str:
    """What was measured, whole, of attention alone and part by part; empty where nothing was."""
    if not seen.measured or seen.attention_slopes is None or seen.parts is None:
        return ""
    m, n = (_named(seen.slopes[name]) for name in ("context", "width"))
    alone, whole = seen.attention_slopes.values
    held, spent = _beside(seen.parts)
    return (
        f" Measured on this machine with random weights, the quickest of {seen.repeats} gradient steps at each "
        f"size, per window: time grows with context as its power {m['measured seconds']:.2f} and with width as its "
        f"power {n['measured seconds']:.2f}, temporary memory as powers {m['measured bytes']:.2f} and "
        f"{n['measured bytes']:.2f}; a small step costs time whatever its size, so measured slopes lie below. "
        f"Attention alone, without the matrices around it: time grows as the power {alone:.2f} of the context L and "
        f"temporary memory as its power {whole:.2f}, where L² would give 2. Diamonds: each part alone, forwards and "
        f"backwards, with this batch. Attention sets aside {size(held['attention'])} where "
        f"{size(seen.attention_held * seen.held)} were counted, and takes {percent(spent['attention'])} of the time of "
        "all parts."
    )


def _named(each: Labelled) -> dict[str, float]:
    """Name → number of an array with one axis."""
    (axis,) = each.axes.values()
    return dict(zip(axis.labels, each.values.tolist(), strict=True))


def _speed(ax: Axes, seen: Runtime, sheet: _draw.Sheet) -> None:
    steps = seen.speed.axes["step"].values
    values = seen.speed.values
    ax.plot(steps, values, color=sheet.theme.train, marker="o" if len(steps) < 30 else "",
            markersize=0.35 * sheet.size.text)  # fmt: skip
    ax.axhline(seen.usual, color=sheet.theme.ink, linestyle="--", linewidth=0.6 * sheet.size.line)
    ax.set_ylim(0, 1.15 * float(np.nanmax(values)))
    _draw.steps_axis(ax)
    ax.set_ylabel("steps per second")
    _draw.heading(ax, f"speed ({seen.device})" if seen.device else "speed")


def _unit(units: tuple[tuple[float, str], ...], most: float) -> tuple[float, str]:
    """The largest unit of which the largest bar has at least one."""
    return next((unit for unit in units if most >= unit[0]), units[-1])


def _beside(parts: Labelled) -> tuple[dict[str, float], dict[str, float]]:
    """Measured bytes by part, and measured time by part as a share of that of all parts."""
    seconds, held = parts.values.T
    return dict(zip(parts.axes["part"].labels, held, strict=True)), dict(
        zip(parts.axes["part"].labels, seconds / seconds.sum(), strict=True)
    )


def _diamond(sheet: _draw.Sheet) -> dict[str, Any]:
    return {"linestyle": "", "marker": "D", "color": sheet.theme.ink, "markerfacecolor": "none",
            "markersize": 0.6 * sheet.size.text}  # fmt: skip


def _bars(
    ax: Axes, each: Labelled, unit: float, name: str, title: str, sheet: _draw.Sheet,
    measured: dict[str, float] | None = None,
) -> None:  # fmt: skip
    """Counted numbers as bars; measured ones as diamonds on the same axis."""
    parts, values = each.axes["part"].labels, each.values / unit
    found = {parts.index(part): value / unit for part, value in (measured or {}).items()}
    largest = max([float(values.max()), *found.values()])
    t = sheet.theme
    ax.barh(range(len(parts)), values, color=t.rung, height=0.7)
    ax.plot(list(found.values()), list(found), **_diamond(sheet))
    for k, value in enumerate(values):
        at = max(float(value), found.get(k, 0) + 0.04 * largest if k in found else 0)
        also = f", ◇ {_three(found[k])}" if k in found else ""
        ax.text(at, k, f" {_three(float(value))}{also}", va="center", ha="left")
    _draw.name_rows(ax, parts)
    ax.invert_yaxis()
    ax.set_xlim(0, (2.2 if found else 1.45) * largest)
    ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.set_xlabel(name)
    _draw.heading(ax, title)


def _three(value: float) -> str:
    """Three digits that count, at most two behind the point."""
    return _draw.number(value, 0 if value >= 100 else 1 if value >= 10 else 2)


def _growth(ax: Axes, seen: Runtime, name: str, sheet: _draw.Sheet) -> None:
    """Costs relative to the model as it is, so that all lines meet there."""
    t, names = sheet.theme, []
    here, told = int(getattr(seen, name)), _named(seen.slopes[name])
    for kind, table, style in (("counted", seen.counted[name], "-"), ("measured", seen.measured.get(name), "--")):
        if table is None:
            continue
        sizes = table.axes["size"].values
        own = sizes.index(here)
        for k, (number, colour) in enumerate(zip(table.axes["quantity"].labels, (t.ink, t.quiet), strict=True)):
            values = table.values[:, k] / table.values[own, k]
            ax.plot(sizes, values, color=colour, linestyle=style, marker="o" if k == 0 else "s",
                    markersize=0.4 * sheet.size.text)  # fmt: skip
            names.append((float(values[-1]), f"{kind} {number}, slope {told[f'{kind} {number}']:.2f}", colour))
    if name == "context" and seen.attention is not None and seen.attention_slopes is not None:
        seconds, sizes = seen.attention.values[:, 0], seen.attention.axes["size"].values
        own = sizes.index(here)
        ax.plot(sizes, seconds / seconds[own], color=t.query, linestyle=":", marker="D",
                markersize=0.4 * sheet.size.text)  # fmt: skip
        said = "attention alone, slope {:.2f} (bytes {:.2f})".format(*seen.attention_slopes.values)
        names.append((float(seconds[-1] / seconds[own]), said, t.query))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    at = np.array(seen.counted[name].axes["size"].values)
    ax.set_xticks(at, [thousands(int(each)) for each in at])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: f"× {value:g}")
    ax.axvline(here, color=t.quiet, linewidth=0.5 * sheet.size.line)
    ax.set(xlabel=name, ylabel="cost of a window")
    _draw.heading(ax, f"by {name}")
    _draw.beside(ax, names, most=13)
