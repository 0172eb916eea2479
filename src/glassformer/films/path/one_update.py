"""The examples of a batch pull at one embedding; then the optimiser takes its step."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from glassformer.analyses._pairs import shown
from glassformer.analyses._reel import Reel
from glassformer.analyses._result import thousands
from glassformer.analyses.path.one_update import PHASES, Pull, Walk
from glassformer.figures import _draw
from glassformer.films._film import Stage, Update

FPS = 8
ROWS = 10  # examples written out
DOT = 0.6  # text heights


def caption(reel: Reel) -> str:
    """How to read the pulls."""
    walk: Walk = reel.still["walk"]
    where = "its two features" if walk.plane.lossless else "the plane of its path and pulls"
    return (
        f"One token's embedding, “{shown(walk.token)}”, in {where}. Thin: how each example of the batch pulls at it "
        "(minus the gradient of its share of the loss, drawn to a scale of each update's own, named beside); thick: "
        "the sum of "
        "the pulls; line: the way it really went, to scale, after momentum, scaling and decay. Examples that do not "
        "hold the token do not pull, unless the embedding is also the read-out. The training was replayed."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Fifty updates of one token's embedding, four frames each."""
    walk: Walk = reel.still["walk"]
    ax = stage.panels(1, 1, left=7, right=1, bottom=3.6, top=2.4, within=(0, 0, 0.55, 1))[0, 0]
    _draw.plane_axes(ax, walk.plane, walk.corners.values, theme=stage.theme, margin=0.08, origin=False)
    phases = stage.text(ax, 0, 1.02, transform=ax.transAxes, va="bottom", fontsize=stage.size.text * 1.15)
    said = stage.panels(1, 1, left=2, right=1, bottom=3.6, top=2.4, within=(0.55, 0, 1, 1))[0, 0]
    move, write = _arrows(stage, ax, walk), _rows(stage, said, walk)
    _legend(stage, said, shown(walk.token))

    def update(seen: Pull) -> None:
        move(seen)
        write(seen)
        phases.set_text(f"update to step {thousands(seen.step or 0)}: {PHASES[seen.phase]}")

    return update


def _legend(stage: Stage, ax: Axes, word: str) -> None:
    """What is drawn, under the batch."""
    t, line, size = stage.theme, stage.size.line, stage.size.text
    ax.legend(
        handles=[
            Line2D([], [], color=t.ink, linestyle="", marker="o", markersize=DOT * size,
                   label=f"embedding of “{word}”"),
            Line2D([], [], color=t.ink, linewidth=0.8 * line, label="the way it went"),
            Line2D([], [], color=t.train, linewidth=line, marker="o", markersize=0.35 * size,
                   label="pull of one example"),
            Line2D([], [], color=t.validation, linewidth=3 * line, label="sum of the pulls"),
        ],
        loc="lower left", bbox_to_anchor=(0, 0), borderaxespad=0, handlelength=1.8,
    )  # fmt: skip
    for text in ax.get_legend().get_texts():
        text.set_parse_math(False)


def _arrows(stage: Stage, ax: Axes, walk: Walk) -> Callable[[Pull], None]:
    """The point, its path, and the pulls of the examples, put where they are in an update."""
    t, line, points = stage.theme, stage.size.line, walk.drawn.values
    look = {"color": t.train, "linewidth": line, "marker": "o", "markevery": [-1], "zorder": 3}
    look["markersize"] = 0.35 * stage.size.text
    thin = [stage.moving(ax.plot([], [], **look)[0]) for _ in range(walk.batch)]
    thick = stage.moving(ax.plot([], [], color=t.validation, linewidth=3 * line, zorder=4)[0])
    trail = stage.moving(ax.plot([], [], color=t.ink, linewidth=0.8 * line, zorder=2)[0])
    dot = stage.moving(ax.plot([], [], marker="o", color=t.ink, markersize=DOT * stage.size.text, zorder=5)[0])

    def move(seen: Pull) -> None:
        here = points[seen.number]
        each = seen.scale * walk.plane.directions(seen.pulls.values)
        for pull, arrow in zip(thin, each, strict=True):
            tip = here + (0.5 if seen.phase == 0 else 1.0) * arrow
            pull.set_data(*np.array([here, tip]).T)
            pull.set_visible(seen.phase < 2 and bool(np.any(arrow != 0)))
        thick.set_data(*np.array([here, here + each.sum(axis=0)]).T)
        thick.set_visible(seen.phase == 2)
        done = points[: seen.number + 1 + (seen.phase == 3)]
        trail.set_data(*done.T)
        dot.set_data([done[-1][0]], [done[-1][1]])

    return move


def _rows(stage: Stage, ax: Axes, walk: Walk) -> Callable[[Pull], None]:
    """The examples that pull most, with the size of their pulls."""
    _draw.bare(ax)
    ax.set(xlim=(0, 1), ylim=(ROWS + 8, -0.5), title="the batch, and how strongly each example pulls")
    rows = [
        stage.text(ax, 0.16, k, va="center", ha="left", color=stage.theme.ink, parse_math=False) for k in range(ROWS)
    ]
    sizes = [stage.text(ax, 0.13, k, va="center", ha="right", color=stage.theme.train) for k in range(ROWS)]
    last = stage.text(ax, 0, min(ROWS, walk.batch) + 0.2, va="top", ha="left", color=stage.theme.quiet, linespacing=1.4)
    sound = np.isfinite(walk.strongest)
    digits = int(np.clip(2 - np.floor(np.log10(walk.strongest or 1.0)), 1, 5)) if sound else 2

    def write(seen: Pull) -> None:
        strength = np.linalg.norm(seen.pulls.values, axis=1)
        order = np.argsort(-strength, kind="stable")[:ROWS]
        for place in range(ROWS):
            there = place < len(order)
            rows[place].set_text(_cut(seen.sequences[order[place]]) if there else "")
            pull = float(strength[order[place]]) if there else 0.0
            sizes[place].set_text(("0" if pull == 0 else _draw.number(pull, digits)) if there else "")
        whole = float(np.linalg.norm(seen.pulls.values.sum(axis=0)))
        step = float(np.linalg.norm(seen.change.values))
        done = f"\nlearning rate {seen.rate:.2g} · length of the step {step:.2g}" if seen.phase == 3 else ""
        last.set_text(f"length of the sum {_draw.number(whole, digits)} · pulls drawn × {seen.scale:.2g} here{done}")

    return write


def _cut(text: str) -> str:
    return text if len(text) <= 44 else f"… {text[-42:]}"
