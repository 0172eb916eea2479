"""What the charts over a whole life share: a colour and line for every part of the model, and an axis of steps."""

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from glassformer.analyses._result import thousands
from glassformer.figures import _draw
from glassformer.figures._style import Theme

DASHES = ("-", "--", "-.", ":")  # by block
COLOURS = {"attention": "query", "feed_forward": "feed_forward", "read_out": "value", "embedding": "ink"}


def part_style(name: str, theme: Theme) -> tuple[str, str]:
    """Colour and line of a part: attention blue, feed-forward violet, blocks by their dashes."""
    stem, _, block = name.rpartition("_")
    if block.isdigit():
        return theme[COLOURS[stem]], DASHES[int(block) % len(DASHES)]
    if name == "positions":
        return theme.quiet, "--"
    return theme[COLOURS.get(name, "ink")], "-"


def tensor_colour(name: str, theme: Theme) -> str:
    """Colour of a tensor: queries, keys, values and feed-forward in theirs, all else in ink."""
    leaf = name.rpartition(".")[2].removesuffix("_bias")
    meaning = {"expand": "feed_forward", "contract": "feed_forward"}.get(leaf, leaf)
    return theme[meaning] if meaning in ("query", "key", "value", "feed_forward") else theme.ink


def steps_axis(ax: Axes, last: int, per_pass: float, label: bool = True, marked: int | None = None) -> None:
    """Training steps along x; where training goes in passes, a second row of numbers counts them as epochs."""
    ax.set_xlim(0, max(last, 1))
    _draw.steps_axis(ax, "")
    if per_pass:
        step = ax.xaxis.get_major_formatter()
        ax.xaxis.set_major_formatter(
            FuncFormatter(lambda value, place: f"{step(value, place)}\n{value / per_pass:.3g}" if value >= 0 else "")
        )
    if label:
        ax.set_xlabel(f"step (below: epoch of {thousands(round(per_pass))} steps)" if per_pass else "step")
    else:
        ax.tick_params(labelbottom=False)
    if marked is not None:
        ax.axvline(marked, color=ax.xaxis.label.get_color(), linewidth=0.5 * ax.spines["left"].get_linewidth())
