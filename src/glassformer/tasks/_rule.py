"""A rule is a small machine that says, after every token, what may come next; all else follows from it exactly."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import CallError, LimitError
from glassformer.settings import setting
from glassformer.tasks._beliefs import Beliefs, Source, beliefs, explore
from glassformer.tasks._ladder import ladder
from glassformer.tasks._task import BoolArray, Data, Examples, FloatArray, IntArray, Part, Rung, Split, Task

MOST_LENGTH = 10_000  # the states are followed token by token to the end of the longest sequence
MOST_TOKENS = 10_000_000  # a data set of this size fills a tenth of a gigabyte


@dataclass(frozen=True)
class Shares:
    """How much of a rule a window shows: exact averages over all possible windows."""

    constrained: float  # share of predicted tokens that the rule restricts
    answerable: float  # share of those whose answer the window settles
    least_error: float  # the smallest possible share of those on which the best single answer is wrong


@dataclass(frozen=True, kw_only=True)
class Rule(Task):
    """Sequences drawn from a law over a finite memory of the past, the state.

    A rule gives `law` and `is_constrained`; where the last token is not memory enough, `start` and `advance`; where the
    answer must be looked up, `back` or `source`. Nine tenths of the sequences train, in the order they were drawn.
    """

    sequences: int = setting("sequences drawn, nine tenths of them to train on", 1500, least=2, most=200_000)
    shortest: int = setting("tokens of the shortest sequence", 16, least=2, most=MOST_LENGTH)
    longest: int = setting("tokens of the longest one", 32, least=2, most=MOST_LENGTH)

    start: ClassVar[Hashable] = None  # the state before the first token
    back: ClassVar[int] = 0  # places from the last token back to the one that must be looked up; 0: the last suffices
    measure = "rule_error"
    kinds = ("0 back", "1 back", "2 back", "3 or more back")  # how far before the last token in view the answer lies

    def advance(self, state: Any, token: int) -> Hashable:  # noqa: ARG002
        """The state after a token, even a wrong one, for what a model writes is judged too; if not given, the token."""
        return token

    @abstractmethod
    def law(self, state: Any) -> FloatArray:
        """The chance of each next token; those above zero are what the verifier accepts."""

    @abstractmethod
    def is_constrained(self, state: Any) -> bool:
        """Whether the rule restricts the next token."""

    def source(self, tokens: Sequence[int], place: int) -> int:  # noqa: ARG002
        """Where the answer after `place` is found in these tokens; asked only where they settle it."""
        return place - self.back

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shortest > self.longest:
            raise CallError(f"data.shortest = {self.shortest} is more than data.longest = {self.longest}; swap them")
        if self.sequences * self.longest > MOST_TOKENS:
            raise LimitError(
                f"data.sequences × data.longest = {self.sequences:,} × {self.longest:,} is more than {MOST_TOKENS:,}; "
                "make one of them smaller"
            )

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Even numbers, odd numbers, and the sign where there is one."""
        number = [i for i, token in enumerate(self.vocabulary) if token.isdigit()]
        sign = [i for i, token in enumerate(self.vocabulary) if not token.isdigit()]
        return {"even": number[::2], "odd": number[1::2]} | ({"sign": sign} if sign else {})

    def evenly(self, tokens: Iterable[int]) -> FloatArray:
        """Equal chances for these tokens and none for the others."""
        chosen = list(tokens)
        chances = np.zeros(len(self.vocabulary))
        chances[chosen] = 1 / len(chosen)
        return chances

    # ---- the law as tables -------------------------------------------------------------------------------------------

    @cached_property
    def _lawful(self) -> "Rule":
        """The same law without what only chooses the data set, so that all seeds share one set of tables."""
        return replace(self, seed=0, sequences=2)

    @property
    def _tables(self) -> Source:
        return _tables(self._lawful)

    def _beliefs(self, context: int) -> Beliefs:
        return _beliefs(self._lawful, context)

    def _check(self, context: int) -> None:
        if not 1 <= context < self.longest:
            raise CallError(
                f"context = {context} needs sequences of at least {context + 1} tokens, but longest = {self.longest}; "
                "make longest larger or context smaller"
            )

    def prior(self, context: int) -> FloatArray:
        """(state,): chance of each state where a window begins: a sequence evenly, then a start evenly within it."""
        self._check(context)
        many = np.arange(max(self.shortest, context + 1), self.longest + 1) - context  # windows, by length of sequence
        begin = np.arange(self.longest - context)
        weight = np.mean((begin[:, None] < many) / many, axis=1)
        state = np.zeros(len(self._tables.law))
        state[0] = 1
        found = np.zeros_like(state)
        for share in weight:
            found += share * state
            state = self._tables.step(state)
        return found

    # ---- sequences ---------------------------------------------------------------------------------------------------

    def _draw(self, rng: np.random.Generator, many: int, length: int) -> tuple[IntArray, IntArray]:
        """Sequences of one length, and the state after each of their tokens."""
        tables = self._tables
        upto = np.cumsum(tables.law, axis=1)
        upto[upto > 1 - 1e-12] = 1  # rounding must not leave a gap below one
        tokens, states = np.empty((2, many, length), dtype=np.int32)
        state: IntArray = np.zeros(many, dtype=np.int32)
        for place in range(length):
            token = (rng.random(many)[:, None] >= upto[state]).sum(axis=1)
            state = tables.next[state, token]
            tokens[:, place], states[:, place] = token, state
        return tokens, states

    @cached_property
    def _drawn(self) -> tuple[IntArray, IntArray, IntArray]:
        """The data set: tokens and states of all sequences, padded to the longest, and their lengths."""
        rng = np.random.default_rng(self.seed)
        lengths = rng.integers(self.shortest, self.longest, size=self.sequences, endpoint=True)
        return *self._draw(rng, self.sequences, self.longest), lengths

    def _members(self, context: int, part: Part) -> IntArray:
        """The sequences of a part that are long enough for a window."""
        self._check(context)
        cut = self.sequences * 9 // 10
        chosen = {"train": np.arange(cut), "validation": np.arange(cut, self.sequences)}.get(part)
        if chosen is None:
            raise CallError(f"a rule has the parts train and validation, not {part!r}")
        chosen = chosen[self._drawn[2][chosen] > context]
        if len(chosen) == 0:
            raise CallError(
                f"no {part} sequence has the {context + 1} tokens that context = {context} needs; "
                f"raise shortest (now {self.shortest}) above context, or sequences (now {self.sequences})"
            )
        return chosen

    def data(self, context: int) -> Data:
        """Whole sequences, split in the order in which they were drawn."""

        def split(part: Part) -> Split:
            members = self._members(context, part)
            tokens, lengths = self._drawn[0][members], self._drawn[2][members]
            flat = tokens[np.arange(self.longest) < lengths[:, None]]
            return Split(flat, np.cumsum(lengths) - lengths, lengths - context)

        return Data(split("train"), split("validation"))

    def sample(self, rng: np.random.Generator, length: int) -> IntArray:
        """One fresh sequence."""
        tokens, _ = self._draw(rng, 1, length)
        return tokens.ravel()

    def examples(self, context: int, part: Part, most: int) -> Examples:
        """So many windows, drawn as training draws them but always the same ones."""
        members = self._members(context, part)
        tokens, states, lengths = self._drawn
        rng = np.random.default_rng([self.seed, 1 + ("train", "validation").index(part)])
        chosen = members[rng.integers(len(members), size=most)]
        begin = rng.integers(lengths[chosen] - context)
        at = chosen[:, None], begin[:, None] + np.arange(context + 1)
        windows, state = tokens[at], states[at][:, :-1]
        known = self._beliefs(context)
        belief = known.follow(windows[:, :-1])
        answerable = known.answerable[belief]
        return Examples(
            windows=windows,
            constrained=self._tables.constrained[state],
            answerable=answerable,
            allowed=self._tables.law[state] > 0,
            kind=self._kind(windows, answerable),
            truth=_came(known.predicted[belief], windows),
        )

    def floors(self, windows: IntArray) -> FloatArray:
        """(window,): what the exact predictor, which sees no more than the window, pays for its tokens on average."""
        known = self._beliefs(windows.shape[1] - 1)
        return -_came(known.predicted[known.follow(windows[:, :-1])], windows).mean(axis=1)

    def _kind(self, windows: IntArray, answerable: BoolArray) -> IntArray:
        kind = np.full(answerable.shape, -1)
        rows = windows.tolist()
        for row, place in np.argwhere(answerable).tolist():
            kind[row, place] = min(place - self.source(rows[row], place), len(self.kinds) - 1)
        return kind

    # ---- verdicts ----------------------------------------------------------------------------------------------------

    def _states(self, tokens: IntArray) -> list[Any]:
        state, found = self.start, []
        for token in np.asarray(tokens).tolist():
            state = self.advance(state, token)
            found.append(state)
        return found

    def allowed(self, tokens: IntArray) -> BoolArray:
        """(place, token): what the law gives a chance after each token of a sequence seen from its start."""
        rows = [self.law(state) > 0 for state in self._states(tokens)]
        return np.array(rows, dtype=bool).reshape(len(rows), len(self.vocabulary))

    def constrained(self, tokens: IntArray) -> BoolArray:
        """(place,): whether the rule restricts the token after each one."""
        return np.array([self.is_constrained(state) for state in self._states(tokens)], dtype=bool)

    def _followed(self, tokens: IntArray, context: int) -> IntArray:
        """(place,): the belief after each token, with the last `context` tokens in view."""
        known, tokens = self._beliefs(context), np.asarray(tokens, dtype=np.int64)
        later = [known.follow(tokens[place + 1 - context : place + 1])[-1] for place in range(context, len(tokens))]
        return np.concatenate([known.follow(tokens[:context]), np.array(later, dtype=np.int64)])

    def answerable(self, tokens: IntArray) -> BoolArray:
        """(place,): whether every past that fits these tokens, seen as a window, restricts the next one alike."""
        context = min(max(len(tokens), 1), self.longest - 1)
        return self._beliefs(context).answerable[self._followed(tokens, context)]

    def settles(self, window: IntArray) -> bool:
        """Whether any past at all, followed by these tokens, right or wrong, asks the same of the next one.

        Unlike `answerable`, which looks for pasts that fit and so cannot read on where the rule was broken.
        """
        found = iter(_after(self._lawful, tuple(np.asarray(window).tolist())))
        first = next(found)
        asks = self.law(first) > 0
        return self.is_constrained(first) and all(
            self.is_constrained(state) and np.array_equal(self.law(state) > 0, asks) for state in found
        )

    def source_position(self, tokens: IntArray) -> IntArray:
        """(place,): where the answer after each token can be read off; -1 where the window does not settle it."""
        row = np.asarray(tokens).tolist()
        return np.array(
            [self.source(row, p) if settled else -1 for p, settled in enumerate(self.answerable(tokens))], int
        )

    def true_distribution(self, tokens: IntArray, context: int) -> FloatArray:
        """(place, token): what the exact predictor expects after each token, seeing the last `context` of them.

        Where the tokens break the rule, the predictor forgets what came before the first impossible one.
        """
        return self._beliefs(context).predicted[self._followed(tokens, context)]

    # ---- the price of each partial understanding ---------------------------------------------------------------------

    def shares(self, context: int, *, full: bool = False) -> Shares:
        """Averages over all positions of a window (1 to `context` tokens in view), or with all of them in view."""
        known = self._beliefs(context)
        visits = known.visits[-1] if full else known.visits.mean(axis=0)
        constrained, answerable, hit = visits @ known.constrained, visits @ known.answerable, visits @ known.hit
        if constrained == 0:
            return Shares(0.0, 1.0, 0.0)  # nothing is asked, so nothing can go wrong
        return Shares(float(constrained), float(answerable / constrained), float(max(0.0, 1 - hit / constrained)))

    def ladder(self, context: int) -> tuple[Rung, ...]:
        """From guessing blindly to the rule, seen through the window, and seen whole."""
        self._check(context)
        return _ladder(self._lawful, context)


