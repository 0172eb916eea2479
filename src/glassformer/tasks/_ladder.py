"""The exact price of each partial understanding of a rule: what the best guess costs that knows only so much."""

from collections.abc import Callable
from math import log

import numpy as np

from glassformer.tasks._beliefs import Beliefs, Source, merged, weigh
from glassformer.tasks._task import FloatArray, IntArray, Rung


def ladder(
    source: Source,
    known: Beliefs,
    prior: FloatArray,
    context: int,
    unlimited: Callable[[IntArray], FloatArray],
) -> tuple[Rung, ...]:
    """The six rungs of a rule: `prior` holds the chances of the states where a window begins."""
    size = source.law.shape[1]
    before = [prior]  # chances of the states before each token of a window, then after the last
    for _ in range(context):
        before.append(source.step(before[-1]))

    def after_tokens(begin: FloatArray, many: int) -> FloatArray:
        """(last tokens..., next token): how often each run occurs, for windows read from the states `begin`."""
        state: IntArray = np.flatnonzero(begin)
        key: IntArray = np.zeros(len(state), dtype=np.int64)
        chance: FloatArray = begin[state]
        for _ in range(many):
            which, edge, along = source.spread(state, chance)
            token = source.edges[1][edge]
            key, state, chance = merged(
                key[which] * size + token, source.next[state[which], token], along, len(source.law)
            )
        which, edge, along = source.spread(state, chance)
        found = weigh(key[which] * size + source.edges[1][edge], along, size ** (many + 1))
        return found.reshape((size,) * (many + 1)) / context

    one = after_tokens(np.sum(before[:-1], axis=0), 1)
    first = after_tokens(before[0], 1)  # the first token of a window has none before it
    two = after_tokens(np.sum(before[: context - 1], axis=0), 2) if context > 1 else np.zeros((size,) * 3)
    frequencies = one.sum(axis=0)
    by_last, by_first = _rows(one, frequencies), _rows(first, frequencies)
    by_two = _rows(two, by_last)
    whole = sum(before[1:], np.zeros(len(source.law))) / context

    def last_two(tokens: IntArray) -> FloatArray:
        return by_two[tokens[-2], tokens[-1]] if len(tokens) > 1 else by_first[tokens[-1]]

    def rule_in_view(tokens: IntArray) -> FloatArray:
        return known.predicted[known.follow(np.asarray(tokens)[-context:])[-1]]

    costs = (
        log(size),
        _cost(frequencies),
        _cost(one),
        _cost(two) + _cost(first),
        _cost(known.predicted * known.visits.mean(axis=0)[:, None]),
        _cost(source.law * whole[:, None]),
    )
    nats = np.minimum.accumulate(costs).tolist()  # rungs that cost the same must not rise by rounding
    return (
        Rung("uniform guess", nats[0], lambda tokens: np.full(size, 1 / size)),  # noqa: ARG005
        Rung("token frequencies", nats[1], lambda tokens: frequencies),  # noqa: ARG005
        Rung("last token", nats[2], lambda tokens: by_last[tokens[-1]]),
        Rung("last two tokens", nats[3], last_two),
        Rung("the rule", nats[4], rule_in_view),
        Rung("unlimited view", nats[5], unlimited, reachable=False),
    )


def _rows(counts: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Chances of the next token after each run; a run that never occurs is answered by a shorter one."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), otherwise)


def _cost(counts: FloatArray) -> float:
    """Nats of the best guess by rows of counts, weighted as they occur."""
    total = np.broadcast_to(counts.sum(axis=-1, keepdims=True), counts.shape)
    some = counts > 0
    return float(max(0.0, -np.sum(counts[some] * np.log(counts[some] / total[some]))))
