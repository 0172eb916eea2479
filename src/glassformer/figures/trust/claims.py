"""What the sources state beside what was measured: one row per claim."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses.trust.claims import Claims
from glassformer.figures import _draw

CAPTION = (
    "One row for each claim that states numbers. The hollow mark is what the source states, put at 0; a filled one is "
    "what was measured, as far from it as it is in percent of the stated number, with a bar for its interval over "
    "seeds. Up to 1 % the scale is even, beyond that each step is ten times as far. Circles: reproduced. Triangles: "
    "corrected. Crosses: refuted. Claims without numbers have no row, and a stated 0 has no percentage."
)
MARKS = {"reproduced": ("o", "right"), "corrected": ("^", "validation"), "refuted": ("X", "wrong")}


def draw(seen: Claims, look: _draw.Look) -> Figure:
    """Hollow: the source. Filled: measured."""
    names = list(dict.fromkeys(seen.claim))
    shows = f"A row of marks for each of {len(names)} claims"
    sheet = look.sheet(seen, CAPTION, shows, height=2.6 + 0.2 * len(names), least=0)
    ax = sheet.panels(1, 1, left=5, right=1.5, bottom=3.8, top=1.5)[0, 0]
    t, mark = sheet.theme, 0.5 * sheet.size.text
    row = {name: k for k, name in enumerate(names)}
    percent = 100 * seen.deviation.values
    ax.axvline(0, color=t.rung, linewidth=0.6 * sheet.size.line, zorder=0)
    ax.plot(np.zeros(len(names)), range(len(names)), "o", markersize=1.5 * mark, markerfacecolor="none",
            markeredgecolor=t.ink, linewidth=0, gid="stated", zorder=3)  # fmt: skip
    for verdict in sorted(set(seen.judged), key=[*MARKS, *seen.judged].index):
        shape, meaning = MARKS.get(verdict, ("s", "quiet"))
        here = [k for k, judged in enumerate(seen.judged) if judged == verdict]
        places = [row[seen.claim[k]] for k in here]
        ax.plot(percent[here, 0], places, shape, color=t[meaning], markersize=mark, linewidth=0, gid=verdict,
                label=verdict, zorder=4)  # fmt: skip
        for k, place in zip(here, places, strict=True):
            ax.plot(percent[k, 1:], [place, place], color=t[meaning], linewidth=sheet.size.line, gid="interval")
    most = max(1.0, float(np.abs(percent).max(initial=1.0)))
    ax.set_xscale("symlog", linthresh=1.0, linscale=1.0)
    decades = [10.0**k for k in range(int(np.ceil(np.log10(most))) + 1)]
    ax.set_xlim(-1.5 * decades[-1], 1.5 * decades[-1])
    shown = decades[:: max(1, len(decades) // 3)]
    ax.set_xticks([*(-each for each in reversed(shown)), 0, *shown],
                  [*(f"−{each:g}" for each in reversed(shown)), "0", *(f"+{each:g}" for each in shown)])  # fmt: skip
    ax.minorticks_off()
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_yticks(range(len(names)), names)
    ax.set_xlabel("measured, beside what is stated (%)")
    if seen.judged:
        ax.legend(loc="lower right")
    return sheet.done()
