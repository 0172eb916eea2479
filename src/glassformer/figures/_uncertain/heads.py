"""Attention by position, and its entropy by step."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import Labelled
from glassformer.analyses._uncertain import Uncertainty
from glassformer.analyses.attend.attention import named
from glassformer.figures import _draw
from glassformer.figures._uncertain.parts import fitting, level, reach

HEADS = 4  # lines up to which each head is named


def attention(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    """Mean attention by key position, every head, and looking everywhere alike."""
    found, even = seen.attention["by_position"].values, seen.attention["even_by_position"].values
    places = np.arange(found.shape[-1])
    for line in found.reshape(-1, len(places)):
        ax.plot(places, line, color=sheet.theme.query, marker="o", linewidth=0.8 * sheet.size.line,
                markersize=0.35 * sheet.size.text)  # fmt: skip
    ax.plot(places, even, color=sheet.theme.ink, linestyle="--", linewidth=0.8 * sheet.size.line)
    ax.set_ylim(0, max(1.25 * float(np.nanmax(np.append(found[np.isfinite(found)], even))), 1e-9))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=fitting(ax, sheet)))
    ax.set(xlabel="key position", ylabel="share of attention")


def attention_entropy(ax: Axes, entropies: Labelled, even: Labelled, sheet: _draw.Sheet, names: float = 0) -> None:
    """Entropy of every head's attention by step; dashed, if it looked everywhere alike."""
    steps = np.array(entropies.axes["step"].values)
    blocks, heads = entropies.values.shape[:2]
    near, styles = [], ("-", "--", "-.", ":")
    for block, head in np.ndindex(blocks, heads):
        values = entropies.values[block, head]
        ax.plot(steps, values, color=sheet.theme.query, linestyle=styles[block % 4], linewidth=0.8 * sheet.size.line,
                marker="o" if len(steps) == 1 else "")  # fmt: skip
        if np.isfinite(values[-1]):
            said = "entropy" if blocks * heads == 1 else named(block, head, blocks)
            near.append((float(values[-1]), f"{said}  {values[-1]:.2f}", sheet.theme.query))
    height = float(even.values.max())
    level(ax, height, sheet, floor=True)
    reach(ax, entropies.values, height, close=False)
    ax.set_ylabel("entropy of attention (nats)")
    if names:
        near.sort()
        if len(near) > HEADS:
            near = [near[0], near[len(near) // 2], near[-1]]
        _draw.beside(ax, [*near, (height, f"everywhere alike  {height:.2f}", sheet.theme.ink)], most=names)
