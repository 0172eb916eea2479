"""How large is the stream? Sizes of stream and branches by depth, means and spreads around the norms."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import Axis, Labelled, percent, thousands
from glassformer.analyses.health.stream_size import IDENTITY, StreamSize
from glassformer.figures import _draw, _life, _style

LOST = 0.02  # a share under which the axis is logarithmic
DEEP = 4  # blocks, beyond which points are not named one by one
UPRIGHT = 3.3  # ems under a panel, beyond which its names stand upright
HIGH = 0.25  # of the sheet, beyond which upright names are too high
FAR = 15  # times between branches, beyond which their axis is logarithmic


def draw(seen: StreamSize, look: _draw.Look) -> Figure:
    """Stream and branches by depth; branch over stream; mean, spread and dependence on the input by depth."""
    sheet = look.sheet(seen, _caption(seen), f"Charts of sizes by depth at {len(seen.steps)} steps", height=8.6)
    across = (sheet.room[0] - 13.5) / 2
    below = _below(seen, across, sheet)
    upright = below > UPRIGHT
    branch = max((_draw.text_width(name.partition(", ")[0], 72) for name in seen.ratio.axes["point"].labels), default=0)
    stand = branch + 1 if branch > 0.95 * across / max(len(seen.ratio.axes["point"]), 1) else 1.8  # names of branches
    panels = sheet.panels(
        2, 2, left=6, right=1.5, bottom=below + 2, top=2.4, gap=(6, 4.4 + (stand if upright else below))
    )
    end = 0.85 if sheet.theme.name == "light" else 1.0  # away from the colour of the paper
    shades = _style.colormap("time", sheet.theme.name)(np.linspace(0, end, len(seen.steps)))
    _lines(panels[0, 0], seen, seen.stream, shades, sheet, "size", log=True)
    if upright:
        panels[0, 0].set_xticklabels([])  # they stand under the panel below
    _draw.heading(panels[0, 0], "size of the stream by depth")
    _branches(panels[0, 1], seen, shades, sheet)
    _lines(panels[1, 0], seen, seen.spread, shades, sheet, "size")
    _lines(panels[1, 0], seen, seen.mean, shades, sheet, "size", style=":")
    _draw.heading(panels[1, 0], "over the features: spread (solid), mean (dotted)")
    _lines(panels[1, 1], seen, seen.differs, shades, sheet, "share")
    low = float(np.nanmin(seen.differs.values, initial=1.0))
    if low < LOST:
        panels[1, 1].set_ylim(max(low, 1e-9) / 2, 2)
        _life.logarithmic(panels[1, 1])
    else:
        panels[1, 1].set_ylim(-0.03, 1.05)
    _draw.heading(panels[1, 1], "share of the stream that depends on the window")
    sheet.legend([Line2D([], [], color=shade, marker=".", label=f"step {thousands(step)}")
                  for shade, step in zip(shades, seen.steps, strict=True)])  # fmt: skip
    return sheet.done()


def _caption(seen: StreamSize) -> str:
    norms = ", before and after norms" if seen.norms else ""
    return (
        "Top left: root mean square of the stream along the depth, at several steps (by shade of time). Top right: "
        "each branch, attention before feed-forward, over the stream it is added to; near 0 the block is the identity. "
        f"Below: mean and spread over the features of one position{norms}, and the share of the stream that depends on "
        f"the window. {seen.windows} {seen.whose} windows; all values are exact for them."
        + (
            " A norm after the sum rescales everything, so there a small ratio alone does not make a block the "
            "identity: the cosine between the stream before a branch and after its norm is not drawn, but among the "
            "numbers (`kept`)."
            if seen.norms == "post"
            else ""
        )
    )


def _lines(
    ax: Axes, seen: StreamSize, table: Labelled, shades: np.ndarray, sheet: _draw.Sheet, unit: str, log: bool = False,
    style: str = "-",
) -> None:  # fmt: skip
    names = table.axes["point"]
    for row, shade in zip(table.values, shades, strict=True):
        ax.plot(range(len(names)), row, color=shade, linestyle=style, marker=".", linewidth=0.8 * sheet.size.line)
    finite = table.values[np.isfinite(table.values)]
    if log and len(finite) and finite.min() > 0 and finite.max() > 20 * finite.min():
        _life.logarithmic(ax)
    elif log:
        ax.set_ylim(bottom=0)
    ax.set(ylabel=unit, xlim=(-0.4, len(names) - 0.6))
    _depth(ax, seen, names, sheet)


def _depth(ax: Axes, seen: StreamSize, points: Axis, sheet: _draw.Sheet, cut: str = ", ") -> None:
    """Names of points along the depth, upright where they would touch; of many blocks only the numbers."""
    names = [name.replace(", ", cut) for name in points.labels]
    wide = ax.get_window_extent().width / ax.figure.dpi
    if _numbered(seen, len(names), wide / sheet.em, sheet):
        blocks = [seen.block_of.get(str(point), -1) for point in points.values]
        first = {block: blocks.index(block) for block in sorted(set(blocks) - {-1})}
        every = max(1, int(-(-len(first) * 2 * sheet.em // wide)))
        ax.set_xticks(list(first.values())[::every], [str(block) for block in first][::every])
        ax.set_xlabel("block")
        return
    longest = max((_draw.text_width(line, sheet.size.text) for name in names for line in name.split("\n")), default=0)
    ax.set_xticks(range(len(names)), names, rotation=90 if longest > 0.95 * wide / max(len(names), 1) else 0)
    ax.tick_params(axis="x", length=0)


def _numbered(seen: StreamSize, many: int, across: float, sheet: _draw.Sheet) -> bool:
    """Whether only blocks are named: where so many names do not fit a panel, or would leave the charts no height."""
    longest = max((_draw.text_width(name, 72) for name in seen.stream.axes["point"].labels), default=0.0)
    tall = longest > 0.95 * across / max(many, 1) and longest > HIGH * sheet.room[1]
    return seen.blocks > 1 and (seen.blocks > DEEP or many * 1.3 > across or tall)


def _below(seen: StreamSize, across: float, sheet: _draw.Sheet) -> float:
    """Ems that the names under a panel so many ems wide take."""
    names = seen.stream.axes["point"].labels
    if _numbered(seen, len(names), across, sheet):
        return 3.2
    longest = max((_draw.text_width(name, 72) for name in names), default=0.0)
    return longest + 1.0 if longest > 0.95 * across / max(len(names), 1) else 1.8


def _branches(ax: Axes, seen: StreamSize, shades: np.ndarray, sheet: _draw.Sheet) -> None:
    """What each branch adds, as a share of the stream it meets: bars, or dots where the axis has no zero."""
    names = seen.ratio.axes["point"]
    wide = 0.8 / max(len(seen.steps), 1)
    tall = seen.ratio.values[np.isfinite(seen.ratio.values) & (seen.ratio.values > 0)]
    far = bool(len(tall) and tall.max() > FAR * tall.min())
    for k, (row, shade) in enumerate(zip(seen.ratio.values, shades, strict=True)):
        at = np.arange(len(names)) + (k - (len(seen.steps) - 1) / 2) * wide
        if far:
            ax.plot(at, row, linestyle="", marker="o", color=shade)
        else:
            ax.bar(at, np.nan_to_num(row), width=0.92 * wide, color=shade)
    if seen.residual:
        ax.axhline(IDENTITY, color=sheet.theme.rung, linestyle="--", linewidth=0.6 * sheet.size.line)
        sheet.note(f"dashed: {percent(IDENTITY)}, under which a branch hardly changes the stream")
    ax.set_xlim(-0.6, max(len(names), 1) - 0.4)
    _depth(ax, seen, names, sheet, cut="\n")
    if far:
        ax.set_ylim(min(float(tall.min()), IDENTITY) / 1.5, 1.5 * float(tall.max()))
        _life.logarithmic(ax)
        ax.yaxis.set_major_formatter(lambda value, _: percent(value))
    else:
        ax.yaxis.set_major_locator(MaxNLocator(5))
        ax.yaxis.set_major_formatter(lambda value, _: percent(value))
    ax.set_ylabel("of the stream")
    _draw.heading(ax, "what each branch adds to the stream" if seen.residual
                  else "size of a branch against what it replaces")  # fmt: skip
