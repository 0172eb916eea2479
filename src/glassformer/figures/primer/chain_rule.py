"""The chain rule by hand: one box per local derivative, their product, and all gradients checked by nudging."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._primer import NUDGE, short, subscript
from glassformer.analyses.primer.chain_rule import ChainRule
from glassformer.figures import _draw, _primer, _table

HIGH = 4.6  # ems of a box


def draw(seen: ChainRule, look: _draw.Look) -> Figure:
    """The way of one weight's gradient from the loss back to it, and the gradients of all weights."""
    shows = "A chain of boxes with local derivatives, and bars of all gradients"
    sheet = look.sheet(seen, _caption(seen), shows, height=5.8)
    cut = min(0.6, 1 - 9.5 / sheet.room[1])
    boxes = sheet.panels(1, 1, left=1, right=1, bottom=0.2, top=0.8, within=(0, cut, 1, 1))[0, 0]
    bars = sheet.panels(1, 1, left=6, right=1.5, bottom=4, top=2.4, within=(0, 0, 0.66, cut))[0, 0]
    aside = sheet.panels(1, 1, left=1, right=1, bottom=0.5, top=1.2, within=(0.66, 0, 1, cut))[0, 0]
    _boxes(boxes, seen, sheet)
    _bars(bars, seen, sheet)
    names = seen.gradients.axes["parameter"].labels
    rows = [
        (subscript(name), short(value), _fixed(a), _fixed(b))
        for name, value, a, b in zip(
            names, seen.parameters.values, seen.gradients.values, seen.differences.values, strict=True
        )
    ]
    colours = [sheet.theme.ink if name == seen.weight else sheet.theme.quiet for name in names]
    _table.table(aside, sheet.em, ("", "value", "gradient", "by nudging"), rows, theme=sheet.theme, align="lrrr",
                 colours=colours)  # fmt: skip
    return sheet.done()


def _caption(seen: ChainRule) -> str:
    before = seen.parameters.values[seen.parameters.axes["parameter"].values.index(seen.weight)]
    return (
        "Above, from right to left as the backward pass goes: how the loss depends on the prediction, the prediction "
        "on its sum, and so on down to the weight; the derivative of the whole is the product of these local "
        f"derivatives. Below, the gradient of all {len(seen.gradients.values)} parameters by the chain rule (bars) and "
        f"by moving each parameter up and down by {NUDGE:g} and looking at the loss (circles), which knows "
        f"nothing of the rule; the two differ by at most {seen.worst:.0e}. All factors are of one and the same forward "
        "pass: to mix in another prediction would give another number. Parameters of a neuron that is off have "
        f"gradient 0. One step at rate {short(seen.rate)} moves {subscript(seen.weight)} from {short(before)} to "
        f"{short(seen.moved)}; the prediction goes from {short(seen.output)} to {short(seen.output_then)} and the loss "
        f"from {short(seen.loss)} to {short(seen.loss_then)}."
    )


def _boxes(ax: Axes, seen: ChainRule, sheet: _draw.Sheet) -> None:
    """The loss at the right, the weight at the left: the backward pass reads from right to left."""
    width, height = _table.page(ax, sheet.em)
    t, many = sheet.theme, len(seen.factors.values)
    y, slot = height / 2, width / (many + 2)
    wide = min(slot - 1.6, 13.0)
    ends = [width - slot * (k + 0.5) for k in range(many + 2)]
    _words(ax, ends[0], y, ["loss L", f"({short(seen.wanted)} − {short(seen.output)})²", short(seen.loss)], t.ink)
    _primer.framed(ax, ends[0], y, wide, HIGH, t.ink, sheet.size.line)
    for k, (name, value, why) in enumerate(
        zip(seen.factors.axes["part"].labels, seen.factors.values, seen.reasons, strict=True)
    ):
        colour = t.wrong if value == 0 else t.query
        lines = _draw.wrap(why, 72, wide - 0.4)[:2]
        _words(ax, ends[k + 1], y, [f"{name} = {short(value)}", *lines], t.ink)
        _primer.framed(ax, ends[k + 1], y, wide, HIGH, colour, sheet.size.line)
        if k:
            ax.text((ends[k] + ends[k + 1]) / 2, y, "×", ha="center", va="center")
    for left, right in ((ends[1], ends[0]), (ends[-1], ends[-2])):
        _draw.arrows(ax, [(right - wide / 2, y)], [(left + wide / 2, y)], colours=t.ink)  # type: ignore[arg-type]
    _primer.framed(ax, ends[-1], y, wide, HIGH, t.ink, 1.6 * sheet.size.line)
    sum_of = f"∂L/∂{subscript(seen.weight)}"
    _words(ax, ends[-1], y, [sum_of, f"= {_fixed(seen.gradient)}", f"nudged: {_fixed(seen.checked)}"], t.ink)


def _fixed(value: float) -> str:
    return f"{value + 0.0:.4f}".replace("-0.0000", "0.0000").replace("-", "−")


def _words(ax: Axes, x: float, y: float, lines: list[str], colour: str) -> None:
    for k, line in enumerate(lines):
        ax.text(x, y + (k - (len(lines) - 1) / 2) * 1.3, line, ha="center", va="center", color=colour)


def _bars(ax: Axes, seen: ChainRule, sheet: _draw.Sheet) -> None:
    t, names = sheet.theme, seen.gradients.axes["parameter"].labels
    at = np.arange(len(names))
    colours = [t.query if name == seen.weight else t.rung for name in names]
    ax.bar(at, seen.gradients.values, color=colours, width=0.6)
    ax.plot(at, seen.differences.values, linestyle="", marker="o", markerfacecolor="none", color=t.ink,
            markersize=0.8 * sheet.size.text)  # fmt: skip
    ax.axhline(0, color=t.ink, linewidth=0.5 * sheet.size.line)
    ax.set_xticks(at, [subscript(name) for name in names])
    ax.set_ylabel("gradient of the loss")
    _draw.heading(ax, "all gradients: chain rule (bars), nudging (circles)")
