"""Several runs side by side: one metric over their lives, the best each reached, and whether they truly differ."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _passage
from glassformer.analyses._result import Array, Labelled, Result, Words, thousands, result
from glassformer.analyses.trust.calibration import probabilities, targets
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._text import Text

ORDER = 40
ANSWERS = ("2.F2", "2.T1", "1.P9")
COST = "b"
NEEDS = "runs"

WINDOWS = 400
METRICS = {"loss": "validation_loss", "perplexity": "validation_loss", "bits": "validation_loss", "excess": "excess"}
UNITS = {"loss": "nats per token", "perplexity": "tokens", "bits": "per character", "excess": "nats per token"}


@result
class Comparison(Result):
    """One metric of several runs; of a population the median, lowest and highest member."""

    curves: dict[str, Labelled]  # run → (step, member_range): median, lowest, highest
    reached: Labelled  # (run, column): best, at step, last, parameters, seconds
    difference: Labelled  # (run, column): loss above the best run's on the same held-out windows, half width of 95 %
    metric: str
    same: bool  # one task, one data set, one window: losses can be compared window by window
    texts: bool  # all of them are texts
    best: int
    members: tuple[int, ...]

    def unit(self) -> str:
        """Of the metric."""
        return UNITS[self.metric]


def comparison(runs: Sequence[Run] | Run, *, metric: str | None = None) -> Comparison:
    """`metric`: loss, perplexity, bits (per character) or excess.

    None: perplexity where the same tokens are predicted, bits where one text is cut in several ways, else excess.
    """
    runs = [runs] if isinstance(runs, Run) else list(runs)
    if not runs:
        raise CallError("there is nothing to compare; give one run or more")
    same = all(r.task == runs[0].task and r.architecture.context == runs[0].architecture.context for r in runs)
    metric = metric or ("perplexity" if same else _fair(runs))
    if metric not in METRICS:
        raise CallError(f"metric = {metric!r} is not one of: {', '.join(METRICS)}")
    names = _names(runs)
    curves, rows = {}, []
    for name, run in zip(names, runs, strict=True):
        values = run.metrics.get(METRICS[metric])
        if values is None or not len(values):
            raise CallError(f"{run.name} has logged no {METRICS[metric]}; it cannot be compared")
        every = values.reshape(len(values), -1)
        every = np.exp(every) if metric == "perplexity" else every / _nats_per_bit(run) if metric == "bits" else every
        spread = np.stack([np.median(every, axis=1), every.min(axis=1), every.max(axis=1)], axis=1)
        steps = run.metrics["step"]
        curves[name] = Labelled(
            spread,
            {"step": tuple(map(str, steps.tolist())), "member_range": ("median", "lowest", "highest")},
            UNITS[metric],
        )
        middle = spread[:, 0]
        at = int(np.nanargmin(middle)) if np.isfinite(middle).any() else 0
        seconds = run.times.get("seconds")
        rows.append(
            [
                middle[at],
                steps[at],
                middle[-1],
                run.parameters,
                float(seconds[-1]) if seconds is not None and len(seconds) else np.nan,
            ]
        )
    lowest, at_steps = np.array(rows, dtype=float).T[:2]
    best = int(np.nanargmin(lowest)) if np.isfinite(lowest).any() else 0
    columns = ("best", "at step", "last", "parameters", "seconds")
    return Comparison(
        curves=curves,
        reached=Labelled(np.array(rows, dtype=float), {"run": tuple(names), "column": columns}),
        difference=Labelled(
            _differences(runs, lowest, at_steps, best, same),
            {"run": tuple(names), "side": ("difference", "half width")},
            "nats per token" if same else UNITS[metric],
        ),
        metric=metric,
        same=same,
        texts=all(isinstance(run.task, Text) for run in runs),
        best=best,
        members=tuple(run.members for run in runs),
    )


def _fair(runs: Sequence[Run]) -> str:
    """The metric in which runs of different tasks or windows can be compared."""
    texts = [run.task for run in runs if isinstance(run.task, Text)]
    if len(texts) < len(runs) or any(
        (text.text, text.validation, text.test) != (texts[0].text, texts[0].validation, texts[0].test) for text in texts
    ):
        return "excess"
    if all(text.vocabulary == texts[0].vocabulary and text.split == texts[0].split for text in texts):
        return "perplexity"
    return "bits" if all(text.cutter.lossless for text in texts) else "excess"


def _nats_per_bit(run: Run) -> float:
    """By what a loss per token is divided to become bits per character of the validation part."""
    if not isinstance(run.task, Text) or not run.task.cutter.lossless:
        raise CallError(f"the text of {run.name} cannot be restored from its tokens; it has no bits per character")
    predicted = _passage.part(run)[0][1:]
    return float(np.log(2) * len(run.task.decode(predicted)) / len(predicted))


def _names(runs: Sequence[Run]) -> list[str]:
    names = [run.name for run in runs]
    return [name if names.count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names)]


def _differences(runs: Sequence[Run], lowest: Array, steps: Array, best: int, same: bool) -> Array:
    """(run, 2): how much more each costs than the best one, paired window by window; NaN where there is no interval."""
    found = np.full((len(runs), 2), np.nan)
    found[:, 0] = lowest - lowest[best]
    if same:
        costs = [_costs(run, _clock.nearest(run, int(step))) for run, step in zip(runs, steps, strict=True)]
        for k, cost in enumerate(costs):
            gap = cost - costs[best]
            found[k] = gap.mean(), 1.96 * gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    return found


def _costs(run: Run, step: int) -> Array:
    """(window,): mean loss of the first member on each held-out window, at a kept step."""
    seen = run.task.examples(run.architecture.context, "validation", WINDOWS)
    stated = probabilities(run, seen.windows, step, 0)
    chance = np.take_along_axis(stated, targets(run, seen)[..., None], -1)[..., 0]
    found: Array = -np.log(np.maximum(chance, 1e-300)).mean(axis=1)
    return found


def say(seen: Comparison) -> Words:
    """Which reaches the lowest value, when, and by how much."""
    names, (lowest, at, last) = seen.reached.axes["run"].labels, seen.reached.values.T[:3]
    what = "bits per character" if seen.metric == "bits" else seen.metric
    if not np.isfinite(lowest).any():
        title = f"None of the {len(names)} runs has a number: their trainings have diverged"
    elif len(names) == 1:
        title = (
            f"One run alone, {names[0]}: its lowest {what} is {short(lowest[0])}, at step {thousands(int(at[0]))}; "
            f"it ends at {short(last[0])}"
        )
    else:
        others = [k for k in np.argsort(lowest, kind="stable") if k != seen.best]
        title = (
            f"The run {names[seen.best]} reaches the lowest {what}, {short(lowest[seen.best])} at step "
            f"{thousands(int(at[seen.best]))}; {names[others[0]]} follows with {short(lowest[others[0]])} at step "
            f"{thousands(int(at[others[0]]))}"
        )
        half = seen.difference.values[others[0], 1]
        if np.isfinite(half) and abs(seen.difference.values[others[0], 0]) <= half:
            title += "; on the same windows too close to call"
    caption = (
        f"Above: held-out {what} by step on a {'logarithmic' if logarithmic(seen) else 'plain'} axis; thick lines are "
        "medians over members, bands reach from the lowest to the highest member. Below: best and last value, the step "
        "of the best, parameters, seconds (– where not recorded). The best of many steps is a little lucky on the "
        f"windows that chose it. {_ground(seen)}"
    )
    alt = "; ".join(f"{name} {short(value)}" for name, value in zip(names, lowest, strict=True))
    return Words(
        title, caption, f"Curves of {len(names)} runs and a table. Best values: {alt}. {thousands(len(names))} runs."
    )


def short(value: float) -> str:
    """Three digits that count, with a true minus sign."""
    return f"{value:.3g}".replace("-", "\u2212")


def logarithmic(seen: Comparison) -> bool:
    """Whether every value has a logarithm; a text's excess falls below nought where a model beats the count table."""
    every = np.concatenate([curve.values.ravel() for curve in seen.curves.values()])
    return bool((every[np.isfinite(every)] > 0).all())


def _ground(seen: Comparison) -> str:
    """On what ground they are compared, and whether the difference has an interval."""
    if seen.same:
        return (
            "The difference is that of the first member's loss at the kept step nearest to its best one, window by "
            f"window on the same {WINDOWS} held-out windows at most, with a 95 % interval over windows; an interval "
            "that holds 0 means that these windows cannot tell the two apart. It says nothing about other seeds."
        )
    if seen.texts and seen.metric in ("loss", "perplexity"):
        return "Windows or parts of the text differ between the runs, so differences have no interval."
    if seen.metric == "bits":
        return (
            "The tokenizers differ; each loss is divided by the characters that a token of the run's own validation "
            "part stands for on average, and differences have no interval."
        )
    if seen.texts:
        return (
            "The texts differ, or their tokenizers do and one of them throws characters away, so that neither "
            "perplexity nor bits per character can be compared: what is drawn is the loss above that of each one's "
            "own best count table, and differences have no interval."
        )
    return (
        "The runs learn different things or see different windows, so only the excess over each one's own floor "
        "(of a text, its best count table) can be compared, and differences have no interval."
    )
