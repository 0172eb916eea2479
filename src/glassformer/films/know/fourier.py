"""How waves grow in the embedding of a model that learns to add on a clock."""

import numpy as np

from glassformer.analyses._reel import Reel
from glassformer.analyses.know.fourier import KEY, Spectrum
from glassformer.films._film import Stage, Update


def caption(reel: Reel) -> str:  # noqa: ARG001
    """How to read the bars."""
    return (
        "Share of the token embedding's variance over the numbers at each frequency, sine and cosine together. The "
        f"thin line is the first kept step, dashes an even spectrum, dots {KEY:g} times that, from where a frequency "
        "is a key one. Exact at every frame."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """The spectrum of the token embedding over the numbers; key frequencies rise above the even spectrum."""
    t, first, highest = stage.theme, reel.still["first"].spectrum, reel.still["highest"].spectrum
    waves, even = first.axes["frequency"].values, 1 / len(first.values)
    ax = stage.panels(1, 1, left=6, right=2, bottom=3.6, top=1.6)[0, 0]
    ax.set(xlim=(0, len(waves) + 1), ylim=(0, 1.15 * max(float(np.nanmax(highest.values, initial=0)), 2 * KEY * even)))
    ax.set(xlabel="frequency", ylabel="share of the embedding's variance")
    ax.plot(waves, first.values, color=t.quiet, linewidth=0.6 * stage.size.line)
    ax.axhline(even, color=t.ink, linestyle="--", linewidth=0.6 * stage.size.line)
    ax.axhline(KEY * even, color=t.ink, linestyle=":", linewidth=0.6 * stage.size.line)
    bars = [stage.moving(bar) for bar in ax.bar(waves, first.values, width=0.8)]

    def update(seen: Spectrum) -> None:
        for bar, share in zip(bars, seen.spectrum.values, strict=True):
            bar.set_height(float(np.nan_to_num(share)))
            bar.set_facecolor(t.query if share >= KEY * even else t.rung)

    return update
