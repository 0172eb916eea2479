"""A block of random tokens, repeated: what the second copy will be can be read off the first."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from glassformer.errors import CallError
from glassformer.settings import setting
from glassformer.tasks._task import BoolArray, Data, Examples, FloatArray, IntArray, InView, Part, Rung, Split

SYMBOLS = 64
LENGTH = 32
SURE = 1 - 1e-9  # every block that is still possible goes on with the same token


@dataclass(frozen=True, kw_only=True)
class Repeated(InView):
    """Sequences of 32 tokens of 64. Training goes over `sequences` of them once before any comes twice."""

    sequences: int = setting("sequences to train on", 16_384, least=16, most=200_000)
    held_out: int = setting("sequences to judge by", 1_000, least=1, most=100_000)

    vocabulary = tuple(map(str, range(SYMBOLS)))
    kinds = ("open", "settled")
    measure = "rule_error"

    @property
    @abstractmethod
    def periods(self) -> range:
        """The lengths a block may have, all equally likely."""

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """All tokens are alike."""
        return {"token": range(SYMBOLS)}

    def sizes(self) -> dict[str, int]:
        """The window that holds a whole sequence."""
        return {"context": LENGTH - 1}

    def sample(self, rng: np.random.Generator, length: int) -> IntArray:
        """A block, repeated as often as needed."""
        period = int(rng.choice(self.periods))
        return np.resize(rng.integers(SYMBOLS, size=period), length)

    def _sequences(self, part: Part) -> IntArray:
        """(sequence, 32)."""
        if part == "test":
            raise CallError(
                "this task has no test part: every sequence outside the training part is as good as another"
            )
        rng = np.random.default_rng([self.seed, ("train", "validation").index(part)])
        many = self.sequences if part == "train" else self.held_out
        period = rng.choice(self.periods, size=(many, 1))
        block = rng.integers(SYMBOLS, size=(many, max(self.periods)))
        return np.take_along_axis(block, np.arange(LENGTH) % period, axis=1)

    def data(self, context: int) -> Data:
        """Whole sequences, in shuffled passes."""
        self._fitting(context)
        return Data(Split.of(self._sequences("train")), Split.of(self._sequences("validation")), order="passes")

    def _fitting(self, context: int) -> None:
        if context != LENGTH - 1:
            raise CallError(f"context = {context} does not fit: a sequence has {LENGTH} tokens; set it to {LENGTH - 1}")

    def examples(self, context: int, part: Part, most: int) -> Examples:
        """The first sequences of a part."""
        self._fitting(context)
        windows = self._sequences(part)[:most]
        chances = np.array([self.true_distribution(row[:-1], context) for row in windows])
        settled = chances.max(axis=2) > SURE
        allowed = np.where(settled[..., None], chances > SURE, True)
        truth = np.log(np.take_along_axis(chances, windows[:, 1:, None], axis=2)[..., 0])
        return Examples(windows, settled, settled, allowed, settled.astype(np.int64), truth)

    def allowed(self, tokens: IntArray) -> BoolArray:
        """(place, token): the token of the block where it is settled, elsewhere anything."""
        chances = self.true_distribution(tokens, len(tokens))
        return np.where((chances.max(axis=1) > SURE)[:, None], chances > SURE, True)

    def constrained(self, tokens: IntArray) -> BoolArray:
        """(place,): where what came before settles the next token."""
        return self.true_distribution(tokens, len(tokens)).max(axis=1, initial=0) > SURE

    def source_position(self, tokens: IntArray) -> IntArray:
        """(place,): one period before the predicted token."""
        period = self._beliefs(tokens).argmax(axis=1) + self.periods.start
        place = np.arange(len(tokens)) + 1 - period
        return np.where(self.constrained(tokens) & (place >= 0), place, -1)

    def true_distribution(self, tokens: IntArray, context: int) -> FloatArray:  # noqa: ARG002
        """(place, token): each period that still fits, weighed by its chance, tells the next token or nothing."""
        tokens, beliefs = np.asarray(tokens), self._beliefs(tokens)
        places = np.arange(len(tokens))
        chances = np.zeros((len(tokens), SYMBOLS))
        for k, period in enumerate(self.periods):
            told = places + 1 >= period
            chances += np.where(told, 0, beliefs[:, k] / SYMBOLS)[:, None]
            chances[places[told], tokens[places[told] + 1 - period]] += beliefs[told, k]
        return chances

    def cost(self, rows: IntArray) -> FloatArray:
        """(row, place): what the exact predictor pays for each token but the first of whole sequences."""
        beliefs, places = self._beliefs(rows[:, :-1]), np.arange(rows.shape[1] - 1)
        chance = np.zeros((len(rows), len(places)))
        for k, period in enumerate(self.periods):
            before = rows[:, np.maximum(places + 1 - period, 0)]
            chance += beliefs[..., k] * np.where(places + 1 < period, 1 / SYMBOLS, before == rows[:, 1:])
        return -np.log(chance)

    def _beliefs(self, tokens: IntArray) -> FloatArray:
        """(..., place, period): the chance of each period after each token; one that was contradicted has none."""
        tokens, places = np.asarray(tokens), np.arange(np.shape(tokens)[-1])
        logs = np.zeros((*tokens.shape, len(self.periods)))
        for k, period in enumerate(self.periods):
            fits = (places < period) | (tokens == tokens[..., np.maximum(places - period, 0)])
            free = -np.minimum(places + 1, period) * log(SYMBOLS)
            logs[..., k] = np.where(np.logical_and.accumulate(fits, axis=-1), free, -np.inf)
        logs[np.isinf(logs).all(axis=-1)] = 0.0  # no block of this kind: every period is as good as another
        shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return shares / shares.sum(axis=-1, keepdims=True)

    def ladder(self, context: int) -> tuple[Rung, ...]:
        """Either nothing is known of the block, or all that has been seen of it."""
        self._fitting(context)
        uniform = Rung("uniform guess", log(SYMBOLS), lambda tokens: np.full(SYMBOLS, 1 / SYMBOLS))  # noqa: ARG005
        rule = Rung("the repetition", self._price(), lambda tokens: self.true_distribution(tokens, context)[-1])
        return uniform, rule

    @abstractmethod
    def _price(self) -> float:
        """What the exact predictor pays per token."""
