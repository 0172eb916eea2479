"""How a head learns where to look."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import thousands
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.attention_history import AttentionHistory
from glassformer.figures import _attend, _draw

MOST_ON_SLIDE = 4  # maps
MOST_NAMED = 9  # positions up to which each has its name below every map


def draw(seen: AttentionHistory, look: _draw.Look) -> Figure:
    """Maps at some steps; below, one query's attention on each position and its entropy, over life."""
    sheet = look.sheet(seen, _caption(seen), "Attention maps over training and the attention of one query", height=8)
    steps_shown, values = np.array(seen.maps.axes["step"].values), seen.maps.values
    if sheet.size.name == "slide" and len(steps_shown) > MOST_ON_SLIDE:  # two more panels stand below
        some = np.unique(np.linspace(0, len(steps_shown) - 1, MOST_ON_SLIDE).astype(int))
        steps_shown, values = steps_shown[some], values[some]
    names, length = seen.maps.axes["key_position"], len(seen.tokens)
    split = 0.45 if sheet.size.name == "slide" else 0.53
    maps = sheet.panels(
        1,
        len(steps_shown),
        left=max(6.0, 2.4 + _draw.widest(names)),
        right=7.5,
        bottom=max(4.2, 2.6 + _draw.widest(names)) if length <= MOST_NAMED else 4.8,  # names may stand upright
        top=2.4,
        gap=(1.4, 0),
        within=(0, split, 1, 1),
    )[0]
    future = ~np.tri(length, dtype=bool) if seen.causal else None
    for k, panel in enumerate(maps):
        _draw.heat(panel, values[k], kind="share", theme=sheet.theme, masked=future, numbers=False)
        _attend.places(panel, names if k == 0 else (), seen.marks, "y", "query position" if k == 0 else "")
        _attend.places(
            panel, names, seen.marks, "x", "key position", most=5 if len(maps) > 2 and length > MOST_NAMED else 32
        )
        panel.set_title(f"step {thousands(int(steps_shown[k]))}")
        _draw.outline(panel, ((q, s) for q, s in enumerate(seen.source) if s >= 0), sheet.theme.right, width=1.0)
    _draw.bar(sheet, "share", (0, 1), "share of attention", beside=maps[-1])
    lines, entropy = sheet.panels(
        1, 2, widths=[1.7, 1], left=5, right=2.5, bottom=4, top=2.6, gap=(7.4, 0), within=(0, 0, 1, split)
    )[0]
    key, ends = seen.target, []
    for k in range(length):
        if seen.causal and k > seen.query:
            continue
        main = k == key
        lines.plot(
            seen.steps,
            seen.weights.values[:, k],
            color=sheet.theme.rung
            if not main
            else sheet.theme.right
            if seen.source[seen.query] >= 0
            else sheet.theme.ink,
            linewidth=sheet.size.line * (1.5 if main else 0.7),
            zorder=3 if main else 2,
        )
        ends.append((float(seen.weights.values[-1, k]), k))
    lines.axhline(seen.uniform, color=sheet.theme.ink, linestyle="--", linewidth=0.7 * sheet.size.line)
    most = float(np.nanmax(seen.weights.values, initial=seen.uniform))
    lines.set_ylim(-0.03 * most, min(1.03, 1.08 * most))
    lines.set(title=f"where {drawn(names)[seen.query]} looks (dashed: everywhere alike)", ylabel="share of attention")
    _end_labels(lines, ends, drawn(names), key, sheet, seen.steps[-1])
    entropy.plot(seen.steps, seen.entropy.values, color=sheet.theme.ink)
    entropy.axhline(np.log(1 / seen.uniform), color=sheet.theme.ink, linestyle="--", linewidth=0.7 * sheet.size.line)
    entropy.set(ylim=(-0.03 * np.log(1 / seen.uniform), max(1.08 * np.log(1 / seen.uniform), 0.1)), ylabel="nats")
    entropy.set_title("entropy of its attention")
    for panel in (lines, entropy):
        _draw.steps_axis(panel, scale=seen.scale)
        if seen.marked >= 0:
            panel.axvline(seen.marked, color=sheet.theme.ink, linewidth=0.6 * sheet.size.line)
    return sheet.done()


def _caption(seen: AttentionHistory) -> str:
    return (
        f"Top: attention on the input {' '.join(map(shown, seen.tokens))}{seen.who} at some steps (rows look at columns"
        + (f"; framed: {sought(seen.copied)}" if max(seen.source) >= 0 else "")
        + (f"; short lines at the edges: {_attend.marked(seen.tokens, seen.marks)}" if seen.marks else "")
        + "). "
        f"Below: the share that {seen.asker} gives each position, over life, with the share that all would get if it "
        "looked everywhere alike; and the entropy of that attention, whose highest value is ln "
        f"{round(1 / seen.uniform)} = {np.log(1 / seen.uniform):.2f} nats. Exact at every step drawn. If the head had "
        "learned nothing, all lines would stay at the dashed one."
    )


def _end_labels(
    ax: Axes, ends: list[tuple[float, int]], names: list[str], key: int, sheet: _draw.Sheet, last: int
) -> None:
    """Name the lines right of their ends, the highest and the one that counts first, none over another."""
    high, (low, top) = ax.get_window_extent().height / ax.figure.dpi, ax.get_ylim()
    least = 1.2 * sheet.em / high * (top - low)
    placed: list[float] = []
    for share, k in sorted(ends, key=lambda end: (end[1] != key, -end[0])):
        if np.isfinite(share) and all(abs(share - other) >= least for other in placed):
            placed.append(share)
            ax.text(last, share, f" {names[k]}", va="center", ha="left", color=sheet.theme.ink)
