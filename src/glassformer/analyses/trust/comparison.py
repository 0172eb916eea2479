"""Several runs side by side: one metric over their lives, the best each reached, and whether they truly differ."""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np

from glassformer.analyses import _applies, _clock, _judged, _passage
from glassformer.analyses._options import Option
from glassformer.analyses._result import Array, Labelled, Result, lost, power, result, thousands
from glassformer.analyses.trust.calibration import probabilities, targets
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._text import Text

ORDER = 40
ANSWERS = ("2.F2", "2.T1", "1.P9")
COST = "b"
NEEDS = "runs"
APPLIES = (_applies.logged,)

WINDOWS = 400
Kind = Literal["loss", "perplexity", "bits", "excess"]
METRICS = {"loss": "validation_loss", "perplexity": "validation_loss", "bits": "validation_loss", "excess": "excess"}
UNITS = {"loss": "nats per token", "perplexity": "tokens", "bits": "per character", "excess": "nats per token"}


@result
class Comparison(Result):
    """One metric of several runs; of a population the median, lowest and highest member."""

    curves: dict[str, Labelled]  # run → (step, statistic): median, lowest, highest
    reached: Labelled  # (run, quantity): best, at step, last, parameters, seconds
    difference: Labelled  # (run, statistic): loss above the best run's on the same held-out windows, half width of 95 %
    metric: str
    same: bool  # one task, one data set, one window: losses can be compared window by window
    texts: bool  # all of them are texts
    best: int
    members: tuple[int, ...]

    @property
    def what(self) -> str:
        """The metric in words."""
        return "bits per character" if self.metric == "bits" else self.metric

    @property
    def title(self) -> str:
        """Which reaches the lowest value, when, and by how much."""
        names, (lowest, at, last) = self.reached.axes["run"].labels, self.reached.values.T[:3]
        if not np.isfinite(lowest).any():
            return f"None of the {len(names)} runs has a number: {lost('their trainings', 2)}"
        if len(names) == 1:
            ends = f"it ends at {short(last[0])}" if np.isfinite(last[0]) else lost("it")
            low = f"its lowest {self.what} is {short(lowest[0])}, at step {thousands(int(at[0]))}"
            return f"One run alone, {names[0]}: {low}; {ends}"
        second = next(k for k in np.argsort(lowest, kind="stable") if k != self.best)
        said = (
            f"The run {names[self.best]} reaches the lowest {self.what}, {short(lowest[self.best])} at step "
            f"{thousands(int(at[self.best]))}; {names[second]} follows with {short(lowest[second])} at step "
            f"{thousands(int(at[second]))}"
        )
        gap, half = self.difference.values[second]
        return f"{said}; on the same windows too close to call" if np.isfinite(half) and abs(gap) <= half else said


def comparison(
    runs: Sequence[Run] | Run,
    *,
    metric: Annotated[Kind | None, Option("what is compared; none: what can be compared between these runs")] = None,
) -> Comparison:
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
        values = _clock.metrics(run).get(METRICS[metric])
        if values is None or not len(values):
            raise CallError(f"{run.name} has logged no {METRICS[metric]}; it cannot be compared")
        every = values.reshape(len(values), -1)
        if metric == "perplexity":
            with np.errstate(over="ignore"):  # on its way out of all bounds
                every = np.exp(every)
        elif metric == "bits":
            every = every / _nats_per_bit(run)
        spread = np.stack([np.median(every, axis=1), every.min(axis=1), every.max(axis=1)], axis=1)
        steps = _clock.metrics(run)["step"]
        curves[name] = Labelled(spread, {"step": steps, "statistic": ("median", "lowest", "highest")}, UNITS[metric])
        middle = spread[:, 0]
        at = int(np.nanargmin(middle)) if np.isfinite(middle).any() else 0
        seconds = run.times.get("seconds")
        took = float(seconds[-1]) if seconds is not None and len(seconds) else np.nan
        rows.append([middle[at], steps[at], middle[-1], run.parameters, took])
    lowest, at_steps = np.array(rows, dtype=float).T[:2]
    best = int(np.nanargmin(lowest)) if np.isfinite(lowest).any() else 0
    columns = ("best", "at step", "last", "parameters", "seconds")
    return Comparison(
        held_out=all(_judged.held_out(run) for run in runs),
        curves=curves,
        reached=Labelled(np.array(rows, dtype=float), {"run": tuple(names), "quantity": columns}),
        difference=Labelled(
            _differences(runs, lowest, at_steps, best, same),
            {"run": tuple(names), "statistic": ("difference", "half width")},
            "nats per token" if same else UNITS[metric],
        ),
        metric=metric,
        same=same,
        texts=all(isinstance(run.task, Text) for run in runs),
        best=best,
        members=tuple(run.members for run in runs),
    )


def _fair(runs: Sequence[Run]) -> Kind:
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
    names = [f"{run.name}, edited" if run.edits else run.name for run in runs]
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
    return -np.log(np.maximum(chance, 1e-300)).mean(axis=1)


def short(value: float) -> str:
    """Three digits that count, with a true minus sign."""
    return power(value, 2) if 0 < abs(value) < 1e-4 else f"{value:.3g}".replace("-", "\u2212")
