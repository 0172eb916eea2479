"""How large the stream and its branches are by depth, and whether blocks begin as the identity."""

from dataclasses import dataclass

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _decide
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, shared, thousands, result
from glassformer.architecture import Architecture, nest
from glassformer.run import Run

ORDER = 30
ANSWERS = ("1.P1", "1.P10")
COST = "a"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    a = run.architecture
    return None if a.attention != "off" or a.feed_forward else "the model has neither attention nor feed-forward"


WINDOWS = 64
IDENTITY = 0.1  # branch over stream below which a block hardly changes what passes through it
MOST = 3  # steps shown


@result
class Signal(Result):
    """Sizes along the depth at some steps: root mean square over windows, positions and features."""

    stream: Labelled  # (step, point): of the stream at each point
    branch: Labelled  # (step, branch): of what each branch adds
    ratio: Labelled  # (step, branch): branch over the stream it is added to
    kept: Labelled  # (step, branch): cosine between the stream before and after the branch, mean over positions
    mean: Labelled  # (step, point): mean over features, root mean square over windows and positions
    spread: Labelled  # (step, point): standard deviation over features, the same
    differs: Labelled  # (step, point): how much of the stream depends on the window, 0 to 1
    steps: tuple[int, ...]
    windows: int
    residual: bool
    blocks: int


@shared
def stream_size(run: Run, *, steps: tuple[int, ...] | None = None, member: int = 0) -> Signal:
    """Size of stream and branches by depth on validation windows; without a norm, mean and spread say the same."""
    a = run.architecture
    chosen = _clock.chosen(run, steps, MOST, member)
    given = _decide.examples(run, _decide.affordable(run, WINDOWS))
    rows = []
    for step in chosen:
        with np.errstate(all="ignore"):
            params = nest(run.weights(step, member))
            rows.append(_sizes(reference.forward(params, given.windows[:, :-1], a)[1], a))
    points, branches = tuple(rows[0]["size"]), tuple(rows[0]["branch"])
    labels = tuple(map(str, chosen))

    def table(name: str, unit: str = "") -> Labelled:
        along = {"branch": branches} if name in ("branch", "ratio", "kept") else {"point": points}
        values = np.array([list(row[name].values()) for row in rows]).reshape(len(rows), -1)
        return Labelled(values, {"step": labels, **along}, unit)

    return Signal(
        step=None,
        clock=_clock.text(run, chosen[-1], member),
        stream=table("size"),
        branch=table("branch"),
        ratio=table("ratio", "share of the stream"),
        kept=table("kept", "cosine"),
        mean=table("mean"),
        spread=table("spread"),
        differs=table("differs", "share"),
        steps=tuple(chosen),
        windows=len(given.windows),
        residual=a.residual,
        blocks=a.blocks,
    )


def _sizes(seen: reference.Trace, a: Architecture) -> dict[str, dict[str, float]]:
    """Every number of one step by name of point or branch, in the order of computation."""
    stream: dict[str, Array] = {"embedded": seen["embedded"]}
    branches: dict[str, tuple[Array, Array, Array]] = {}  # what is added, the stream before, the stream after
    x = seen["embedded"]
    for block in range(a.blocks):
        many = f" {block}" if a.blocks > 1 else ""
        for branch, after, norm, there in (
            ("attended", "middle", "normed_1", a.attention != "off"),
            ("fed", "out", "normed_2", bool(a.feed_forward)),
        ):
            if not there:
                continue
            added, summed = seen[branch][:, block], seen[after][:, block]
            normed = a.norm != "none" and norm in seen
            if normed and a.norm_place == "pre":
                stream[f"{norm}{many}"] = seen[norm][:, block]
            branches[f"{branch}{many}"] = (added, x, summed)
            stream[f"{after}{many}"] = summed
            x = summed
            if normed and a.norm_place == "post":
                x = seen[norm][:, block]
                stream[f"{norm}{many}"] = x
    if a.final_norm:
        stream["final"] = seen["final"]
    return {
        "size": {name: _rms(value) for name, value in stream.items()},
        "mean": {name: _rms(value.mean(-1)) for name, value in stream.items()},
        "spread": {name: _rms(value.std(-1)) for name, value in stream.items()},
        "differs": {name: _rms(value - value.mean(0)) / max(_rms(value), 1e-30) for name, value in stream.items()},
        "branch": {name: _rms(added) for name, (added, _, _) in branches.items()},
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


def say(seen: Signal) -> Words:
    """Whether the blocks begin as the identity, and how much they add in the end."""
    first, last = seen.ratio.values[0], seen.ratio.values[-1]
    names = seen.ratio.axes["branch"].labels
    if not len(names):
        title = "This model has no branches: the stream goes from embedding to read-out unchanged"
    elif not np.isfinite(seen.stream.values).all():
        title = f"At step {thousands(seen.steps[-1])} the stream is not a number: the training has diverged"
    else:
        met = "the stream" if seen.residual else "what came in"
        start, end = (_between(float(each.min()), float(each.max()), met) for each in (first, last))
        if not seen.residual:
            title = f"Without residual paths each branch replaces the stream; its size is {end}"
        elif first.max() < IDENTITY:
            title = (
                f"At the start attention and feed-forward add only {start}, so blocks begin as the "
                f"identity; at the end {end}"
            )
        else:
            title = f"Attention and feed-forward write {start} at the start and {end} at the end"
    caption = (
        "Top left: root mean square of the stream along the depth, at several steps (by shade of time); those of the "
        "branches are in the table. Top right: the branch over the stream it is added to; near 0 the block is the "
        "identity. Below: mean and spread over the features of one position, before and after norms, and the share of "
        f"the stream that depends on the window. {seen.windows} validation windows; all values are exact for them. A "
        "norm after the sum rescales everything, so there a small ratio alone does not make a block the identity: the "
        "cosine between the stream before and after is in the table."
    )
    return Words(title, caption, f"Charts of sizes by depth at {len(seen.steps)} steps. {title}.")
