"""How many neurons are at work: active, never active and always active, over the whole life."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import percent, thousands
from glassformer.analyses.know.sparsity import Sparsity
from glassformer.figures import _draw

LINES = ("-", "--", "-.", ":")


def draw(seen: Sparsity, look: _draw.Look) -> Figure:
    """Shares of active hidden values and of idle neurons by step; the distribution at the chosen step."""
    shows = "Curves of active shares over training and a histogram of activity"
    sheet = look.sheet(seen, _caption(seen), shows, height=5)
    t, life, blocks = sheet.theme, seen.over_life, seen.over_life.axes["block"].labels
    left, right = sheet.panels(1, 2, widths=(1.5, 1), left=5.5, right=2, bottom=3.8, top=2.2, gap=(13, 0))[0]
    steps, colours = np.array(life.axes["step"].values), (t.feed_forward, t.ink, t.quiet)
    names = []
    for k, (share, colour) in enumerate(zip(life.axes["quantity"].labels, colours, strict=True)):
        for b, block in enumerate(blocks):
            curve = life.values[k, :, b]
            left.plot(
                steps, curve, color=colour, linestyle=LINES[k], linewidth=sheet.size.line * (1 if b == 0 else 0.6)
            )
            if np.isfinite(curve[-1]):
                told = f"{share}, of all hidden values" if k == 0 else f"{share}, of the neurons"
                names.append((float(curve[-1]), told if len(blocks) == 1 else f"{share}, {block}", colour))
    left.set(xlim=(steps[0], max(steps[-1], steps[0] + 1)), ylim=(-0.02, 1.02))
    left.yaxis.set_major_formatter(lambda value, _: percent(value))
    left.set_title("over training" + ("" if len(blocks) == 1 else " (number: block)"))
    _draw.beside(left, names, most=13)
    _draw.steps_axis(left)
    left.locator_params(axis="x", nbins=5)
    sheet.mark_step(left, seen.step if seen.step != steps[-1] else None)
    counts = seen.histogram.values
    edges = np.linspace(0, 1, counts.shape[1] + 1)
    for b, block in enumerate(blocks):
        right.stairs(counts[b], edges, color=t.feed_forward, fill=False, label=f"block {block}",
                     linestyle=LINES[b % len(LINES)], linewidth=sheet.size.line * (1 if b == 0 else 0.7))  # fmt: skip
    if len(blocks) == 1:
        right.stairs(counts[0], edges, color=t.feed_forward, fill=True, alpha=0.25)
    else:
        right.legend(loc="upper right")
    right.set(xlim=(0, 1), ylim=(0, None))
    right.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    right.set(xlabel="share of places where active", ylabel="neurons", title="at this step")
    return sheet.done()


def _caption(seen: Sparsity) -> str:
    meaning = "its hidden value is above 0"
    if seen.activation != "relu":
        meaning += f" (a convention for {seen.activation}, whose values below 0 are small but not 0)"
    return (
        f"A neuron is active at a place when {meaning}; measured at {thousands(seen.places)} places of {seen.of_part} "
        f"windows, always the same, at {len(seen.over_life.axes['step'])} kept steps. Left: share of all (place, "
        "neuron) pairs that are active, share of neurons active at none of these places, and at all of them. Right: at "
        "how many places each neuron is active at the chosen step. The same places are counted in `neurons`. "
        "A neuron that is never active here may still fire on an input that was not drawn."
    )
