"""The white space that a tokenizer throws away, put back for reading: what stands most often between two tokens."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from glassformer.tokenizers._tokenizer import IntArray, Tokenizer, stretches
from glassformer.tokenizers.words import END

GAPS = ("", " ", "\n", "\n\n")


class Spacing:
    """Between two tokens what most often stands there in a text; if they never met, what stands before the second."""

    def __init__(self, cutter: Tokenizer, text: str) -> None:
        self._words = ["\n" if word == END else word for word in cutter.vocabulary]
        pairs: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
        before: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for stretch in stretches(text):
            last, end = -1, 0
            for token, begin, after in cutter.places(stretch):
                if last >= 0:
                    gap = _kind(stretch[end:begin])
                    pairs[last, token][gap] += 1
                    before[token][gap] += 1
                last, end = token, after
        self._pairs = {pair: found.most_common(1)[0][0] for pair, found in pairs.items()}
        self._before = {token: found.most_common(1)[0][0] for token, found in before.items()}

    def text(self, ids: IntArray | Iterable[int]) -> str:
        """The text of some ids, for reading."""
        said, last = "", -1
        for token in map(int, ids):
            said += self._gap(last, token) if last >= 0 else ""
            said += self._words[token]
            last = token
        return said

    def _gap(self, last: int, token: int) -> str:
        return self._pairs.get((last, token), self._before.get(token, " "))


def _kind(space: str) -> str:
    lines = space.count("\n")
    return GAPS[min(lines, 2) + 1] if lines else " " if space else ""
