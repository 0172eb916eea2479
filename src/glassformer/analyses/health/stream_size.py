"""How large the stream and its branches are by depth, and whether blocks begin as the identity."""

import numpy as np

from glassformer.analyses import _applies, _clock, _decide, _judged
from glassformer.analyses._options import Member, Steps
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, percent, result, shared
from glassformer.architecture import Architecture
from glassformer.run import Run
from glassformer.trace import Trace

ORDER = 30
ANSWERS = ("1.P1", "1.P10")
COST = "a"
APPLIES = (_applies.parts,)

WINDOWS = 64
IDENTITY = 0.1  # branch over stream below which a block hardly changes what passes through it
SAME = 0.99  # cosine above which what leaves a block is what came in
MOST = 3  # steps shown
SAID = {
    "embedded": "embedding", "attended": "attention", "fed": "feed-forward", "middle": "+ attention",
    "out": "+ feed-forward", "normed_1": "norm 1", "normed_2": "norm 2", "final": "final norm",
}  # fmt: skip


@result
class StreamSize(Result):
    """Sizes along the depth at some steps: root mean square over windows, positions and features."""

    stream: Labelled  # (step, point): of the stream at each point
    ratio: Labelled  # (step, point): branch over the stream it is added to
    kept: Labelled  # (step, point): cosine between the stream before a branch and after it and its norm, mean
    mean: Labelled  # (step, point): mean over features, root mean square over windows and positions
    spread: Labelled  # (step, point): standard deviation over features, the same
    differs: Labelled  # (step, point): how much of the stream depends on the window, 0 to 1
    steps: tuple[int, ...]
    windows: int
    residual: bool
    norms: str  # pre or post; empty: there are none
    blocks: int
    block_of: dict[str, int]  # point → block; of those that are in one

    @property
    def title(self) -> str:
        """Whether the blocks begin as the identity, and how much they add in the end."""
        if not np.isfinite(self.stream.values).all():
            return fate("the stream is not a number", self.steps[-1])
        first, last = self.ratio.values[[0, -1]]
        met = "the stream" if self.residual else "what came in"
        start, end = (_between(float(each.min()), float(each.max()), met) for each in (first, last))
        if not self.residual:
            return f"Without residual paths each branch replaces the stream; its size is {end}"
        if first.max() < IDENTITY:
            cosine = float(self.kept.values[0].min())
            told = f"but the stream changes by its norms (cosine down to {cosine:.2f})"
            told = "so blocks begin as the identity" if cosine > SAME else told
            return f"At the start attention and feed-forward add only {start}, {told}; at the end {end}"
        return f"Attention and feed-forward write {start} at the start and {end} at the end"


@shared
def stream_size(run: Run, *, steps: Steps = None, member: Member = 0) -> StreamSize:
    """Size of stream and branches by depth on validation windows; without a norm, mean and spread say the same."""
    a = run.architecture
    chosen = _clock.chosen(run, steps, MOST, member)
    inputs = _decide.examples(run, _decide.affordable(run, WINDOWS)).windows[:, :-1]
    rows = []
    for step in chosen:
        with np.errstate(all="ignore"):
            rows.append(_sizes(run.trace(inputs, step=step, member=member), a))

    where = {each: f" {each[1]}" if each[1] >= 0 and a.blocks > 1 else "" for name in rows[0] for each in rows[0][name]}

    def table(name: str, unit: str = "") -> Labelled:
        points = tuple(f"{each[0]}{where[each]}" for each in rows[0][name])
        words = tuple(SAID[each[0]] + (f", block{where[each]}" if where[each] else "") for each in rows[0][name])
        values = np.array([list(row[name].values()) for row in rows])
        return Labelled(values, {"step": chosen, "point": Axis(points, words)}, unit)

    return StreamSize(
        step=None,
        clock=_clock.text(run, chosen[-1], member),
        stream=table("size"),
        ratio=table("ratio", "share of the stream"),
        kept=table("kept", "cosine"),
        mean=table("mean"),
        spread=table("spread"),
        differs=table("differs", "share"),
        steps=tuple(chosen),
        windows=len(inputs),
        held_out=_judged.held_out(run),
        norms=a.norm_place if a.norm != "none" else "",
        residual=a.residual,
        blocks=a.blocks,
        block_of={f"{point}{many}": block for (point, block), many in where.items() if block >= 0},
    )


def _sizes(seen: Trace, a: Architecture) -> dict[str, dict[tuple[str, int], float]]:
    """Every number of one step by point and block (-1: in none), in the order of computation."""
    stream: dict[tuple[str, int], Array] = {("embedded", -1): seen["embedded"]}
    branches: dict[tuple[str, int], tuple[Array, Array, Array]] = {}  # what is added, the stream before, and the next
    x = seen["embedded"]
    for block in range(a.blocks):
        for branch, after, norm, there in (
            ("attended", "middle", "normed_1", a.attention != "off"),
            ("fed", "out", "normed_2", bool(a.feed_forward)),
        ):
            if not there:
                continue
            added, summed = seen[branch][:, block], seen[after][:, block]
            normed = a.norm != "none" and norm in seen
            if normed and a.norm_place == "pre":
                stream[norm, block] = seen[norm][:, block]
            before, x = x, summed
            stream[after, block] = summed
            if normed and a.norm_place == "post":
                x = seen[norm][:, block]
                stream[norm, block] = x
            branches[branch, block] = (added, before, x)
    if a.final_norm:
        stream["final", -1] = seen["final"]
    return {
        "size": {name: _rms(value) for name, value in stream.items()},
        "mean": {name: _rms(value.mean(-1)) for name, value in stream.items()},
        "spread": {name: _rms(value.std(-1)) for name, value in stream.items()},
        "differs": {name: _rms(value - value.mean(0)) / max(_rms(value), 1e-30) for name, value in stream.items()},
        "ratio": {name: _rms(added) / max(_rms(before), 1e-30) for name, (added, before, _) in branches.items()},
        "kept": {name: _cosine(before, after) for name, (_, before, after) in branches.items()},
    }


def _rms(value: Array) -> float:
    return float(np.sqrt(np.mean(value.astype(np.float64) ** 2)))


def _cosine(before: Array, after: Array) -> float:
    inner = (before * after).sum(-1, dtype=np.float64)
    lengths = np.linalg.norm(before, axis=-1) * np.linalg.norm(after, axis=-1)
    return float(np.mean(inner / np.maximum(lengths, 1e-30)))


def _between(low: float, high: float, met: str) -> str:
    """27 % to 47 % of the stream, 0.75 to 13 times the stream: what is much larger than it is counted in it."""
    ends = [percent(each) if high < 2 else f"{each:.2g}" for each in (low, high)]
    return f"{' to '.join(dict.fromkeys(ends))} {'of' if high < 2 else 'times'} {met}"
