"""What a window reveals: the exact chances of every hidden state, and of every next token, given what is in view."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from glassformer.errors import CallError, LimitError
from glassformer.tasks._task import BoolArray, FloatArray, IntArray

LEAST_CHANCE = 1e-12  # smaller ones are lost among rounding errors
MOST_STATES = 250_000  # beyond this the exact predictor would take minutes and gigabytes
MOST_NUMBERS = 20_000_000  # states × tokens, beliefs × tokens, and steps from the states of all beliefs of one length


@dataclass(frozen=True)
class Source:
    """A rule as tables: state 0 is the start of a sequence; only tokens with a chance above zero lead on."""

    law: FloatArray  # (state, token) chance of each next token
    next: IntArray  # (state, token) the state after it; -1 where the chance is zero
    constrained: BoolArray  # (state,)
    states: tuple[Hashable, ...] = ()  # what the rule remembers in each

    @cached_property
    def edges(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Every possible step: state, token, chance; ordered by state."""
        state, token = np.nonzero(self.law)
        return state, token, self.law[state, token]

    @cached_property
    def sort(self) -> IntArray:
        """(state,): a number that two states share if the rule asks the same of the next token in both."""
        asks = np.column_stack([self.law > 0, self.constrained])
        return np.unique(np.packbits(asks, axis=1), axis=0, return_inverse=True)[1].ravel()

    def step(self, chance: FloatArray) -> FloatArray:
        """Chances of the states, one token later."""
        state, token, along = self.edges
        return weigh(self.next[state, token], chance[state] * along, len(self.law))

    def spread(self, state: IntArray, chance: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Every particle (a state with a chance) goes along all its edges: which particle, which edge, what chance."""
        first, many = np.searchsorted(self.edges[0], [state, state + 1])
        many = many - first
        _limit(int(many.sum()))
        which = np.repeat(np.arange(len(state)), many)
        edge = np.arange(len(which)) - np.repeat(np.cumsum(many) - many, many) + first[which]
        return which, edge, chance[which] * self.edges[2][edge]


def explore(
    start: Hashable,
    advance: Callable[[Any, int], Hashable],
    law: Callable[[Any], FloatArray],
    is_constrained: Callable[[Any], bool],
) -> Source:
    """Every state that a sequence obeying the law can reach, breadth first."""
    number: dict[Hashable, int] = {start: 0}
    found: list[Hashable] = [start]
    laws: list[FloatArray] = []
    nexts: list[list[int]] = []
    for state in found:  # grows while we walk it
        chances = np.asarray(law(state), dtype=np.float64)
        if not (abs(chances.sum() - 1) <= 1e-9 and chances.min() >= 0):  # nor is what is not a number
            raise CallError(f"the law of state {state!r} is not a set of chances: it sums to {chances.sum():.6g}")
        if (least := chances[chances > 0].min()) < LEAST_CHANCE:
            raise CallError(
                f"the law of state {state!r} has a chance of {least:g}; 0 or {LEAST_CHANCE:g} and more can be told"
            )
        row = [-1] * len(chances)
        for token in np.flatnonzero(chances).tolist():
            after = advance(state, token)
            if after not in number:
                number[after] = len(found)
                found.append(after)
            row[token] = number[after]
        if len(found) > MOST_STATES:
            raise LimitError(f"this rule has more than {MOST_STATES:,} states; let it remember less of the past")
        if len(found) * len(chances) > MOST_NUMBERS:
            raise LimitError(
                f"this rule has {len(found):,} states or more and {len(chances):,} tokens, states × tokens more than "
                f"{MOST_NUMBERS:,}; let it remember less, or have fewer tokens"
            )
        laws.append(chances)
        nexts.append(row)
    bound = np.array([is_constrained(state) for state in found])
    return Source(np.array(laws), np.array(nexts, dtype=np.int32), bound, tuple(found))


def weigh(where: IntArray, weight: FloatArray, size: int = 0) -> FloatArray:
    """The weights added up, place by place."""
    return np.bincount(where, weight, size).astype(np.float64, copy=False)


def _limit(many: int) -> None:
    if many > MOST_NUMBERS:
        raise LimitError(
            f"the windows of this rule leave more than {MOST_NUMBERS:,} chances to be told apart; lower "
            "architecture.context, or let the rule remember less"
        )


def merged(key: IntArray, state: IntArray, chance: FloatArray, states: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Particles with the same key and state become one; the result is ordered by key."""
    both, where = np.unique(key.astype(np.int64) * states + state, return_inverse=True)
    return both // states, both % states, weigh(where, chance)


@dataclass(frozen=True)
class Beliefs:
    """The exact predictor as a machine over beliefs: belief 0 is that before the first token of a window.

    A belief is a distribution over states. Windows that leave the same belief share a row, wherever they end. A token
    that the law makes impossible in a belief restarts it: the window is read on as if it began with that token.
    """

    predicted: FloatArray  # (belief, token) chance of each next token
    next: IntArray  # (belief, token)
    answerable: BoolArray  # (belief,) all states agree that the next token is constrained, and on what is allowed
    constrained: FloatArray  # (belief,) chance that the next token is constrained
    hit: FloatArray  # (belief,) chance that it is constrained and the best single answer is allowed
    visits: FloatArray  # (place, belief) chance of each belief after each token of a window

    def follow(self, windows: IntArray) -> IntArray:
        """(..., place): the belief after each token of one or many windows."""
        windows = np.asarray(windows)
        found = np.empty(windows.shape, dtype=np.int64)
        belief: IntArray = np.zeros(windows.shape[:-1], dtype=np.int64)
        for place in range(windows.shape[-1]):
            belief = self.next[belief, windows[..., place]]
            found[..., place] = belief
        return found


@dataclass(frozen=True)
class _Level:
    """The beliefs that are new after so many tokens: particles ordered by owner, the belief they belong to."""

    owner: IntArray  # (particle,) counted from 0 within the level
    state: IntArray  # (particle,)
    chance: FloatArray  # (particle,) sums to 1 for each owner
    count: int  # beliefs


def beliefs(source: Source, prior: FloatArray, context: int) -> Beliefs:
    """Follow the belief `prior` along every window of `context` tokens, merging beliefs that are equal."""
    begin = np.flatnonzero(prior)
    level = _Level(np.zeros(len(begin), dtype=np.int64), begin, prior[begin], 1)
    known: dict[int, int] = {}
    rows: list[tuple[FloatArray, IntArray, BoolArray, FloatArray, FloatArray]] = []
    total = 1
    for depth in range(context + 1):
        _limit(total * source.law.shape[1])
        following = np.full((level.count, source.law.shape[1]), -1, dtype=np.int32)
        after = level
        if depth < context:
            after = _advance(source, level, following, known, total)
        rows.append(_row(source, level, following))
        if after.count == 0:
            break  # the beliefs found so far lead only to each other
        level, total = after, total + after.count
    predicted, following, answerable, constrained, hit = (np.concatenate(column) for column in zip(*rows, strict=True))
    visits = _visits(predicted, following, context)
    restart = np.maximum(following[0], 0)  # a token that no window begins with leaves us knowing nothing
    return Beliefs(predicted, np.where(following >= 0, following, restart), answerable, constrained, hit, visits)


def _row(
    source: Source, level: _Level, following: IntArray
) -> tuple[FloatArray, IntArray, BoolArray, FloatArray, FloatArray]:
    """What each belief of a level expects of the next token, in the order of the fields of `Beliefs`."""
    shape = level.count, source.law.shape[1]
    which, edge, along = source.spread(level.state, level.chance)
    key = level.owner[which] * shape[1] + source.edges[1][edge]
    bound = source.constrained[level.state]
    # An answer is right in every state that allows it, whatever chance it has there.
    right = weigh(key, (level.chance * bound)[which], shape[0] * shape[1]).reshape(shape)
    begins = np.searchsorted(level.owner, np.arange(level.count))
    sort = source.sort[level.state]
    agree = np.minimum.reduceat(sort, begins) == np.maximum.reduceat(sort, begins)
    return (
        weigh(key, along, shape[0] * shape[1]).reshape(shape),
        following,
        agree & bound[begins],
        weigh(level.owner, level.chance * bound, level.count),
        right.max(axis=1),
    )


def _advance(source: Source, level: _Level, following: IntArray, known: dict[int, int], total: int) -> _Level:
    """One token later: fill in where each token leads, and return the beliefs that have not been met before."""
    states, size = source.law.shape
    which, edge, along = source.spread(level.state, level.chance)
    token = source.edges[1][edge]
    key, state, chance = merged(
        level.owner[which] * size + token, source.next[level.state[which], token], along, states
    )
    keys, owner = np.unique(key, return_inverse=True)
    chance = chance / weigh(owner, chance)[owner]
    name, leader, group = np.unique(_names(owner, state, chance, states), return_index=True, return_inverse=True)
    number = np.array([known.get(it, -1) for it in name.tolist()])
    fresh = number < 0
    number[fresh] = total + np.arange(fresh.sum())
    known.update(zip(name[fresh].tolist(), number[fresh].tolist(), strict=True))
    following.ravel()[keys] = number[group]
    place = np.full(len(keys), -1)  # one of the equal beliefs carries on for all
    place[leader[fresh]] = number[fresh] - total
    order = np.argsort(place[owner], kind="stable")
    order = order[place[owner][order] >= 0]
    return _Level(place[owner][order], state[order], chance[order], int(fresh.sum()))


def _names(owner: IntArray, state: IntArray, chance: FloatArray, states: int) -> IntArray:
    """A number for each belief: two random projections, so that equal ones agree and others, in practice, never do."""
    first, second = np.random.default_rng(0).random((2, states))
    left, right = (np.rint(weigh(owner, chance * line[state]) * 2**34).astype(np.int64) for line in (first, second))
    return left * 2**30 + right  # may wrap around, which does no harm


def _visits(predicted: FloatArray, following: IntArray, context: int) -> FloatArray:
    """(place, belief): the chance of each belief after each token of a window."""
    belief, token = np.nonzero(following >= 0)
    to, along = following[belief, token], predicted[belief, token]
    visit = np.zeros((context + 1, len(following)))
    visit[0, 0] = 1
    for place in range(context):
        visit[place + 1] = weigh(to, visit[place, belief] * along, len(following))
    return visit[1:]
