"""Who may look at whom: the mask, and what looking at all alike would give."""

import numpy as np

from glassformer.analyses import _applies
from glassformer.analyses._options import Sequence
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Labelled, Result, listed, result
from glassformer.run import Run

ORDER = 80
ANSWERS = ("3.§5",)
COST = "a"
EDITS = "data"
APPLIES = (_applies.attention,)


@result
class Mask(Result):
    """Which key positions each query position may look at."""

    allowed: Labelled  # (query_position, key_position): 1 allowed, 0 masked
    even: Labelled  # (query_position, key_position): attention if all in view count the same
    tokens: tuple[str, ...]
    rows: tuple[str, ...]  # each row in words
    causal: bool

    @property
    def title(self) -> str:
        """How much of the square is open."""
        cells, open_ = self.allowed.values.size, int(self.allowed.values.sum())
        if self.causal:
            return (
                f"Each position sees itself and what lies before it: {open_} of {cells} pairs are allowed, the future "
                "is masked"
            )
        return f"Every position sees all {len(self.tokens)}: all {cells} pairs are allowed, nothing is masked"


def mask(run: Run, *, sequence: Sequence = None) -> Mask:
    """The mask of a run's model on a text (the task's first showcase when None)."""
    a = run.architecture
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
