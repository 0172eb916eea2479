"""Ten gradients of one weight by hand: four optimisers side by side, and Adam's numbers at every update."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from glassformer.analyses._primer import short
from glassformer.analyses._result import Labelled
from glassformer.analyses.path.ten_gradients import TenGradients, signed
from glassformer.figures import _draw, _study, _table

SINGLE = 50  # ems of width under which the panels stand below each other


def draw(seen: TenGradients, look: _draw.Look) -> Figure:
    """How far each optimiser has moved the weight, and a table of what Adam computes."""
    sheet = look.sheet(seen, _caption(seen), "A chart of four curves and a table of Adam's numbers", height=5.2)
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
            f"the published example says {said} for {' and '.join(seen.claimed.axes['optimiser'].labels)}",
            x=1,
            ha="right",
        )
    return sheet.done()


def _caption(seen: TenGradients) -> str:
    said = (
        f"One weight that begins at {short(seen.start)} is given {seen.many} in a row, at a rate of {seen.rate:g}. "
        "Left: how far each optimiser has moved it (logarithmic scale where all go up). SGD subtracts rate × gradient. "
        "Momentum adds up what came before. Adam divides its running mean of the gradients by the root of its running "
        "mean of their squares, both corrected for their start at zero: where the gradients agree, each of its steps "
        "is about as large as the rate, however small they are. AdamW also pulls the weight towards zero. Right: "
        f"Adam's numbers at every update (running means with {seen.beta_1:g} and {seen.beta_2:g})."
    )
    if len(seen.claimed.values):
        plain, adam = map(float, seen.claimed.values)
        said += (
            f" The published example gives {signed(plain)} and {signed(adam)}: minus the rate times the sum of its own "
            f"gradients is {signed(float(seen.moved.values[0, -1]))}, and a negative gradient moves a weight up."
        )
    return said


def moved(ax: Axes, table: Labelled, sheet: _draw.Sheet) -> None:
    """(optimiser, step): one curve each, named at its end; the broad one leaves others on top of it to be seen."""
    update = np.arange(1, table.values.shape[1] + 1)
    names = []
    for k, (name, colour) in enumerate(zip(table.axes["optimiser"].labels, _study.shades(4, sheet), strict=True)):
        line, mark = (2.8, 0.9) if name == "Adam" else (1.0, 0.4)
        style = "-" if name == "Adam" else _study.LINES[k % 4]
        ax.plot(update, table.values[k], color=colour, linestyle=style, linewidth=line * sheet.size.line, marker="o",
                markersize=mark * sheet.size.text, gid="moved")  # fmt: skip
        names.append((float(table.values[k, -1]), f"{name} {signed(float(table.values[k, -1]))}", colour))
    if (table.values > 0).all():
        ax.set(yscale="log", ylim=(table.values.min() / 2, table.values.max() * 2))
        ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value, 7)))
    ax.set(xticks=update[:: max(1, len(update) // 5)], xlabel="update")
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
