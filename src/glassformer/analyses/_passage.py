"""A stretch of the text that judges a run, and what the model expects at each place of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._text import Text

LINE_ENDS = ("\n", "<END>")  # what a token that closes a line holds
FAR = 500  # tokens within which a line should begin
AT_ONCE = 64  # tokens that a map of attention shows of a larger context
NAMED = 6  # of a long window, the tokens that a title names
SMALL = 16  # contexts up to which every token is predicted from a whole window


@dataclass(frozen=True)
class Passage:
    """Some tokens of the validation part; those before `first` are only read."""

    tokens: Array
    first: int
    held_out: bool  # False where validation is the training text itself


def reason(run: Run) -> str | None:
    """Why a run has no text to be held against; None where it has one."""
    no_text = "this task makes sequences of its own, so there is no text that goes on"
    if run.task.answers != "next":
        return "this task has one answer, and no text that goes on"
    if run.task.measure != "accuracy":
        return no_text
    return None if len(run.task.data(run.architecture.context).validation.starts) == 1 else no_text


def part(run: Run) -> tuple[Array, bool]:
    """The tokens of the validation part, and whether training never saw them."""
    if why := reason(run):
        raise CallError(why)
    context = run.architecture.context
    data = run.task.data(context)
    split = data.validation
    begin, windows = int(split.starts[0]), int(split.windows[0])
    return split.tokens[begin : begin + windows + context], begin != int(data.train.starts[0])


def line_start(run: Run, tokens: Array, least: int) -> int:
    """The first place from `least` on where a line begins; `least` itself where none begins soon."""
    words = run.task.vocabulary
    for place in range(max(least, 1), min(least + FAR, len(tokens))):
        if any(end in words[tokens[place - 1]] for end in LINE_ENDS):
            return place
    return least


def after(run: Run, sequence: str | None, before: int, length: int) -> Passage:
    """At most `before` tokens that end with `sequence` (None: that begin a line), and the `length` that follow them."""
    tokens, held_out = part(run)
    if sequence is None:
        begin = line_start(run, tokens, 0) if held_out else 0
        begin = max(0, min(begin, len(tokens) - before - 1))
        end = min(begin + before, len(tokens) - 1)
    else:
        end = _found(run, tokens[:-1], sequence)
        begin = max(0, end - before)
    return Passage(tokens[begin : end + length], end - begin, held_out)


def stretch(run: Run, length: int) -> Passage:
    """So many tokens from the beginning of a line, with what is before them for the model to read."""
    tokens, held_out = part(run)
    context = run.architecture.context
    first = line_start(run, tokens, min(context, len(tokens) // 4)) if held_out else 1
    begin = max(0, first - context)
    return Passage(tokens[begin : first + length], first - begin, held_out)


def looked_at(run: Run, sequence: str | None) -> Array:
    """The tokens on which attention is shown: those asked for, else the task's first showcase.

    Of a text a whole window of the validation part, in which stripes and diagonals can be seen.
    """
    if sequence is not None or not isinstance(run.task, Text):
        return run.tokens(sequence)
    tokens, long = part(run)[0], min(run.architecture.context, AT_ONCE)
    begin = min(line_start(run, tokens, 0), len(tokens) - long)
    return tokens[begin : begin + long]


def brief(tokens: Sequence[str]) -> str:
    """Some tokens in a title: all, or of many the first few and how many they are."""
    if len(tokens) <= 2 * NAMED:
        return " ".join(map(shown, tokens))
    return f"{' '.join(map(shown, tokens[:NAMED]))} … ({len(tokens)} tokens)"


def expected(run: Run, passage: Passage, step: int, member: int) -> Array:
    """(place, token): the model's chances for each token from `first` on.

    Windows overlap by half, so that every token is seen after at least half a window of the passage, if there is so
    much before it; in small contexts, after a whole one.
    """
    tokens, context = passage.tokens, run.architecture.context
    least = context if context <= SMALL else context // 2
    long = min(context, len(tokens) - 1)
    places, begins, done = [], [], passage.first
    while done < len(tokens):
        begin = max(0, min(done - least, len(tokens) - 1 - long))
        end = min(begin + long, len(tokens) - 1)
        places.append((done, end + 1))
        begins.append(begin)
        done = end + 1
    windows = np.array([tokens[begin : begin + long] for begin in begins])
    seen = run.trace(windows, step=step, member=member)["probabilities"]  # (window, position, token)
    parts = [
        seen[k, low - 1 - begin : high - 1 - begin]
        for k, ((low, high), begin) in enumerate(zip(places, begins, strict=True))
    ]
    return np.concatenate(parts).astype(np.float64)


def _found(run: Run, tokens: Array, sequence: str) -> int:
    """Where the first occurrence of a text in the tokens ends."""
    wanted = run.task.encode(sequence)
    if len(wanted) == 0:
        raise CallError("the sequence is empty; give a piece of the validation text")
    fits = np.ones(max(len(tokens) - len(wanted) + 1, 0), dtype=bool)
    for k, token in enumerate(wanted):
        fits &= tokens[k : k + len(fits)] == token
    if not fits.any():
        near = run.task.decode(tokens[:12])
        raise CallError(f"{sequence!r} does not occur in the validation text, which begins {near!r}")
    return int(np.argmax(fits)) + len(wanted)
