"""From scores to probabilities: softmax at several temperatures, and the entropy between."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._primer import short
from glassformer.analyses.primer.softmax import Softmax
from glassformer.figures import _draw


def draw(seen: Softmax, look: _draw.Look) -> Figure:
    """Bars of probabilities per temperature, and entropy against temperature."""
    caption = (
        "Bars: the probability of each score, which is exp(score / T) over the sum of these: the Boltzmann "
        "distribution of physics with energy = minus the score. T = 1 is plain softmax. Cold (small T) the highest "
        f"score takes all and the entropy goes to 0; hot, all become alike and it goes to ln {len(seen.scores.values)} "
        f"= {seen.highest:.3f} nats. Below: entropy against temperature (logarithmic axis), with these temperatures "
        "marked. Exact. Adding one number to every score would change nothing."
    )
    sheet = look.sheet(seen, caption, "Bar charts of probabilities at several temperatures", height=5.8)
    t, heat = sheet.theme, np.array(seen.entropy.axes["temperature"].values)
    panels = sheet.panels(1, len(heat), left=5, right=1.5, bottom=4, top=2.8, gap=(2.5, 0), within=(0, 0.45, 1, 1))[0]
    for k, panel in enumerate(panels):
        values = seen.probabilities.values[k]
        panel.bar(range(len(values)), values, color=t.query, width=0.6)
        for at, value in enumerate(values):
            panel.text(at, value + 0.02, f"{value:.3f}", ha="center", va="bottom")
        panel.set_xticks(range(len(values)), [short(s) for s in seen.scores.values])
        panel.set(ylim=(0, 1.15), yticks=[0, 0.5, 1] if k == 0 else [], xlabel="score")
        panel.set_title(f"T = {heat[k]:g}, entropy {seen.entropy.values[k]:.3f} nats")
    panels[0].set_ylabel("probability")
    below = sheet.panels(1, 1, left=5, right=9, bottom=3.6, top=0.8, within=(0, 0, 1, 0.45))[0, 0]
    along = np.array(seen.curve.axes["temperature"].values)
    below.plot(along, seen.curve.values, color=t.ink)
    below.plot(heat, seen.entropy.values, linestyle="", marker="o", color=t.query, markersize=0.8 * sheet.size.text)
    below.axhline(seen.highest, color=t.rung, linestyle="--")
    below.set(xscale="log", xlim=(along[0], along[-1]), ylim=(0, 1.15 * seen.highest), xlabel="temperature T")
    below.set_ylabel("entropy (nats)")
    below.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    _draw.beside(below, [(seen.highest, f"ln {len(seen.scores.values)} = {seen.highest:.3f}", t.quiet)], most=8)
    return sheet.done()
