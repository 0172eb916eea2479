"""How far back heads look, on average."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._attend import largest
from glassformer.analyses.attention_profile import attention_profile, say
from glassformer.figures import _draw
from glassformer.figures.attention import applies as applies
from glassformer.run import Run

SECTION = "attend"
ORDER = 90
ANSWERS = ("0.7",)
COST = "b"


@_draw.drawing
def plot_attention_profile(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    page: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Mean attention by distance and by position, the band of the windows, and looking everywhere alike."""
    seen = attention_profile(run, step=step, member=member)
    blocks, heads = seen.by_distance.values.shape[1:3]
    every = [(b, h) for b in range(blocks) for h in range(heads)]
    per_page = 2 if size == "slide" else 8
    if len(every) > per_page:
        beyond = (seen.by_distance.values[0] - seen.uniform_by_distance.values).max(axis=-1)
        every.sort(key=lambda at: -float(np.nan_to_num(beyond[at])))
    shown = every[page * per_page :][:per_page]
    across = 1 if len(shown) <= 3 else 2  # pairs of panels side by side
    rows = -(-len(shown) // across)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=1.4 + (4.4 if rows == 1 else 2.3 * rows))
    panels = sheet.panels(rows, 2 * across, left=5, right=1.5, bottom=6, top=2.4, gap=(4, 3.6))
    top = largest(seen.by_distance.values[:3], seen.by_position.values[:3]) or 1.0
    for k, (block, head) in enumerate(shown):
        row, column = k // across, 2 * (k % across)
        for panel, lines, even, axis in (
            (panels[row, column], seen.by_distance, seen.uniform_by_distance, "distance"),
            (panels[row, column + 1], seen.by_position, seen.uniform_by_position, "key_position"),
        ):
            x = np.array([int(label) for label in lines.axes[axis]])
            mean, low, high, first = lines.values[:, block, head]
            panel.fill_between(x, low, high, color=sheet.theme.query, alpha=0.2, linewidth=0)
            panel.plot(x, first, color=sheet.theme.rung, linewidth=0.6 * sheet.size.line)
            panel.plot(x, even.values, color=sheet.theme.ink, linestyle="--", linewidth=0.8 * sheet.size.line)
            panel.plot(x, mean, color=sheet.theme.query, marker="o")
            panel.set_ylim(0, min(1.02, 1.08 * top))
            panel.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
            by = "by distance" if axis == "distance" else "by position"
            panel.set_title((f"block {block}, head {head}: " if len(every) > 1 else "") + by)
            if k + across >= len(shown):
                far = "positions back (0: itself)" if seen.causal else "key position minus query position"
                panel.set_xlabel(far if axis == "distance" else "key position")
            if column == 0 and axis == "distance":
                panel.set_ylabel("share of attention" if rows <= 2 else "share")
    for k in range(2 * len(shown), panels.size):
        panels.flat[k].remove()
    line = matplotlib.lines.Line2D
    sheet.legend(
        [
            line([], [], color=sheet.theme.query, marker="o", label="mean"),
            matplotlib.patches.Patch(facecolor=sheet.theme.query, alpha=0.2, label="8 windows in 10"),
            line([], [], color=sheet.theme.ink, linestyle="--", label="looking everywhere alike"),
            line([], [], color=sheet.theme.rung, label=f"step {seen.first}"),
        ]
    )
    if len(shown) < len(every):
        sheet.note(f"heads {page * per_page + 1} to {page * per_page + len(shown)} of {len(every)}, the clearest first")
    return sheet.done(seen, page=page)
