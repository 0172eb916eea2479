"""What breaks without it: the change of loss and error when a part is zeroed, averaged or resampled."""

import numpy as np

from glassformer.analyses import _clock, _removal
from glassformer.analyses._options import Member, Step
from glassformer.analyses._removal import nats
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, percent, result
from glassformer.run import Run

ORDER = 100
ANSWERS = ("1.P10", "new")
COST = "c"

WAYS = _removal.WAYS
LITTLE = 0.01  # nats: no part is worth naming
NUMBERS, FEWEST, MOST = 100_000_000, 8, 128  # numbers computed without one neuron each; neurons of a larger model
SHOWS = 0.001  # nats: a smaller change is none to speak of, however surely it is there
SURE = 1.96  # sampling errors on each side of an interval of 95 %
REMOVED = {"zero": "zeroing", "mean": "averaging", "resample": "resampling"}


@result
class Ablation(Result):
    """Change of loss and of error for each part and each way to remove it, with intervals over windows."""

    loss: Labelled  # (part, way): nats per token
    loss_interval: Labelled  # (part, way, statistic): 95 %, low and high
    error: Labelled  # (part, way): change of the share of wrong answers
    error_interval: Labelled  # (part, way, statistic)
    base_loss: float
    base_error: float
    windows: int
    answers: int  # answers that count for the error
    neurons: int  # neurons looked at
    left_out: int  # neurons that were not tried
    idle: int  # neurons that can be averaged without a change of the loss that shows: near 0, or not sure to be one
    kinds: tuple[_removal.Kind, ...]  # of each part

    @property
    def title(self) -> str:
        """The part that costs most loss in each way to remove it, and the worst that happens to the answers."""
        names, loss = self.loss.axes["part"].labels, self.loss.values
        if not np.isfinite(loss).all():
            return fate("the loss is not a number", self.step)
        if loss.max() < LITTLE:
            return f"Losing any one part costs less than {LITTLE} nats, however it is removed"
        ways = sorted(WAYS, key=("mean", "zero", "resample").index)
        tops = {way: int(loss[:, WAYS.index(way)].argmax()) for way in ways}
        if len(set(tops.values())) == 1:
            part = tops["mean"]
            low, high = (nats(float(end)) for end in (loss[part].min(), loss[part].max()))
            most = f"However it is removed, {_the(names[part])} costs most loss, +{low} to +{high} nats"
            return most + self._worst()
        said = []
        for part in dict.fromkeys(tops.values()):
            mine = [way for way in ways if tops[way] == part]
            costs = [f"+{nats(float(loss[part, WAYS.index(way)]))}" for way in mine]
            said.append(f"{' or '.join(REMOVED[way] for way in mine)} {_the(names[part])} ({' or '.join(costs)} nats)")
        return f"Most loss comes from {listed(said)}{self._worst()}"

    def _worst(self) -> str:
        """The most wrong answers that any removal leads to."""
        worst, base = float(self.error.values.max()), self.base_error
        if not self.answers or worst <= 0:
            return ""
        return f"; at worst {percent(worst + base)} of the answers are wrong instead of {percent(base)}"

    def order(self) -> list[int]:
        """Parts by what it costs to average them, the dearest first: the order of the title."""
        return np.argsort(-np.nan_to_num(self.loss.values[:, WAYS.index("mean")]), kind="stable").tolist()


def ablation(run: Run, *, step: Step = -1, member: Member = 0, windows: int | None = None) -> Ablation:
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
    ends = axes | {"statistic": ("low", "high")}

    def half(values: Array) -> Array:
        return SURE * values.std(-1, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[:-1], np.nan)

    def interval(middle: Array, reach: Array) -> Array:
        return np.stack([middle - reach, middle + reach], -1)

    # a share is a ratio of two sums over windows: only what a window's number of wrong answers differs by from
    # the share of the answers asked there is chance
    doubt = half(wrongs - share[..., None] * asked) / per
    ranges = interval(losses.mean(-1), half(losses))
    low, high = ranges[:, WAYS.index("mean")].T
    neurons = np.array([part.kind == "neuron" for part in parts])
    return Ablation(
        **_clock.at_step(run, step, member),
        loss=Labelled(losses.mean(-1), axes, "nats per token"),
        loss_interval=Labelled(ranges, ends, "nats per token"),
        error=Labelled(share, axes, "share"),
        error_interval=Labelled(np.clip(interval(share, doubt), -whole, 1 - whole), ends, "share"),
        base_loss=float(base_loss.mean()),
        base_error=whole,
        windows=n,
        answers=int(asked.sum()),
        neurons=int(neurons.sum()),
        left_out=left_out,
        idle=int((neurons & (((low <= 0) & (high >= 0)) | (np.maximum(-low, high) < SHOWS))).sum()),
        kinds=tuple(part.kind for part in parts),
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


def _the(name: str) -> str:
    return name if name.startswith(("head", "neuron")) or name == "attention" else f"the {name}"
