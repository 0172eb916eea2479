"""Four optimisers, each at its best rate, and what each makes of one and the same sequence of gradients."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses.optimisers import Optimisers, optimisers, say
from glassformer.figures import _draw, _study
from glassformer.study import Metric, Study

SECTION = "trust"
ORDER = 70
ANSWERS = ("1.P8",)
COST = "d"
NEEDS = "study"
EXCESS = Metric("excess", "nats")


@_draw.drawing
def plot_optimisers(study: Study, *, ax: _draw.Host = None, theme: str = "light", size: str = "screen") -> Figure:
    """The search for each one's rate, the curves at the best rates, where every seed ends, and a worked example."""
    seen = optimisers(study)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=8.0, least=60)
    right = 11
    upper = sheet.panels(1, 2, left=6, right=right, bottom=3.8, top=2.2, gap=(right + 5, 0), within=(0, 0.5, 1, 1))[0]
    names = seen.excess.axes["cell"]
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
    _fed(fed, seen, sheet)
    return sheet.done(seen)


def _search(ax: Axes, seen: Optimisers, sheet: _draw.Sheet) -> None:
    """Median excess by rate; the lowest point of each line is the rate it is given."""
    every = np.concatenate([each.values for each in seen.search.values()]) if seen.search else np.array([np.nan])
    _study.scale(ax, "y", EXCESS, every[np.isfinite(every)])
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    labels = []
    shades = _study.shades(len(seen.search), sheet)
    for k, ((name, each), colour) in enumerate(zip(seen.search.items(), shades, strict=True)):
        rate = np.array([float(r) for r in each.axes["rate"]])
        ax.plot(rate, each.values, color=colour, linestyle=_study.LINES[k % 4], marker="o", gid="search",
                markersize=_study.DOT * sheet.size.text)  # fmt: skip
        known = each.values[np.isfinite(each.values)]
        if len(known):
            labels.append((float(known[-1]), name, colour))
    ax.set_xlabel("learning rate")
    ax.set_ylabel("median excess (nats)")
    _draw.heading(ax, "the search")
    _draw.beside(ax, labels, most=8)


def _fed(ax: Axes, seen: Optimisers, sheet: _draw.Sheet) -> None:
    """How far one number has moved; all four are given the same gradients and the same rate."""
    update = np.array([int(k) for k in seen.fed.axes["update"]])
    names = []
    for k, (name, colour) in enumerate(zip(seen.fed.axes["optimiser"], _study.shades(4, sheet), strict=True)):
        ax.plot(update, seen.fed.values[k], color=colour, linestyle=_study.LINES[k % 4], gid="fed")
        names.append((float(seen.fed.values[k, -1]), f"{name} {seen.fed.values[k, -1]:.2g}", colour))
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlim(1, update[-1])
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("gradients given")
    ax.set_ylabel("change of the number")
    _draw.heading(ax, "the same ten gradients")
    _draw.beside(ax, names, most=9)
