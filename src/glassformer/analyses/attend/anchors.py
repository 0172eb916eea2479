"""Which tokens are looked at by all that follow: the attention that a token receives, head by head."""

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._options import Member, Step
from glassformer.analyses._pairs import groups, shown
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, result
from glassformer.analyses.attend.attention import named
from glassformer.run import Run

ORDER = 96
ANSWERS = ("2.§5.1", "new")
COST = "b"
APPLIES = (_applies.attention,)
WINDOWS = 128  # of the validation part
LEAST = 10  # times that a token must occur where others can look at it
MOST = 20  # tokens that are kept
CLEAR = 1.5  # times an even share from which a token is called an anchor


@result
class Anchors(Result):
    """How much attention keys receive from the other positions, over what looking everywhere alike would give them."""

    received: Labelled  # (block, head, token): 1 is an even share; the tokens that receive most of it
    by_group: Labelled  # (block, head, group)
    first: Labelled  # (block, head): the first position, whatever stands there
    occurs: Labelled  # (token,): how often it stands where others can look at it
    windows: int
    causal: bool

    @property
    def title(self) -> str:
        """The strongest anchor, and of which head."""
        values = self.received.values
        if not np.isfinite(self.first.values).all():
            return fate("the attention is not a number", self.step)
        if not values.size:
            return f"No token occurs {LEAST} times where others can look at it"
        block, head, token = np.unravel_index(int(np.nanargmax(values)), values.shape)
        who = f" ({named(int(block), int(head), len(values))})" if values.shape[0] * values.shape[1] > 1 else ""
        word, most = f"“{shown(self.received.axes['token'].labels[int(token)])}”", float(values[block, head, token])
        if most < CLEAR:
            return f"No token is an anchor: the most that one receives is {most:.1f} times an even share, {word}{who}"
        return f"The strongest anchor is {word}: it receives {most:.1f} times an even share of the attention{who}"


def anchors(run: Run, *, step: Step = -1, member: Member = 0) -> Anchors:
    """The attention that each token receives from other positions of validation windows, at a kept step."""
    a, step = run.architecture, _clock.resolve(run, step)
    windows = run.task.examples(a.context, "validation", _judged.enough(run, WINDOWS, 1.0)).windows[:, : a.context]
    allowed = np.tri(a.context, dtype=bool) if a.causal else np.ones((a.context, a.context), bool)
    others = allowed & ~np.eye(a.context, dtype=bool)
    due = (others / allowed.sum(axis=1, keepdims=True)).sum(axis=0)  # (key_position,)
    weights = run.trace(windows, step=step, member=member)["attention"]  # (window, block, head, query, key)
    got = (weights * others).sum(axis=-2, dtype=np.float64)  # (window, block, head, key)
    heads = {"block": numbers(a.blocks), "head": numbers(a.heads)}
    vocabulary, kinds = run.task.vocabulary, groups(run)
    names = tuple(dict.fromkeys(kinds))
    of_group = np.array([names.index(kind) for kind in kinds])
    seen = np.bincount(windows[:, due > 0].ravel(), minlength=len(vocabulary))
    by_token, by_group = _over(windows, got, due, len(vocabulary)), _over(of_group[windows], got, due, len(names))
    known = np.flatnonzero(seen >= LEAST)
    most = np.nan_to_num(by_token[..., known]).max(axis=(0, 1)) if len(known) else np.zeros(0)
    kept = known[np.argsort(-most, kind="stable")[:MOST]]
    met = [k for k in range(len(names)) if np.isfinite(by_group[..., k]).all() or not np.isfinite(got).all()]
    return Anchors(
        **_clock.at_step(run, step, member),
        received=Labelled(by_token[..., kept], heads | {"token": [vocabulary[k] for k in kept]}, "times an even share"),
        by_group=Labelled(by_group[..., met], heads | {"group": [names[k] for k in met]}, "times an even share"),
        first=Labelled(got[..., 0].mean(axis=0) / max(due[0], 1e-12), heads, "times an even share"),
        occurs=Labelled(seen[kept], {"token": [vocabulary[k] for k in kept]}, "times"),
        windows=len(windows),
        causal=a.causal,
    )


def _over(what: Array, got: Array, due: Array, many: int) -> Array:
    """(block, head, kind): attention received by all keys of each of so many kinds, over that due to them."""
    even = np.bincount(what.ravel(), np.broadcast_to(due, what.shape).ravel(), many)
    found = [
        [np.bincount(what.ravel(), got[:, block, head].ravel(), many) for head in range(got.shape[2])]
        for block in range(got.shape[1])
    ]
    return np.where(even > 0, np.array(found) / np.maximum(even, 1e-12), np.nan)
