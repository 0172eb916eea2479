"""How attention learns to move each position: arrows of one input over the winning regions, verdicts turning."""

from dataclasses import dataclass

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap

from glassformer.analyses import _clock
from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array, Labelled, Result, thousands
from glassformer.analyses.landscape import Landscape
from glassformer.analyses.landscape import stage as fixed
from glassformer.analyses.residual import Residual, residual
from glassformer.errors import CallError
from glassformer.figures import _draw, _regions, _style
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.run import Run

ANSWERS = ("4.15",)
GRID = 56
FINER = 8  # times as many places along a side as the grid has, on the slice of a wide model
COARSE, TIMES = 96, 5  # cells along a side of the plane, and places along a side of each cell that a border crosses


@dataclass(frozen=True, kw_only=True)
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
    ages = _clock.kept(run, 7) if steps is None else [_clock.resolve(run, int(step)) for step in steps]
    plane, frame = fixed(run, sequence, member, sorted({*ages[:: max(1, len(ages) // 6)], ages[-1]}))
    last = residual(run, sequence=sequence, step=ages[-1], member=member, plane=plane, frame=frame, grid=2)
    groups = list(dict.fromkeys(last.land.groups))
    shade = np.array([groups.index(group) / max(len(groups), 1) * 0.6 for group in last.land.groups])

    def scene(stage: Stage) -> Update:
        t = stage.theme
        ax = stage.panels(1, 1, left=4.5, right=1, bottom=3.8, top=1, within=(0, 0, 0.52, 1), square=True)[0, 0]
        side = stage.panels(1, 1, left=1.5, right=1.5, bottom=3.8, top=1, within=(0.52, 0, 1, 1))[0, 0]
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
        words = drawn(last.before.axes["position"])
        marks = {
            verdict: stage.labels(
                ax, [_regions.signed(word, verdict) for word in words], _regions.colour(verdict, t), halo=t.paper
            )
            for verdict in dict.fromkeys([*last.verdicts, "right", "wrong"])
        }
        _draw.bare(side)
        side.set_xlim(0, 1)
        rows = [k for k, verdict in enumerate(last.verdicts) if verdict]
        side.set_ylim(max(len(rows), 8) - 0.5, -1.5)
        side.text(0.0, -1, "after", va="center", color=t.quiet)
        side.text(0.24, -1, "most probable next", va="center", color=t.quiet)
        said = [stage.text(side, 0.24, k, va="center", parse_math=False) for k in range(len(rows))]
        for k, place in enumerate(rows):
            side.text(0.0, k, words[place], va="center", color=t.ink, parse_math=False)

        def update(step: int) -> Result:
            seen = residual(run, sequence=sequence, step=step, member=member, plane=plane, frame=frame, grid=GRID)
            won = _winners(seen.land)
            edge = np.zeros(won.shape, bool)
            edge[1:] |= won[1:] != won[:-1]
            edge[:, 1:] |= won[:, 1:] != won[:, :-1]
            picture.show(np.where(edge, 1.0, shade[won]))
            places = np.full((len(seen.words), 2), np.nan)
            for token, at, depth in _regions.centres(seen.regions.values, frame):
                if depth > 1:
                    places[token] = at
            names.move(places)
            begin, end = seen.points["before"].values, seen.points["middle"].values
            colours = [_regions.colour(verdict, t) for verdict in seen.verdicts]
            lines.set_segments(list(np.stack([begin, end], 1)))
            lines.set_color(colours)
            lines.set_linewidth([stage.size.line * (1.4 if v in ("right", "wrong") else 0.6) for v in seen.verdicts])
            heads.set_offsets(end)
            heads.set_facecolor(colours)
            shift = np.array([0.045 * (frame[1] - frame[0]), 0.02 * (frame[3] - frame[2])])
            clear = _regions.apart(np.nan_to_num(end), 0.05 * (frame[1] - frame[0]), _regions.important(seen.verdicts))
            for verdict, mark in marks.items():
                mine = clear & np.array([each == verdict for each in seen.verdicts])
                mark.move(np.where(mine[:, None], end + shift, np.nan))
            for text, place in zip(said, rows, strict=True):
                chances, verdict = seen.last.values[place], seen.verdicts[place]
                best = int(np.nan_to_num(chances).argmax())
                sign = _style.GLYPH.get(verdict, "")
                text.set_text(f"{shown(seen.words[best])}  {chances[best]:.2f}  {sign}")
                text.set_color(_regions.colour(verdict, t) if verdict in ("right", "wrong") else t.quiet)
            return Seen(step=step, begin=seen.points["before"], end=seen.points["middle"], probabilities=seen.last)

        return update

    first = residual(run, sequence=sequence, step=int(ages[0]), member=member, plane=plane, frame=frame, grid=2)
    return Film(
        run, scene, title=_title(first, last) + (" (slice)" if not plane.lossless else ""),
        caption="Arrows run from each position's place before the last attention to that after it; grey areas and "
        "borders show the token that would win there, "
        "colours and signs whether the answer read at each position is right. Plane and frame are fixed; beside it, "
        "the most probable next token of each position.",
        steps=steps, frames=frames, pace=pace, theme=theme, member=member,
    )  # fmt: skip


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
    return (
        f"Attention moves {text} to {right[0]} of {len(asked)} right answers at step {thousands(first.step or 0)}, "
        f"{right[1]} of {len(asked)} at step {thousands(last.step or 0)}"
    )
