"""What breaks without it: the change of loss and error when a part is zeroed, averaged or resampled."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _removal
from glassformer.analyses._removal import nats
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, percent, result
from glassformer.run import Run

ORDER = 100
ANSWERS = ("1.P10", "new")
COST = "c"

WAYS = _removal.WAYS
LITTLE = 0.01  # nats: no part is worth naming
NUMBERS, FEWEST, MOST = 100_000_000, 8, 128  # numbers computed without one neuron each; neurons of a larger model
SURE = 1.96  # sampling errors on each side of an interval of 95 %
REMOVED = {"zero": "zeroing", "mean": "averaging", "resample": "resampling"}


@result
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
    left_out: int  # neurons that were not tried


def ablation(run: Run, *, step: int = -1, member: int = 0, windows: int | None = None) -> Ablation:
    """Each embedding, head, feed-forward and neuron replaced by zero, by its mean, by another window's value.

    The mean is over the windows at the same position; the position embedding, which does not depend on the window, is
    averaged over positions and resampled by turning it round. Resampled values come from another window.
    """
    step = _clock.resolve(run, step)
    model = _removal.Model(run, _removal.held_out(run, windows), step, member, precise=True)
    parts, left_out = _tried(model)
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
        left_out=left_out,
    )


def _tried(model: _removal.Model) -> tuple[list[_removal.Part], int]:
    """All parts; of very many neurons those that speak up most, whatever their block, and how many are left out."""
    a = model.a
    every = _removal.parts(a)
    neurons = [part for part in every if part.kind == "neuron"]
    onward = 12 * a.width * a.context if a.blocks > 1 else 0  # what a later block computes, about
    one = len(WAYS) * len(model.tokens) * (model.logits.shape[1] * a.answers + onward)
    most = max(FEWEST, NUMBERS // one)
    if model.run.parameters >= _removal.SMALL:
        most = min(most, MOST)
    if len(neurons) <= most:
        return every, 0
    with np.errstate(all="ignore"):
        chosen = model.strongest(neurons, most)
    return [part for part in every if part.kind != "neuron"] + chosen, len(neurons) - most


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
        "the clock is that of all of them); bars are intervals of 95 % over windows. Left: change of the loss (the "
        "same as of the excess). Right: the share of wrong answers; the line is the whole model's. Parts are sorted "
        f"by the loss that averaging them costs. {_neurons(seen)}The position embedding is averaged over positions "
        "and resampled by turning it round. A part whose interval spans 0 is not shown to matter alone; two that can "
        "stand in for each other may both look idle."
    )
    return Words(title, caption, f"Dots with intervals: loss and wrong answers by removed part. {title}.")


def _dearest(seen: Ablation) -> str:
    """The part that costs most loss in each way to remove it, and the worst that happens to the answers."""
    names, loss = seen.loss.axes["part"].labels, seen.loss.values
    if loss.max() < LITTLE:
        return f"Losing any one part costs less than {LITTLE} nats, however it is removed"
    ways = sorted(WAYS, key=("mean", "zero", "resample").index)
    tops = {way: int(loss[:, WAYS.index(way)].argmax()) for way in ways}
    if len(set(tops.values())) == 1:
        part = tops["mean"]
        low, high = (nats(float(end)) for end in (loss[part].min(), loss[part].max()))
        title = f"However it is removed, {_the(names[part])} costs most loss, +{low} to +{high} nats"
        return title + _worst(seen)
    said = []
    for part in dict.fromkeys(tops.values()):
        mine = [way for way in ways if tops[way] == part]
        costs = [f"+{nats(float(loss[part, WAYS.index(way)]))}" for way in mine]
        said.append(f"{' or '.join(REMOVED[way] for way in mine)} {_the(names[part])} ({' or '.join(costs)} nats)")
    return f"Most loss comes from {listed(said)}{_worst(seen)}"


def _worst(seen: Ablation) -> str:
    """The most wrong answers that any removal leads to."""
    worst = float(seen.error.values.max())
    if not seen.answers or worst <= 0:
        return ""
    return (
        f"; at worst {percent(worst + seen.base_error)} of the answers are wrong instead of {percent(seen.base_error)}"
    )


def _neurons(seen: Ablation) -> str:
    if not seen.neurons:
        return ""
    low, high = seen.loss_interval.values[:, WAYS.index("mean")].T
    names = seen.loss.axes["part"].labels
    silent = sum(1 for k, name in enumerate(names) if name.startswith("neuron") and low[k] <= 0 <= high[k])
    tried = (
        f"{seen.neurons} of {seen.neurons + seen.left_out} single neurons were tried, those whose output changes most "
        f"from window to window; of these, {silent}"
        if seen.left_out
        else f"Of {seen.neurons} single neurons, {silent}"
    )
    return f"{tried} can be averaged without a change that shows. "


def _the(name: str) -> str:
    return name if name.startswith(("head", "neuron")) or name == "attention" else f"the {name}"
