"""How good a model is by the number of different examples it was trained on."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._result import percent, thousands
from glassformer.analyses.trust.study_sizes import StudySizes
from glassformer.figures import _draw, _study


def draw(seen: StudySizes, look: _draw.Look) -> Figure:
    """Dots per seed against the size of the training set; below each size, the share of all there are."""
    sheet = look.sheet(seen, _caption(seen), "Dots for every seed against the size of the training set", height=4.8)
    shares, sizes = seen.share.values, seen.examples.values
    known = bool(np.isfinite(shares).all())
    panels = sheet.panels(1, 2, left=6.5, right=1.5, bottom=6.6 if known else 3.8, top=1.0, gap=(7.5, 0))[0]
    texts = [
        thousands(round(n)) + (f"\n{percent(share)}" if known else "") for n, share in zip(sizes, shares, strict=True)
    ]
    label = f"different training {seen.what}" + (", and their share of all there are" if known else "")
    for panel, (name, metric) in zip(panels, seen.metrics.items(), strict=False):
        _study.against(panel, sizes, seen.values[name], seen.spreads[name], metric, sheet, label)
        _study.few_ticks(panel, sizes, texts, sheet)
        wide = panel.get_window_extent().width / panel.figure.dpi
        panel.set_xlabel("\n".join(_draw.wrap(label, sheet.size.text, wide)))
    return sheet.done()


def _caption(seen: StudySizes) -> str:
    share, last = seen.share.values[-1], thousands(round(seen.examples.values[-1]))
    whole = f"The most, {last}, are {percent(share)} of all {seen.what} there are. " if np.isfinite(share) else ""
    return (
        f"Left: {next(iter(seen.metrics.values())).title}. Right: excess over the floor. "
        f"The number of steps is the same for all. {whole}{_study.footing(seen)}"
    )
