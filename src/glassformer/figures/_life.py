"""What the charts over a whole life share: a colour and line for every part of the model, and an axis of steps."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from glassformer.analyses._life import called
from glassformer.analyses._result import power as raised
from glassformer.analyses._result import thousands
from glassformer.analyses._scale import Scale
from glassformer.figures import _draw
from glassformer.figures._style import Theme

FAR = 1e5  # from here on, the unit of a plain axis has a power of ten
PLAIN = 1e-4  # below, numbers are written with powers of ten, and with them all of their axis
EPOCHS = tuple(m * 10**k for k in range(6) for m in (1, 2, 5))  # from one mark to the next, where there are epochs
TIED = "The read-out turns the embedding round; of its own it has but the last norm, and that is its line. "
DASHES = ("-", "--", "-.", ":")  # by block
MOST_MARKS = 9  # of epochs on an axis
MARKS = ((1, 2, 5), (1, 3), (1,))  # numbers of each decade on a logarithmic axis, the most that have room
COLOURS = {"attention": "query", "feed_forward": "feed_forward", "read_out": "rung", "embedding": "ink"}


def part_style(name: str, theme: Theme) -> tuple[str, str]:
    """Colour and line of a part: attention blue, feed-forward violet, all else grey; blocks by their dashes."""
    stem, _, block = name.rpartition("_")
    if block.isdigit():
        return theme[COLOURS[stem]], DASHES[int(block) % len(DASHES)]
    if name == "positions":
        return theme.quiet, "--"
    return theme[COLOURS.get(name, "ink")], "-"


def key(parts: tuple[str, ...], single: bool, sheet: _draw.Sheet) -> list[Line2D]:
    """The entries of a legend for parts; the whole model is a broad pale line."""
    t, line, made = sheet.theme, sheet.size.line, []
    for name in parts:
        colour, dashes = (t.faint, "-") if name == "all" else part_style(name, t)
        wide = line * (3.2 if name == "all" else 1)
        made.append(Line2D([], [], color=colour, linestyle=dashes, linewidth=wide, label=called(name, single)))
    return made


def logarithmic(ax: Axes) -> None:
    """A logarithmic y axis with as many plain numbers as have room; its limits are final."""
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    size = float(matplotlib.rcParams["font.size"])
    room = max(2, int(ax.get_window_extent().height / ax.figure.dpi * 72 / size / 1.5))
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    found: list[float] = []
    for marks in MARKS:
        found = [m * 10.0**k for k in decades for m in marks if low <= m * 10.0**k <= high]
        if len(found) <= room:
            break
    found = found[:: -(-len(found) // room)] if found else found
    ax.set_ylim(low, high)
    plain = not found or min(found) >= PLAIN
    ax.set_yticks(found, [power(mark) if plain else raised(mark) for mark in found])
    ax.minorticks_off()


def power(value: float) -> str:
    """0.02, 0.0005, 10⁻⁵: plain while there are few zeros."""
    return np.format_float_positional(float(f"{value:.1g}"), trim="-") if value >= PLAIN else raised(value)


def plain_powers(axis: Axis) -> None:
    """Where numbers are far out, a power of ten in the unit of the axis instead of a factor above the chart.

    To be called when all is drawn and the axis has its name.
    """
    low, high = axis.get_view_interval()
    most = max(abs(low), abs(high))
    if not FAR <= most < np.inf:
        return
    factor = 10.0 ** int(np.log10(most))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:g}".replace("-", "\u2212")))
    axis.set_label_text(axis.get_label_text().replace("nats", f"{raised(factor)} nats"))


def tensor_colour(name: str, theme: Theme) -> str:
    """Colour of a tensor: queries, keys, values and feed-forward in theirs, all else in ink."""
    leaf = name.rpartition(".")[2].removesuffix("_bias")
    meaning = {"expand": "feed_forward", "contract": "feed_forward"}.get(leaf, leaf)
    return theme[meaning] if meaning in ("query", "key", "value", "feed_forward") else theme.ink


def steps_axis(ax: Axes, scale: Scale, per_pass: float, label: bool = True, marked: int | None = None) -> None:
    """Training steps along x; where training goes in passes, a second row of numbers counts them as epochs."""
    below = f", below: epoch of {thousands(round(per_pass))} steps" if per_pass else ""
    _draw.steps_axis(ax, f"step{below}" if label else "", scale)
    if per_pass:
        if scale.kind == "linear":
            every = next((n for n in EPOCHS if scale.last / per_pass / n <= MOST_MARKS), EPOCHS[-1])
            ax.set_xticks(np.arange(0, scale.last / per_pass + 1e-9, every) * per_pass)
        step, whole = ax.xaxis.get_major_formatter(), min(per_pass, scale.last / 2)

        def both(value: float, place: int | None) -> str:
            told = value == 0 or value >= whole  # small parts of an epoch are long numbers, which would run together
            return f"{step(value, place)}\n{value / per_pass:.3g}" if told else step(value, place)

        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, place: both(value, place) if value >= 0 else ""))
    if not label:
        ax.tick_params(labelbottom=False)
    if marked is not None:
        ax.axvline(marked, color=ax.xaxis.label.get_color(), linewidth=0.5 * ax.spines["left"].get_linewidth())
