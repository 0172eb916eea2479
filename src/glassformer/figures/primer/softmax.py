"""From scores to probabilities: softmax at several temperatures, and the entropy between."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._primer import short
from glassformer.analyses.primer.softmax import say, softmax
from glassformer.figures import _draw


@_draw.drawing
def plot_softmax(
    *,
    scores: tuple[float, ...] = (2.0, 1.0, 0.5),
    temperatures: tuple[float, ...] = (0.1, 1.0, 10.0),
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Bars of probabilities per temperature, and entropy against temperature."""
    seen = softmax(scores=scores, temperatures=temperatures)
    sheet = _draw.Sheet(ax, theme, size, say(seen), height=5.8, least=60)
    t, heat = sheet.theme, seen.probabilities.axes["temperature"].labels
    panels = sheet.panels(1, len(heat), left=5, right=1.5, bottom=4, top=2.8, gap=(2.5, 0), within=(0, 0.45, 1, 1))[0]
    for k, panel in enumerate(panels):
        values = seen.probabilities.values[k]
        panel.bar(range(len(values)), values, color=t.query, width=0.6)
        for at, value in enumerate(values):
            panel.text(at, value + 0.02, f"{value:.3f}", ha="center", va="bottom")
        panel.set_xticks(range(len(values)), [short(s) for s in seen.scores.values])
        panel.set_ylim(0, 1.15)
        panel.set_yticks([0, 0.5, 1] if k == 0 else [])
        panel.set_xlabel("score")
        panel.set_title(f"T = {heat[k]}, entropy {seen.entropy.values[k]:.3f} nats")
    panels[0].set_ylabel("probability")
    below = sheet.panels(1, 1, left=5, right=9, bottom=3.6, top=0.8, within=(0, 0, 1, 0.45))[0, 0]
    along = np.array([float(label) for label in seen.curve.axes["temperature"].labels])
    below.plot(along, seen.curve.values, color=t.ink)
    below.plot([float(h) for h in heat], seen.entropy.values, linestyle="", marker="o", color=t.query,
               markersize=0.8 * sheet.size.text)  # fmt: skip
    below.axhline(seen.highest, color=t.rung, linestyle="--")
    below.set_xscale("log")
    below.set_xlim(along[0], along[-1])
    below.set_ylim(0, 1.15 * seen.highest)
    below.set_xlabel("temperature T")
    below.set_ylabel("entropy (nats)")
    below.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    _draw.beside(below, [(seen.highest, f"ln {len(seen.scores.values)} = {seen.highest:.3f}", t.quiet)], most=8)
    return sheet.done(seen)
