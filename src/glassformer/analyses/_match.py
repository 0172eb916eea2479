"""Parts of two models paired by what they do: heads by where they look, neurons by when they fire.

A model's heads and neurons have no order: any two can change places with their weights and nothing is said
differently. Two models can be compared part by part only after the pairing under which they agree best.
"""

import numpy as np

from glassformer.analyses import _decide
from glassformer.analyses._result import Array
from glassformer.run import Run

WINDOWS = 64  # held-out inputs on which two models are compared


def assignment(gain: Array) -> list[int]:
    """For each row of a square table its column, no column twice, so that the sum of the cells is the largest."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(gain, maximize=True)[1].tolist()


def looks(run: Run, step: int, member: int) -> Array:
    """(block, head, place): attention of every head on held-out inputs, all queries and keys in a row."""
    seen = run.trace(inputs(run), step=step, member=member)["attention"].astype(np.float64)  # (input, block, head, …)
    return np.moveaxis(seen, 0, 2).reshape(*seen.shape[1:3], -1)


def fires(run: Run, step: int, member: int) -> Array:
    """(block, neuron, place): activation of every neuron at every position of held-out inputs, standardised."""
    seen = run.trace(inputs(run), step=step, member=member)["hidden"].astype(np.float64)  # (input, block, position, n)
    return standardise(np.moveaxis(seen, (0, 3), (2, 1)).reshape(seen.shape[1], seen.shape[3], -1))


def inputs(run: Run) -> Array:
    """(input, position): what two models are compared on."""
    windows = np.random.default_rng(0).permutation(_decide.examples(run, WINDOWS).windows)  # neighbours are unlike
    return windows[:, : run.architecture.context]


def elsewhere(parts: Array, by: int, many: int) -> Array:
    """The same parts (block, part, place) on another of so many inputs each: what is found where nothing is shared."""
    if many < 2:
        return np.full(parts.shape, np.nan)
    each = parts.reshape(*parts.shape[:2], many, -1)
    return np.roll(each, 1 + (by - 1) % (many - 1), axis=2).reshape(parts.shape)  # never a whole round


def same_looks(one: Array, other: Array) -> Array:
    """(head, head): the share of attention that two heads put on the same places, 1 where they look alike."""
    queries = one.sum(axis=-1).mean()  # every query has attention 1 to give
    return np.array([[float(np.minimum(a, b).sum()) / queries for b in other] for a in one])


def same_fires(one: Array, other: Array) -> Array:
    """(neuron, neuron): correlation of two neurons' standardised activations; 0 for one that never changes."""
    return one @ other.T


def standardise(values: Array) -> Array:
    """Along the last axis: mean 0 and length 1, so that products are correlations; 0 where nothing changes."""
    centred = values - values.mean(axis=-1, keepdims=True)
    size = np.sqrt((centred**2).sum(axis=-1, keepdims=True))
    return np.where(size <= 1e-9, 0.0, centred / np.maximum(size, 1e-300))


def agreement(alike: list[Array], idle: list[int]) -> float:
    """Mean of the best pairing over all blocks; so many of each block's parts are idle and have nobody to be paired."""
    if not all(np.isfinite(table).all() for table in alike):
        return float("nan")
    total, parts = 0.0, 0
    for table, none in zip(alike, idle, strict=True):
        total += float(table[np.arange(len(table)), assignment(table)].sum())
        parts += len(table) - none
    return total / parts if parts else 0.0


def unlike_heads(one: Array, other: Array) -> float:
    """Of two models' `looks`: 0 where every head has a twin that looks at the same places, 1 where none has."""
    return 1 - agreement([same_looks(a, b) for a, b in zip(one, other, strict=True)], [0] * len(one))


def unlike_neurons(one: Array, other: Array) -> float:
    """Of two models' `fires`: 1 minus the mean correlation of paired neurons; silent pairs are not counted."""
    tables = [same_fires(a, b) for a, b in zip(one, other, strict=True)]
    idle = [int(min((~a.any(axis=-1)).sum(), (~b.any(axis=-1)).sum())) for a, b in zip(one, other, strict=True)]
    return 1 - agreement(tables, idle)


def cost(parts: Array) -> float:
    """Operations, roughly, of comparing two models' parts (block, part, place), and of pairing these."""
    blocks, many, places = parts.shape
    return float(blocks * many**2 * (places + 20 * many))
