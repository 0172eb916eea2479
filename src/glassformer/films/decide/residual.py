"""How attention learns to move each position: arrows of one input over the winning regions, verdicts turning."""

from collections.abc import Callable
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba

from glassformer.analyses import _clock
from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array, Labelled, Result, thousands, result
from glassformer.analyses.decide.landscape import Landscape
from glassformer.analyses.decide.residual import Residual, residual
from glassformer.errors import CallError
from glassformer.figures import _draw, _regions, _style
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.films._frame import around
from glassformer.films._labels import Spread
from glassformer.run import Run

ANSWERS = ("4.15",)
GRID = 56
FINER = 8  # times as many places along a side as the grid has, on the slice of a wide model
NOTE = "lines: from before the last attention to after it (dot) · large: the token that would be said there"
SLICE = "the plane is a slice, points lie off it (the farther, the paler): signs and table tell what the model says"
SHAPE = 1.5  # width over height of the plane
COARSE, TIMES = 96, 5  # cells along a side of the plane, and places along a side of each cell that a border crosses


@result
class Seen(Result):
    """One frame: where each position begins and ends, and what is said there."""

    begin: Labelled
    end: Labelled
    probabilities: Labelled


@_film.film
def film_residual(
    run: Run,
    *,
    sequence: str | None = None,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: list[int] | None = None,
    theme: str = "light",
) -> Film:
    """Arrows from before to after the last attention, over the token that would win there."""
    if run.architecture.attention == "off" or run.architecture.width == 1:
        raise CallError("the film of the residual needs attention and at least two features")
    ages = (
        _clock.kept(run, frames, pace, member) if steps is None else [_clock.resolve(run, int(step)) for step in steps]
    )
    plane = residual(run, sequence=sequence, step=ages[-1], member=member, grid=2).plane
    frame = around(run, plane, ages, sequence=sequence, member=member, shape=SHAPE)
    last = residual(run, sequence=sequence, step=ages[-1], member=member, plane=plane, frame=frame, grid=2)
    groups = list(dict.fromkeys(last.land.groups))
    shade = np.array([groups.index(group) / max(len(groups), 1) * 0.6 for group in last.land.groups])
    cut = not plane.lossless

    def scene(stage: Stage) -> Update:
        t, shape = stage.theme, (frame[1] - frame[0]) / (frame[3] - frame[2])
        ax = stage.panels(1, 1, left=6, right=1, bottom=6.4, top=1, within=(0, 0, 0.7, 1), square=shape)[0, 0]
        table = _table(stage, ax, last)
        _regions.square(ax, frame)
        _regions.ticks(ax, plane)
        palette = LinearSegmentedColormap.from_list(
            "regions", [(0, t.paper), (0.8, t.unconstrained), (0.81, t.quiet), (1, t.quiet)]
        )
        picture = _film.Picture(palette, 0, 1, False)
        picture.origin = "lower"
        ax.add_artist(picture)
        stage.moving(picture)
        names = stage.labels(ax, [shown(word) for word in last.words], t.quiet, scale=1.5, halo=t.paper)
        names.set_zorder(1)
        lines = LineCollection([], zorder=3)
        ax.add_collection(lines, autolim=False)
        stage.moving(lines)
        heads = stage.moving(ax.scatter([], [], s=stage.size.text * 4, zorder=4, linewidths=0))
        words = drawn(last.before.axes["position"].labels)
        marks = Spread(stage, ax, words, t.ink, above=0.9)
        y = (stage.foot + 0.1) * stage.em / stage.inches[1]
        stage.note(NOTE + (f"\n{SLICE}" if cut else ""), y=y, linespacing=1.3)

        def update(step: int) -> Result:
            seen = residual(run, sequence=sequence, step=step, member=member, plane=plane, frame=frame, grid=GRID)
            won = _winners(seen.land)
            picture.show(np.where(_borders(won), 1.0, shade[won]))
            begin, end = seen.points["before"].values, seen.points["middle"].values
            near = np.maximum(0.35, np.nan_to_num(seen.land.near["end"].values)) if cut else np.ones(len(end))
            colours = [to_rgba(_regions.colour(v, t), a) for v, a in zip(seen.verdicts, near, strict=True)]
            lines.set_segments(list(np.stack([begin, end], 1)))
            lines.set_color(colours)
            lines.set_linewidth([stage.size.line * (1.4 if v in ("right", "wrong") else 0.6) for v in seen.verdicts])
            heads.set_offsets(end)
            heads.set_facecolor(colours)
            signed = [_regions.signed(word, verdict) for word, verdict in zip(words, seen.verdicts, strict=True)]
            marks.write(signed, [_regions.colour(verdict, t) for verdict in seen.verdicts])
            names.move(_name_places(ax, seen, np.vstack([marks.move(end), end])))
            table(seen)
            return Seen(step=step, begin=seen.points["before"], end=seen.points["middle"], probabilities=seen.last)

        return update

    first = residual(run, sequence=sequence, step=int(ages[0]), member=member, plane=plane, frame=frame, grid=2)
    return Film(
        run, scene, title=_title(first, last) + (" (slice)" if cut else ""),
        caption="Lines run from each position's place before the last attention to that after it (dot); grey areas and "
        "borders show the token that would win there, colours and signs whether the answer read at each position is "
        "right. Plane and frame are fixed; beside it, the most probable next token of each position."
        + (" Positions lie off the plane that is drawn; the farther, the paler. What they say is in the table, and "
           "may differ from the region around them." if cut else ""),
        steps=ages, frames=frames, theme=theme, member=member,
    )  # fmt: skip


