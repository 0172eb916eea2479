"""Four optimisers, each at its best rate, and what each makes of one and the same sequence of gradients."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import Array
from glassformer.analyses.path.ten_gradients import GRADIENTS, RATE
from glassformer.analyses.trust.study_optimisers import StudyOptimisers
from glassformer.figures import _draw, _study
from glassformer.figures.path.ten_gradients import moved
from glassformer.study import Metric

EXCESS = Metric("excess", "nats")


def draw(seen: StudyOptimisers, look: _draw.Look) -> Figure:
    """The search for each one's rate, the curves at the best rates, where every seed ends, and a worked example."""
    sheet = look.sheet(seen, _caption(seen), "Four charts of optimisers", height=8.0)
    right = 11
    upper = sheet.panels(1, 2, left=6, right=right, bottom=3.8, top=2.2, gap=(right + 5, 0), within=(0, 0.5, 1, 1))[0]
    names = seen.excess.axes["cell"].labels
    left = min(_study.names_width(names), 0.2 * sheet.room[0])
    ends = sheet.panels(1, 1, left=max(left, 6), right=2, bottom=3.8, top=2.2, within=(0, 0, 0.5, 0.5))[0, 0]
    fed = sheet.panels(1, 1, left=7, right=right, bottom=3.8, top=2.2, within=(0.5, 0, 1, 0.5))[0, 0]
    _search(upper[0], seen, sheet)
    _study.curves(upper[1], seen.curve, EXCESS, sheet)
    upper[1].set_ylabel("median excess (nats)")
    _draw.heading(upper[1], "on the way, at the best rate")
    _study.ends(upper[1], seen.curve, sheet, most=8)
    _study.rows(ends, seen.excess, seen.spread, EXCESS, sheet, named=True)
    _draw.heading(ends, "where every seed ends")
    moved(fed, seen.fed, sheet)
    fed.set_ylabel("change of the weight")
    _draw.heading(fed, "the same ten gradients")
    return sheet.done()


def _caption(seen: StudyOptimisers) -> str:
    ratio = seen.fed.values[2, -1] / seen.fed.values[0, -1]
    return (
        "Top left: the search, median excess of few seeds against the rate. Top right: the median excess on the way, "
        "each at its best rate. Bottom left: where every seed ends. Bottom right: the ten gradients of the worked "
        f"example, about {np.mean(GRADIENTS):.4f} each, fed to all four at a rate of {RATE:g}: the sum of their steps. "
        f"Adam has moved {ratio:.0f} times as far as SGD, because it divides by the size of the gradients. "
        f"{_study.footing(seen)}"
    )


def _search(ax: Axes, seen: StudyOptimisers, sheet: _draw.Sheet) -> None:
    """Median excess by rate; the lowest point of each line is the rate it is given."""
    every = np.concatenate([each.values for each in seen.search.values()]) if seen.search else np.array([np.nan])
    _study.scale(ax, "y", EXCESS, every[np.isfinite(every)])
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    begins: dict[str, tuple[tuple[float, float], Any]] = {}
    shades = _study.shades(len(seen.search), sheet)
    for k, ((name, each), colour) in enumerate(zip(seen.search.items(), shades, strict=True)):
        rate = each.axes["rate"].values
        ax.plot(rate, each.values, color=colour, linestyle=_study.LINES[k % 4], marker="o", gid="search",
                markersize=_study.DOT * sheet.size.text)  # fmt: skip
        known = np.flatnonzero(np.isfinite(each.values))
        if len(known):  # the lines cover different rates: each is named at its own first point
            begins[name] = ((rate[known[0]], float(each.values[known[0]])), colour)
    ax.set(xlabel="learning rate", ylabel="median excess (nats)")
    _draw.heading(ax, "the search")
    if begins:
        ax.set_xlim(ax.get_xlim()[0] / 3, ax.get_xlim()[1])  # room for the names
        _draw.labels(ax, np.array([at for at, _ in begins.values()]), list(begins), tied=True,
                     colours=[colour for _, colour in begins.values()], keep_clear=_along(ax))  # fmt: skip


def _along(ax: Axes) -> Array:
    """(point, 2): places all along the lines of a chart, for names to keep clear of."""
    found = []
    for line in ax.lines:
        at = ax.transData.transform(np.column_stack(line.get_data()))
        at = at[np.isfinite(at).all(axis=1)]
        many = np.linspace(0, len(at) - 1, 24 * len(at))
        found.append(np.column_stack([np.interp(many, np.arange(len(at)), each) for each in at.T]))
    return ax.transData.inverted().transform(np.vstack(found))
