"""One update checked by hand: its numbers in a column, and the loss over the one weight."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._primer import short
from glassformer.analyses._result import thousands
from glassformer.analyses.path.hand_update import DIGITS, NUDGE, HandUpdate
from glassformer.figures import _draw, _table

LINE = 2.0  # ems
SPLIT = 0.56  # of the width for the table


def draw(seen: HandUpdate, look: _draw.Look) -> Figure:
    """What is known, what follows, and what training had, line by line."""
    shows = "A table of the numbers of one weight's update"
    rows = _rows(seen)
    sheet = look.sheet(seen, _caption(seen), shows, height=1.3 + 0.27 * len(rows))
    panel = sheet.panels(1, 1, left=1.2, right=0, bottom=0.8, top=1.4, within=(0, 0, SPLIT, 1))[0, 0]
    colours = [sheet.theme.quiet if check else sheet.theme.ink for *_, check in rows]
    _table.table(panel, sheet.em, ["", "", "how"], [row[:3] for row in rows], theme=sheet.theme, align="lrl",
                 colours=colours, line=LINE)  # fmt: skip
    _curve(sheet.panels(1, 1, left=6.5, right=1.5, bottom=4, top=2.4, within=(SPLIT, 0, 1, 1))[0, 0], seen, sheet)
    return sheet.done()


def _curve(ax: Axes, seen: HandUpdate, sheet: _draw.Sheet) -> None:
    """The loss of the batch over this weight, its slope, and where the weight stands."""
    t, at, line = sheet.theme, np.array(seen.curve.axes["argument"].values), sheet.size.line
    ax.plot(at, seen.curve.values, color=t.train, linewidth=line)
    low, high = ax.get_ylim()
    ax.plot(
        at, seen.loss_before + seen.gradient * (at - seen.before), color=t.quiet, linestyle="--", linewidth=0.7 * line
    )
    ax.set_ylim(low, high)
    ax.plot([seen.before], [seen.loss_before], marker="o", color=t.ink, markersize=0.5 * sheet.size.text)
    ax.set(xlabel=seen.weight, ylabel="loss of the batch (nats)")
    _draw.heading(ax, "over this weight alone (dot: before the update); dashed: its gradient")


def _rows(seen: HandUpdate) -> list[tuple[str, str, str, bool]]:
    """What, the number, how it comes about, and whether it only checks another."""
    plain = seen.optimiser == "sgd"
    return [
        ("weight before", _number(seen.before), seen.weight, False),
        ("its gradient", _number(seen.gradient), f"mean over the {seen.batch} examples of the batch", False),
        ("measured", _number(seen.measured), f"loss at weight ± {NUDGE:g}: difference / {2 * NUDGE:g}", True),
        ("rate", _number(seen.rate), f"of step {thousands(seen.step or 0)}", False),
        ("weight after, by descent", _number(seen.by_descent), "weight − rate × gradient", False),
        ("weight after, as trained", _number(seen.trained),
         "the same, rounded to 32 bits" if plain else f"what {seen.optimiser} made of it", plain),
        ("loss before", _number(seen.loss_before), "of this batch, all weights as they were", False),
        ("loss after, this weight alone", _number(seen.loss_by_descent), "moved by descent", False),
        ("expected", _number(seen.loss_expected), "loss before − rate × gradient²", True),
        ("loss after, all weights", _number(seen.loss_trained), "moved as in training", False),
    ]  # fmt: skip


def _number(value: float) -> str:
    return short(value, DIGITS) if np.isfinite(value) else "–"


def _caption(seen: HandUpdate) -> str:
    return (
        f"The update that led to step {thousands(seen.step or 0)}, for {seen.called}: every number needed to do it "
        "again with pencil and paper; grey lines check the one above by another way. Losses are those of the very "
        f"batch of {seen.batch} examples, in nats per token, computed in 64 bits. The gradient promises how the loss "
        "changes for a small move; the larger the step, the further the truth may be from it."
    )
