"""How the landscape forms: the probability of each token over the plane, with one input or all pairs on it."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Labelled, Result, percent, thousands
from glassformer.analyses.landscape import Landscape, landscape
from glassformer.analyses.landscape import stage as fixed
from glassformer.errors import unknown
from glassformer.figures import _draw, _regions, _style
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.run import Run

ANSWERS = ("4.D5",)
GRID = 44
MOST = 12  # panels
POINTS = ("middle", "embedded")


@dataclass(frozen=True, kw_only=True)
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
    ages = _clock.kept(run, 7) if steps is None else [_clock.resolve(run, int(step)) for step in steps]
    some = ages[:: max(1, len(ages) // 6)]
    plane, frame = fixed(run, sequence, member, sorted({*some, ages[-1]}))
    last = landscape(run, sequence=sequence, step=ages[-1], member=member, plane=plane, frame=frame, grid=GRID)
    picked = _picked(last.probabilities.values)

    def scene(stage: Stage) -> Update:
        columns = 6 if len(picked) > 4 else len(picked)
        rows = -(-len(picked) // columns)
        panels = stage.panels(rows, columns, left=2, right=7, bottom=1, top=2.2, gap=(1, 2.4), square=True)
        light = _style.theme("dark").ink
        name = "end" if points == "middle" else "embedded"
        texts = drawn(last.points[name].axes["position" if points == "middle" else "pair"])
        pictures, stamps = [], []
        for k, panel in enumerate(panels.flat):
            if k >= len(picked):
                panel.remove()
                continue
            _regions.square(panel, frame)
            panel.set_title(f"next is {shown(last.words[last.shown_tokens[picked[k]]])}", parse_math=False)
            picture = stage.picture(panel, kind="probability", smooth=True)
            picture.origin = "lower"
            pictures.append(picture)
            stamps.append(stage.labels(panel, texts, light, scale=0.9, halo=_style.theme("dark").paper))

        _draw.bar(stage, "probability", (0, 1), "probability", beside=panels[0, -1])
        where = "after attention; what is bright there is what it says next" if points == "middle" else "at its start"
        stage.note(
            f"labels: where {_named(last, points)} stands {where}", y=(stage.foot + 0.4) * stage.em / stage.inches[1]
        )

        def update(step: int) -> Result:
            seen = landscape(run, sequence=sequence, step=step, member=member, plane=plane, frame=frame, grid=GRID)
            spots = seen.points[name].values
            clear = _regions.apart(
                np.nan_to_num(spots),
                0.1 * (frame[1] - frame[0]),
                _regions.important(seen.verdicts) if points == "middle" else list(range(len(spots))),
            )
            for place, picture, stamp in zip(picked, pictures, stamps, strict=True):
                picture.show(seen.probabilities.values[place])
                stamp.move(np.where(clear[:, None], seen.points[name].values, np.nan))
            return Seen(step=step, points=seen.points[name], probabilities=seen.at_end, won=seen.won)

        return update

    what = "this input's points" if points == "middle" else "all embeddings"
    first = landscape(run, sequence=sequence, step=int(ages[0]), member=member, plane=plane, frame=frame, grid=2)
    return Film(
        run,
        scene,
        title=_title(first, last, points) + (" (slice)" if not plane.lossless else ""),
        caption="The probability of each next token over the plane of the stream after the last attention, from 0 "
        "(dark) to 1 (bright), at each "
        f"kept step; labels are {what}. Plane and frame are fixed at those of the whole life"
        + ("" if plane.lossless else "; the plane is a slice, all other directions at their mean at the last step")
        + ".",
        steps=steps,
        frames=frames,
        pace=pace,
        theme=theme,
        member=member,
        fps=10,
    )


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
        text = " ".join(map(shown, last.tokens))
        return f"On {text}, the right next token has a mean probability of {was} at {steps[0]}, {is_now} at {steps[1]}"
    return f"Where each next token is probable, from {steps[0]} to {steps[1]}, with {_named(last, points)} on the map"


def _picked(chances: np.ndarray) -> list[int]:
    """Up to twelve tokens, those with most of the plane at the end."""
    many = len(chances)
    if many <= MOST:
        return list(range(many))
    return sorted(np.argsort(-np.nan_to_num(chances.reshape(many, -1).mean(1)), kind="stable")[:MOST].tolist())
