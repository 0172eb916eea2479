"""How the learning rate decides: where a training ends, how it gets there, and how unsteadily."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses._result import power as raised
from glassformer.analyses.trust.study_rates import study_rates, say
from glassformer.figures import _draw, _life, _study
from glassformer.study import Metric, Study

EXCESS, JUMP = Metric("excess", "nats"), Metric("largest jump", "nats")


@_draw.drawing
def plot_study_rates(study: Study, *, ax: _draw.Host = None, theme: str = "light", size: str = "screen") -> Figure:
    """Final excess, curves, and the largest jump upwards, by learning rate."""
    seen = study_rates(study)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=7.2)
    end, jump = sheet.panels(1, 2, left=7, right=1.5, bottom=3.8, top=1.4, gap=(7, 0), within=(0, 0.5, 1, 1))[0]
    way = sheet.panels(1, 1, left=7, right=9, bottom=3.8, top=1.4, within=(0, 0, 1, 0.5))[0, 0]
    texts = [f"{rate:g}" for rate in seen.rate.values]
    if seen.rate.values.min() < _life.PLAIN:  # powers of ten, and only they
        texts = [text if "·" not in text else "" for text in map(raised, seen.rate.values)]
    for panel, values, spread, metric in ((end, seen.excess, seen.spread, EXCESS), (jump, seen.jump, seen.jumps, JUMP)):
        _study.against(panel, seen.rate.values, values, spread, metric, sheet, "learning rate")
        _study.few_ticks(panel, seen.rate.values, texts, sheet)
    _study.curves(way, seen.curve, EXCESS, sheet)
    way.set_ylabel("median excess (nats)")
    for panel in (end, way):
        low, high = panel.get_ylim()
        for price in seen.rungs.values:
            if low < price < high and price > 0:
                panel.axhline(price, color=sheet.theme.rung, linestyle="--", linewidth=0.5 * sheet.size.line, zorder=0)
    _study.ends(way, seen.curve, sheet)
    sheet.legend([Line2D([], [], color=sheet.theme.rung, linestyle="--", label="rungs of the ladder")])
    if not np.isfinite(seen.spread.values).any():
        sheet.note("no training has a number left for its loss")
    return sheet.done(seen)
