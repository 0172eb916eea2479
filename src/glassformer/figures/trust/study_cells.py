"""Every cell of a study, seed by seed: one row per cell, one panel per metric."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses.trust.study_cells import study_cells, say
from glassformer.figures import _draw, _study
from glassformer.study import Study


@_draw.drawing
def plot_study_cells(study: Study, *, ax: _draw.Host = None, theme: str = "light", size: str = "screen") -> Figure:
    """A dot per seed and a bar at the median, for the metrics that answer the study's question."""
    seen = study_cells(study)
    names = next(iter(seen.values.values())).axes["cell"]
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=2.6 + 0.42 * len(names))
    left = min(_study.names_width(names), 0.4 * sheet.room[0])
    panels = sheet.panels(1, len(seen.metrics), left=left, right=1.5, bottom=3.6, top=1.8, gap=(3.2, 0))[0]
    for k, (name, metric) in enumerate(seen.metrics.items()):
        known = name == "accuracy" and np.isfinite(seen.bounds.values).any()
        _study.rows(
            panels[k], seen.values[name], seen.spreads[name], metric, sheet, named=k == 0,
            bounds=seen.bounds.values if known else None,
        )  # fmt: skip
    return sheet.done(seen)
