"""One neuron by hand: each product on its edge, the sum, and the activation."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._primer import bracketed, short, subscript
from glassformer.analyses.primer.one_neuron import OneNeuron
from glassformer.figures import _draw, _primer, _table

CAPTION = (
    "Left: each input travels along an edge and is multiplied by that edge's weight; the products and the bias, a "
    "number of the neuron's own and not an input, are added up; the activation bends the sum. Edges are as wide "
    "as their weight is large, and solid where it is positive, dashed where negative. Right: the activation for "
    "every sum, with the point at which this neuron works. All numbers are exact up to the digits shown."
)


def draw(seen: OneNeuron, look: _draw.Look) -> Figure:
    """Inputs times weights, plus a bias, through an activation, and the curve of the activation beside it."""
    sheet = look.sheet(seen, CAPTION, "Diagram of one neuron beside the curve of its activation", height=4.2, least=70)
    diagram = sheet.panels(1, 1, left=1, right=1, bottom=1, top=1, within=(0, 0, 0.62, 1))[0, 0]
    curve = sheet.panels(1, 1, left=5, right=1.5, bottom=3.8, top=2.6, within=(0.62, 0, 1, 1))[0, 0]
    _diagram(diagram, seen, sheet)
    _curve(curve, seen, sheet)
    return sheet.done()


def _diagram(ax: Axes, seen: OneNeuron, sheet: _draw.Sheet) -> None:
    width, height = _table.page(ax, sheet.em)
    middle, radius = height / 2, _primer.RADIUS
    begin = _primer.column(len(seen.inputs.values), radius + 0.4, middle, height)
    body = (width * 0.58, middle)
    largest = float(np.abs(seen.weights.values).max())
    names, terms = seen.inputs.axes["part"].labels, (seen.inputs, seen.weights, seen.products)
    for at, name, x, w, product in zip(begin, names, *(each.values for each in terms), strict=True):
        _primer.node(ax, at, [subscript(name), short(x)], sheet, given=True)
        text = f"{short(x)} × {bracketed(w)} = {short(product)}"
        _primer.edge(ax, at, body, w, text, sheet, largest=largest, along=0.5)
    _primer.node(ax, body, ["sum", short(seen.sum)], sheet)
    _draw.arrows(ax, [(body[0], body[1] + radius + 2.4)], [(body[0], body[1] + radius)], colours=sheet.theme.ink)  # type: ignore[arg-type]
    ax.text(body[0], body[1] + radius + 3.1, f"bias {short(seen.bias)}", ha="center", va="center")
    end = (width - radius - 0.6, middle)
    off = seen.activation == "relu" and seen.sum <= 0
    _primer.node(ax, end, ["output", short(seen.output)], sheet, off=off)
    _draw.arrows(ax, [(body[0] + radius, middle)], [(end[0] - radius, middle)], colours=sheet.theme.ink)  # type: ignore[arg-type]
    ax.text((body[0] + end[0]) / 2, middle - 0.9, _name(seen), ha="center", va="center")


def _curve(ax: Axes, seen: OneNeuron, sheet: _draw.Sheet) -> None:
    t = sheet.theme
    sums = np.array(seen.curve.axes["argument"].values)
    ax.axhline(0, color=t.faint, linewidth=0.5 * sheet.size.line, zorder=0)
    ax.axvline(0, color=t.faint, linewidth=0.5 * sheet.size.line, zorder=0)
    ax.plot(sums, seen.curve.values, color=t.ink)
    ax.plot([seen.sum, seen.sum], [min(0, seen.output), seen.output], color=t.feed_forward, linestyle=":")
    ax.plot([seen.sum], [seen.output], marker="D", color=t.feed_forward, markersize=0.8 * sheet.size.text)
    right = seen.sum < 0.3 * sums.max()
    ax.annotate(f"{short(seen.sum)} → {short(seen.output)}", (seen.sum, seen.output), textcoords="offset points",
                xytext=((0.9 if right else -0.9) * sheet.size.text, 0.5 * sheet.size.text),
                ha="left" if right else "right")  # fmt: skip
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.set(xlabel="sum", ylabel="output")
    _draw.heading(ax, "the activation: " + {"relu": "0 below 0, else the sum itself"}.get(seen.activation, _name(seen)))


def _name(seen: OneNeuron) -> str:
    return {"relu": "ReLU", "gelu": "GELU", "none": "no activation"}[seen.activation]
