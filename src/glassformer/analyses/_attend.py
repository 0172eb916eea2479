"""What the analyses of attention share: the question worth asking, the head worth watching, what a query may see."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Option
from glassformer.analyses._passage import looked_at
from glassformer.analyses._result import Array, Result
from glassformer.analyses.attend.attention import attention, named
from glassformer.errors import check_index
from glassformer.run import Run
from glassformer.tasks._text import Text

QUESTIONS = 2000  # looked at for the pairs that occur
DIRECTIONS = ("horizontal", "vertical")  # of a drawn plane

Query = Annotated[str | None, Option("one query, a token at a position written `+@5`; none: the one worth following")]


class OneHead(Result):
    """A result about one head: of the block that it names, or else of block 0. Its class declares these fields."""

    head: int
    heads: int
    blocks: int

    @property
    def who(self) -> str:
        """` (block 0, head 1)` where there is more than one."""
        block = getattr(self, "block", 0)
        return f" ({named(block, self.head, self.blocks)})" if self.blocks * self.heads > 1 else ""


def about_head(run: Run, head: int, step: int | None, member: int) -> dict[str, Any]:
    """`step` and `clock` of a result about one head at a kept step, and which head of how many it is."""
    a = run.architecture
    return _clock.at_step(run, step or 0, member) | {"head": head, "heads": a.heads, "blocks": a.blocks}


def checked(run: Run, block: int, head: int | None, sequence: str | None = None, member: int = 0) -> int:
    """The head asked for; None: of this block, the one that looks most at the answers of an input at the last step.

    Where an input has no answers to look up, the head with the sharpest attention. The step looked at does not matter,
    so that figures of different steps and films show the same head.
    """
    a = run.architecture
    check_index("block", block, a.blocks)
    if head is not None:
        check_index("head", head, a.heads)
        return head
    if a.heads == 1:
        return 0
    seen = attention(run, sequence=sequence, member=member)
    there = seen.on_answer.values[block]
    if np.isfinite(there).any():
        return int(np.argmax(np.nan_to_num(np.nanmean(there, axis=-1), nan=-1)))
    weights = seen.attention.values[block]
    return int(np.argmax(np.nan_to_num((weights**2).sum(axis=-1).mean(axis=-1), nan=-1)))


def asked(run: Run, sequence: str | None = None, member: int = 0) -> int:
    """The position of an input worth following: the last that must look its answer up, the one read, or the last."""
    seen = attention(run, sequence=sequence, member=member)
    places = [place for place, where in enumerate(seen.source) if where >= 0]
    read = run.architecture.read_position
    return places[-1] if places else min(read, len(seen.tokens) - 1) if read is not None else len(seen.tokens) - 1


def product(run: Run) -> str:
    """How a score comes about, as figures write it: `query · key / √2`."""
    a = run.architecture
    size = a.per_head if a.score_scale == "head" else a.width
    return "query · key" + (f" / √{size}" if size > 1 else "")


def looked_up(run: Run, token: int, place: int, sequence: str | None = None) -> tuple[int, int] | None:
    """Token id and position of what a query of an input must look up; None: it is no such query."""
    text, source = looked_at(run, sequence).tolist(), attention(run, sequence=sequence).source
    if place >= len(text) or text[place] != token or source[place] < 0:
        return None
    return text[source[place]], source[place]


def trigger(run: Run, sequence: str | None = None) -> tuple[int, int]:
    """Token id and position of the query of an input worth a figure: of a text's showcase, the last."""
    if sequence is None and isinstance(run.task, Text):  # attention is shown on a whole window, this on the showcase
        tokens = run.tokens(None)
        return int(tokens[-1]), len(tokens) - 1
    place = asked(run, sequence)
    return int(run.tokens(sequence)[place]), place


def example(run: Run, ids: Sequence[int], sequence: str | None = None) -> tuple[int, ...]:
    """Where the pairs of an input stand in a list of all pairs, token by token; tokens that are not listed are not."""
    rows = {token: row for row, token in enumerate(ids)}
    text = run.tokens(sequence).tolist()
    return tuple(rows[token] * run.architecture.context + place for place, token in enumerate(text) if token in rows)


def tokens_of(run: Run, sequence: str | None) -> tuple[int, ...]:
    """The tokens of an input that a list of pairs must hold beside the frequent ones; the showcase's it does hold."""
    return () if sequence is None else tuple(run.tokens(sequence).tolist())


@lru_cache(maxsize=16)
def occurring(run: Run) -> Array:
    """(token, position): the pairs that a question can hold; where every next token is asked for, all of them."""
    context = run.architecture.context
    if run.task.answers == "next":
        return np.ones((len(run.task.vocabulary), context), dtype=bool)
    found = np.zeros((len(run.task.vocabulary), context), dtype=bool)
    for part in ("train", "validation"):
        windows = run.task.examples(context, part, QUESTIONS).windows[:, :context]
        found[windows, np.arange(context)] = True
    return found


def may_see(tokens: int, context: int, token: int, position: int, causal: bool) -> Array:
    """(token, position): the keys a query can meet. Any token before it, and at its own position itself alone."""
    found = np.zeros((tokens, context), dtype=bool)
    found[:, :position] = True
    if not causal:
        found[:, position + 1 :] = True
    found[token, position] = True
    return found


def largest(*values: Array) -> float:
    """The largest absolute value among the finite ones; 0 where there are none."""
    return max((float(np.abs(each[np.isfinite(each)]).max(initial=0)) for each in map(np.asarray, values)), default=0.0)
