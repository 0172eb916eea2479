"""Who may look at whom: the mask, and what looking at all alike would give."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Labelled, Result, Words, listed, result
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 80
ANSWERS = ("3.§5",)
COST = "a"
APPLIES = (_applies.attention,)


@result
class Mask(Result):
    """Which key positions each query position may look at."""

    allowed: Labelled  # (query_position, key_position): 1 allowed, 0 masked
    even: Labelled  # (query_position, key_position): attention if all in view count the same
    tokens: tuple[str, ...]
    rows: tuple[str, ...]  # each row in words
    causal: bool


def mask(run: Run, *, sequence: str | None = None) -> Mask:
    """The mask of a run's model on a text (the task's first showcase when None)."""
    a = run.architecture
    if a.attention == "off":
        raise CallError("this model has no attention")
    tokens = tuple(run.task.vocabulary[token] for token in run.tokens(sequence))
    length = len(tokens)
    allowed = np.tri(length) if a.causal else np.ones((length, length))
    names = placed(tokens)
    axes = {"query_position": names, "key_position": names}
    rows = tuple(_row(k, [shown(tokens[j]) for j in range(length) if allowed[k, j]], a.causal) for k in range(length))
    return Mask(
        allowed=Labelled(allowed, axes, "1 allowed, 0 masked"),
        even=Labelled(allowed / allowed.sum(axis=1, keepdims=True), axes, "share"),
        tokens=tokens,
        rows=rows,
        causal=a.causal,
    )


def _row(place: int, seen: list[str], causal: bool) -> str:
    if not causal:
        return f"each sees all {len(seen)}: 1/{len(seen)} if alike"
    many = "itself alone" if len(seen) == 1 else f"{len(seen)} tokens" if len(seen) > 4 else listed(seen)
    return f"position {place} sees {many}"


def say(seen: Mask) -> Words:
    """How much of the square is open."""
    cells, open_ = seen.allowed.values.size, int(seen.allowed.values.sum())
    length = len(seen.tokens)
    if seen.causal:
        title = (
            f"Each position sees itself and what lies before it: {open_} of {cells} pairs are allowed, the future "
            "is masked"
        )
    else:
        title = f"Every position sees all {length}: all {cells} pairs are allowed, nothing is masked"
    caption = (
        f"Rows are the positions that look, columns those looked at, on the input {' '.join(map(shown, seen.tokens))}. "
        + (
            "Cross-hatched cells are masked: their scores are set to minus infinity before the softmax. "
            if seen.causal
            else ""
        )
        + "The number in an allowed cell is the share it would get if all in view counted the same, the baseline "
        "for every "
        "picture of attention. There is no padding: all windows have the same length. The mask is fixed, not learned."
    )
    return Words(
        title, caption, f"A square of positions, {'lower triangle allowed' if seen.causal else 'all allowed'}. {title}."
    )
