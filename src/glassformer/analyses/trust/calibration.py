"""Whether its confidence can be trusted: stated probability against what came, and against the true probability."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _counted, _judged, _logged
from glassformer.analyses._result import Array, Labelled, Result, Words, thousands, result
from glassformer.run import Run
from glassformer.tasks import Examples

ORDER = 10
ANSWERS = ("1.P4",)
COST = "b"

BINS = 10
WINDOWS = 500  # held-out windows
MOMENTS = 16
FINEST = 2.0**-24  # steps of numbers just below 1, as the model has them
FEW = 10  # predictions in a bin under which its share says little


@result
class Calibration(Result):
    """Confidence against success on held-out windows, and the expected calibration error over the life."""

    reliability: dict[str, Labelled]  # (bin,): confidence, came, count, low, high (95 % of the share that came)
    confidence: dict[str, Labelled]  # (bin,): count of right and of wrong answers by confidence
    chances: Labelled  # (context, side): true and stated probability of the token that came
    error_by_step: Labelled  # (step,): expected calibration error
    error: float  # expected calibration error at the step
    apart: float  # mean |stated - true| of the token that came; NaN where the truth is not known
    predictions: int
    answered: int  # predictions that the rule settles
    wrong: int
    windows: int
    certain: bool  # the truth is always 1, as in questions with one answer


def calibration(run: Run, *, step: int = -1, member: int = 0) -> Calibration:
    """How stated and actual probabilities agree on held-out windows, at a step and over the life."""
    step = _clock.resolve(run, step)
    seen = _counted.only(run, _logged.windows(run, _judged.enough(run, WINDOWS, 1.0)))
    stated = probabilities(run, seen.windows, step, member)  # (example, place, token)
    target = targets(run, seen)
    top = stated.argmax(axis=-1)
    sure = np.take_along_axis(stated, top[..., None], -1)[..., 0]
    came = top == target
    count, mean, share = bins(sure, came)
    low, high = _judged.wilson(np.nan_to_num(share * count), count)
    settled, right = seen.answerable, np.take_along_axis(seen.allowed, top[..., None], -1)[..., 0]
    if not run.task.exact:  # in a text, only the token that came is right
        settled, right = np.ones_like(settled), came
    edges = {"bin": tuple(f"{k / BINS:.1f} to {(k + 1) / BINS:.1f}" for k in range(BINS))}
    true = np.exp(seen.truth)
    pairs = np.stack([true.ravel(), np.take_along_axis(stated, target[..., None], -1)[..., 0].ravel()], axis=1)
    life = sorted({*_clock.looks(run, MOMENTS, member), step})
    errors = [_error(run, seen, each, member) for each in life]
    return Calibration(
        step=step,
        clock=_clock.text(run, step, member),
        truth_known=run.task.exact,
        reliability={
            "confidence": Labelled(mean, edges, "probability"),
            "came": Labelled(share, edges, "share"),
            "count": Labelled(count, edges, "predictions"),
            "low": Labelled(low, edges, "share"),
            "high": Labelled(high, edges, "share"),
        },
        confidence={
            name: Labelled(
                bins(sure[settled & which], np.ones(int((settled & which).sum()), bool))[0], edges, "predictions"
            )
            for name, which in (("right", right), ("wrong", ~right))
        },
        chances=Labelled(
            pairs, {"context": tuple(map(str, range(len(pairs)))), "side": ("true", "stated")}, "probability"
        ),
        error_by_step=Labelled(np.array(errors), {"step": tuple(map(str, life))}, "probability"),
        error=expected_error(count, mean, share),
        apart=float(np.abs(pairs[:, 0] - pairs[:, 1]).mean()),
        predictions=int(target.size),
        answered=int(settled.sum()),
        wrong=int((settled & ~right).sum()),
        windows=len(seen.windows),
        certain=bool((seen.truth > -1e-9).all()),
    )


def probabilities(run: Run, windows: Array, step: int, member: int) -> Array:
    """(example, place, token): what the model states at each place that counts."""
    return run.trace(windows[:, :-1], step=step, member=member)["probabilities"][:, _counted.read(run)].astype(
        np.float64
    )


def targets(run: Run, seen: Examples) -> Array:
    """(example, place): the token that came."""
    return _counted.came(run, seen.windows)


def bins(sure: Array, came: Array) -> tuple[Array, Array, Array]:
    """Count, mean confidence and share that came, in ten equal bins of confidence; NaN where a bin is empty."""
    sure, came = np.ravel(sure), np.ravel(came)
    which = np.clip((np.nan_to_num(sure) * BINS).astype(int), 0, BINS - 1)
    count = np.bincount(which, minlength=BINS).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return count, np.bincount(which, sure, BINS) / count, np.bincount(which, came, BINS) / count


def expected_error(count: Array, mean: Array, share: Array) -> float:
    """The distance of confidence from success, averaged over predictions."""
    some = count > 0
    return float((count[some] * np.abs(mean[some] - share[some])).sum() / count.sum())


def _error(run: Run, seen: Examples, step: int, member: int) -> float:
    stated = probabilities(run, seen.windows, step, member)
    top = stated.argmax(axis=-1)
    return expected_error(*bins(stated.max(axis=-1), top == targets(run, seen)))


def say(seen: Calibration) -> Words:
    """How far confidence is from success."""
    mean = float(np.nansum(seen.reliability["confidence"].values * seen.reliability["count"].values) / seen.predictions)
    came = float(np.nansum(seen.reliability["came"].values * seen.reliability["count"].values) / seen.predictions)
    if not np.isfinite(seen.error):
        title = f"At step {seen.step} the probabilities are not numbers: the training has diverged"
    else:
        title = (
            f"The model's first choice comes true {100 * came:.1f} % of the time, and it expects {100 * mean:.1f} %; "
            f"sorted by confidence the two differ by {100 * seen.error:.1f} points"
        )
    truth = (
        " Third: what of the probability is not on the one right answer, surest answer first; numbers of this kind are "
        "no finer than about 10⁻⁷."
        if seen.certain
        else f" Third: the probability of the token that came as {seen.predictor} and as the model state it, one dot "
        f"per place of a window; they differ by {seen.apart:.3f} on average"
        + (", and the exact predictor lies on the diagonal." if seen.truth_known else "; neither need be the truth.")
    )
    caption = (
        f"Measured on {thousands(seen.predictions)} predictions in {thousands(seen.windows)} held-out windows. First: "
        "the model's first choices in ten bins of confidence, mean confidence against the share that came, with the "
        "number of predictions in each bin beside it and, for the share, its 95 % interval (Wilson); open: fewer than "
        f"{FEW}; the diagonal is perfect. "
        + (
            f"Second: confidence where the rule settles the answer ({thousands(seen.answered)} places, {seen.wrong} "
            "of them answered wrongly)."
            if seen.truth_known
            else f"Second: confidence where the first choice came and where it did not ({thousands(seen.wrong)} of "
            f"{thousands(seen.answered)} places)."
        )
        + f"{truth} Last: the expected calibration error, the distance from the diagonal averaged over predictions, by "
        "step, on the same windows, where chance alone gives a small positive value. A point whose interval misses the "
        "diagonal refutes calibration there."
    )
    return Words(title, caption, f"Charts of confidence against success. {title}.")
