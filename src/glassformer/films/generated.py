"""The same sequences, the same random numbers, written by an ever better model."""

from collections.abc import Iterable

import numpy as np
from matplotlib.colors import to_rgb

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Result, percent
from glassformer.analyses.generated import generated, say
from glassformer.figures import _draw, _style
from glassformer.films._film import Film, Pace, Stage, Update, film
from glassformer.run import Run

ANSWERS = ("4.04",)
GLYPHS = ("", "", _style.GLYPH["right"], _style.GLYPH["wrong"], _style.GLYPH["not_in_view"])  # by code of the verdict
WASH = 0.3  # how much of the verdict's colour is in a cell


def applies(run: Run) -> str | None:
    """Why there is nothing to show."""
    return None if run.task.answers == "next" else "this task has one answer, so nothing is written token by token"


@film
def film_generated(
    run: Run,
    *,
    member: int = 0,
    seed: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Iterable[int] | None = None,
    theme: str = "light",
) -> Film:
    """Six sequences of up to 24 tokens, written anew at every step; each cell shows its verdict."""
    tokens = 24 if max(map(len, run.task.vocabulary)) <= 2 else 12

    def scene(stage: Stage) -> Update:
        t = stage.theme
        ax = stage.panels(1, 1, left=1.5, right=1.5, bottom=2.8, top=2.4)[0, 0]
        _draw.bare(ax)
        rows = 6
        ax.set_xlim(-0.5, tokens - 0.5)
        ax.set_ylim(rows - 0.5, -0.5)
        paper = np.array(to_rgb(t.paper))
        judged = [paper + WASH * (np.array(to_rgb(colour)) - paper) for colour in (t.right, t.wrong)]
        colours = np.array([paper, to_rgb(t.unconstrained), *judged, to_rgb(t.masked)])  # by code of the verdict
        picture = stage.moving(
            ax.imshow(
                np.ones((rows, tokens, 3)),
                aspect="auto",
                interpolation="none",
                extent=(-0.5, tokens - 0.5, rows - 0.5, -0.5),
                zorder=1,
            )
        )
        ax.set_autoscale_on(False)
        grid = {"color": t.paper, "linewidth": 2 * stage.size.line, "zorder": 2}
        for edge in np.arange(tokens + 1) - 0.5:
            stage.moving(ax.axvline(edge, **grid))
        for edge in np.arange(rows + 1) - 0.5:
            stage.moving(ax.axhline(edge, **grid))
        words = [shown(word) for word in run.task.vocabulary]
        inks = (t.ink, t.ink, t.ink, t.wrong, t.ink)
        stamps = stage.labels(
            ax, [f"{word}{glyph}" for glyph in GLYPHS for word in words], [ink for ink in inks for _ in words]
        )
        images = list(stamps.images)
        places = np.array([(column, row) for row in range(rows) for column in range(tokens)], dtype=float)
        said = stage.text(ax, 0, 1.02, transform=ax.transAxes, va="bottom")
        stage.legend(
            ["right", "wrong", "unconstrained", "not_in_view"], y=(stage.foot + 0.2) * stage.em / stage.inches[1]
        )

        def update(step: int) -> Result:
            seen = generated(
                run, steps=[step], member=member, seed=seed, tokens=tokens, sequences=rows, choices=("sampled",)
            )
            codes, ids = seen.verdicts.values[0, 0], seen.tokens.values[0, 0]
            picture.set_data(colours[codes])
            stamps.images = [
                images[len(words) * int(code) + int(token)]
                for code, token in zip(codes.ravel(), ids.ravel(), strict=True)
            ]
            stamps.move(places)
            wrong, asked = seen.counts.values[0, 0]
            error = f"{percent(wrong / asked)}: {int(wrong)} of {int(asked)}" if asked else "none of 0"
            said.set_text(f"wrong among the constrained tokens of these six: {error}")
            return seen

        return update

    whole = say(
        generated(run, member=member, seed=seed, choices=("sampled",), steps=[int(run.steps[0]), _clock.resolve(run)])
    )
    return Film(
        run,
        scene,
        title=whole.title,
        alt=whole.alt,
        steps=steps,
        frames=frames,
        pace=pace,
        theme=theme,
        member=member,
        caption="Six sequences written by the model from the same first tokens and with the same random numbers "
        "at every step, at "
        "temperature 1; cells are coloured by verdict as in the figure of the same name. What changes from frame "
        "to frame is the model.",
    )
