"""How a text's words are cut: which of the commonest are one token, and what the tokenizer throws away."""

import re
from collections import Counter

import numpy as np

from glassformer.analyses._result import Labelled, Result, listed, result, shared
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._text import Text

ORDER = 50
ANSWERS = ("2.§2.3",)
COST = "b"
EDITS = "data"

WORDS, RANKS = 100, 1000  # words written out; words behind the curve
WORD = re.compile(r"\w+|[^\w\s]+")  # runs of word characters, or of marks: "don't" is three of them
NAMED = 5  # words in the title
FIRST = 80  # characters of the beginning


@result
class Coverage(Result):
    """Pieces of the commonest words, the share of single tokens by rank, and the tokenizer's whole account."""

    pieces: Labelled  # (word,): tokens that each of the commonest words is cut into
    counts: Labelled  # (word,): how often it occurs, capital letters made small
    cut: tuple[tuple[str, ...], ...]  # of each word, its pieces as they are shown
    share: Labelled  # (rank,): of the words up to this rank, those that are one token
    lost: Labelled  # (kind,): characters of the text that no token holds
    characters: int
    distinct: int  # different characters of the text
    beginning: str  # the first characters of the text
    parts: Labelled  # (part,): tokens of each part
    tokens: int
    kinds: int  # different words in the text
    used: int  # entries of the vocabulary that occur
    entries: int
    tokenizer: str
    lossless: bool

    @property
    def title(self) -> str:
        """How many of the commonest words are whole, and which are not."""
        many, split = len(self.cut), self.split
        named = f"{', '.join(split[:NAMED])} and {len(split) - NAMED} more" if len(split) > NAMED else listed(split)
        title = f"{many - len(split)} of the {many} commonest words and marks are single tokens"
        return f"{title}; cut are {named}" if split else title

    @property
    def split(self) -> list[str]:
        """Of the words written out, those that take more than one token, commonest first."""
        return [word for word, cut in zip(self.pieces.axes["word"].labels, self.cut, strict=True) if len(cut) > 1]

    @property
    def per_token(self) -> float:
        """Characters per token, white space included."""
        return self.characters / max(self.tokens, 1)


def applies(run: Run) -> str | None:
    """Why words are not cut here; None where they are."""
    if not isinstance(run.task, Text):
        return "this task is no text"
    kind = run.task.tokenizer
    return None if "bpe" in kind else f"its tokenizer ({kind}) merges nothing; only byte-pair encoding cuts words"


@shared
def coverage(run: Run) -> Coverage:
    """The commonest words of the whole text, and how many tokens each takes."""
    task = run.task
    assert isinstance(task, Text)
    text, space = task.text, " " if task.cutter.lossless else ""  # there a word in a text begins with its space
    common = Counter(WORD.findall(text.lower())).most_common()
    ranked = [word for word, _ in common[:RANKS]]
    cut = [_pieces(task, space + word if word[0].isalnum() else word) for word in ranked]
    single = np.array([len(pieces) == 1 for pieces in cut], dtype=float)
    ranks, words = np.arange(1, len(ranked) + 1), tuple(ranked[:WORDS])
    kept = "".join(text.split()) if not task.cutter.lossless else text
    lost = _lost(text) if not task.cutter.lossless else {}
    assert len(text) - len(kept) == sum(lost.values())
    return Coverage(
        pieces=Labelled(np.array([len(pieces) for pieces in cut[:WORDS]], dtype=float), {"word": words}, "tokens"),
        counts=Labelled(np.array([many for _, many in common[:WORDS]], dtype=float), {"word": words}, "occurrences"),
        cut=tuple(cut[:WORDS]),
        share=Labelled(np.cumsum(single) / ranks, {"rank": ranks}, "share"),
        lost=Labelled(np.array(list(lost.values()), dtype=float), {"kind": tuple(lost)}, "characters"),
        characters=len(text),
        distinct=len(set(text)),
        beginning=text[:FIRST],
        parts=_parts(run),
        tokens=len(task.stream),
        kinds=len(common),
        used=int((np.bincount(task.stream, minlength=len(task.vocabulary)) > 0).sum()),
        entries=len(task.vocabulary),
        tokenizer=task.tokenizer,
        lossless=task.cutter.lossless,
    )


def _parts(run: Run) -> Labelled:
    """(part,): the tokens that the windows of each part lie in."""
    assert isinstance(run.task, Text)
    bounds = run.task.bounds(run.architecture.context)
    long = [end - begin + run.architecture.context for begin, end in bounds.values()]
    return Labelled(np.array(long, dtype=float), {"part": tuple(bounds)}, "tokens")


def _pieces(task: Text, word: str) -> tuple[str, ...]:
    """A word's tokens; a small letter that the text only has as a capital has none, and stands for itself."""
    try:
        return tuple(task.vocabulary[token] for token in task.cutter.encode(word))
    except CallError:
        return tuple(word)


def _lost(text: str) -> dict[str, int]:
    """Characters of white space by kind."""
    white = Counter(letter for letter in text if letter.isspace())
    named = {"spaces": white.pop(" ", 0), "line ends": white.pop("\n", 0), "other white space": sum(white.values())}
    return {kind: many for kind, many in named.items() if many}
