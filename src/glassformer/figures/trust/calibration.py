"""Whether its confidence can be trusted: confidence against success, against truth, and over the life."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import percent, thousands
from glassformer.analyses.trust.calibration import Calibration
from glassformer.figures import _draw, _life

FINEST = 2.0**-24  # steps of numbers just below 1, as the model has them
FEW = 10  # predictions in a bin under which its share says little


def draw(seen: Calibration, look: _draw.Look) -> Figure:
    """Reliability, confidence of right and wrong answers, stated against true probability, error by step."""
    sheet = look.sheet(seen, _caption(seen), "Charts of confidence against success", height=6.8)
    t = sheet.theme
    reliable, confident, true, life = sheet.panels(2, 2, left=7, right=2, bottom=4, top=2.4, gap=(7.5, 6.5)).flat
    count, mean, came = (seen.reliability[name].values for name in ("count", "confidence", "came"))
    centres = np.array(seen.confidence["right"].axes["share"].values)
    some = count > 0
    low, high = (seen.reliability[name].values for name in ("low", "high"))
    reliable.vlines(mean[some], low[some], high[some], color=t.ink, linewidth=sheet.size.line * 0.6)
    for which, fill in ((count >= FEW, t.ink), ((count > 0) & (count < FEW), t.paper)):
        reliable.plot(mean[which], came[which], marker="o", color=t.ink, markerfacecolor=fill, linestyle="")
    reliable.plot([0, 1], [0, 1], color=t.rung, linestyle="--", zorder=1)
    reliable.set(xlim=(0, 1.01), ylim=(-0.06, 1.12), yticks=[0, 0.25, 0.5, 0.75, 1])
    reliable.set(xlabel="confidence in the first choice", ylabel="share that came")
    along = np.linspace(0, 1, 40)[:, None]
    apart = np.stack([np.tile(mean[some], 40), (low[some] + along * (high - low)[some]).ravel()], axis=1)
    apart = np.vstack([apart, np.hstack([along, along])])  # no number on an interval or on the diagonal
    _draw.labels(reliable, np.stack([mean, came], axis=1)[some], [thousands(int(n)) for n in count[some]],
                 colours=t.quiet, keep_clear=apart, tied=True)  # fmt: skip
    few = bool((some & (count < FEW)).any())
    reliable.set_title(f"confidence and success (n beside{f'; open: n < {FEW}' if few else ''})")
    base, said = np.zeros(len(centres)), {"right": "right", "wrong": "wrong"}
    said = said if seen.settles else {"right": "came", "wrong": "did not come"}
    for name in ("right", "wrong"):
        bars = seen.confidence[name].values
        confident.bar(
            centres,
            bars,
            bottom=base,
            width=0.09,
            facecolor=(t[name], 0.3),
            edgecolor=t[name],
            hatch="" if name == "right" else "////",
            linewidth=sheet.size.line * 0.7 * (bars > 0),
            label=f"{said[name]}: {thousands(int(bars.sum()))}" if bars.any() else None,
        )
        base = base + bars
    if base.any():
        confident.legend(loc="upper center" if base[-1] > base.max() / 2 else "upper right")
    confident.set(ylim=(0, 1.08 * max(float(base.max()), 1)), xlim=(0, 1), xlabel="confidence in the first choice")
    confident.set_ylabel("answerable places" if seen.settles else "places")
    confident.set_title("where the rule settles the answer" if seen.settles else "first choices that came, and not")
    if seen.certain:
        _doubt(true, seen)
    else:
        pairs = seen.chances.values.reshape(-1, 2)
        true.plot([0, 1], [0, 1], color=t.rung, linestyle="--", zorder=3)
        _draw.dots(true, pairs, colour=t.ink, scale=0.9, alpha=0.2)
        true.set(xlim=(0, 1.02), ylim=(0, 1.02))
        true.set_xlabel(f"{'true probability' if seen.truth_known else 'probability by counts'} of the token that came")
        true.set_ylabel("stated probability")
        true.set_title(f"stated and {'true' if seen.truth_known else 'counted'}, one dot per place")
    steps = seen.error_by_step.axes["step"].values
    errors = seen.error_by_step.values
    life.plot(steps, errors, color=t.validation, linestyle="--", marker="o", markersize=sheet.size.text * 0.35)
    life.axvline(seen.step, color=t.quiet, linewidth=sheet.size.line * 0.4)
    life.set_ylim(0, max(0.02, 1.15 * float(np.nanmax(errors))) if np.isfinite(errors).any() else 1)
    life.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))  # no 12.5 %, which would be written 12 %
    life.yaxis.set_major_formatter(lambda value, _: percent(value))
    life.set(ylabel="error", title="mean distance from the diagonal, by step")
    _draw.steps_axis(life)
    return sheet.done()


def _caption(seen: Calibration) -> str:
    count = seen.reliability["count"].values
    few = bool(((count > 0) & (count < FEW)).any())
    truth = (
        " Third: what of the probability is not on the one right answer, surest answer first; numbers of this kind are "
        "no finer than about 10⁻⁷."
        if seen.certain
        else f" Third: the probability of the token that came as {seen.predictor} and as the model state it, one dot "
        f"per place of a window; they differ by {seen.apart:.3f} on average"
        + (", and the exact predictor lies on the diagonal." if seen.truth_known else "; neither need be the truth.")
    )
    return (
        f"Measured on {thousands(seen.predictions)} predictions in {thousands(seen.windows)} {seen.whose} windows. "
        "First: the model's first choices in ten bins of confidence, mean confidence against the share that came, "
        "with the "
        "number of predictions in each bin beside it and, for the share, its 95 % interval "
        f"(Wilson){f'; open: fewer than {FEW}' if few else ''}; the diagonal is perfect. "
        + (
            f"Second: confidence where the rule settles the answer ({thousands(seen.answered)} places, {seen.wrong} "
            "of them answered wrongly)."
            if seen.settles
            else f"Second: confidence where the first choice came and where it did not (at {thousands(seen.wrong)} "
            f"of {thousands(seen.answered)} places)."
        )
        + f"{truth} Last: the expected calibration error, the distance from the diagonal averaged over predictions, by "
        "step, on the same windows, where chance alone gives a small positive value. A point whose interval misses the "
        "diagonal refutes calibration there."
    )


def _doubt(ax: Axes, seen: Calibration) -> None:
    """Where one answer is right: what of the probability is not on it, surest answer first."""
    left = np.sort(np.maximum(1 - seen.chances.values[..., 1].ravel(), FINEST))
    known = left[np.isfinite(left)]
    ax.plot((np.arange(len(known)) + 0.5) / max(len(known), 1), known, marker="." if len(known) < 10 else "")
    ax.set(xlim=(0, 1), ylim=(known.min(initial=1) / 2, min(2 * known.max(initial=FINEST), 1.5)))
    _life.logarithmic(ax)
    ax.set(xlabel="share of the answers, surest first", ylabel="1 − p(right)", title="what is left to doubt")
