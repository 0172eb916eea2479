"""Several runs side by side: one metric by step, and a table of what each reached."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import power, thousands
from glassformer.analyses.trust.comparison import WINDOWS, Comparison, short
from glassformer.figures import _draw, _style, _table

LINES = ("-", "--", ":", "-.")
LEADER = (0, (1, 5))  # sparse dots, unlike every curve


def draw(seen: Comparison, look: _draw.Look) -> Figure:
    """One metric of several runs with direct labels; below, the table."""
    names, log = list(seen.curves), _positive(seen)
    best = "; ".join(f"{name} {short(value)}" for name, value in zip(names, seen.reached.values[:, 0], strict=True))
    alt = f"Curves of {len(names)} runs and a table. Best values: {best}. {thousands(len(names))} runs."
    sheet = look.sheet(seen, _caption(seen, log), alt=alt, height=4.6 + 0.24 * len(names))
    high = (1.55 * (len(names) + 1) + 2.4) / sheet.room[1]
    low = min(0.5, high)
    wide = min(max(_draw.text_width(name, 72) for name in names) + 2, 0.35 * sheet.room[0])
    panel = sheet.panels(1, 1, left=6, right=wide + 1, bottom=3.6, top=0.8, within=(0, low, 1, 1))[0, 0]
    shades = [_style.colormap("time", sheet.theme.name)(0.9 * k / max(len(names) - 1, 1)) for k in range(len(names))]
    ends, smallest, largest = [], np.inf, -np.inf
    longest = max(curve.axes["step"].values[-1] for curve in seen.curves.values())
    for k, name in enumerate(names):
        steps = np.array(seen.curves[name].axes["step"].values)
        middle, lowest, highest = seen.curves[name].values.T
        if seen.members[k] > 1:
            panel.fill_between(steps, lowest, highest, color=shades[k], alpha=0.18, linewidth=0)
        panel.plot(steps, middle, color=shades[k], linestyle=LINES[k % len(LINES)])
        some = np.isfinite(middle)
        if some.any():
            ends.append((float(middle[some][-1]), k))
            end = steps[some][-1]
            if end < longest:  # dots lead from where it ends to its name
                panel.plot([end], [middle[some][-1]], marker="o", color=shades[k], markersize=0.5 * sheet.size.text)
                panel.plot([end, longest], [middle[some][-1]] * 2, color=sheet.theme.rung, linestyle=LEADER,
                           linewidth=0.5 * sheet.size.line, zorder=0)  # fmt: skip
            smallest, largest = min(smallest, float(np.nanmin(lowest))), max(largest, float(np.nanmax(highest)))
    if log:
        _logarithmic(panel, smallest, largest, sheet)
    else:
        panel.axhline(0, color=sheet.theme.ink, linestyle=":", linewidth=0.7 * sheet.size.line)
    panel.set_ylabel(f"{seen.metric} ({seen.curves[names[0]].unit}{', log axis' if log else ''})")
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
    return sheet.done(metric=seen.metric)


def _positive(seen: Comparison) -> bool:
    """Whether every value has a logarithm; a text's excess falls below nought where a model beats the count table."""
    every = np.concatenate([curve.values.ravel() for curve in seen.curves.values()])
    return bool((every[np.isfinite(every)] > 0).all())


def _caption(seen: Comparison, log: bool) -> str:
    return (
        f"Above: {seen.whose} {seen.what} by step on a {'logarithmic' if log else 'plain'} axis; thick lines are "
        "medians over members, bands reach from the lowest to the highest member; sparse dots lead from the end of a "
        "shorter training (mark) to its name. Below: best and last value, the "
        "step of the best, parameters, seconds (– where there is no number). The best of many steps is a little lucky "
        f"on the windows that chose it. {_ground(seen)}"
    )


def _ground(seen: Comparison) -> str:
    """On what ground they are compared, and whether the difference has an interval."""
    if seen.same:
        return (
            "The difference is that of the first member's loss at the kept step nearest to its best one, window by "
            f"window on the same {WINDOWS} {seen.whose} windows at most, with a 95 % interval over windows; an "
            "interval "
            "that holds 0 means that these windows cannot tell the two apart. It says nothing about other seeds."
        )
    if seen.texts and seen.metric in ("loss", "perplexity"):
        return "Windows or parts of the text differ between the runs, so differences have no interval."
    if seen.metric == "bits":
        return (
            "The tokenizers differ; each loss is divided by the characters that a token of the run's own validation "
            "part stands for on average, and differences have no interval."
        )
    if seen.texts:
        return (
            "The texts differ, or their tokenizers do and one of them throws characters away, so that neither "
            "perplexity nor bits per character can be compared: what is drawn is the loss above that of each one's "
            "own best count table, and differences have no interval."
        )
    return (
        "The runs learn different things or see different windows, so only the excess over each one's own floor "
        "(of a text, its best count table) can be compared, and differences have no interval."
    )


def _logarithmic(panel: Axes, smallest: float, largest: float, sheet: _draw.Sheet) -> None:
    panel.set_yscale("log")
    if np.isfinite(largest):
        panel.set_ylim(smallest * 0.93, largest * 1.07)
    panel.yaxis.set_major_formatter(lambda value, _: power(value) if 0 < value < 1e-3 else f"{value:g}")
    panel.yaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if largest / smallest < 12 and f"{value:g}"[0] in "12357" else ""
    )
    panel.tick_params(which="minor", labelsize=sheet.size.text)


def _number(value: float) -> str:
    """0.006429; what is very small as a power of ten."""
    if not np.isfinite(value):
        return "–"
    return power(value, 2) if 0 < abs(value) < 1e-4 else f"{value:.4g}".replace("-", "\u2212")


def _row(seen: Comparison, k: int, name: str) -> tuple[str, ...]:
    best, at, last, parameters, seconds = seen.reached.values[k]
    gap, half = seen.difference.values[k]
    words = "–" if k == seen.best else f"{_draw.number(gap, 3)}{f' ± {half:.3f}' if np.isfinite(half) else ''}"
    first, end = (_number(value) for value in (best, last))
    timed = [f"{seconds:.0f}" if np.isfinite(seconds) else "–"] if np.isfinite(seen.reached.values[:, 4]).any() else []
    many = f" ({seen.members[k]} members)" if seen.members[k] > 1 else ""
    return (name + many, first, thousands(int(at)), end, thousands(int(parameters)), *timed, words)


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
