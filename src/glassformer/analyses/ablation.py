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
    model = _removal.Model(run, _decide.examples(run, windows), step, member, precise=True)
    parts = _removal.parts(a, every_neuron=every)
    with np.errstate(all="ignore"):  # a model that diverged is said to have, not warned about
        base_loss, base_error = model.loss(model.logits), model.wrong(model.logits)
        losses, wrongs = model.scores(parts)  # (part, way, window)
    losses, wrongs, n = losses - base_loss, wrongs - base_error, len(model.tokens)
    asked = model.counted.sum(-1)  # (window,)
    per, whole = max(float(asked.mean()), 1e-12), float(base_error.sum() / max(asked.sum(), 1))
    share = wrongs.mean(-1) / per
    axes = {"part": tuple(part.name for part in parts), "way": WAYS}
    ends = axes | {"end": ("low", "high")}

    def half(values: Array) -> Array:
        return SURE * values.std(-1, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[:-1], np.nan)

    def interval(middle: Array, reach: Array) -> Array:
        return np.stack([middle - reach, middle + reach], -1)

    # a share is a ratio of two sums over windows: only what a window's number of wrong answers differs by from
    # the share of the answers asked there is chance
    doubt = half(wrongs - share[..., None] * asked) / per
    return Ablation(
        step=step,
        clock=_clock.text(run, step, member),
        loss=Labelled(losses.mean(-1), axes, "nats per token"),
        loss_interval=Labelled(interval(losses.mean(-1), half(losses)), ends, "nats per token"),
        error=Labelled(share, axes, "share"),
        error_interval=Labelled(np.clip(interval(share, doubt), -whole, 1 - whole), ends, "share"),
        base_loss=float(base_loss.mean()),
        base_error=whole,
        windows=n,
        answers=int(asked.sum()),
        neurons=sum(part.kind == "neuron" for part in parts),
        left_out=0 if every else a.feed_forward * (a.blocks - 1),
    )


def order(seen: Ablation) -> list[int]:
    """Parts by what it costs to average them, the dearest first: the order of the title."""
    return np.argsort(-np.nan_to_num(_averaged(seen)), kind="stable").tolist()  # type: ignore[no-any-return]


def _averaged(seen: Ablation) -> Array:
    found: Array = seen.loss.values[:, WAYS.index("mean")]
    return found


def say(seen: Ablation) -> Words:
    """What hurts most; how many neurons do not matter."""
    title = (
        _dearest(seen)
        if np.isfinite(seen.loss.values).all()
        else f"At step {seen.step} the loss is not a number: the training has diverged"
    )
    caption = (
        "Each part of the model replaced by zero, by its mean over windows, or by its value in another window "
        f"(resample); {seen.windows} validation windows with {seen.answers} answers that can be checked (the loss in "
        "the clock is that of other windows); bars are intervals of 95 % over windows. Left: change of the loss (the "
        "same as of the excess). Right: the share of wrong answers; the line is the whole model's. Parts are sorted "
        f"by the loss that averaging them costs. {_neurons(seen)}The position embedding is averaged over positions "
        "and resampled by turning it round. A part whose interval spans 0 is not shown to matter alone; two that can "
        "stand in for each other may both look idle."
    )
    return Words(title, caption, f"Dots with intervals: loss and wrong answers by removed part. {title}.")


def _dearest(seen: Ablation) -> str:
    """The part that costs most loss when averaged, and the one that costs most answers."""
    names, mean = seen.loss.axes["part"], _averaged(seen)
    best = order(seen)[0]
    if mean[best] < LITTLE:
        return f"Averaging any one part costs less than {LITTLE} nats"
    cost = f"{mean[best]:+.{0 if mean[best] >= 10 else 1 if mean[best] >= 1 else 2}f} nats"
    error = seen.error.values[:, WAYS.index("mean")]
    worst = int(error.argmax()) if error.max() > error[best] else best
    if not seen.answers or error[worst] <= 0:
        return f"Averaging {_the(names[best])} costs most, {cost}"
    wrong = f"{percent(float(error[worst] + seen.base_error))} wrong instead of {percent(seen.base_error)}"
    if worst == best:
        return f"Averaging {_the(names[best])} costs most, {cost} and {wrong}"
    return (
        f"Averaging {_the(names[best])} costs most loss, {cost}; averaging {_the(names[worst])} most answers, {wrong}"
    )


def _neurons(seen: Ablation) -> str:
    if not seen.neurons:
        return ""
    low, high = seen.loss_interval.values[:, WAYS.index("mean")].T
    names = seen.loss.axes["part"]
    silent = sum(1 for k, name in enumerate(names) if name.startswith("neuron") and low[k] <= 0 <= high[k])
    where = f" of the last block (the {seen.left_out} of earlier blocks were not tried)" if seen.left_out else ""
    return f"Of {seen.neurons} single neurons{where}, {silent} can be averaged without a change that shows. "


def _the(name: str) -> str:
    return name if name.startswith(("head", "neuron")) or name == "attention" else f"the {name}"
