"""Mary Had a Little Lamb, to be learned by heart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from math import log

import numpy as np

from glassformer.errors import CallError
from glassformer.settings import setting
from glassformer.tasks._task import BoolArray, Data, Examples, FloatArray, IntArray, InView, Part, Rung, Split, choose

END = "<END>"
LINES = """mary had a little lamb
little lamb little lamb
mary had a little lamb
its fleece was white as snow
and everywhere that mary went
mary went mary went
everywhere that mary went
the lamb was sure to go
it followed her to school one day
school one day school one day
it followed her to school one day
which was against the rules
it made the children laugh and play
laugh and play laugh and play
it made the children laugh and play
to see a lamb at school""".splitlines()
TEXT = [word for line in LINES for word in (*line.split(), END)]
WORDS = tuple(dict.fromkeys(TEXT))  # in order of first appearance
TOKENS = np.array([WORDS.index(word) for word in TEXT], dtype=np.int32)
RUN = 7  # words that must occur together: the six that the published model sees, and the next
Run = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Mary(InView):
    """A rhyme of 106 words. Nothing is held back: the task is to memorise, and validation is the training text."""

    all_windows: bool = setting(
        "false leaves out the last window, so that the very last <END> is never predicted", False
    )

    vocabulary = WORDS
    showcase = (
        "mary had a little lamb <END>",
        "everywhere that mary went <END> mary",
        "it followed her to school one",
    )
    starts = ("mary", "the", "it", "little", "lamb")
    kinds = ("one word may follow", "two words may follow", "three or more words may follow")

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """The words, and the end of a line."""
        end = WORDS.index(END)
        return {"word": [token for token in range(len(WORDS)) if token != end], "line end": [end]}

    def _windows(self, context: int) -> IntArray:
        """(window, context + 1): every window, in order."""
        many = len(TOKENS) - context - (not self.all_windows)
        if context < 1 or many < 1:
            raise CallError(f"context = {context} must be 1 to {len(TOKENS) - 2}: the text has {len(TOKENS)} words")
        return TOKENS[np.arange(many)[:, None] + np.arange(context + 1)]

    def data(self, context: int) -> Data:
        """The text as one piece, for training and validation alike."""
        text = Split(TOKENS, np.array([0]), np.array([len(self._windows(context))]))
        return Data(text, text)

    def examples(self, context: int, part: Part, most: int) -> Examples:
        """Every window, or `most` of them spaced evenly over the text."""
        if part == "test":
            raise CallError("mary has no test part: all of the text is learned by heart")
        windows = self._windows(context)
        windows = windows[choose(len(windows), most)]
        allowed = np.array([self.allowed(window[:-1]) for window in windows])
        expected = np.array([self.true_distribution(window[:-1], context) for window in windows])
        certain = np.ones(allowed.shape[:2], dtype=bool)
        kind = np.minimum(allowed.sum(axis=2), 3) - 1
        truth = np.log(np.take_along_axis(expected, windows[:, 1:, None], axis=2)[..., 0])
        return Examples(windows, certain, certain, allowed, kind, truth)

    def sample(self, rng: np.random.Generator, length: int) -> IntArray:
        """A stretch of the text."""
        if length > len(TOKENS):
            raise CallError(f"length = {length} is more than the {len(TOKENS)} words of the text")
        begin = rng.integers(len(TOKENS) - length + 1)
        return TOKENS[begin : begin + length]

    # ---- verdicts: a run is right if it occurs in the text -----------------------------------------------------------

    def allowed(self, tokens: IntArray) -> BoolArray:
        """(place, word): the words that make a run of seven, or of all there are yet, that occurs in the text.

        Where what was written does not occur, or only at the very end, it is shortened from the front until it does.
        """
        after = _following(RUN - 1)
        seen = [tokens[max(0, p + 2 - RUN) : p + 1] for p in range(len(tokens))]
        return np.array([_longest(after, view) > 0 for view in seen]).reshape(-1, len(WORDS))

    def constrained(self, tokens: IntArray) -> BoolArray:
        """(place,): always."""
        return np.ones(len(tokens), dtype=bool)

    def true_distribution(self, tokens: IntArray, context: int) -> FloatArray:
        """(place, word): how often each word follows in the windows that begin like this one.

        Beyond `context` words only the last ones are in view; words that fit no window are forgotten from the front.
        """
        after = _beginnings(self, context)
        seen = [tokens[max(0, place + 1 - context) : place + 1] for place in range(len(tokens))]
        rows = [_longest(after, view) for view in seen]
        return np.array([row / row.sum() for row in rows]).reshape(-1, len(WORDS))

    # ---- the price of each partial understanding ---------------------------------------------------------------------

    def ladder(self, context: int) -> tuple[Rung, ...]:
        """What is lost by looking back only so many words; the last rung is all that memory can give."""
        windows, size = self._windows(context), len(WORDS)
        names = ("token frequencies", "last word", "last two words", "last three words", "the text")
        reach = (0, 1, 2, 3, context)
        blind = Rung("uniform guess", log(size), lambda tokens: np.full(size, 1 / size))  # noqa: ARG005
        return (blind, *(_rung(name, windows, min(most, context)) for name, most in zip(names, reach, strict=True)))

    def encode(self, text: str) -> IntArray:
        """Token ids of a text; an unknown word is answered with the nearest ones."""
        words = text.split()
        for place, word in enumerate(words):
            if word not in WORDS:
                near = get_close_matches(word.lower(), WORDS, n=3, cutoff=0.5)
                hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {' '.join(WORDS)}"
                raise CallError(f"word {word!r} at position {place} is not in the rhyme; {hint}")
        return np.array([WORDS.index(word) for word in words], dtype=np.int32)


def _count(found: dict[Run, FloatArray], run: Sequence[int], word: int) -> None:
    found.setdefault(tuple(run), np.zeros(len(WORDS)))[word] += 1


@lru_cache(maxsize=8)
def _following(reach: int) -> dict[Run, FloatArray]:
    """How often each word follows each run of up to `reach` words of the text."""
    found: dict[Run, FloatArray] = {}
    text = TOKENS.tolist()
    for place in range(len(text) - 1):
        for begin in range(max(0, place + 1 - reach), place + 2):
            _count(found, text[begin : place + 1], text[place + 1])
    return found


@lru_cache(maxsize=8)
def _beginnings(task: Mary, context: int) -> dict[Run, FloatArray]:
    """How often each word follows each beginning of a window; the empty one stands for all places."""
    found: dict[Run, FloatArray] = {}
    for window in task._windows(context).tolist():
        for place in range(context):
            _count(found, window[: place + 1], window[place + 1])
            _count(found, (), window[place + 1])
    return found


def _longest(after: dict[Run, FloatArray], run: IntArray) -> FloatArray:
    """The counts after the longest end of a run that has any."""
    words = tuple(np.asarray(run).tolist())
    return next(after[words[begin:]] for begin in range(len(words) + 1) if words[begin:] in after)


def _rung(name: str, windows: IntArray, reach: int) -> Rung:
    """The best guess from the last `reach` words; near the beginning of a window fewer are in view."""
    after: dict[Run, FloatArray] = {}
    for window in windows.tolist():
        for place in range(len(window) - 1):
            _count(after, window[max(0, place + 1 - reach) : place + 1], window[place + 1])
    table = np.array(list(after.values()))
    nats = -np.sum(table * np.log(np.where(table > 0, table / table.sum(axis=1, keepdims=True), 1))) / table.sum()
    after.setdefault((), table.sum(axis=0))

    def guess(tokens: IntArray) -> FloatArray:
        row = _longest(after, np.asarray(tokens)[max(0, len(tokens) - reach) :])
        return row / row.sum()

    return Rung(name, float(nats), guess, accuracy=float(table.max(axis=1).sum() / table.sum()))
