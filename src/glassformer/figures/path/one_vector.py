"""One token's vector before and after training, as bars."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.analyses.path.one_vector import OneVector
from glassformer.figures import _draw


def draw(seen: OneVector, look: _draw.Look) -> Figure:
    """One row of bars per step and one of the change, on one scale."""
    shows = "Bars of the features of one token's vector at two steps, and their change"
    sheet = look.sheet(seen, _caption(seen), shows, height=6, least=0)
    steps, (first, last) = np.array(seen.features.axes["step"].values), seen.features.values
    names = [
        f"step {thousands(int(step))}" + (f"; nearest: {shown(word)}" if word else "")
        for step, word in zip(steps, seen.nearest, strict=True)
    ]
    t = sheet.theme
    rows = [(names[0], first, t.quiet), (names[1], last, t.ink), ("change", last - first, t.rung)]
    reach = 1.08 * max(float(np.nanmax(np.abs(values), initial=1e-9)) for _, values, _ in rows)
    panels = sheet.panels(3, 1, left=5.5, right=1.5, bottom=4, top=2.2, gap=(0, 2.6))[:, 0]
    for panel, (name, values, colour) in zip(panels, rows, strict=True):
        panel.bar(range(len(values)), values, color=colour, width=0.7)
        panel.axhline(0, color=sheet.theme.faint, linewidth=0.5 * sheet.size.line, zorder=0)
        panel.set(xlim=(-0.6, len(values) - 0.4), ylim=(-reach, reach))
        panel.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        _draw.heading(panel, name)
        _draw.places(panel, seen.features.axes["feature"] if panel is panels[-1] else (), "x")
    panels[-1].set_xlabel("feature")
    panels[1].set_ylabel("value")
    return sheet.done()


def _caption(seen: OneVector) -> str:
    alike = f" The cosine between the two is {seen.cosine:.2f}." if np.isfinite(seen.cosine) else ""
    return (
        f"The vector of “{shown(seen.token)}”, one bar per feature: at the first kept step, later, and the change "
        "between, all on one scale. Nearest is the other token of the whole vocabulary whose vector points most the "
        f"same way at that step.{alike} Exact. A feature has no meaning by itself: what counts is how vectors lie to "
        "each other."
    )