@dataclass(frozen=True, kw_only=True)
class StrictRule(Rule):
    """A rule that restricts the next token wherever its law leaves a token out."""

    def is_constrained(self, state: Any) -> bool:
        """Whether some token may not come next."""
        return not self.law(state).all()


@lru_cache(maxsize=64)
def _tables(rule: Rule) -> Source:
    return explore(rule.start, rule.advance, rule.law, rule.is_constrained)


@lru_cache(maxsize=32)
def _beliefs(rule: Rule, context: int) -> Beliefs:
    return beliefs(_tables(rule), rule.prior(context), context)


@lru_cache(maxsize=32)
def _ladder(rule: Rule, context: int) -> tuple[Rung, ...]:
    def unlimited(tokens: IntArray) -> FloatArray:
        return rule.law(rule._states(tokens)[-1])

    return ladder(_tables(rule), _beliefs(rule, context), rule.prior(context), context, unlimited)


@lru_cache(maxsize=4096)
def _after(rule: Rule, window: tuple[int, ...]) -> frozenset[Hashable]:
    """The states in which some tokens may end, whatever came before them."""
    if not window:
        return frozenset(rule._tables.states)
    return frozenset(rule.advance(state, window[-1]) for state in _after(rule, window[:-1]))


def _came(predicted: FloatArray, windows: IntArray) -> FloatArray:
    """(window, place): the logarithm of the chance that the token which came was given."""
    return np.log(np.take_along_axis(predicted, windows[:, 1:, None], axis=2)[..., 0])
