"""Measuring a model of the rhyme: what each window costs, and how much of what it writes stands in the rhyme."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glassformer.analyses._clock import nearest

if TYPE_CHECKING:
    from glassformer.run import Run

Array = NDArray[np.float64]


def window_losses(run: "Run", step: int = -1, member: int = 0, edits: Any = None) -> Array:
    """(window,): the mean loss of every window that is trained on, in nats per word."""
    windows = run.task.examples(run.architecture.context, "train", 10**6).windows
    chances = run.trace(windows[:, :-1], step, member, edits)["probabilities"]
    right = np.take_along_axis(chances, windows[:, 1:, None], axis=-1)[..., 0]
    return -np.log(right).mean(axis=-1)


def batch_losses(run: "Run", step: int, batches: int = 200) -> Array:
    """(member, batch): what single batches cost at the kept step nearest to this one."""
    near = nearest(run, step)
    rng = np.random.default_rng(0)
    found = []
    for member in range(run.members):
        losses = window_losses(run, near, member)
        drawn = rng.integers(len(losses), size=(batches, run.experiment.train.batch))
        found.append(losses[drawn].mean(axis=1))
    return np.array(found)


def copied(words: Sequence[str], text: Sequence[str], length: int = 7) -> float:
    """The share of all runs of so many words that stand in the text, word for word; of fewer words, of the whole."""
    length = min(length, len(words))
    runs = [tuple(words[k : k + length]) for k in range(len(words) - length + 1)]
    there = {tuple(text[k : k + length]) for k in range(len(text) - length + 1)}
    return sum(run in there for run in runs) / len(runs)
