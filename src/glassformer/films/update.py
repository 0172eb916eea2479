"""The examples of a batch pull at one embedding; then the optimiser takes its step."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._result import Array, Result, thousands
from glassformer.analyses.update import Pull, pulls, restless, steepest
from glassformer.errors import CallError
from glassformer.figures import _draw
from glassformer.films import _film
from glassformer.films._film import Film, Stage, Update
from glassformer.run import Run

ANSWERS = ("1.P8", "1.P2")
UPDATES = 50
PHASES = ("each example pulls", "each example pulls", "their sum", "the optimiser's step")
REACH = 0.5  # of the path's extent that the longest sum of pulls takes
ROWS = 10  # examples written out


@_film.film
def film_update(
    run: Run, *, step: int = -1, token: str | None = None, member: int = 0, frames: int = 200, theme: str = "light"
) -> Film:
    """Fifty updates of one token's embedding, four frames each; begins at `step`, or where the loss falls fastest.

    Without `token`, it is the one whose embedding moves furthest there.
    """
    last = int(_clock.resolve(run))
    begin = max(
        1, min((steepest(run, member) - UPDATES // 2 if step == -1 else _clock.resolve(run, step)), last - UPDATES + 1)
    )
    end = max(min(begin + UPDATES - 1, last), 1)
    if token is not None and token not in run.task.vocabulary:
        raise CallError(f"token = {token!r} is not one of: {' '.join(run.task.vocabulary)}")
    row = restless(run, begin - 1, end, member) if token is None else run.task.vocabulary.index(token)
    word = shown(run.task.vocabulary[row])
    some = pulls(run, row, begin, end, member)[: max(1, frames // len(PHASES))]
    way = np.array([*(each.before.values for each in some), some[-1].before.values + some[-1].change.values])
    flat = plane(way)

    def scene(stage: Stage) -> Update:
        ax = stage.panels(1, 1, left=5, right=1, bottom=3.6, top=1.6, within=(0, 0, 0.55, 1))[0, 0]
        points = flat.points(way)
        scale = _scale(points, flat, some)
        tips = [
            points[k] + scale * flat.directions(np.vstack([each.pulls.values, each.pulls.values.sum(axis=0)]))
            for k, each in enumerate(some)
        ]
        _draw.plane_axes(ax, flat, np.vstack([points, *tips]), theme=stage.theme, margin=0.08, origin=False)
        said = stage.panels(1, 1, left=1, right=1, bottom=3.6, top=1.6, within=(0.55, 0, 1, 1))[0, 0]
        move, write = _arrows(stage, ax, points, flat, scale, some), _rows(stage, said, some, scale)

        def update(frame: int) -> Result:
            k, phase = divmod(frame, len(PHASES))
            move(k, phase)
            write(k, phase)
            return some[k]

        return update

    def clock(frame: int) -> str:
        k, phase = divmod(frame, len(PHASES))
        return f"update to step {thousands(some[k].step or 0)} of {thousands(_clock.total(run))} · {PHASES[phase]}"

    distance = float(np.linalg.norm(way[-1] - way[0]))
    length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
    title = (
        f"In updates {thousands(begin)} to {thousands(some[-1].step or 0)} the embedding of “{word}” walks "
        f"{length:.2g} and gets {distance:.2g} away"
    )
    caption = (
        f"One token's embedding, “{word}”, in {'its two features' if flat.lossless else 'the plane of its path'}. "
        "Thin: how each example of the batch pulls at it (minus the gradient of its share of the loss, enlarged); "
        "thick: the "
        "sum of the pulls; line: the way it really went, to scale, after momentum, scaling and decay. Examples that do "
        "not hold the token do not pull, unless the embedding is also the read-out. The training was replayed."
    )
    return Film(
        run, scene, title=title, caption=caption, steps=range(len(PHASES) * len(some)), theme=theme, member=member,
        clock=clock, mark=lambda frame: some[frame // len(PHASES)].step or 0, fps=8,
    )  # fmt: skip


def _scale(points: Array, flat: Plane, some: tuple[Pull, ...]) -> float:
    """How much pulls are enlarged: the longest sum takes a fixed share of the path's extent."""
    sums = [float(np.linalg.norm(flat.directions(each.pulls.values.sum(axis=0)))) for each in some]
    extent = float(np.max(np.ptp(points, axis=0))) or 1e-6
    return REACH * extent / (max(sums) or 1.0)


def _arrows(
    stage: Stage, ax: Axes, points: Array, flat: Plane, scale: float, some: tuple[Pull, ...]
) -> Callable[[int, int], None]:
    """The point, its path, and the pulls; `move(k, phase)` puts them where they are in an update."""
    t, line = stage.theme, stage.size.line
    many = some[0].pulls.values.shape[0]
    thin = [stage.moving(ax.plot([], [], color=t.train, linewidth=line, marker="o", markevery=[-1],
                                 markersize=0.45 * stage.size.text, zorder=3)[0]) for _ in range(many)]  # fmt: skip
    thick = stage.moving(ax.plot([], [], color=t.validation, linewidth=3 * line, zorder=4)[0])
    trail = stage.moving(ax.plot([], [], color=t.ink, linewidth=0.8 * line, zorder=2)[0])
    dot = stage.moving(ax.plot([], [], marker="o", color=t.ink, markersize=0.8 * stage.size.text, zorder=5)[0])

    def move(k: int, phase: int) -> None:
        here = points[k]
        each = scale * flat.directions(some[k].pulls.values)
        for pull, arrow in zip(thin, each, strict=True):
            tip = here + (0.5 if phase == 0 else 1.0) * arrow
            pull.set_data(*np.array([here, tip]).T)
            pull.set_visible(phase < 2 and bool(np.any(arrow != 0)))
        thick.set_data(*np.array([here, here + each.sum(axis=0)]).T)
        thick.set_visible(phase == 2)
        done = points[: k + 1 + (phase == 3)]
        trail.set_data(*done.T)
        dot.set_data([done[-1][0]], [done[-1][1]])

    return move


def _rows(stage: Stage, ax: Axes, some: tuple[Pull, ...], scale: float) -> Callable[[int, int], None]:
    """The examples that pull most, with the size of their pulls."""
    _draw.bare(ax)
    ax.set_xlim(0, 1)
    ax.set_ylim(ROWS + 1.5, -0.5)
    ax.set_title(f"the batch, and how strongly each example pulls (drawn × {scale:.2g})")
    rows = [
        stage.text(ax, 0.14, k, va="center", ha="left", color=stage.theme.ink, parse_math=False) for k in range(ROWS)
    ]
    sizes = [stage.text(ax, 0.11, k, va="center", ha="right", color=stage.theme.train) for k in range(ROWS)]
    last = stage.text(ax, 0, ROWS + 0.6, va="center", ha="left", color=stage.theme.quiet)

    def write(k: int, phase: int) -> None:
        strength = np.linalg.norm(some[k].pulls.values, axis=1)
        order = np.argsort(-strength, kind="stable")[:ROWS]
        for place in range(ROWS):
            there = place < len(order)
            rows[place].set_text(_cut(some[k].sequences[order[place]]) if there else "")
            sizes[place].set_text(f"{strength[order[place]]:.2g}" if there else "")
        whole = float(np.linalg.norm(some[k].pulls.values.sum(axis=0)))
        step = float(np.linalg.norm(some[k].change.values))
        last.set_text(
            f"sum {whole:.2g} · rate {some[k].rate:.2g} · step {step:.2g}" if phase >= 2 else f"sum {whole:.2g}"
        )

    return write


def _cut(text: str) -> str:
    return text if len(text) <= 44 else f"… {text[-42:]}"
