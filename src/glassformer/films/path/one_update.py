"""The examples of a batch pull at one embedding; then the optimiser takes its step."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._result import Array, Result, thousands
from glassformer.analyses.path.one_update import Pull, pulls, restless, steepest
from glassformer.errors import CallError
from glassformer.figures import _draw
from glassformer.films import _film
from glassformer.films._film import Film, Stage, Update
from glassformer.run import Run

ANSWERS = ("1.P8", "1.P2")
UPDATES = 50
PHASES = ("each example pulls", "each example pulls", "their sum", "the optimiser's step")
PULL, SUM = 0.25, 0.5  # of the path's extent: how long the strongest pull of an update is drawn, and their sum, at most
ROWS = 10  # examples written out
DOT = 0.6  # text heights


@_film.film
def film_one_update(
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
    scales = _scales(way, some)
    tips = [
        way[k] + scales[k] * np.vstack([each.pulls.values, each.pulls.values.sum(axis=0)])
        for k, each in enumerate(some)
    ]
    flat = plane(np.vstack([way, *tips]))

    def scene(stage: Stage) -> Update:
        ax = stage.panels(1, 1, left=7, right=1, bottom=3.6, top=2.4, within=(0, 0, 0.55, 1))[0, 0]
        every = flat.points(np.vstack([way, *tips]))
        _draw.plane_axes(ax, flat, every, theme=stage.theme, margin=0.08, origin=False)
        phases = stage.text(ax, 0, 1.02, transform=ax.transAxes, va="bottom", fontsize=stage.size.text * 1.15)
        said = stage.panels(1, 1, left=2, right=1, bottom=3.6, top=2.4, within=(0.55, 0, 1, 1))[0, 0]
        move, write = _arrows(stage, ax, flat.points(way), flat, scales, some), _rows(stage, said, some, scales)
        _legend(stage, said, word)

        def update(frame: int) -> Result:
            k, phase = divmod(frame, len(PHASES))
            move(k, phase)
            write(k, phase)
            phases.set_text(f"update to step {thousands(some[k].step or 0)}: {PHASES[phase]}")
            return some[k]

        return update

    distance = float(np.linalg.norm(way[-1] - way[0]))
    length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
    title = (
        f"In updates {thousands(begin)} to {thousands(some[-1].step or 0)} the embedding of “{word}” walks "
        f"{length:.2g} and gets {distance:.2g} away"
    )
    where = "its two features" if flat.lossless else "the plane of its path and pulls"
    caption = (
        f"One token's embedding, “{word}”, in {where}. Thin: how each example of the batch pulls at it (minus the "
        "gradient of its share of the loss, drawn to a scale of each update's own, named beside); thick: the sum of "
        "the pulls; line: the way it really went, to scale, after momentum, scaling and decay. Examples that do not "
        "hold the token do not pull, unless the embedding is also the read-out. The training was replayed."
    )
    return Film(
        run, scene, title=title, caption=caption, steps=range(len(PHASES) * len(some)), theme=theme, member=member,
        clock=lambda frame: _clock.at(run, some[frame // len(PHASES)].step or 0, member),
        mark=lambda frame: some[frame // len(PHASES)].step or 0, fps=8,
    )  # fmt: skip


def _scales(way: Array, some: tuple[Pull, ...]) -> list[float]:
    """For each update, how many times longer than in truth its pulls are drawn, so that they can be seen."""
    extent = float(np.linalg.norm(np.ptp(way, axis=0))) or 1e-6
    found = []
    for each in some:
        whole = float(np.linalg.norm(each.pulls.values.sum(axis=0)))
        strongest = float(np.linalg.norm(each.pulls.values, axis=1).max(initial=0))
        found.append(min(PULL * extent / (strongest or 1.0), SUM * extent / (whole or 1.0)))
    return found


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


def _arrows(
    stage: Stage, ax: Axes, points: Array, flat: Plane, scales: list[float], some: tuple[Pull, ...]
) -> Callable[[int, int], None]:
    """The point, its path, and the pulls; `move(k, phase)` puts them where they are in an update."""
    t, line = stage.theme, stage.size.line
    many = some[0].pulls.values.shape[0]
    thin = [stage.moving(ax.plot([], [], color=t.train, linewidth=line, marker="o", markevery=[-1],
                                 markersize=0.35 * stage.size.text, zorder=3)[0]) for _ in range(many)]  # fmt: skip
    thick = stage.moving(ax.plot([], [], color=t.validation, linewidth=3 * line, zorder=4)[0])
    trail = stage.moving(ax.plot([], [], color=t.ink, linewidth=0.8 * line, zorder=2)[0])
    dot = stage.moving(ax.plot([], [], marker="o", color=t.ink, markersize=DOT * stage.size.text, zorder=5)[0])

    def move(k: int, phase: int) -> None:
        here = points[k]
        each = scales[k] * flat.directions(some[k].pulls.values)
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


def _rows(stage: Stage, ax: Axes, some: tuple[Pull, ...], scales: list[float]) -> Callable[[int, int], None]:
    """The examples that pull most, with the size of their pulls."""
    _draw.bare(ax)
    many = min(ROWS, len(some[0].sequences))
    ax.set_xlim(0, 1)
    ax.set_ylim(ROWS + 8, -0.5)
    ax.set_title("the batch, and how strongly each example pulls")
    rows = [
        stage.text(ax, 0.16, k, va="center", ha="left", color=stage.theme.ink, parse_math=False) for k in range(ROWS)
    ]
    sizes = [stage.text(ax, 0.13, k, va="center", ha="right", color=stage.theme.train) for k in range(ROWS)]
    last = stage.text(ax, 0, many + 0.2, va="top", ha="left", color=stage.theme.quiet, linespacing=1.4)
    longest = max(float(np.linalg.norm(each.pulls.values, axis=1).max(initial=0)) for each in some)
    digits = int(np.clip(2 - np.floor(np.log10(longest or 1.0)), 1, 5)) if np.isfinite(longest) else 2

    def write(k: int, phase: int) -> None:
        strength = np.linalg.norm(some[k].pulls.values, axis=1)
        order = np.argsort(-strength, kind="stable")[:ROWS]
        for place in range(ROWS):
            there = place < len(order)
            rows[place].set_text(_cut(some[k].sequences[order[place]]) if there else "")
            pull = float(strength[order[place]]) if there else 0.0
            sizes[place].set_text(("0" if pull == 0 else _draw.number(pull, digits)) if there else "")
        whole = float(np.linalg.norm(some[k].pulls.values.sum(axis=0)))
        step = float(np.linalg.norm(some[k].change.values))
        done = f"\nlearning rate {some[k].rate:.2g} · length of the step {step:.2g}" if phase == 3 else ""
        last.set_text(f"length of the sum {_draw.number(whole, digits)} · pulls drawn × {scales[k]:.2g} here{done}")

    return write


def _cut(text: str) -> str:
    return text if len(text) <= 44 else f"… {text[-42:]}"
