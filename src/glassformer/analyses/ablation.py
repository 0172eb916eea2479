"""What breaks without it: the change of loss and error when a part is zeroed, averaged or resampled."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _decide, _judged, _removal
from glassformer.analyses._result import Array, Labelled, Result, Words, percent
from glassformer.run import Run

WAYS = _removal.WAYS
LITTLE = 0.01  # nats: no part is worth naming
LOGITS, FEWEST = 150_000_000, 8  # without one neuron each, about; windows at the least
WINDOWS = 128
SURE = 1.96  # sampling errors on each side of an interval of 95 %
SMALL = 10_000  # parameters; larger models lose single neurons in the last block only


@dataclass(frozen=True, kw_only=True)
class Ablation(Result):
    """Change of loss and of error for each part and each way to remove it, with intervals over windows."""

    loss: Labelled  # (part, way): nats per token
    loss_interval: Labelled  # (part, way, end): 95 %
    error: Labelled  # (part, way): change of the share of wrong answers
    error_interval: Labelled  # (part, way, end)
    base_loss: float
    base_error: float
    windows: int
    answers: int  # answers that count for the error
    neurons: int  # neurons looked at
    left_out: int  # neurons of earlier blocks, not looked at


def ablation(run: Run, *, step: int = -1, member: int = 0, windows: int = WINDOWS) -> Ablation:
    """Each embedding, head, feed-forward and neuron replaced by zero, by its mean, by another window's value.

    The mean is over the windows at the same position; the position embedding, which does not depend on the window, is
    averaged over positions and resampled by turning it round. Resampled values come from another window.
    """
    a = run.architecture
    step = _clock.resolve(run, step)
    every = run.parameters < SMALL
    tried = len(WAYS) * a.feed_forward * (a.blocks if every else 1) * a.context * a.answers  # logits of one window
    windows = min(_judged.enough(run, windows, 1.0), int(np.clip(LOGITS // max(tried, 1), FEWEST, windows)))
    model = _removal.Model(run, _decide.examples(run.task, a.context, windows), step, member, precise=True)
    parts = _removal.parts(a, every_neuron=every)
    with np.errstate(all="ignore"):  # a model that diverged is said to have, not warned about
        base_loss, base_error = model.loss(model.logits), model.wrong(model.logits)
        losses, wrongs = model.scores(parts)  # (part, way, window)
    losses, wrongs, counted, n = losses - base_loss, wrongs - base_error, model.counted, len(model.tokens)
    share = counted.sum() / max(len(counted), 1)
    axes = {"part": tuple(part.name for part in parts), "way": WAYS}
    ends = axes | {"end": ("low", "high")}

    def interval(values: Array) -> Array:
        half = SURE * values.std(-1, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[:-1], np.nan)
        return np.stack([values.mean(-1) - half, values.mean(-1) + half], -1)

    per = wrongs / max(share, 1e-12)  # wrong answers of a window, as shares of the mean number asked
    return Ablation(
        step=step,
        clock=_clock.text(run, step, member),
        loss=Labelled(losses.mean(-1), axes, "nats per token"),
        loss_interval=Labelled(interval(losses), ends, "nats per token"),
        error=Labelled(per.mean(-1), axes, "share"),
        error_interval=Labelled(interval(per), ends, "share"),
        base_loss=float(base_loss.mean()),
        base_error=float(base_error.sum() / max(counted.sum(), 1)),
        windows=n,
        answers=int(counted.sum()),
        neurons=sum(part.kind == "neuron" for part in parts),
        left_out=0 if every else a.feed_forward * (a.blocks - 1),
    )


def order(seen: Ablation) -> list[int]:
    """Parts by their largest effect on the loss over the three ways, largest first."""
    return np.argsort(-np.nan_to_num(np.abs(seen.loss.values).max(1)), kind="stable").tolist()  # type: ignore[no-any-return]


def say(seen: Ablation) -> Words:
    """What hurts most, and how many parts do not matter."""
    names = seen.loss.axes["part"]
    if not np.isfinite(seen.loss.values).all():
        title = f"At step {seen.step} the loss is not a number: the training has diverged"
    else:
        mean = seen.loss.values[:, WAYS.index("mean")]
        low, high = seen.loss_interval.values[:, WAYS.index("mean")].T
        best = int(mean.argmax())
        silent = sum(1 for k, name in enumerate(names) if name.startswith("neuron") and low[k] <= 0 <= high[k])
        error = seen.error.values[best, WAYS.index("mean")] + seen.base_error
        title = (
            f"Averaging {_the(names[best])} costs most, {mean[best]:+.2f} nats and {percent(float(error))} wrong "
            f"instead of {percent(seen.base_error)}"
            if mean[best] >= LITTLE
            else f"Averaging any one part costs less than {LITTLE} nats"
        ) + (f"; {silent} of {seen.neurons} neurons could be averaged unnoticed" if seen.neurons else "")
    caption = (
        "Each part of the model replaced by zero, by its mean over windows, or by its value in another window "
        "(resample); "
        f"{seen.windows} validation windows, {seen.answers} answers that can be checked; bars are intervals of 95 % "
        "over windows. "
        "Left: change of the loss (the same as of the excess). Right: change of the share of wrong answers. Parts "
        "are sorted by "
        "their largest effect"
        + (
            f"; single neurons are those of the last block (the {seen.left_out} of earlier blocks were not tried)"
            if seen.left_out
            else ""
        )
        + ". The position embedding is averaged over positions and resampled by turning it round. A part whose "
        "interval spans 0 "
        "is not shown to matter alone; two that can stand in for each other may both look idle."
    )
    return Words(title, caption, f"Dots with intervals: change of loss and error by removed part. {title}.")


def _the(name: str) -> str:
    return name if name.startswith(("head", "neuron")) or name == "attention" else f"the {name}"
