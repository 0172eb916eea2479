"""How a text's words are cut: which of the commonest are one token, and what the tokenizer throws away."""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from glassformer.analyses._result import Array, Labelled, Result, Words, listed, percent, shared, thousands, result
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._text import Text

ORDER = 50
ANSWERS = ("2.§2.3",)
COST = "b"


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


def applies(run: Run) -> str | None:
    """Why words are not cut here; None where they are."""
    if not isinstance(run.task, Text):
        return "this task is no text"
    kind = run.task.tokenizer
    return None if "bpe" in kind else f"its tokenizer ({kind}) merges nothing; only byte-pair encoding cuts words"


@shared
def coverage(run: Run) -> Coverage:
    """The commonest words of the whole text, and how many tokens each takes."""
    if why := applies(run):
        raise CallError(why)
    task = run.task
    assert isinstance(task, Text)
    text, space = task.text, " " if task.cutter.lossless else ""  # there a word in a text begins with its space
    common = Counter(WORD.findall(text.lower())).most_common()
    ranked = [word for word, _ in common[:RANKS]]
    cut = [_pieces(task, space + word if word[0].isalnum() else word) for word in ranked]
    single = np.array([len(pieces) == 1 for pieces in cut], dtype=float)
    words = tuple(ranked[:WORDS])
    kept = "".join(text.split()) if not task.cutter.lossless else text
    lost = _lost(text) if not task.cutter.lossless else {}
    assert len(text) - len(kept) == sum(lost.values())
    return Coverage(
        pieces=Labelled(np.array([len(pieces) for pieces in cut[:WORDS]], dtype=float), {"word": words}, "tokens"),
        counts=Labelled(np.array([many for _, many in common[:WORDS]], dtype=float), {"word": words}, "occurrences"),
        cut=tuple(cut[:WORDS]),
        share=Labelled(
            np.cumsum(single) / np.arange(1, len(single) + 1),
            {"rank": tuple(str(k + 1) for k in range(len(single)))},
            "share",
        ),
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


def split_words(seen: Coverage) -> list[str]:
    """Of the words written out, those that take more than one token, commonest first."""
    return [word for word, many in zip(seen.pieces.axes["word"].labels, seen.pieces.values, strict=True) if many > 1]


def per_token(seen: Coverage) -> float:
    """Characters per token, white space included."""
    return seen.characters / max(seen.tokens, 1)


def share_at(seen: Coverage) -> tuple[Array, Array]:
    """Ranks and shares of the curve."""
    return np.arange(1, len(seen.share.values) + 1), np.asarray(seen.share.values)


def opening(seen: Coverage) -> str:
    """The first characters of the text, on one line."""
    return " ⏎ ".join(filter(None, seen.beginning.splitlines()))


def _in_parts(seen: Coverage) -> str:
    """`358 186 for training, 89 531 for validation`."""
    each = zip(seen.parts.axes["part"].labels, seen.parts.values, strict=True)
    return listed([f"{thousands(int(n))} for {'training' if part == 'train' else part}" for part, n in each])


def say(seen: Coverage) -> Words:
    """How many of the commonest words are whole, and which are not."""
    many, split = len(seen.pieces.values), split_words(seen)
    named = listed(split[:NAMED]) + (f" and {len(split) - NAMED} more" if len(split) > NAMED else "")
    if len(split) > NAMED:
        named = f"{', '.join(split[:NAMED])} and {len(split) - NAMED} more"
    title = f"{many - len(split)} of the {many} commonest words are single tokens"
    title += f"; cut are {named}" if split else ""
    lost = {kind: int(n) for kind, n in zip(seen.lost.axes["kind"].labels, seen.lost.values, strict=True)}
    away = (
        f"The tokenizer discards {thousands(sum(lost.values()))} characters "
        f"({percent(sum(lost.values()) / max(seen.characters, 1))}: "
        f"{listed([f'{thousands(n)} {kind}' for kind, n in lost.items()])}), so the text cannot be restored and its "
        "loss per character must not be compared with that of models that predict them. "
        if lost
        else "Nothing is discarded: the text can be restored from its tokens. "
    )
    caption = (
        "Left: the commonest words of the whole text in order, row by row, capital letters made small and marks apart "
        "(don't is don, ' and t). A word in a plain frame is one token; one that is cut is shaded, with its pieces "
        "written. "
        + ("Words are looked up with the space before them, as they stand in a text. " if seen.lossless else "")
        + "Right: of the words up to each rank, the share that is one token; rarer words are mostly cut. "
        f"The text begins “{opening(seen)}”. Its {thousands(seen.characters)} characters, "
        f"{thousands(seen.distinct)} different ones, become {thousands(seen.tokens)} tokens, {per_token(seen):.2f} "
        f"characters each ({_in_parts(seen)}); {thousands(seen.used)} of {thousands(seen.entries)} entries occur. "
        f"{away}Counted exactly."
    )
    return Words(title, caption, f"A table of words and a falling curve. {title}.")
