"""Axes: headings, training steps, places along a heat map, names beside a chart."""

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes as Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array, Axis, thousands
from glassformer.analyses._scale import Scale
from glassformer.figures._draw.glyphs import drawable, legible
from glassformer.figures._draw.text import text_width, wrap

MOST_LABELS = 48  # places along an axis; beyond, every n-th is labelled
ROUND = (1, 5, 2, 3, 7, 4, 6, 8, 9)  # how the steps of an axis that is not even may begin
SPACED = {"linear": "", "log": " (logarithmic from {} on)", "learning": " (spaced by what is learnt)"}


def heading(ax: Axes, text: str) -> None:
    """A panel's title, wrapped to its width."""
    size = float(matplotlib.rcParams["axes.titlesize"])
    ax.set_title("\n".join(wrap(text, size, ax.get_window_extent().width / ax.figure.dpi)), parse_math=False)


def steps_axis(ax: Axes, label: str = "step", scale: Scale | None = None) -> None:
    """An x axis of training steps: 5 000, never 5e3; with a scale, all of the training, spaced and named as it says.

    To be called when all is drawn; without a label nothing is said below the axis.
    """
    ems = ax.get_window_extent().width / ax.figure.dpi * 72 / float(matplotlib.rcParams["font.size"])
    if scale and scale.kind != "linear":
        ax.set_xscale("function", functions=(scale.place, scale.step))
        ax.set_xticks(_marks(scale, ems))
    elif ax.get_xscale() == "linear":  # as many numbers as fit side by side
        ax.xaxis.set_major_locator(MaxNLocator(int(np.clip(ems / 4.5, 1, 8)), steps=[1, 2, 2.5, 5, 10], integer=True))
    if scale:
        ax.set_xlim(0, scale.last)
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: thousands(round(value)) if value == round(value) else "")
    )
    ax.set_xlabel(label + SPACED[scale.kind].format(thousands(scale.first)) if label and scale else label)


def _marks(scale: Scale, ems: float) -> list[int]:
    """Steps to be written along an axis so many ems wide: the roundest first, each where it has room."""
    chosen: list[tuple[float, float, int]] = []
    for step in [0, *(m * 10**k for m in ROUND for k in range(12) if m * 10**k <= scale.last)]:
        half, place = 0.31 * len(thousands(step)) + 0.4, ems * float(scale.place(np.array(step)))
        if all(abs(place - there) > half + other for there, other, _ in chosen):
            chosen.append((place, half, step))
    return sorted(step for _, _, step in chosen)


def widest(labels: Axis | Sequence[str]) -> float:
    """How many ems the longest of some labels takes, as it is drawn: the margin that a heat map must leave to them."""
    return max((72 * text_width(label, 1) for label in drawn(labels)), default=0.0)


def places(ax: Axes, labels: Axis | Sequence[str], which: str, *, most: int = MOST_LABELS, name: str = "") -> None:
    """Labels along a heat map's axis (`which` is x or y), drawn as tokens; beyond `most` places every n-th.

    Where they would touch, those along x stand upright, and along both only as many are written as have room.
    """
    axis = ax.xaxis if which == "x" else ax.yaxis
    if name:
        (ax.set_xlabel if which == "x" else ax.set_ylabel)(name)
    if not labels:
        axis.set_ticks([])
        return
    shown_labels = drawn(labels) if legible(ax) else [drawable(label) for label in drawn(labels)]
    box, em = ax.get_window_extent(), float(matplotlib.rcParams["font.size"]) * ax.figure.dpi / 72
    fit = int((box.width if which == "x" else box.height) / (1.12 * em))  # lines of text side by side
    every = max(1, -(-len(labels) // most), -(-len(labels) // max(fit, 2)))
    if which == "x" and shown_labels == [str(k) for k in range(len(labels))]:  # who reads 0 2 4 can tell where 3 is
        while every < len(labels) and _crowded(ax, shown_labels[::every]):
            every += 1
    ticks = list(range(0, len(labels), every))
    axis.set_ticks(ticks, [shown_labels[tick] for tick in ticks])
    for text in axis.get_ticklabels():
        text.set_parse_math(False)
    axis.set_tick_params(length=0)
    if which == "x" and _crowded(ax, [shown_labels[tick] for tick in ticks]):
        for text in axis.get_ticklabels():
            text.set_rotation(90)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names along the rows of a chart; they are words, not tokens, and keep their spaces."""
    ax.set_yticks(range(len(names)), list(names))
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.tick_params(axis="y", length=0)


def _crowded(ax: Axes, labels: Sequence[str]) -> bool:
    widest = max((text_width(label, matplotlib.rcParams["font.size"]) for label in labels), default=0)
    return bool(widest > 0.86 * ax.get_window_extent().width / ax.figure.dpi / max(len(labels), 1))


def beside(ax: Axes, names: Sequence[tuple[float, str, str]], most: float = 14.0) -> None:
    """Direct labels to the right of a chart: (height in data, text, colour) each, wrapped at `most` ems, apart.

    A label that had to move is joined to its height by a thin line.
    """
    size = float(matplotlib.rcParams["font.size"])
    dot = size * ax.figure.dpi / 72
    box = ax.get_window_extent()
    ax.get_ylim()  # limits that wait to be fitted to the data are fitted now: transData alone would use the old ones
    texts = [wrap(text, size, most * size / 72) for _, text, _ in names]
    wanted = [float(np.clip(ax.transData.transform((0, height))[1], box.y0, box.y1)) for height, _, _ in names]
    half = [0.62 * dot * len(lines) for lines in texts]
    order = sorted(range(len(names)), key=lambda k: wanted[k])
    low = box.y0 - 0.3 * dot  # not lower: there stands the number of the last step
    high = max(box.y1 + dot, low + 2.02 * sum(half))
    at = _apart([wanted[k] for k in order], [half[k] for k in order], low, high)
    for k, y in zip(order, at, strict=True):
        real = ax.transAxes.inverted().transform((box.x1, wanted[k]))[1]
        moved = ax.transAxes.inverted().transform((box.x1, y))[1]
        gap = 1.6 * dot / max(box.width, 1)
        thin = 0.4 * float(matplotlib.rcParams["lines.linewidth"])
        ends = [1 + 0.15 * gap, 1 + 0.85 * gap]
        ax.plot(ends, [real, moved], transform=ax.transAxes, color=names[k][2], clip_on=False, linewidth=thin)
        ax.text(1 + gap, moved, "\n".join(texts[k]), transform=ax.transAxes, va="center", ha="left", color=names[k][2],
                linespacing=1.15, parse_math=False)  # fmt: skip


def _apart(wanted: Sequence[float], half: Sequence[float], low: float, high: float) -> list[float]:
    """Heights near the wanted ones (which rise) at which boxes of these half heights do not overlap."""
    at = list(wanted)
    for _ in range(200):
        moved = False
        for k in range(len(at) - 1):
            over = half[k] + half[k + 1] - (at[k + 1] - at[k])
            if over > 0.01:
                at[k], at[k + 1], moved = at[k] - over / 2, at[k + 1] + over / 2, True
        at = [float(np.clip(y, low + h, max(high - h, low + h))) for y, h in zip(at, half, strict=True)]
        if not moved:
            break
    return at


def bare(ax: Axes) -> None:
    """No ticks, no frame."""
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)


def remove_spare(panels: Array, many: int) -> None:
    """Remove the panels of a grid after the first so many."""
    for panel in panels.flat[many:]:
        panel.remove()
