"""How often it is right: accuracy by step, beside the best that each partial understanding can do."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._result import percent
from glassformer.analyses.learn.accuracy import accuracy, say, steps_of
from glassformer.figures import _draw, _style
from glassformer.run import Run


@_draw.drawing
def plot_accuracy(
    run: Run, *, step: int = -1, member: int = 0, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """Share of right arg-max answers in training and held out, with a line for each partial understanding."""
    seen = accuracy(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=5.5)
    t, line = sheet.theme, sheet.size.line
    panel = sheet.panels(1, 1, left=6.5, right=19, bottom=3.8, top=2.4)[0, 0]
    for part in ("train", "validation"):
        at, values = steps_of(seen.curves[part]), seen.curves[part].values
        panel.plot(
            at,
            values,
            color=t[part],
            linestyle=_style.LINE[part],
            linewidth=line if len(at) >= 40 else 0.5 * line,  # few points: the marks count
            zorder=3,
            clip_on=False,
            marker="o" if len(at) < 40 else "",
            markersize=0.4 * sheet.size.text,
        )
    names = []
    count = len(seen.rungs.values)
    for k, (name, best) in enumerate(zip(seen.rungs.axes["rung"].labels, seen.rungs.values, strict=True)):
        if not np.isfinite(best):
            continue
        top = k == count - 1
        panel.axhline(
            best, color=t.ink if top else t.rung, linestyle="--", linewidth=line * (1.1 if top else 0.5), zorder=1
        )
        names.append((float(best), f"{name.replace(' = ', ', ')}  {percent(float(best))}", t.ink if top else t.quiet))
    panel.set_ylim(-0.02, 1.04)
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    panel.set_xlim(0, max(seen.steps, 1))
    _draw.steps_axis(panel)
    panel.set_ylabel("share of constrained positions right" if seen.rule else "share of questions right")
    _draw.beside(panel, names, most=17)
    panel.legend(
        handles=[_draw.handle("train", t), _draw.handle("validation", t)],
        loc="lower left",
        ncols=2,
        bbox_to_anchor=(0, 1.0),
    )
    if step != -1 and seen.step is not None:
        panel.axvline(seen.step, color=t.quiet, linewidth=0.5 * line, zorder=0)
    return sheet.done(seen, member=member)
