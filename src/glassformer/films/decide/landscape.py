"""How the landscape forms: the probability of each token over the plane, with one input or all pairs on it."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._reel import Reel
from glassformer.analyses._verdicts import read
from glassformer.analyses.decide.landscape import Landscape, dots
from glassformer.figures import _draw, _regions, _style
from glassformer.films._film import Stage, Update
from glassformer.films._labels import Spread

NAMED = 8  # points with a name
FPS = 10


def caption(reel: Reel) -> str:
    """How to read the maps."""
    last: Landscape = reel.still["last"]
    what = "this input's positions" if last.shown_points == "middle" else "all embeddings"
    return (
        "The probability of each next token over the plane of the stream after the last attention, from 0 (dark) to 1 "
        f"(bright), at each kept step; dots are {what}, filled with the probability that the model really gives the "
        "token there. Plane and frame are fixed at those of the whole life"
        + (
            "; the plane is a slice, all other directions at their mean at the last step, bent to pass through the dots"
            if last.is_slice
            else ""
        )
        + "."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """One map per token; dots are where this input ends, or all pairs as embedded."""
    last: Landscape = reel.still["last"]
    ends = last.shown_points == "middle"
    name = "end" if ends else "embedded"
    light, dark = _style.theme("dark").ink, _style.theme("dark").paper
    texts = drawn(next(iter(last.points[name].axes.values())))
    kept = read(last.verdicts) if ends else list(range(len(texts)))  # nothing is said at the others
    told = _told(last, name, kept)
    pictures, marks, names = [], [], []
    for panel in _panels(stage, last):
        picture = stage.picture(panel, kind="probability", smooth=True)
        picture.origin = "lower"
        pictures.append(picture)
        marks.append(stage.moving(_draw.dots(
            panel, np.zeros((0, 2)), colour=light, scale=1.0 if ends else 0.5, zorder=3, edgecolors=light,
            linewidths=0.5 * stage.size.line,
        )))  # fmt: skip
        names.append(Spread(stage, panel, [texts[k] for k in told], light, 0.9, above=0.9, halo=dark))
    palette = _style.colormap("probability", stage.theme.name)
    stage.note(_note(last), y=(stage.foot + 0.1) * stage.em / stage.inches[1], linespacing=1.3)

    def update(seen: Landscape) -> None:
        spots = seen.points[name].values
        true = seen.at_end.values[kept][:, list(seen.shown_tokens)] if ends else seen.said.values  # what it says there
        names[0].move(spots[told])
        for k, (picture, mark, label) in enumerate(zip(pictures, marks, names, strict=True)):
            picture.show(seen.probabilities.values[k])
            mark.set_offsets(spots[kept])
            mark.set_facecolor(palette(np.nan_to_num(true[:, k])))
            label.put(*names[0].now)  # all maps are alike

    return update


def _panels(stage: Stage, last: Landscape) -> list[Axes]:
    """One map per token, as large as the room allows; the lowest at the left has the axes."""
    shape = (last.frame[1] - last.frame[0]) / (last.frame[3] - last.frame[2])
    many, (wide, high) = len(last.shown_tokens), stage.room
    grids = [(-(-many // n), n) for n in range(1, many + 1)]  # rows, columns
    sides = [min((wide - 13 - n) / n / shape, (high - 9 - 2.4 * rows) / rows) for rows, n in grids]
    rows, columns = grids[int(np.argmax(np.round(sides, 1)))]
    grid = stage.panels(rows, columns, left=5, right=7, bottom=6.4, top=2.2, gap=(1, 2.4), square=shape)
    for panel in grid.flat[many:]:
        panel.remove()
    for k, panel in enumerate(grid.flat[:many]):
        _regions.square(panel, last.frame)
        panel.set_title(f"next is {shown(last.words[last.shown_tokens[k]])}", parse_math=False)
    _regions.ticks(grid[-1, 0], last.plane)
    _draw.bar(stage, "probability", (0, 1), "probability", beside=grid[0, -1])
    return list(grid.flat[:many])


def _told(last: Landscape, name: str, kept: list[int]) -> list[int]:
    """The points with a name, the same in all frames: those with an answer, then others that end apart from them."""
    spots = np.nan_to_num(last.points[name].values)
    order = [k for k in _regions.important(last.verdicts) if k in kept] if name == "end" else kept
    clear = _regions.apart(spots, 0.14 * (last.frame[1] - last.frame[0]), order)
    return [k for k in order if clear[k]][:NAMED]


def _note(last: Landscape) -> str:
    """What the dots are, and on a slice what the maps are not."""
    maps = len(last.shown_tokens)
    who = f"dots: {dots(last)}{' after attention' if last.shown_points == 'middle' else ', as embedded'}"
    if last.is_slice:
        text = "the map is a slice, bent to pass through them: what is bright there is what the model says next"
    else:
        text = "what is bright there is what the model says next"
    left = len(last.words) - maps
    return f"{who}{f' · {maps} of {len(last.words)} tokens have a map' if left else ''}\n{text}"
