"""How large the steps are: the learning rate by step, and the updates that come of it."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._result import thousands
from glassformer.analyses.learn.learning_rate import LearningRate
from glassformer.figures import _draw, _life

FEW = 40  # logged lines under which each is marked
SAID = {
    "constant": "it does not change", "cosine": "it falls along half a wave of the cosine",
    "step": "it falls in steps", "plateau": "it falls whenever the validation loss stops falling",
}  # fmt: skip


def draw(seen: LearningRate, look: _draw.Look) -> Figure:
    """Two charts over the steps: the rate, and the length of an update over that of the weights."""
    warm = f", after a warm-up of {thousands(seen.warmup)} steps" if seen.warmup else ""
    none = ", and an update of 0 has no place on it" if (seen.update.values == 0).any() else ""
    caption = (
        f"Top: the learning rate as logged; the schedule is “{seen.schedule}”{warm}: {SAID[seen.schedule]}. Bottom: "
        "how long the update of that step is, as a share of the length of all weights, on a logarithmic axis; between "
        f"the logged steps nothing is known of it{none}."
    )
    shows = "Curves of the learning rate and of the size of updates over steps"
    sheet = look.sheet(seen, caption, shows, height=5.5, least=0)
    some = np.isfinite(seen.update.values) & (seen.update.values > 0)
    panels = sheet.panels(2 if some.any() else 1, 1, left=7, right=3, bottom=3.8, top=1.6, gap=(0, 2.2))[:, 0]
    for panel, curve, colour in zip(panels, (seen.rate, seen.update), ("ink", "train"), strict=False):
        keep = np.ones(len(seen.at), bool) if curve is seen.rate else some
        panel.plot(np.array(seen.at)[keep], curve.values[keep], color=sheet.theme[colour], linewidth=sheet.size.line,
                   marker="o" if len(seen.at) < FEW else "", markersize=0.36 * sheet.size.text)  # fmt: skip
    panels[0].set(ylim=(0, 1.08 * float(np.nanmax(seen.rate.values, initial=1e-12))), ylabel="learning rate")
    if some.any():
        panels[1].set_ylabel("update / weights")
        _life.logarithmic(panels[1])
    for panel in panels:
        _draw.steps_axis(panel, "step" if panel is panels[-1] else "", seen.scale)
        panel.tick_params(labelbottom=panel is panels[-1])
        sheet.mark_step(panel, seen.step)
    return sheet.done()
