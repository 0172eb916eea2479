"""How the learning rate decides: where a training ends, how it gets there, and how unsteadily."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses._result import power, thousands
from glassformer.analyses.trust.study_rates import StudyRates
from glassformer.figures import _draw, _life, _study
from glassformer.study import Metric

EXCESS, JUMP = Metric("excess", "nats"), Metric("largest jump", "nats")


def draw(seen: StudyRates, look: _draw.Look) -> Figure:
    """Final excess, curves, and the largest jump upwards, by learning rate."""
    caption = (
        f"All with {seen.optimiser} and the schedule “{seen.schedule}”. Left: excess after {thousands(seen.steps)} "
        "steps against the rate. Middle: the median excess on the way. Right: the largest rise of the validation loss "
        "between two logged steps; a training that never rises lies at 0. "
        f"Dashed: the rungs of the ladder. {_study.footing(seen)}"
    )
    shows = f"Three charts of trainings at {len(seen.rate.values)} learning rates"
    sheet = look.sheet(seen, caption, shows, height=7.2, least=0)
    end, jump = sheet.panels(1, 2, left=7, right=1.5, bottom=3.8, top=1.4, gap=(7, 0), within=(0, 0.5, 1, 1))[0]
    way = sheet.panels(1, 1, left=7, right=9, bottom=3.8, top=1.4, within=(0, 0, 1, 0.5))[0, 0]
    texts = [f"{rate:g}" for rate in seen.rate.values]
    if seen.rate.values.min() < _life.PLAIN:  # powers of ten, and only they
        texts = [text if "·" not in text else "" for text in map(power, seen.rate.values)]
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
    return sheet.done()
