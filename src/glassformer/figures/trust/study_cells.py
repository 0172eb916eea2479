"""Every cell of a study, seed by seed: one row per cell, one panel per metric."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses.trust.study_cells import StudyCells
from glassformer.figures import _draw, _study


def draw(seen: StudyCells, look: _draw.Look) -> Figure:
    """A dot per seed and a bar at the median, for the metrics that answer the study's question."""
    names = seen.bounds.axes["cell"].labels
    caption = f"One row per cell, one panel per metric. {_study.footing(seen)}"
    shows = f"Dots for every seed of {len(names)} cells"
    sheet = look.sheet(seen, caption, shows, height=2.6 + 0.42 * len(names), least=0)
    left = min(_study.names_width(names), 0.4 * sheet.room[0])
    panels = sheet.panels(1, len(seen.metrics), left=left, right=1.5, bottom=3.6, top=1.8, gap=(3.2, 0))[0]
    for k, (name, metric) in enumerate(seen.metrics.items()):
        known = name == "accuracy" and np.isfinite(seen.bounds.values).any()
        _study.rows(
            panels[k], seen.values[name], seen.spreads[name], metric, sheet, named=k == 0,
            bounds=seen.bounds.values if known else None,
        )  # fmt: skip
    return sheet.done()
