"""Ten gradients of one weight by hand: four optimisers side by side, and Adam's numbers at every update."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from glassformer.analyses._primer import short
from glassformer.analyses._result import Labelled
from glassformer.analyses.path.ten_gradients import GRADIENTS, RATE, START, TenGradients, say, signed, ten_gradients
from glassformer.figures import _draw, _study, _table

SINGLE = 50  # ems of width under which the panels stand below each other


@_draw.drawing
def plot_ten_gradients(
    *,
    gradients: Sequence[float] = GRADIENTS,
    rate: float = RATE,
    start: float = START,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """How far each optimiser has moved the weight, and a table of what Adam computes."""
    seen = ten_gradients(gradients=gradients, rate=rate, start=start)
    sheet = _draw.Sheet(ax, theme, size, say(seen), height=5.2, least=60)
    below = sheet.room[0] < SINGLE
    first, second = ((0, 0.5, 1, 1), (0, 0, 1, 0.5)) if below else ((0, 0, 0.54, 1), (0.54, 0, 1, 1))
    chart = sheet.panels(1, 1, left=6, right=11, bottom=4, top=2.4, within=first)[0, 0]
    moved(chart, seen.moved, sheet)
    _draw.heading(chart, f"change of the weight, rate {seen.rate:g}")
    aside = sheet.panels(1, 1, left=1.5, right=1, bottom=3 if len(seen.claimed.values) else 1, top=1, within=second)
    _adam(aside[0, 0], seen, sheet)
    if len(seen.claimed.values):
        said = " and ".join(signed(float(value)) for value in seen.claimed.values)
        sheet.note(
            f"the published example says {said} for {' and '.join(seen.claimed.axes['optimiser'].labels)}", x=1, ha="right"
        )
    return sheet.done(seen, gradients=tuple(map(float, gradients)), rate=rate, start=start)


def moved(ax: Axes, table: Labelled, sheet: _draw.Sheet) -> None:
    """(optimiser, update): one curve each, named at its end; the broad one leaves others on top of it to be seen."""
    update = np.arange(1, table.values.shape[1] + 1)
    names = []
    for k, (name, colour) in enumerate(zip(table.axes["optimiser"].labels, _study.shades(4, sheet), strict=True)):
        line, mark = (2.8, 0.9) if name == "Adam" else (1.0, 0.4)
        style = "-" if name == "Adam" else _study.LINES[k % 4]
        ax.plot(update, table.values[k], color=colour, linestyle=style, linewidth=line * sheet.size.line, marker="o",
                markersize=mark * sheet.size.text, gid="moved")  # fmt: skip
        names.append((float(table.values[k, -1]), f"{name} {signed(float(table.values[k, -1]))}", colour))
    if (table.values > 0).all():
        ax.set_yscale("log")
        ax.set_ylim(table.values.min() / 2, table.values.max() * 2)
        ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value, 7)))
    ax.set_xticks(update[:: max(1, len(update) // 5)])
    ax.set_xlabel("update")
    _draw.beside(ax, names, most=9)


def _adam(ax: Axes, seen: TenGradients, sheet: _draw.Sheet) -> None:
    rows = dict(zip(seen.adam.axes["quantity"].labels, seen.adam.values, strict=True))
    lines = [
        (str(k + 1), short(gradient, 6), f"{rows['mean_corrected'][k]:.5f}".replace("-", "−"),
         f"{np.sqrt(rows['square_corrected'][k]):.5f}", f"{rows['step'][k]:+.5f}".replace("-", "−"))
        for k, gradient in enumerate(seen.gradients.values)
    ]  # fmt: skip
    _table.table(ax, sheet.em, ("", "gradient", "mean", "√ mean square", "Adam's step"), lines, theme=sheet.theme,
                 align="rrrrr")  # fmt: skip
