"""Several runs side by side: one metric over their lives, the best each reached, and whether they truly differ."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses._result import Array, Labelled, Result, Words, thousands
from glassformer.analyses.calibration import probabilities, targets
from glassformer.errors import CallError
from glassformer.run import Run

WINDOWS = 400
METRICS = {"loss": "validation_loss", "perplexity": "validation_loss", "excess": "excess"}
UNITS = {"loss": "nats per token", "perplexity": "tokens", "excess": "nats per token"}


@dataclass(frozen=True, kw_only=True)
class Comparison(Result):
    """One metric of several runs; of a population the median, lowest and highest member."""

    curves: dict[str, Labelled]  # run → (step, member_range): median, lowest, highest
    reached: Labelled  # (run, column): best, at step, last, parameters, seconds
    difference: Labelled  # (run, column): loss above the best run's on the same held-out windows, half width of 95 %
    metric: str
    same: bool  # one task, one data set, one window: losses can be compared window by window
    best: int
    members: tuple[int, ...]

    def unit(self) -> str:
        """Of the metric."""
        return UNITS[self.metric]


def comparison(runs: Sequence[Run] | Run, *, metric: str | None = None) -> Comparison:
    """`metric`: loss, perplexity or excess; None: perplexity for runs of one task, excess for runs of several."""
    runs = [runs] if isinstance(runs, Run) else list(runs)
    if not runs:
        raise CallError("there is nothing to compare; give one run or more")
    same = all(r.task == runs[0].task and r.architecture.context == runs[0].architecture.context for r in runs)
    metric = metric or ("perplexity" if same else "excess")
    if metric not in METRICS:
        raise CallError(f"metric = {metric!r} is not one of: {', '.join(METRICS)}")
    names = _names(runs)
    curves, rows, lasts = {}, [], []
    for name, run in zip(names, runs, strict=True):
        values = run.metrics.get(METRICS[metric])
        if values is None or not len(values):
            raise CallError(f"{run.name} has logged no {METRICS[metric]}; it cannot be compared")
        every = values.reshape(len(values), -1)
        every = np.exp(every) if metric == "perplexity" else every
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
        lasts.append(middle[-1])
    best = int(np.nanargmin(lasts)) if np.isfinite(lasts).any() else 0
    columns = ("best", "at step", "last", "parameters", "seconds")
    return Comparison(
        curves=curves,
        reached=Labelled(np.array(rows, dtype=float), {"run": tuple(names), "column": columns}),
        difference=Labelled(
            _differences(runs, lasts, best, same),
            {"run": tuple(names), "side": ("difference", "half width")},
            "nats per token" if same else UNITS[metric],
        ),
        metric=metric,
        same=same,
        best=best,
        members=tuple(run.members for run in runs),
    )


def _names(runs: Sequence[Run]) -> list[str]:
    names = [run.name for run in runs]
    return [name if names.count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names)]


def _differences(runs: Sequence[Run], lasts: Sequence[float], best: int, same: bool) -> Array:
    """(run, 2): how much more each costs than the best one, paired window by window; NaN where there is no interval."""
    found = np.full((len(runs), 2), np.nan)
    found[:, 0] = np.array(lasts) - lasts[best]
    if same:
        costs = [_costs(run) for run in runs]
        for k, cost in enumerate(costs):
            gap = cost - costs[best]
            found[k] = gap.mean(), 1.96 * gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    return found


def _costs(run: Run) -> Array:
    """(window,): mean loss of the first member on each held-out window, at the last kept step."""
    seen = run.task.examples(run.architecture.context, "validation", WINDOWS)
    stated = probabilities(run, seen.windows, -1, 0)
    chance = np.take_along_axis(stated, targets(run, seen)[..., None], -1)[..., 0]
    found: Array = -np.log(np.maximum(chance, 1e-300)).mean(axis=1)
    return found


def say(seen: Comparison) -> Words:
    """Which ends lowest, and by how much."""
    names, last = seen.reached.axes["run"], seen.reached.values[:, 2]
    if not np.isfinite(last).any():
        title = f"None of the {len(names)} runs ends with a number: their trainings have diverged"
    elif len(names) == 1:
        title = (
            f"One run alone, {names[0]}: its {seen.metric} ends at {last[0]:.3g}, its best was "
            f"{seen.reached.values[0, 0]:.3g}"
        )
    else:
        others = [k for k in np.argsort(last, kind="stable") if k != seen.best]
        title = (
            f"The run {names[seen.best]} ends lowest, at {_article(seen.metric)} {seen.metric} of "
            f"{last[seen.best]:.3g}; {names[others[0]]} follows at {last[others[0]]:.3g}"
        )
        half = seen.difference.values[others[0], 1]
        if np.isfinite(half) and abs(seen.difference.values[others[0], 0]) <= half:
            title += "; on the same windows too close to call"
    interval = (
        f"The difference is that of the first member's loss, window by window on the same {WINDOWS} held-out windows "
        "at most, with a 95 % interval over windows; an interval that holds 0 means that these windows cannot tell the "
        "two apart. It says nothing about other seeds."
        if seen.same
        else "The runs learn different things or see different windows, so only the excess over each one's own floor "
        "can be compared, and differences have no interval."
    )
    caption = (
        f"Above: held-out {seen.metric} by step on a logarithmic axis; thick lines are medians over members, bands "
        "reach from the lowest to the highest member. Below: best and last value, the step of the best, parameters, "
        f"seconds (– where not recorded). {interval}"
    )
    alt = "; ".join(f"{name} {value:.3g}" for name, value in zip(names, last, strict=True))
    return Words(
        title, caption, f"Curves of {len(names)} runs and a table. Last values: {alt}. {thousands(len(names))} runs."
    )


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
