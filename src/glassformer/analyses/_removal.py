"""Parts taken out of a model: what it answers when one is zeroed, averaged or resampled.

Only what follows the change is computed again. Neurons, of which there are many, are taken out side by side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

import numpy as np

from glassformer import reference
from glassformer.analyses import _counted, _decide, _logged
from glassformer.analyses._result import Array
from glassformer.architecture import Architecture
from glassformer.run import Run
from glassformer.tasks import Examples

WAYS = ("zero", "mean", "resample")
SMALL, WINDOWS = 10_000, (128, 64)  # parameters; windows on which parts of small and of larger models are taken out
AT_ONCE = 200_000  # numbers worked on side by side; more leave the processor's cache
Kind = Literal["token", "position", "head", "feed-forward", "neuron"]


@dataclass(frozen=True)
class Part:
    """Something a model can be without: an embedding, a head, a feed-forward layer, a neuron."""

    kind: Kind
    name: str
    block: int = 0
    index: int = 0  # of the head or neuron


def held_out(run: Run, most: int | None = None) -> Examples:
    """The windows on which parts are taken out: the same wherever that is done, so that its cost is the same too."""
    return _logged.windows(run, most or _decide.affordable(run, WINDOWS[run.parameters >= SMALL]))


def parts(a: Architecture) -> list[Part]:
    """All parts in the order of computation, then the neurons of every block."""
    found = [Part("token", "token embedding")]
    if a.positions in ("learned", "sinusoidal"):
        found.append(Part("position", "position embedding"))
    for block in range(a.blocks):
        if a.attention != "off":
            found += [Part("head", _head_name(a, block, head), block, head) for head in range(a.heads)]
        if a.feed_forward:
            found.append(Part("feed-forward", f"feed-forward {block}" if a.blocks > 1 else "feed-forward", block))
    for block in range(a.blocks):
        many = f"{block}." if a.blocks > 1 else ""
        found += [Part("neuron", f"neuron {many}{k}", block, k) for k in range(a.feed_forward)]
    return found


def nats(rise: float) -> str:
    """A rise of the loss, as it is written wherever it is told."""
    text = f"{rise:.{1 if abs(rise) >= 10 else 2 if abs(rise) >= 0.1 else 3}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def _head_name(a: Architecture, block: int, head: int) -> str:
    return f"head {block}.{head}" if a.blocks > 1 else f"head {head}" if a.heads > 1 else "attention"


class Model:
    """A model at one step, what it computes on some windows, and what it would answer without a part."""

    def __init__(self, run: Run, given: Examples, step: int, member: int = 0, precise: bool = False) -> None:
        self.run, self.given, self.a = run, _counted.only(run, given), run.architecture
        self.tokens = given.windows[:, :-1]
        self.model = _decide.model(run, self.tokens, step, member)
        self.w = self.model.w
        self.wanted = _counted.came(run, given.windows).astype(np.int64)
        self.dtype = np.float64 if precise else np.float32  # of the scoring; the pass itself is as the weights are
        self.whole, self.seen = self.model.forward(self.tokens)
        self.logits = self._read(self.whole)  # (window, place, answer)

    def strongest(self, neurons: Sequence[Part], most: int) -> list[Part]:
        """Those whose output changes most from window to window, as a share of the stream it is added to; in order."""
        read, last = _counted.read(self.run), self.a.blocks - 1
        shares = np.zeros(len(neurons))
        for block in range(self.a.blocks):
            hidden, out = self.seen["hidden"][:, block], self.seen["out"][:, block]
            if block == last:
                hidden, out = hidden[:, read], out[:, read]
            varies = np.sqrt((hidden.std(0) ** 2).mean(0)) * np.linalg.norm(self.w["blocks"][block]["contract"], axis=1)
            mine = [k for k, part in enumerate(neurons) if part.block == block]
            stream = max(float(np.sqrt((out**2).sum(-1).mean())), 1e-30)
            shares[mine] = varies[[neurons[k].index for k in mine]] / stream
        chosen = np.sort(np.argsort(-np.nan_to_num(shares), kind="stable")[:most])
        return [neurons[k] for k in chosen]

    def losses(self, wanted: Sequence[Part], ways: Sequence[str] = WAYS) -> Array:
        """(part, way, window): the mean loss of each window without each part, in nats per token."""
        found = np.empty((len(wanted), len(ways), len(self.tokens)))
        found[:] = self.loss(self.logits)  # what is not looked at changes nothing
        for place, way, logits in self._without(wanted, ways):
            found[place, way] = self.loss(logits)
        return found

    def scores(self, wanted: Sequence[Part], ways: Sequence[str] = WAYS) -> tuple[Array, Array]:
        """(part, way, window) each: the losses, and the number of wrong answers among those that count."""
        found = np.empty((2, len(wanted), len(ways), len(self.tokens)))
        found[0], found[1] = self.loss(self.logits), self.wrong(self.logits)
        for place, way, logits in self._without(wanted, ways):
            found[0, place, way], found[1, place, way] = self.loss(logits), self.wrong(logits)
        return found[0], found[1]

    def loss(self, logits: Array) -> Array:
        """(..., window): the mean loss of each window over the answers that count."""
        x = logits.astype(self.dtype, copy=False)
        x = x - x.max(-1, keepdims=True)
        wanted = np.broadcast_to(self.wanted[..., None], (*x.shape[:-1], 1))
        right = np.take_along_axis(x, wanted, -1)[..., 0]
        return (np.log(np.exp(x).sum(-1)) - right).mean(-1, dtype=np.float64)

    def wrong(self, logits: Array) -> Array:
        """(..., window): how many answers are wrong, among those that can be judged."""
        guess = logits.argmax(-1)
        if self.run.task.measure == "rule_error":
            allowed = np.broadcast_to(self.given.allowed, (*guess.shape, self.given.allowed.shape[-1]))
            right = np.take_along_axis(allowed, guess[..., None], -1)[..., 0]
        else:
            right = guess == self.wanted
        return (~right & self.counted).sum(-1).astype(np.float64)

    @property
    def counted(self) -> Array:
        """(window, place): the answers that count for the error."""
        answerable = self.given.answerable
        return answerable if self.run.task.measure == "rule_error" else np.ones_like(answerable)

    def _without(self, wanted: Sequence[Part], ways: Sequence[str]) -> Iterator[tuple[Array | int, int, Array]]:
        """(places in `wanted`, way, logits): one part at a time, or neurons of a block together."""
        numbered = list(enumerate(wanted))
        for (kind, block), some in groupby(numbered, key=lambda each: (each[1].kind, each[1].block)):
            group = [each for each in some if kind != "neuron" or not self._silent(each[1])]
            for number, way in enumerate(ways):
                if self.run.edits:
                    for k, part in group:
                        yield k, number, self._again(part, way)
                elif kind == "neuron":
                    for begin in range(0, len(group), size := self._together(block)):
                        chunk = group[begin : begin + size]
                        neurons = np.array([part.index for _, part in chunk])
                        yield np.array([k for k, _ in chunk]), number, self._neurons(block, neurons, way)
                else:
                    for k, part in group:
                        yield k, number, self._one(part, way)

    def _silent(self, neuron: Part) -> bool:
        """Whether a neuron is zero everywhere, so that nothing changes without it."""
        return not self.seen["hidden"][:, neuron.block, :, neuron.index].any()

    def _again(self, part: Part, way: str) -> Array:
        """(window, place, answer): the logits without a part, by a whole pass; edits may act anywhere after it."""
        point = {"token": "token_embedding", "position": "position_embedding", "head": "mixed", "neuron": "hidden"}
        place: Any = {"head": (slice(None), part.index), "neuron": (..., part.index)}.get(part.kind, ...)

        def remove(value: Array, block: int | None) -> Array:
            if block not in (part.block, None):
                return value
            if part.kind == "position" and way == "resample":
                return value[::-1]
            value[place] = replaced(way, value[place])
            return value

        return self._read(self.model.forward(self.tokens, {point.get(part.kind, "fed"): remove})[0])

    def _one(self, part: Part, way: str) -> Array:
        """(window, place, answer): the logits without an embedding, a head or a feed-forward layer."""
        a, seen = self.a, self.seen
        if part.kind == "token":
            value = seen["token_embedding"]
            return self._from(-1, seen["embedded"] + (replaced(way, value) - value))
        if part.kind == "position":  # it has no windows: the mean is over positions, the resample turned round
            value = seen["position_embedding"]
            return self._from(
                -1, seen["embedded"] + ((value[::-1] if way == "resample" else replaced(way, value)) - value)
            )
        if part.kind == "head":
            value = seen["mixed"][:, part.block, part.index]  # (window, position, feature)
            moved = _decide.after(self.w, part.block, part.index, replaced(way, value) - value, a)
            middle = seen["middle"][:, part.block] + moved
            if part.block == a.blocks - 1:  # nothing after it looks at another position
                middle = self._read(middle)
            return self._from(part.block, self.model.feed(part.block, middle))
        value = seen["fed"][:, part.block]
        return self._left(part.block, seen["out"][:, part.block] + (replaced(way, value) - value))

    def _neurons(self, block: int, neurons: Array, way: str) -> Array:
        """(neuron, window, place, answer): the logits without each of these neurons."""
        a, last = self.a, block == self.a.blocks - 1
        hidden = self.seen["hidden"][:, block]
        hidden = np.moveaxis(
            (self._read(hidden) if last else hidden)[..., neurons], -1, 0
        )  # (neuron, window, position)
        moved = np.stack([replaced(way, each) for each in hidden]) - hidden
        rows = self.w["blocks"][block]["contract"][neurons]  # (neuron, feature)
        if last and (a.norm == "none" or (a.norm_place == "pre" and not a.final_norm)):  # all that follows is a sum
            votes = rows @ (self.w["token"].T if a.tied_embedding else self.w["read_out"])
            return self.logits + moved[..., None] * votes[:, None, None]
        out = self.seen["out"][:, block]
        out = (self._read(out) if last else out) + moved[..., None] * rows[:, None, None]
        return self._left(block, out, narrowed=last)

    def _left(self, block: int, out: Array, narrowed: bool = False) -> Array:
        """From `out` of a block, (..., window, position, feature), to the logits."""
        a = self.a
        if a.norm_place == "post" and a.feed_forward:
            out = reference.normalise(out, self.w["blocks"][block], "norm_2", a)
        return self._from(block, out if narrowed or block < a.blocks - 1 else self._read(out))

    def _from(self, block: int, x: Array) -> Array:
        """From the stream that leaves a block (-1: the embedding) to the logits where answers are read."""
        if block == self.a.blocks - 1:
            return self.model.read_out(self.model.finish(x))
        rest = self.w["blocks"][block + 1 :]
        tokens = np.broadcast_to(self.tokens, x.shape[:-1])
        model = replace(self.a, blocks=len(rest))
        logits, _ = reference.forward({**self.w, "blocks": rest}, tokens, model, {"embedded": lambda _value, _block: x})
        return self._read(logits)

    def _read(self, values: Array) -> Array:
        """(..., window, position, x) → (..., window, place, x): only where an answer counts."""
        return values[..., _counted.read(self.run), :]

    def _together(self, block: int) -> int:
        """How many neurons of a block are taken out side by side."""
        last = block == self.a.blocks - 1
        wide = self.logits.shape[1] * self.logits.shape[2] if last else self.tokens.shape[1] * self.a.width
        return max(1, AT_ONCE // max(len(self.tokens) * int(wide), 1))


def replaced(way: str, value: Array) -> Array:
    """(window, ...): what stands in the place of a value; resampled ones come from another window, drawn by chance."""
    if way == "zero":
        return np.zeros_like(value)
    if way == "mean":
        return np.broadcast_to(value.mean(0, keepdims=True), value.shape).astype(value.dtype)
    order, found = np.random.default_rng(0).permutation(len(value)), np.empty_like(value)
    found[order] = value[np.roll(order, 1)]  # the window before would mostly ask the same: questions are in order
    return found