def _borders(won: Array) -> Array:
    """(y, x): cells beside one with another winner, on both sides: a line of one cell may fall between two pixels."""
    edge = np.zeros(won.shape, dtype=bool)
    for kept, cells in ((edge, won), (edge.T, won.T)):
        differ = cells[1:] != cells[:-1]
        kept[1:] |= differ
        kept[:-1] |= differ
    return edge


def _table(stage: Stage, ax: Axes, last: Residual) -> Callable[[Residual], None]:
    """Beside the plane: what is said after each position; the function that comes back writes it anew."""
    t, words = stage.theme, drawn(last.before.axes["position"].labels)
    left, low, wide, high = stage.rects[ax]
    begin = left + wide + 2 * stage.em / stage.inches[0]
    side = stage.place((begin, low, 1 - begin, high))
    rows = [k for k, verdict in enumerate(last.verdicts) if verdict]
    _draw.bare(side)
    side.set_xlim(0, (1 - begin) * stage.inches[0] / stage.em)  # ems
    side.set_ylim(max(len(rows), 8) - 0.5, -1.5)
    side.text(0, -1, "after", va="center", color=t.quiet)
    side.text(6, -1, "the model says next", va="center", color=t.quiet)
    said = [stage.text(side, 6, k, va="center", parse_math=False) for k in range(len(rows))]
    for k, place in enumerate(rows):
        side.text(0, k, words[place], va="center", color=t.ink, parse_math=False)

    def write(seen: Residual) -> None:
        for text, place in zip(said, rows, strict=True):
            chances, verdict = seen.last.values[place], seen.verdicts[place]
            best = int(np.nan_to_num(chances).argmax())
            text.set_text(f"{shown(seen.words[best])}  {chances[best]:.2f}  {_style.GLYPH.get(verdict, '')}")
            text.set_color(_regions.colour(verdict, t) if verdict in ("right", "wrong") else t.quiet)

    return write


def _name_places(ax: Axes, seen: Residual, avoid: Array) -> Array:
    """(token, 2): where the name of each winner stands, deep in its region and away from points; NaN: no room."""
    regions, frame = seen.regions.values, seen.frame
    up, across = (np.linspace(frame[k], frame[k + 1], n) for k, n in zip((2, 0), regions.shape, strict=True))
    em = float(matplotlib.rcParams["font.size"]) * ax.figure.dpi / 72
    em *= (frame[1] - frame[0]) / ax.get_window_extent().width
    free = np.ones(regions.shape, dtype=bool)
    for x, y in avoid[np.isfinite(avoid).all(axis=1)]:
        free &= ~np.outer(abs(up - y) < 1.3 * em, abs(across - x) < 2.2 * em)
    places = np.full((len(seen.words), 2), np.nan)
    for token, at, depth in _regions.centres(regions, frame, free):
        if depth > 1:
            places[token] = at
    return places


def _winners(land: Landscape) -> Array:
    """(y, x): the token that wins at each place of a fine grid.

    The model is asked in the middle of every cell, and again at every place of the cells whose neighbours say something
    else: borders are as sharp as if it were asked everywhere, for a tenth of the questions.
    """
    chances, ids = land.probabilities.values, np.array(land.shown_tokens)
    if land.said_at is None or not np.isfinite(chances).all():
        logits = np.log(np.maximum(np.nan_to_num(chances), 1e-300)).astype(np.float32)
        slice_won: Array = ids[_regions.finer(logits, FINER).argmax(0)]
        return slice_won
    x0, x1, y0, y1 = land.frame
    middles = (np.arange(COARSE) + 0.5) / COARSE
    across, up = np.meshgrid(x0 + (x1 - x0) * middles, y0 + (y1 - y0) * middles)
    won = ids[land.said_at(np.stack([across, up], -1)).argmax(-1)]
    ring = np.pad(won, 1, mode="edge")
    mixed = np.zeros(won.shape, dtype=bool)
    for down in range(3):
        for right in range(3):
            mixed |= ring[down : down + COARSE, right : right + COARSE] != won
    fine: Array = np.kron(won, np.ones((TIMES, TIMES), dtype=int))
    rows, columns = np.nonzero(np.kron(mixed, np.ones((TIMES, TIMES), dtype=bool)))
    share = 1 / (COARSE * TIMES)
    spots = np.column_stack([x0 + (x1 - x0) * (columns + 0.5) * share, y0 + (y1 - y0) * (rows + 0.5) * share])
    fine[rows, columns] = ids[land.said_at(spots).argmax(-1)]
    return fine


def _title(first: Residual, last: Residual) -> str:
    """How many of this input's answers are right where attention moves them, first and last."""
    text = " ".join(map(shown, last.tokens))
    asked = [k for k, right in enumerate(last.right) if right]
    if not asked or not np.isfinite(last.last.values).all():
        return f"Where attention moves each position of {text}"
    right = [sum(each.verdicts[k] == "right" for k in asked) for each in (first, last)]
    ends = [f"at step {thousands(each.step or 0)}" for each in (first, last)]
    if len(asked) == 1:
        was, now = ("right" if count else "wrong" for count in right)
        return f"On {text}, the answer after attention is {was} {ends[0]} and {now} {ends[1]}"
    count = f"{right[0]} of {len(asked)} answers after attention are right"
    return f"On {text}, {count} {ends[0]} and {right[1]} {ends[1]}"
