"""All seeds' embeddings finding their places, aligned once at the last step."""

from collections.abc import Iterable

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Result, thousands
from glassformer.analyses.trust.seeds_aligned import seeds_aligned, median, say
from glassformer.figures import _draw, _style
from glassformer.films._film import Film, Pace, Stage, Update, film
from glassformer.films._labels import Spread
from glassformer.run import Run

ANSWERS = ("1.Q40",)
NEEDS = "population"


def applies(run: Run) -> str | None:
    """Why there is nothing to show."""
    return None if run.members > 1 else "this run has one member; several seeds are needed"


@film
def film_seeds_aligned(
    run: Run, *, frames: int = 200, pace: Pace = "even", steps: Iterable[int] | None = None, theme: str = "light"
) -> Film:
    """Token embeddings of all seeds, each turned, mirrored and scaled as fits best at the last step."""
    last = _clock.resolve(run)
    end = seeds_aligned(run, step=last)

    def scene(stage: Stage) -> Update:
        t = stage.theme
        ax = stage.panels(1, 1, left=6, right=1, bottom=3.6, top=1.8, within=(0, 0, 0.6, 1))[0, 0]
        strip = stage.panels(1, 1, left=6, right=2, bottom=3.6, top=1.8, within=(0.6, 0, 1, 1))[0, 0]
        some = [seeds_aligned(run, step=each, fit=last).points.values for each in _clock.kept(run, 25)]
        _draw.plane_axes(ax, end.plane, np.concatenate([each.reshape(-1, 2) for each in some]), theme=t,
                         origin=False)  # fmt: skip
        ax.set_xlabel("aligned axis 1" if end.plane.lossless else end.plane.labels[0])
        ax.set_ylabel("aligned axis 2" if end.plane.lossless else end.plane.labels[1])
        marks = _style.markers(run.task)
        seeds = [
            (
                list(tokens),
                stage.moving(
                    ax.plot(
                        [], [], linestyle="", marker=marks[group], color=t.masked, markersize=0.5 * stage.size.text
                    )[0]
                ),
            )
            for group, tokens in end.groups.items()
        ]
        shapes = [_draw.handle((group, marks[group], t.masked), t) for group in end.groups]
        ax.legend(handles=shapes, loc="upper left", borderaxespad=0.2)
        names = Spread(stage, ax, [shown(word) for word in end.mean.axes["token"].labels], t.ink, 1.2)
        low, half, high = end.random.values
        strip.axhspan(low, high, color=t.unconstrained, linewidth=0)
        strip.axhline(half, color=t.quiet, linestyle="--")
        strip.set_ylim(0, 1)
        strip.set_xlim(-1, 1)
        strip.set_xticks([])
        strip.set_ylabel("distance between two seeds after the best turn")
        strip.text(0.98, low - 0.01, "random embeddings", ha="right", va="top", color=t.quiet)
        pairs = stage.moving(
            strip.plot([], [], linestyle="", marker="_", color=t.ink, markersize=2 * stage.size.text)[0]
        )
        middle = stage.moving(strip.plot([], [], linestyle="", marker="D", color=t.ink)[0])
        upper = np.triu_indices(end.members, 1)

        def update(step: int) -> Result:
            seen = seeds_aligned(run, step=step, fit=last)
            for tokens, dots in seeds:
                xy = seen.points.values[:, tokens].reshape(-1, 2)
                dots.set_data(xy[:, 0], xy[:, 1])
            names.move(seen.mean.values)
            found = seen.distance.values[upper]
            pairs.set_data(np.zeros(len(found)), found)
            middle.set_data([0], [median(seen)])
            return seen

        return update

    words = say(end)
    return Film(
        run,
        scene,
        title=words.title.replace("At step", "By step", 1).partition("; ")[0],  # what follows is not drawn here
        alt=words.alt,
        steps=None if steps is None else [_clock.resolve(run, int(step)) for step in steps],
        frames=frames,
        pace=pace,
        theme=theme,
        member=None,
        clock=lambda step: _told(run, step),
        caption="Token embeddings of all seeds (marks, shape by token group) and their mean (labels); the rotation, "
        "reflection and scale of each seed are those that fit best at the last step and do not change. Right: the "
        "distance of every two seeds after the best turn at that very step (dashes, median as a diamond), with the "
        "middle 90 % of random embeddings in grey.",
    )


def _told(run: Run, step: int) -> str:
    """The clock of all seeds: the median of their losses, on which the mark of the strip stands."""
    losses = run.metrics.get("validation_loss")
    text = f"{run.members} seeds · step {thousands(step)} of {thousands(_clock.total(run))}"
    if losses is None or not len(losses):
        return text
    value, exact = _clock.between(run.metrics["step"], np.nanmedian(losses, axis=1), step)
    return f"{text} · median loss {'' if exact else '≈ '}{value:.2f}"
