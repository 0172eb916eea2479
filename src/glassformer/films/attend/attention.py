"""How every head learns where to look, on one input."""

import numpy as np
from matplotlib.lines import Line2D

from glassformer.analyses._pairs import drawn
from glassformer.analyses._reel import Reel
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.attention import Attention
from glassformer.analyses.attend.attention_history import AttentionHistory
from glassformer.figures import _attend, _draw
from glassformer.films._film import Stage, Update

MOST_PANELS = 16


def caption(reel: Reel) -> str:
    """How to read the maps."""
    last: Attention = reel.still["last"]
    return (
        "Each square is one head: rows look at columns, each row sums to 1; cross-hatched cells are masked, framed "
        f"cells are {sought(last.copied)}. The curves beside a single map are those of one row, named above them; the "
        "number in the title is the mean of all rows with a frame."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """All block × head maps of one input; frames mark the position that holds the answer."""
    last: Attention = reel.still["last"]
    blocks, heads, length, _ = last.attention.values.shape
    every = [(b, h) for b in range(blocks) for h in range(heads)][:MOST_PANELS]
    columns = min(4, len(every))
    rows = -(-len(every) // columns)
    panels = stage.panels(
        rows, columns, left=6, right=7.5, bottom=4.2, top=2.2, gap=(2, 2.4), square=rows == columns == 1
    )
    names, future = last.attention.axes["key_position"], ~np.tri(length, dtype=bool) if last.causal else None
    pictures = []
    for k, (b, h) in enumerate(every):
        panel = panels.flat[k]
        left, low = k % columns == 0, k + columns >= len(every)
        panel.set(xlim=(-0.5, length - 0.5), ylim=(length - 0.5, -0.5))
        _draw.bare(panel)
        if future is not None:
            _draw.hatch(panel, future, stage.theme).set_zorder(1)
        if left:
            _attend.places(panel, names, last.marks, "y", "query position", most=8 if rows > 1 else 32)
        if low:
            said = "key position" if k % columns == 0 else ""
            _attend.places(panel, names, last.marks, "x", said, most=8 if columns > 1 else 32)
        if len(every) > 1:
            panel.set_title(f"block {b}, head {h}")
        _draw.outline(panel, ((q, s) for q, s in enumerate(last.source) if s >= 0), stage.theme.right)
        for frame in panel.patches:
            frame.set_clip_on(False)
            stage.moving(frame)
        pictures.append(stage.picture(panel, kind="share"))
    _draw.remove_spare(panels, len(every))
    _draw.bar(stage, "share", (0, 1), "share of attention", beside=panels[0, columns - 1])
    mark = _life(stage, reel.still["history"]) if len(every) == 1 else None

    def update(seen: Attention) -> None:
        for picture, (b, h) in zip(pictures, every, strict=True):
            values = seen.attention.values[b, h]
            picture.show(values if future is None else np.where(future, np.nan, values))
        if mark is not None:
            mark.set_xdata([seen.step, seen.step])

    return update


def _life(stage: Stage, past: AttentionHistory) -> Line2D:
    """Beside a single map: where one query looks, over life, with a line that moves."""
    ax = stage.panels(1, 1, left=5, right=5, bottom=4.2, top=2.2, within=(0.52, 0, 1, 1))[0, 0]
    names, key = drawn(past.weights.axes["key_position"]), past.target
    ends: list[float] = []
    for k in sorted(range(past.query + 1 if past.causal else len(names)), key=lambda k: k != key):
        main, line = k == key, past.weights.values[:, k]
        ax.plot(
            past.steps,
            line,
            color=(stage.theme.right if past.source[past.query] >= 0 else stage.theme.ink)
            if main
            else stage.theme.rung,
            linewidth=stage.size.line * (1.4 if main else 0.6),
            zorder=3 if main else 2,
        )
        if all(abs(line[-1] - other) > 0.06 for other in ends):
            ends.append(float(line[-1]))
            ax.annotate(
                names[k],
                (past.steps[-1], line[-1]),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                annotation_clip=False,
            )
    ax.axhline(past.uniform, color=stage.theme.ink, linestyle="--", linewidth=0.6 * stage.size.line)
    ax.set(ylim=(-0.03, 1.03), title=f"where {names[past.query]} looks (dashed: everywhere alike)")
    ax.set_ylabel("share of attention")
    _draw.steps_axis(ax, scale=past.scale)
    return stage.moving(ax.axvline(0, color=stage.theme.ink, linewidth=0.6 * stage.size.line, clip_on=False))
