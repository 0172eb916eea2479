"""Every word is a token; ids in order of first appearance, and <END> closes a line."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Self

import numpy as np

from glassformer.errors import CallError
from glassformer.tokenizers._tokenizer import IntArray, Tokenizer, check_tokens, sized

END, RARE = "<END>", "<RARE>"
MOST_MATCHED = 30  # characters of an unknown word that are compared with the others
WORD = re.compile(r"<END>|<RARE>|\w+(?:['’]\w+)*|[^\w\s]")


class Words(Tokenizer):
    """Runs of letters, and each mark of punctuation by itself. Spacing is lost; line ends are kept as <END>."""

    kind, lossless = "words", False

    def __init__(self, words: Sequence[str]) -> None:
        self.vocabulary = tuple(words)
        self._ids = {word: token for token, word in enumerate(words)}

    @classmethod
    def learn(cls, text: str, entries: int | None) -> Self:
        """All words, or the most frequent ones; then the others are read as <RARE>."""
        words = cut(text)
        order = list(dict.fromkeys(words))
        if entries is None or entries >= len(order):
            return cls(order)
        counts = Counter(word for word in words if word != END)
        keep = {word for word, _ in counts.most_common(sized("words", entries, 3) - 2)} | {END}
        return cls([word for word in order if word in keep] + [RARE])

    @classmethod
    def restore(cls, saved: Mapping[str, Any]) -> Self:
        """From the list of words."""
        words = saved["words"]
        if not isinstance(words, list):
            raise ValueError("it has no list of words")
        check_tokens(words)
        if END not in words:
            raise ValueError(f"its words lack {END}")
        return cls(words)

    def saved(self) -> dict[str, Any]:
        """The words in order."""
        return {"words": list(self.vocabulary)}

    def encode(self, text: str) -> IntArray:
        """One id per word; an unknown one is answered with the nearest, or read as <RARE> where there is that."""
        return self._find(cut(text, ends=False))

    def _find(self, words: list[str]) -> IntArray:
        rare = self._ids.get(RARE)
        for place, word in enumerate(words):
            if word not in self._ids and rare is None:
                near = get_close_matches(word[:MOST_MATCHED], self.vocabulary, n=3, cutoff=0.5)
                hint = f"did you mean {' or '.join(near)}?" if near else "it does not occur in the training text"
                raise CallError(f"word {word!r:.60} at position {place} is not in the vocabulary; {hint}")
        return np.array([self._ids.get(word, rare) for word in words], dtype=np.int32)

    def read(self, text: str) -> IntArray:
        """The ids of a whole text, with <END> after each line."""
        return self._find(cut(text))

    def decode(self, ids: IntArray) -> str:
        """Words with spaces between them, a new line after each <END>."""
        text = " ".join(self.vocabulary[token] for token in np.asarray(ids))
        return re.sub(rf" ?{END} ?", "\n", text)

    def places(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Where each word lies; <END> has the end of its line."""
        begin, rare = 0, self._ids.get(RARE, -1)
        for line in text.splitlines(keepends=True):
            found = list(WORD.finditer(line))
            for word in found:
                yield self._ids.get(word[0], rare), begin + word.start(), begin + word.end()
            if found:
                yield self._ids[END], begin + found[-1].end(), begin + len(line)
            begin += len(line)

    @staticmethod
    def family(word: str) -> str:
        """Words, marks, line ends."""
        if word in (END, RARE):
            return "line end" if word == END else "rare word"
        return "word" if word[0].isalnum() or word[0] == "_" else "punctuation"


def cut(text: str, ends: bool = True) -> list[str]:
    """The words of a text; with `ends`, <END> after every line that has any."""
    if not ends:
        return WORD.findall(text)
    lines = (WORD.findall(line) for line in text.splitlines())
    return [word for line in lines if line for word in (*line, END)]
