"""How many neurons are at work: active, never active and always active, over the whole life."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import percent
from glassformer.analyses.know.sparsity import say, sparsity
from glassformer.figures import _draw
from glassformer.run import Run

LINES = ("-", "--", "-.", ":")


@_draw.drawing
def plot_sparsity(
    run: Run, *, step: int = -1, member: int = 0, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """Shares of active hidden values and of idle neurons by step; the distribution at the chosen step."""
    seen = sparsity(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=5, least=60)
    t, life, blocks = sheet.theme, seen.over_life, seen.over_life.axes["block"].labels
    left, right = sheet.panels(1, 2, widths=(1.5, 1), left=5.5, right=2, bottom=3.8, top=2.2, gap=(13, 0))[0]
    steps = [int(each) for each in life.axes["step"].labels]
    names = []
    for k, (share, colour) in enumerate(zip(life.axes["share"].labels, (t.feed_forward, t.ink, t.quiet), strict=True)):
        for b, block in enumerate(blocks):
            curve = life.values[k, :, b]
            left.plot(
                steps, curve, color=colour, linestyle=LINES[k], linewidth=sheet.size.line * (1 if b == 0 else 0.6)
            )
            if np.isfinite(curve[-1]):
                told = f"{share}, of all hidden values" if k == 0 else f"{share}, of the neurons"
                names.append((float(curve[-1]), told if len(blocks) == 1 else f"{share}, {block}", colour))
    left.set_xlim(steps[0], max(steps[-1], steps[0] + 1))
    left.set_ylim(-0.02, 1.02)
    left.yaxis.set_major_formatter(lambda value, _: percent(value))
    left.set_title("over training" + ("" if len(blocks) == 1 else " (number: block)"))
    _draw.beside(left, names, most=13)
    _draw.steps_axis(left)
    left.locator_params(axis="x", nbins=5)
    if step != -1 and seen.step is not None:
        left.axvline(seen.step, color=t.quiet, linewidth=0.5 * sheet.size.line, zorder=0)
    counts = seen.histogram.values
    edges = np.linspace(0, 1, counts.shape[1] + 1)
    for b, block in enumerate(blocks):
        right.stairs(counts[b], edges, color=t.feed_forward, fill=False, label=f"block {block}",
                     linewidth=sheet.size.line * (1 if b == 0 else 0.6))  # fmt: skip
    if len(blocks) == 1:
        right.stairs(counts[0], edges, color=t.feed_forward, fill=True, alpha=0.25)
    else:
        right.legend(loc="upper right")
    right.set_xlim(0, 1)
    right.set_ylim(0, None)
    right.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    right.set_xlabel("share of places where active")
    right.set_ylabel("neurons")
    right.set_title("at this step")
    return sheet.done(seen)
