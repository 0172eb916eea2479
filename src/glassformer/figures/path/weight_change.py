"""How much the weights change, part by part, for their size, and whether they keep going the same way."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import Labelled, thousands
from glassformer.analyses.path.weight_change import WeightChange, unit_of
from glassformer.figures import _draw, _life


def draw(seen: WeightChange, look: _draw.Look) -> Figure:
    """Mean absolute change by part, the same relative to the weights, and the cosine of successive changes."""
    shows = "Three charts over training steps: change, relative change, cosine"
    sheet = look.sheet(seen, _caption(seen), shows, height=8.4, least=0)
    entries = _life.key(seen.change.axes["part"].labels, seen.blocks == 1, sheet)
    each = max(_draw.text_width(str(entry.get_label()), sheet.size.text) / sheet.em for entry in entries) + 4
    across = int(np.clip((sheet.room[0] - 2) // each, 1, len(entries)))  # entries of the key side by side
    foot = (5.4 if seen.per_pass else 4.2) + 1.5 * -(-len(entries) // across)
    down = 2.4 if sheet.room[0] > 60 else 3.8  # room for headings of two lines
    panels = sheet.panels(3, 1, heights=(1.3, 1.1, 1), left=6.5, right=3, bottom=foot, top=2.2, gap=(0, down))[:, 0]
    _curves(panels[0], seen, seen.change, sheet, log=True)
    _draw.heading(panels[0], f"mean absolute change of a parameter per {unit_of(seen)}")
    _curves(panels[1], seen, seen.relative, sheet, log=True)
    _draw.heading(panels[1], "the same, as a share of the mean weight of the part")
    _curves(panels[2], seen, seen.cosine_smooth, sheet, log=False)
    _draw.heading(panels[2], "cosine with the change before (1: goes on, −1: turns back)")
    sheet.legend(entries, columns=across)
    for panel in panels:
        _life.steps_axis(panel, seen.scale, seen.per_pass, panel is panels[-1], seen.step)
    return sheet.done()


def _caption(seen: WeightChange) -> str:
    epoch = f"one pass over the training part (an epoch of {thousands(round(seen.per))} steps)"
    return (
        "Top: mean absolute change of a parameter from one look at the weights to the next, scaled to "
        f"{epoch if seen.per_pass else unit_of(seen)}, by part of the model, on a logarithmic axis. Middle: the same "
        "over the mean absolute weight of that part. "
        f"{_life.TIED if seen.tied and 'read_out' in seen.change.axes['part'].labels else ''}"
        "Bottom: cosine between each change and the one before: 1 means that the weights keep going the same way, 0 a "
        "new direction, −1 back (running medians over nine intervals where there are many). From the kept weights, "
        f"{_looks(seen)}; what moved there and back between two looks does not show. Pale: up to the first look "
        "only the mean is known. A model that has converged would fall towards zero at the top."
    )


def _looks(seen: WeightChange) -> str:
    """How far apart the looks are."""
    gaps = np.diff([seen.begin, *seen.looked_at])
    if np.ptp(gaps) == 0:
        return f"every {thousands(int(gaps[0]))} steps"
    return f"every {thousands(int(gaps.min()))} to {thousands(int(gaps.max()))} steps"


def _curves(ax: Axes, seen: WeightChange, table: Labelled, sheet: _draw.Sheet, *, log: bool) -> None:
    t, line = sheet.theme, sheet.size.line
    few = "o" if len(seen.looked_at) < 3 else ""
    for name, curve in zip(table.axes["part"].labels, table.values, strict=True):
        colour, dashes = _life.part_style(name, t)
        whole = name == "all"
        drawn = np.where(curve > 0, curve, np.nan) if log else curve
        style = {"color": t.faint if whole else colour, "linestyle": dashes, "zorder": 1 if whole else 2}
        wide = line * (3.2 if whole else 0.8)
        ax.plot(seen.looked_at, drawn, marker=few, linewidth=wide, **style)
        if log:  # the mean over the first interval, which may be much of a logarithmic axis
            ax.plot([seen.begin, seen.looked_at[0]], drawn[[0, 0]], linewidth=wide, alpha=0.5, **style)
    if log:
        ax.set_yscale("log")
        _life.logarithmic(ax)
    else:
        least = np.nanmin(table.values, initial=0.0)
        ax.set_ylim(-1.05 if least < -0.5 else -0.55 if least < -0.2 else -0.25, 1.05)
        ax.set_yticks([-1, 0, 1] if least < -0.5 else [0, 0.5, 1])
        ax.axhline(0, color=t.faint, linewidth=0.5 * line, zorder=0)
