"""What counting can say about a text: the next token after the last few, from how often each came in training.

Interpolated Witten–Bell tables. With c(h, w) how often w followed h, c(h) how often anything did and t(h) how many
different tokens did, P(w | h) = (c(h, w) + t(h) P(w | h without its first)) / (c(h) + t(h)). The shortest history is
none at all, and before that all tokens are equally likely.
"""

from typing import NamedTuple

import numpy as np

from glassformer.tasks._task import BoolArray, FloatArray, IntArray


class Table(NamedTuple):
    """All histories of one length, numbered, and what followed them."""

    histories: IntArray  # (history,) ascending: number of the history without its last token × size + that token
    pairs: IntArray  # (pair,) ascending: number of the history × size + the token that followed
    counts: IntArray  # (pair,)
    begins: IntArray  # (history + 1,) where the pairs of each history begin


class Counts:
    """The tables of a training text, for histories of up to `longest` tokens."""

    def __init__(self, text: IntArray, size: int, longest: int) -> None:
        self.size = size
        text = np.asarray(text, dtype=np.int64)
        number = np.zeros(len(text), dtype=np.int64)  # of the history of each token
        self.tables = [_table(np.zeros(1, dtype=np.int64), number, text, size)]
        for length in range(1, longest + 1):
            codes = number[:-1] * size + text[length - 1 : -1]
            histories, number = np.unique(codes, return_inverse=True)
            self.tables.append(_table(histories, number, text[length:], size))

    def cost(self, text: IntArray, longest: int) -> FloatArray:
        """(token,): what each token of a text costs in nats, seen after at most `longest` tokens of the same text."""
        text = np.asarray(text, dtype=np.int64)
        chance: FloatArray = np.full(len(text), 1 / self.size)
        number: IntArray = np.zeros(len(text), dtype=np.int64)
        for length, table in enumerate(self.tables[: longest + 1]):
            if length:
                number = _find(table.histories, number[:-1] * self.size + text[length - 1 : -1], number[:-1] >= 0)
            after = text[length:]
            pair = _find(table.pairs, number * self.size + after, number >= 0)
            count = np.where(pair >= 0, table.counts[pair], 0)
            total, kinds = self._sizes(table, number)
            known = total > 0
            better = (count + kinds * chance[length:]) / np.where(known, total + kinds, 1)
            chance[length:] = np.where(known, better, chance[length:])
        return -np.log(chance)

    def chances(self, history: IntArray, longest: int) -> FloatArray:
        """(token,): the probability of every next token after at most `longest` tokens of a history."""
        chance = np.full(self.size, 1 / self.size)
        history = np.asarray(history, dtype=np.int64)
        for length, table in enumerate(self.tables[: min(longest, len(history)) + 1]):
            number = 0
            for k, token in enumerate(history[len(history) - length :]):
                found = _find(self.tables[k + 1].histories, np.array([number * self.size + token]), np.array([True]))
                number = int(found[0])
                if number < 0:
                    return chance
            begin, end = table.begins[number], table.begins[number + 1]
            tokens, counts = table.pairs[begin:end] - number * self.size, table.counts[begin:end]
            if len(tokens) == 0:
                return chance
            chance = chance * len(tokens)
            chance[tokens] += counts
            chance /= counts.sum() + len(tokens)
        return chance

    def _sizes(self, table: Table, number: IntArray) -> tuple[IntArray, IntArray]:
        """How often each history was followed by anything, and by how many different tokens."""
        sums = np.concatenate([[0], np.cumsum(table.counts)])
        begin, end = table.begins[number], table.begins[number + 1]  # of history -1: taken, then hidden
        known = number >= 0
        return np.where(known, sums[end] - sums[begin], 0), np.where(known, end - begin, 0)


def _table(histories: IntArray, number: IntArray, after: IntArray, size: int) -> Table:
    pairs, counts = np.unique(number * size + after, return_counts=True)
    begins = np.searchsorted(pairs, np.arange(len(histories) + 1) * size)
    return Table(histories, pairs, counts, begins)


def _find(codes: IntArray, wanted: IntArray, sensible: BoolArray) -> IntArray:
    """Where each wanted code lies; -1 where it does not, or makes no sense."""
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return np.where(sensible & (codes[place] == wanted), place, -1)
