"""A small network by hand: every weight on its edge, sum and activation in every neuron, all parameters in a table."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._primer import short, subscript
from glassformer.analyses.primer.network import Network
from glassformer.figures import _draw, _primer, _table

CAPTION = (
    "Inputs at the left, hidden neurons in the middle, the output at the right. Each edge carries its weight: the "
    "wider the larger, solid red positive, dashed blue negative. In each neuron stand its sum z (weights times "
    "inputs, plus its bias) and below it what ReLU leaves of that; a hatched neuron is off: its sum is not above "
    "0, so it passes nothing on, and no change of its own weights shows in the output. The table lists every "
    "parameter, which is all that training can change."
)


def draw(seen: Network, look: _draw.Look) -> Figure:
    """Inputs, hidden neurons and output with every number on the way; beside it the parameters."""
    many = len(seen.parameters.values)
    high = max(4.8, 2.2 + 0.95 * max(len(seen.inputs.values), len(seen.hidden.values)))
    shows = "Diagram of a small network with a table of its parameters"
    sheet = look.sheet(seen, CAPTION, shows, height=high, least=70)
    cut = 1 - 20 / sheet.room[0]
    diagram = sheet.panels(1, 1, left=1, right=1, bottom=1, top=1, within=(0, 0, cut, 1))[0, 0]
    aside = sheet.panels(1, 1, left=2, right=1, bottom=1, top=1.5, within=(cut, 0, 1, 1))[0, 0]
    _diagram(diagram, seen, sheet)
    names = seen.parameters.axes["parameter"].labels
    rows = [(subscript(name), _meaning(name), short(value))
            for name, value in zip(names, seen.parameters.values, strict=True)]  # fmt: skip
    _table.table(aside, sheet.em, ("", f"{many} parameters", "value"), rows, theme=sheet.theme, align="llr")
    return sheet.done()


def _meaning(name: str) -> str:
    """Where a parameter stands."""
    if name == "c":
        return "bias of the output"
    if name[0] == "b":
        return f"bias of {subscript('h' + name[1])}"
    end = subscript("h" + name[1])
    return f"{end} → y" if name[0] == "v" else f"{subscript('x' + name[2])} → {end}"


def _diagram(ax: Axes, seen: Network, sheet: _draw.Sheet) -> None:
    width, height = _table.page(ax, sheet.em)
    middle, inner = height / 2, seen.hidden.values
    begin = _primer.column(len(seen.inputs.values), _primer.RADIUS + 0.4, middle, height)
    between = _primer.column(len(inner), width / 2, middle, height)
    end = (width - _primer.RADIUS - 0.4, middle)
    largest = float(max(np.abs(inner[:, :-1]).max(), np.abs(seen.last.values[:-1]).max()))
    for k, (at, x) in enumerate(zip(begin, seen.inputs.values, strict=True)):
        _primer.node(ax, at, [subscript(f"x{k + 1}"), short(x)], sheet, given=True)
        for j, there in enumerate(between):
            along = 0.26 if (j - k) % 2 else 0.4  # words of crossing edges stand apart
            _primer.edge(ax, at, there, inner[j, k], f"× {short(inner[j, k])}", sheet, largest=largest, along=along)
    for j, at in enumerate(between):
        z, a = seen.sums.values[j], seen.active.values[j]
        _primer.node(ax, at, [f"z {short(z)}", subscript(f"h{j + 1} ") + short(a)], sheet, off=z <= 0)
        w = seen.last.values[j]
        _primer.edge(ax, at, end, w, f"× {short(w)}", sheet, largest=largest)
        ax.text(at[0], at[1] + _primer.RADIUS + 0.7, f"bias {short(inner[j, -1])}", ha="center", va="center",
                color=sheet.theme.quiet)  # fmt: skip
    z = seen.sums.values[-1]
    _primer.node(ax, end, [f"z {short(z)}", f"y {short(seen.output)}"], sheet, off=z <= 0)
    ax.text(end[0], end[1] + _primer.RADIUS + 0.7, f"bias {short(seen.last.values[-1])}", ha="center", va="center",
            color=sheet.theme.quiet)  # fmt: skip
