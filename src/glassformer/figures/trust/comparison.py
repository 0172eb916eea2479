"""Several runs side by side: one metric by step, and a table of what each reached."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import thousands
from glassformer.analyses.trust.comparison import UNITS, Comparison, comparison, logarithmic, say
from glassformer.figures import _draw, _style, _table
from glassformer.run import Run

LINES = ("-", "--", ":", "-.")


@_draw.drawing
def plot_comparison(
    runs: Sequence[Run] | Run,
    *,
    metric: str | None = None,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """One metric of several runs with direct labels; below, the table."""
    seen = comparison(runs, metric=metric)
    names = list(seen.curves)
    sheet = _draw.Sheet(ax, theme, size, say(seen), height=4.6 + 0.24 * len(names), least=60)
    high = (1.55 * (len(names) + 1) + 2.4) / sheet.room[1]
    low = min(0.5, high)
    wide = min(max(_draw.text_width(name, 72) for name in names) + 2, 0.35 * sheet.room[0])
    panel = sheet.panels(1, 1, left=6, right=wide + 1, bottom=3.6, top=0.8, within=(0, low, 1, 1))[0, 0]
    shades = [_style.colormap("time", sheet.theme.name)(0.9 * k / max(len(names) - 1, 1)) for k in range(len(names))]
    ends, smallest, largest = [], np.inf, -np.inf
    longest = max(int(curve.axes["step"].labels[-1]) for curve in seen.curves.values())
    for k, name in enumerate(names):
        steps = np.array([int(label) for label in seen.curves[name].axes["step"].labels])
        middle, lowest, highest = seen.curves[name].values.T
        if seen.members[k] > 1:
            panel.fill_between(steps, lowest, highest, color=shades[k], alpha=0.18, linewidth=0)
        panel.plot(steps, middle, color=shades[k], linestyle=LINES[k % len(LINES)])
        some = np.isfinite(middle)
        if some.any():
            ends.append((float(middle[some][-1]), k))
            panel.plot(
                [steps[some][-1], longest],
                [middle[some][-1]] * 2,
                color=sheet.theme.faint,
                linewidth=sheet.size.line * 0.5,
                zorder=0,
            )
            smallest, largest = min(smallest, float(np.nanmin(lowest))), max(largest, float(np.nanmax(highest)))
    if logarithmic(seen):
        _logarithmic(panel, smallest, largest, sheet)
    else:
        panel.axhline(0, color=sheet.theme.ink, linestyle=":", linewidth=0.7 * sheet.size.line)
    log = ", log axis" if logarithmic(seen) else ""
    panel.set_ylabel(f"{seen.metric} ({UNITS[seen.metric]}{log})")
    _draw.steps_axis(panel)
    panel.set_xlim(0, longest)
    _direct(panel, sheet, ends, names, shades)
    table = sheet.panels(1, 1, left=1.2, right=1.2, bottom=0.5, top=0.4, within=(0, 0, 1, low))[0, 0]
    header = (
        "run",
        f"best {seen.metric}",
        "at step",
        "last",
        "parameters",
        *(["seconds"] if np.isfinite(seen.reached.values[:, 4]).any() else []),
        "loss above the lowest" if seen.same else "above the lowest",
    )
    rows = [_row(seen, k, name) for k, name in enumerate(names)]
    _table.table(table, sheet.em, header, rows, theme=sheet.theme, align="l" + "r" * (len(header) - 1))
    return sheet.done(seen, metric=seen.metric)


def _logarithmic(panel: Axes, smallest: float, largest: float, sheet: _draw.Sheet) -> None:
    panel.set_yscale("log")
    if np.isfinite(largest):
        panel.set_ylim(smallest * 0.93, largest * 1.07)
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.yaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if largest / smallest < 12 and f"{value:g}"[0] in "12357" else ""
    )
    panel.tick_params(which="minor", labelsize=sheet.size.text)


def _row(seen: Comparison, k: int, name: str) -> tuple[str, ...]:
    best, at, last, parameters, seconds = seen.reached.values[k]
    gap, half = seen.difference.values[k]
    words = "–" if k == seen.best else f"{_draw.number(gap, 3)}{f' ± {half:.3f}' if np.isfinite(half) else ''}"
    timed = [f"{seconds:.0f}" if np.isfinite(seconds) else "–"] if np.isfinite(seen.reached.values[:, 4]).any() else []
    many = f" ({seen.members[k]} members)" if seen.members[k] > 1 else ""
    return (
        name + many,
        f"{best:.4g}".replace("-", "\u2212"),
        thousands(int(at)),
        f"{last:.4g}".replace("-", "\u2212"),
        thousands(int(parameters)),
        *timed,
        words,
    )


def _direct(
    panel: Axes, sheet: _draw.Sheet, ends: list[tuple[float, int]], names: list[str], shades: list[object]
) -> None:
    """Names at the right edge, moved apart where they would touch."""
    box = panel.get_window_extent()
    line = 1.3 * sheet.em * panel.figure.dpi
    placed: list[float] = []
    for value, k in sorted(ends):
        y = float(panel.transData.transform((0, value))[1])
        y = max(y, placed[-1] + line) if placed else max(y, box.y0 + line / 2)
        placed.append(y)
        panel.text(
            1.02,
            (y - box.y0) / box.height,
            names[k],
            transform=panel.transAxes,
            va="center",
            ha="left",
            color=sheet.theme.ink,
        )
        panel.plot(
            [1.0, 1.018],
            [(panel.transData.transform((0, value))[1] - box.y0) / box.height, (y - box.y0) / box.height],
            transform=panel.transAxes,
            color=shades[k],
            clip_on=False,
            linestyle=LINES[k % len(LINES)],
        )
