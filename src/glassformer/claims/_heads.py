"""What the heads of a language model look at, on windows that it was not trained on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.run import Run

Array = NDArray[Any]
WINDOWS = 32  # of the validation part, spaced evenly
NEAR = 3  # positions back that count as near, beside a token's own


@dataclass(frozen=True)
class Looks:
    """(block, head): how each head of one model spends its attention."""

    near: Array  # share on itself and the positions just before
    distance: Array  # positions back, on average
    marks: Array  # on earlier punctuation, over what looking everywhere alike would give it
    even: Array  # entropy over the largest possible; 1: everything in view counts alike


def looks(run: Run, member: int, step: int = -1) -> Looks:
    """The attention of all heads of a member at a kept step."""
    a = run.architecture
    windows = run.task.examples(a.context, "validation", WINDOWS).windows[:, :-1]
    marks = np.isin(windows, list(run.task.groups["punctuation"]))
    return measured(run.trace(windows, step=step, member=member)["attention"], marks)


def measured(attention: Array, mark: Array) -> Looks:
    """Of attention (window, block, head, query, key), and which keys (window, key) are punctuation."""
    many = attention.shape[-1]
    back = np.arange(many)[:, None] - np.arange(many)
    seen = back >= 0
    alike = seen / seen.sum(axis=1, keepdims=True)
    stripes = (mark[:, None, :] & (back > 0))[:, None, None]  # (window, 1, 1, query, key)
    weights = attention.astype(np.float64)
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)[..., 1:]
    return Looks(
        near=(weights * (seen & (back <= NEAR)))[..., NEAR + 1 :, :].sum(axis=-1).mean(axis=(0, 3)),
        distance=(weights * np.abs(back)).sum(axis=-1).mean(axis=(0, 3)),
        marks=(weights * stripes).sum(axis=(0, 3, 4)) / (alike * stripes).sum(axis=(0, 3, 4)),
        even=(entropy / np.log(np.arange(2, many + 1))).mean(axis=(0, 3)),
    )


def halfway(steps: Array, values: Array) -> float:
    """The first of the steps by which something has made half of its way from the first value to the last."""
    way = (values - values[0]) / (values[-1] - values[0])
    return float(steps[np.argmax(way >= 0.5)])
