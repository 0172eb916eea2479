"""What breaks without it: the change of loss and error when a part is zeroed, averaged or resampled."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _decide
from glassformer.analyses._result import Array, Labelled, Result, Words, percent
from glassformer.reference import Edits
from glassformer.run import Run
from glassformer.tasks import Examples

WAYS = ("zero", "mean", "resample")
LITTLE = 0.01  # nats: no part is worth naming
WINDOWS = 128
SURE = 1.96  # sampling errors on each side of an interval of 95 %
Change = Callable[[Array], Array]


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
    """Each embedding, head, feed-forward and last neuron replaced by zero, by its mean, by another window's value.

    The mean is over the windows at the same position; the position embedding, which does not depend on the window, is
    averaged over positions and resampled by turning it round. Resampled values come from the next window.
    """
    a = run.architecture
    step = _clock.resolve(run, step)
    w = _decide.params(run, step, member)
    given = _decide.examples(run.task, a.context, windows)
    inputs = given.windows[:, :-1]

    def judge(edits: Edits | None = None) -> tuple[Array, Array]:
        return _judge(run, given, reference.forward(w, inputs, a, edits)[0])

    logits, seen = reference.forward(w, inputs, a)
    base_loss, base_error = _judge(run, given, logits)
    found: dict[str, list[tuple[Array, Array]]] = {
        "token embedding": [judge({"token_embedding": _whole(way)}) for way in WAYS]
    }
    if "position_embedding" in seen:
        found["position embedding"] = [judge({"position_embedding": _places(way)}) for way in WAYS]
    for block in range(a.blocks):
        many = f" {block}" if a.blocks > 1 else ""
        if a.attention != "off":
            for head in range(a.heads):
                name = f"head {block}.{head}" if a.blocks > 1 else f"head {head}" if a.heads > 1 else "attention"
                found[name] = [judge({"mixed": _head(way, block, head)}) for way in WAYS]
        if a.feed_forward:
            found[f"feed-forward{many}"] = [judge({"fed": _block(way, block)}) for way in WAYS]
    if a.feed_forward:
        found |= _neurons(run, w, given, seen)
    losses = np.array([[each[0] for each in ways] for ways in found.values()]) - base_loss  # (part, way, window)
    wrongs = np.array([[each[1] for each in ways] for ways in found.values()]) - base_error
    counted = _counted(run, given)  # (window, place)
    share = counted.sum() / max(len(counted), 1)
    axes = {"part": tuple(found), "way": WAYS}
    ends = axes | {"end": ("low", "high")}
    n = len(inputs)

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
        neurons=a.feed_forward,
        left_out=a.feed_forward * (a.blocks - 1),
    )


def _counted(run: Run, given: Examples) -> Array:
    return given.answerable if run.task.measure == "rule_error" else np.ones_like(given.answerable)


def _judge(run: Run, given: Examples, logits: Array) -> tuple[Array, Array]:
    """(window,) each: mean loss, and number of wrong answers among those that can be answered."""
    return _score(run, given, _decide.at_places(run, logits).astype(np.float64))


def _score(run: Run, given: Examples, logits: Array) -> tuple[Array, Array]:
    top = logits.max(-1, keepdims=True)
    chances = logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))
    wanted = _decide.targets(run, given)
    loss = -np.take_along_axis(chances, wanted[..., None].astype(np.int64), -1)[..., 0].mean(-1)
    guess = logits.argmax(-1)
    if run.task.measure == "rule_error":
        right = np.take_along_axis(given.allowed, guess[..., None], -1)[..., 0]
    else:
        right = guess == wanted
    return loss, (~right & _counted(run, given)).sum(-1).astype(np.float64)


def _replaced(way: str, value: Array) -> Array:
    """(window, ...): what stands in the place of a value."""
    if way == "zero":
        return np.zeros_like(value)
    if way == "mean":
        return np.broadcast_to(value.mean(0, keepdims=True), value.shape).astype(value.dtype)
    return np.roll(value, 1, axis=0)


def _whole(way: str) -> reference.Edit:
    return lambda value, _: _replaced(way, value)


def _places(way: str) -> reference.Edit:
    """The position embedding has no windows: its mean is over positions, its resample the order turned round."""
    return lambda value, _: value[::-1] if way == "resample" else _replaced(way, value)


def _block(way: str, wanted: int) -> reference.Edit:
    return lambda value, block: _replaced(way, value) if block == wanted else value


def _head(way: str, wanted: int, head: int) -> reference.Edit:
    def edit(value: Array, block: int | None) -> Array:  # (window, head, position, feature)
        if block != wanted:
            return value
        value = value.copy()
        value[:, head] = _replaced(way, value[:, head])
        return value

    return edit


def _neurons(
    run: Run, w: _decide.Params, given: Examples, seen: reference.Trace
) -> dict[str, list[tuple[Array, Array]]]:
    """Neurons of the last block: nothing after them looks at another position, so only the end is computed again."""
    a = run.architecture
    hidden = _decide.at_places(run, seen["hidden"][:, -1])  # (window, place, neuron)
    out = _decide.at_places(run, seen["out"][:, -1])  # (window, place, feature)
    rows = w["blocks"][-1]["contract"]  # (neuron, feature)
    plain = a.norm == "none" or (a.norm_place == "pre" and not a.final_norm)
    logits = _decide.at_places(run, seen["logits"])
    votes = (
        _decide.read_out(w, rows, a) - _decide.read_out(w, np.zeros_like(rows), a) if plain else rows
    )  # (neuron, token)
    found = {}
    for k in range(hidden.shape[-1]):
        ways = []
        for way in WAYS:
            moved = _replaced(way, hidden[..., k]) - hidden[..., k]  # (window, place)
            if not moved.any():
                changed = logits
            elif plain:
                changed = logits + moved[..., None] * votes[k]
            else:
                x = out + moved[..., None] * rows[k]
                x = reference.normalise(x, w["blocks"][-1], "norm_2", a) if a.norm_place == "post" else x
                changed = _decide.from_stream(w, x, a)
            ways.append(_score(run, given, changed.astype(np.float64)))
        found[f"neuron {k}"] = ways
    return found


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
        "their largest effect; single neurons are those of the last block"
        + (f" (the {seen.left_out} of earlier blocks were not tried)" if seen.left_out else "")
        + ". The position embedding is averaged over positions and resampled by turning it round. A part whose "
        "interval spans 0 "
        "is not shown to matter alone; two that can stand in for each other may both look idle."
    )
    return Words(title, caption, f"Dots with intervals: change of loss and error by removed part. {title}.")


def _the(name: str) -> str:
    return name if name.startswith(("head", "neuron")) or name == "attention" else f"the {name}"
