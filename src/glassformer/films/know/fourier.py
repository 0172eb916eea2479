"""How waves grow in the embedding of a model that learns to add on a clock."""

from collections.abc import Sequence

import numpy as np

from glassformer.analyses._result import Result, percent, thousands
from glassformer.analyses.know.fourier import KEY, reason, spectrum_at
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.run import Run

ANSWERS = ("new",)
GLANCE = 40  # steps looked at for the limit


def applies(run: Run) -> str | None:
    """Why there is nothing to film."""
    return reason(run)


@_film.film
def film_fourier(
    run: Run,
    *,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Sequence[int] | None = None,
    theme: str = "light",
) -> Film:
    """The spectrum of the token embedding over the numbers; key frequencies rise above the even spectrum."""
    found = [
        spectrum_at(run, step=step, member=member).spectrum.values
        for step in sorted({int(run.steps[0]), *_film.glance(run, steps, GLANCE), int(run.steps[-1])})
    ]
    even = 1 / len(found[0])
    most = 1.15 * max(float(np.nanmax(found)), 2 * KEY * even)
    keys = int((found[-1] >= KEY * even).sum())

    def scene(stage: Stage) -> Update:
        t = stage.theme
        ax = stage.panels(1, 1, left=6, right=2, bottom=3.6, top=1.6)[0, 0]
        waves = np.arange(1, len(found[0]) + 1)
        ax.set_xlim(0, len(waves) + 1)
        ax.set_ylim(0, most)
        ax.set_xlabel("frequency")
        ax.set_ylabel("share of the embedding's variance")
        ax.plot(waves, found[0], color=t.quiet, linewidth=0.6 * stage.size.line)
        ax.axhline(even, color=t.ink, linestyle="--", linewidth=0.6 * stage.size.line)
        ax.axhline(KEY * even, color=t.ink, linestyle=":", linewidth=0.6 * stage.size.line)
        bars = [stage.moving(bar) for bar in ax.bar(waves, found[0], width=0.8)]

        def update(step: int) -> Result:
            seen = spectrum_at(run, step=step, member=member)
            for bar, share in zip(bars, seen.spectrum.values, strict=True):
                bar.set_height(float(np.nan_to_num(share)))
                bar.set_facecolor(t.query if share >= KEY * even else t.rung)
            return seen

        return update

    last = thousands(int(run.steps[-1]))
    strongest = percent(float(np.nanmax(found[-1], initial=0)))
    title = (
        f"{keys} key frequenc{'y' if keys == 1 else 'ies'} in the embedding at step {last}"
        if keys
        else f"No frequency stands out by step {last}: the strongest holds {strongest}"
    )
    caption = (
        "Share of the token embedding's variance over the numbers at each frequency, sine and cosine together. The "
        f"thin line is the first kept step, dashes an even spectrum, dots {KEY:g} times that, from where a frequency "
        "is a key one. Exact at every frame."
    )
    return Film(
        run, scene, title=title, caption=caption, steps=steps, frames=frames, pace=pace, theme=theme, member=member
    )
