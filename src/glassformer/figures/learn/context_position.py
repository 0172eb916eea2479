"""What it helps to see more: the loss at each position of the window, beside that of the best other predictor."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from glassformer.analyses._result import thousands
from glassformer.analyses.learn.context_position import ContextPosition
from glassformer.figures import _draw


def draw(seen: ContextPosition, look: _draw.Look) -> Figure:
    """Loss over positions with its spread, and the difference to the exact predictor or the count table."""
    sheet = look.sheet(seen, _caption(seen), alt=_alt(seen), height=4.6)
    gap = 10.5 if seen.of == "count table" else 7.0  # room for a second axis
    loss, apart = sheet.panels(1, 2, widths=[1.4, 1], left=5, right=2, bottom=6.4, top=2.6, gap=(gap, 0))[0]
    t, line = sheet.theme, sheet.size.line
    where = np.array(seen.floor.axes["position"].values)
    mean, error, low, _, high = seen.loss.values
    loss.fill_between(where, low, high, color=t.validation, alpha=0.13, linewidth=0)
    loss.fill_between(where, mean - 2 * error, mean + 2 * error, color=t.validation, alpha=0.4, linewidth=0)
    loss.plot(where, mean, color=t.validation, linewidth=1.3 * line)
    loss.plot(where, seen.floor.values, color=t.ink, linestyle=(0, (4, 2)), linewidth=1.3 * line)
    loss.set_ylabel("loss (nats per token)")
    loss.set_ylim(bottom=0)
    if seen.of == "count table":
        _perplexity(loss)
    gap, spread = seen.excess.values
    apart.axhline(0, color=t.ink, linestyle=(0, (4, 2)), linewidth=1.3 * line)
    apart.fill_between(where, gap - 2 * spread, gap + 2 * spread, color=t.validation, alpha=0.4, linewidth=0)
    apart.plot(where, gap, color=t.validation, linewidth=1.3 * line)
    apart.set_ylabel(f"model minus {seen.of} (nats)")
    for panel in (loss, apart):
        panel.set(xlabel="position in the window", xlim=(where[0] - 0.3, where[-1] + 0.3))
        panel.xaxis.get_major_locator().set_params(integer=True)
    _draw.heading(loss, f"{thousands(seen.windows)} {seen.whose} windows")
    _draw.heading(apart, _verdict(seen))
    sheet.legend([
        Line2D([], [], color=t.validation, linewidth=1.3 * line, label="the model: mean"),
        Patch(facecolor=t.validation, alpha=0.4, label="± 2 standard errors"),
        Patch(facecolor=t.validation, alpha=0.13, label="middle half of the tokens"),
        Line2D([], [], color=t.ink, linestyle=(0, (4, 2)), linewidth=1.3 * line, label=f"the {seen.of}"),
    ], columns=4)  # fmt: skip
    return sheet.done()


def _caption(seen: ContextPosition) -> str:
    first, mean = seen.loss.axes["position"].labels[0], seen.loss.values[0]
    said = (
        f"Loss of the token after each position of the window, over {thousands(seen.windows)} {seen.whose} "
        f"windows. At position {first} the model has seen {seen.few}, at the last a whole window. Dark band: the mean "
        "± 2 standard errors (an estimate from these windows); pale band: the middle half of the tokens. "
        f"Dashes: the {seen.of} on the same tokens"
        + (", which sees the same window. " if seen.of == "exact predictor" else ", which also sees only the window. ")
        + "Right: the model minus those dashes, with ± 2 standard errors. A model that used nothing but the last few "
        "tokens would have a level line after them."
    )
    if seen.of == "count table" and np.isfinite(mean).all():  # a text's loss is known by its perplexity
        said += (
            f" As perplexity, e to the mean loss: {np.exp(mean[0]):.1f} after {seen.few}, {np.exp(seen.late):.1f} in "
            f"the second half of the window, {np.exp(mean[-1]):.1f} at its last position; the right axis of the first "
            "panel."
        )
    return said


def _alt(seen: ContextPosition) -> str:
    gap, floor = seen.excess.values[0], seen.floor.values
    if not np.isfinite(seen.loss.values[0]).all():
        return f"Empty axes. {seen.title}."
    return (
        f"Curves over {len(gap)} positions. {seen.title}. The gap to the {seen.of} is {_draw.number(gap[0])} nats at "
        f"the first position and {_draw.number(gap[-1])} at the last, where it pays {floor[-1]:.2f} itself."
    )


def _perplexity(ax: Axes) -> None:
    """The same axis once more, as e to the loss."""
    high = ax.get_ylim()[1]
    marks = [each for each in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000) if np.log(each) <= high]
    other = ax.secondary_yaxis("right")
    other.set_yticks([float(np.log(each)) for each in marks], [thousands(each) for each in marks])
    other.set_ylabel("perplexity")


def _verdict(seen: ContextPosition) -> str:
    """What the second panel shows; of a count table also where the model beats it, and beyond chance."""
    if seen.of == "exact predictor":
        return "above the exact predictor"
    gap, spread = seen.excess.values
    below, sure = int(np.sum(gap < 0)), int(np.sum(gap < -2 * spread))
    beyond = (
        f", beyond two standard errors at {'none' if not sure else 'all' if sure == below else sure}" if below else ""
    )
    return f"below the {seen.of} at {below} of {len(gap)} positions{beyond}"
