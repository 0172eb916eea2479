"""How the landscape forms: the probability of each token over the plane, with one input or all pairs on it."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses import _clock
from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Labelled, Result, percent, result, thousands
from glassformer.analyses.decide.landscape import Landscape, landscape, telling
from glassformer.errors import unknown
from glassformer.figures import _draw, _regions, _style
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.films._frame import around
from glassformer.films._labels import Spread
from glassformer.run import Run

ANSWERS = ("4.D5",)
GRID = 44
MOST = 12  # panels
NAMED = 8  # points with a name
POINTS = ("middle", "embedded")


@result
class Seen(Result):
    """One frame: where the points are, what the model says of the input, and who wins the plane."""

    points: Labelled
    probabilities: Labelled
    won: Labelled


@_film.film
def film_landscape(
    run: Run,
    *,
    sequence: str | None = None,
    points: str = "middle",
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: list[int] | None = None,
    theme: str = "light",
) -> Film:
    """One map per token; `points`: where this input ends (`middle`), or all pairs as `embedded`."""
    if points not in POINTS:
        raise unknown(points, "points", POINTS)
    ages = (
        _clock.kept(run, frames, pace, member) if steps is None else [_clock.resolve(run, int(step)) for step in steps]
    )
    plane = landscape(run, sequence=sequence, step=ages[-1], member=member, grid=2).plane
    frame = around(run, plane, ages, sequence=sequence, member=member, embedded=points == "embedded")
    last = landscape(run, sequence=sequence, step=ages[-1], member=member, plane=plane, frame=frame, grid=GRID)
    picked = _picked(last)
    name = "end" if points == "middle" else "embedded"

    def scene(stage: Stage) -> Update:
        panels = _panels(stage, last, picked)
        light, dark = _style.theme("dark").ink, _style.theme("dark").paper
        texts = drawn(last.points[name].axes["position" if points == "middle" else "pair"])
        told = _told(last, name)
        pictures, dots, names = [], [], []
        for panel in panels:
            picture = stage.picture(panel, kind="probability", smooth=True)
            picture.origin = "lower"
            pictures.append(picture)
            dots.append(stage.moving(_draw.dots(
                panel, np.zeros((0, 2)), colour=light, scale=1.0 if points == "middle" else 0.5, zorder=3,
                edgecolors=light, linewidths=0.5 * stage.size.line,
            )))  # fmt: skip
            names.append(Spread(stage, panel, [texts[k] for k in told], light, 0.9, above=0.9, halo=dark))
        palette = _style.colormap("probability", stage.theme.name)
        stage.note(_note(last, points, len(picked)), y=(stage.foot + 0.1) * stage.em / stage.inches[1], linespacing=1.3)

        def update(step: int) -> Result:
            seen = landscape(run, sequence=sequence, step=step, member=member, plane=plane, frame=frame, grid=GRID)
            spots = seen.points[name].values
            true = seen.at_end.values if points == "middle" else seen.said.values  # (point, token): what it says there
            names[0].move(spots[told])
            for place, picture, dot, label in zip(picked, pictures, dots, names, strict=True):
                picture.show(seen.probabilities.values[place])
                dot.set_offsets(spots)
                dot.set_facecolor(palette(np.nan_to_num(true[:, seen.shown_tokens[place]])))
                label.put(*names[0].now)  # all maps are alike
            return Seen(step=step, points=seen.points[name], probabilities=seen.at_end, won=seen.won)

        return update

    what = "this input's positions" if points == "middle" else "all embeddings"
    first = landscape(run, sequence=sequence, step=int(ages[0]), member=member, plane=plane, frame=frame, grid=2)
    return Film(
        run,
        scene,
        title=_title(first, last, points) + (" (slice)" if last.is_slice else ""),
        caption="The probability of each next token over the plane of the stream after the last attention, from 0 "
        f"(dark) to 1 (bright), at each kept step; dots are {what}, filled with the probability that the model really "
        "gives the token there. Plane and frame are fixed at those of the whole life"
        + (
            "; the plane is a slice, all other directions at their mean at the last step, so what is said at a point "
            "off the plane may differ from the map around its dot"
            if last.is_slice
            else ""
        )
        + ".",
        steps=ages,
        frames=frames,
        theme=theme,
        member=member,
        fps=10,
    )


def _panels(stage: Stage, last: Landscape, picked: list[int]) -> list[Axes]:
    """One map per token, as large as the room allows; the lowest at the left has the axes."""
    shape = (last.frame[1] - last.frame[0]) / (last.frame[3] - last.frame[2])
    many, (wide, high) = len(picked), stage.room
    grids = [(-(-many // n), n) for n in range(1, many + 1)]  # rows, columns
    sides = [min((wide - 13 - n) / n / shape, (high - 9 - 2.4 * rows) / rows) for rows, n in grids]
    rows, columns = grids[int(np.argmax(np.round(sides, 1)))]
    grid = stage.panels(rows, columns, left=5, right=7, bottom=6.4, top=2.2, gap=(1, 2.4), square=shape)
    for panel in grid.flat[many:]:
        panel.remove()
    for k, panel in enumerate(grid.flat[:many]):
        _regions.square(panel, last.frame)
        panel.set_title(f"next is {shown(last.words[last.shown_tokens[picked[k]]])}", parse_math=False)
    _regions.ticks(grid[-1, 0], last.plane)
    _draw.bar(stage, "probability", (0, 1), "probability", beside=grid[0, -1])
    return list(grid.flat[:many])


def _told(last: Landscape, name: str) -> list[int]:
    """The points with a name, the same in all frames: those with an answer, then others that end apart from them."""
    spots = np.nan_to_num(last.points[name].values)
    order = _regions.important(last.verdicts) if name == "end" else list(range(len(spots)))
    clear = _regions.apart(spots, 0.14 * (last.frame[1] - last.frame[0]), order)
    return [k for k in order if clear[k]][:NAMED]


def _note(last: Landscape, points: str, maps: int) -> str:
    """What the dots are, and on a slice what the maps are not."""
    who = f"dots: {_named(last, points)}{' after attention' if points == 'middle' else ', as embedded'}"
    if last.is_slice:
        text = "they lie off this slice: not the map around a dot but its filling is what the model says there"
    else:
        text = "what is bright there is what the model says next"
    left = len(last.words) - maps
    return f"{who}{f' · {maps} of {len(last.words)} tokens have a map' if left else ''}\n{text}"


def _named(last: Landscape, points: str) -> str:
    return f"each position of {' '.join(map(shown, last.tokens))}" if points == "middle" else "every token"


def _title(first: Landscape, last: Landscape, points: str) -> str:
    """How probable the right tokens of this input become, or that there is no right one."""
    steps = f"step {thousands(first.step or 0)}", f"step {thousands(last.step or 0)}"
    ends = [
        [float(each.at_end.values[k, list(right)].sum()) for k, right in enumerate(each.right) if right]
        for each in (first, last)
    ]
    if points == "middle" and ends[1] and np.isfinite(ends).all():
        was, is_now = (percent(float(np.mean(each))) for each in ends)
        text, mean = " ".join(map(shown, last.tokens)), "probability" if len(ends[1]) == 1 else "mean probability"
        return f"On {text}, the right next token has a {mean} of {was} at {steps[0]}, {is_now} at {steps[1]}"
    return f"Where each next token is probable, from {steps[0]} to {steps[1]}, with {_named(last, points)} on the map"


def _picked(last: Landscape) -> list[int]:
    """Up to twelve tokens: the answers of this input, then those with most of the plane, if they somewhere get much."""
    chances = np.nan_to_num(last.probabilities.values.reshape(len(last.shown_tokens), -1))
    asked = {token for right in last.right for token in right}
    answers = [k for k, token in enumerate(last.shown_tokens) if token in asked]
    order = answers + [int(k) for k in np.argsort(-chances.mean(1), kind="stable") if k in telling(last)]
    return sorted(list(dict.fromkeys(order))[:MOST])
