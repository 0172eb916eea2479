"""Whether its confidence can be trusted: stated probability against what came, and against the true probability."""

import numpy as np

from glassformer.analyses import _clock, _counted, _judged, _logged
from glassformer.analyses._options import Member, Step
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, numbers, result
from glassformer.run import Run
from glassformer.tasks import Examples

ORDER = 10
ANSWERS = ("1.P4",)
COST = "b"

BINS = 10
WINDOWS = 500  # held-out windows
MOMENTS = 16


@result
class Calibration(Result):
    """Confidence against success on held-out windows, and the expected calibration error over the life."""

    reliability: dict[str, Labelled]  # (share,): confidence, came, count, low, high (95 % of what came), by bin
    confidence: dict[str, Labelled]  # (share,): count of right and of wrong answers by bin of confidence
    chances: Labelled  # (window, position, statistic): true and stated probability of the token that came
    error_by_step: Labelled  # (step,): expected calibration error
    error: float  # expected calibration error at the step
    expects: float  # mean confidence in the first choice
    comes: float  # share of the first choices that came
    apart: float  # mean |stated - true| of the token that came; NaN where the truth is not known
    predictions: int
    answered: int  # predictions that the rule settles
    wrong: int
    windows: int
    certain: bool  # the truth is always 1, as in questions with one answer
    settles: bool  # whether a rule says which tokens are right; else only the one that came is

    @property
    def title(self) -> str:
        """How far confidence is from success."""
        if not np.isfinite(self.error):
            return fate("the probabilities are not numbers", self.step)
        return (
            f"The model's first choice comes true {100 * self.comes:.1f} % of the time, and it expects "
            f"{100 * self.expects:.1f} %; sorted by confidence the two differ by {100 * self.error:.1f} points"
        )


def calibration(run: Run, *, step: Step = -1, member: Member = 0) -> Calibration:
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
    settles = run.task.measure == "rule_error" or run.task.answers == "one"
    if not settles:  # in a text, only the token that came is right
        settled, right = np.ones_like(settled), came
    words = tuple(f"{k / BINS:.1f} to {(k + 1) / BINS:.1f}" for k in range(BINS))
    edges = {"share": Axis(tuple((k + 0.5) / BINS for k in range(BINS)), words)}
    chances = np.stack([np.exp(seen.truth), np.take_along_axis(stated, target[..., None], -1)[..., 0]], axis=-1)
    at = {"window": numbers(len(chances)), "position": range(run.architecture.context)[_counted.read(run)]}
    life = sorted({*_clock.looks(run, MOMENTS, member), step})
    errors = [_error(run, seen, each, member) for each in life]
    return Calibration(
        **_clock.at_step(run, step, member),
        **_judged.about(run),
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
        chances=Labelled(chances.astype(np.float32), at | {"statistic": ("true", "stated")}, "probability"),
        error_by_step=Labelled(np.array(errors), {"step": life}, "probability"),
        error=expected_error(count, mean, share),
        expects=float(sure.mean()),
        comes=float(came.mean()),
        apart=float(np.abs(chances[..., 0] - chances[..., 1]).mean()),
        predictions=int(target.size),
        answered=int(settled.sum()),
        wrong=int((settled & ~right).sum()),
        windows=len(seen.windows),
        certain=bool((seen.truth > -1e-9).all()),
        settles=settles,
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
