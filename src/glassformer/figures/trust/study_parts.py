"""What each part of a model is worth: trained again without it, one dot per seed."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses.trust.study_parts import StudyParts
from glassformer.figures import _draw, _study


def draw(seen: StudyParts, look: _draw.Look) -> Figure:
    """The whole model, then the models without a part in order of harm; bounds that no training can beat."""
    names = seen.values[seen.main].axes["cell"].labels
    known = bool(np.isfinite(seen.bounds.values).any())
    caption = (
        "Every model is trained from the start without the part named. "
        + ("An open triangle is a bound that no training can beat, by listing all questions. " if known else "")
        + _study.footing(seen)
    )
    shows = f"Dots for every seed of {len(names)} models"
    sheet = look.sheet(seen, caption, shows, height=2.8 + 0.42 * len(names), least=0)
    left = min(_study.names_width(names), 0.4 * sheet.room[0])
    bounded = known and seen.main == "accuracy"
    bottom = 5.4 if bounded else 3.6
    panels = sheet.panels(1, 2, widths=(1.5, 1), left=left, right=1.5, bottom=bottom, top=1.8, gap=(3.2, 0))[0]
    for panel, (name, metric) in zip(panels, seen.metrics.items(), strict=True):
        _study.rows(
            panel, seen.values[name], seen.spreads[name], metric, sheet, named=panel is panels[0],
            bounds=seen.bounds.values if bounded and name == seen.main else None, marked=seen.harmed,
        )  # fmt: skip
    if bounded:
        sheet.note("◁ bound that no training can beat; red: worse; bar: median")
    return sheet.done()
