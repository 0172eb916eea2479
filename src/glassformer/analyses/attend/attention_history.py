"""How a head learns where to look: its attention on one input over the life of the model."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._attend import OneHead, about_head, asked, checked
from glassformer.analyses._options import Head, Member, Option, Sequence, Step, StepAxis, Steps
from glassformer.analyses._pairs import placed, spoken
from glassformer.analyses._passage import looked_at
from glassformer.analyses._result import Labelled, fate, percent, result, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.analyses._sought import which
from glassformer.analyses.attend.attention import attention
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 80
ANSWERS = ("1.P6", "2.§5.3")
COST = "b"
APPLIES = (_applies.attention,)
LIFE = 150  # kept steps looked at
RELAPSE = 0.1  # of the attention, from which a peak above both ends is named
ON_THE_WAY = (0.25, 0.5, 0.75)  # maps are drawn where one weight has come so far from its first to its last value


@result
class AttentionHistory(OneHead):
    """Maps at some steps, and one query's attention at many."""

    maps: Labelled  # (step, query_position, key_position)
    weights: Labelled  # (step, key_position): of one query, over life
    entropy: Labelled  # (step,): of that query's attention, nats
    uniform: float  # what each key would get if all in view counted the same
    marked: int  # the step asked for; -1: none
    query: int
    tokens: tuple[str, ...]
    source: tuple[int, ...]
    copied: bool  # as in `Attention`
    causal: bool
    marks: tuple[int, ...]  # as in `Attention`
    block: int
    head: int
    blocks: int
    heads: int
    steps: tuple[int, ...]  # at which the query was looked at
    scale: Scale
    target: int  # the key to speak of: the one that is sought, else the one looked at most in the end

    @property
    def title(self) -> str:
        """From how much to how much, and when."""
        lines, key = self.weights.values, self.target
        if not np.isfinite(lines).all():
            bad = next(s for s, row in zip(self.steps, lines, strict=True) if not np.isfinite(row).all())
            return fate("the attention is not a number", since=bad)
        first, last = float(lines[0, key]), float(lines[-1, key])
        held = which(self.copied) if self.source[self.query] >= 0 else "where it looks most in the end"
        said = (
            f"The attention of {self.asker} on {spoken(self.tokens[key])} at position {key}, {held}{self.who}, goes "
            f"from {percent(first)} at step {thousands(self.steps[0])} to {percent(last)} at step "
            f"{thousands(self.steps[-1])}"
        )
        half = np.flatnonzero(lines[:, key] > 0.5)
        if last > 0.5 and first <= 0.5 and len(half):
            said += f"; first above half at step {thousands(self.steps[int(half[0])])}"
        top = int(np.argmax(lines[:, key]))
        if lines[top, key] > max(first, last) + RELAPSE:
            said += f"; highest, {percent(float(lines[top, key]))}, at step {thousands(self.steps[top])}"
        return said

    @property
    def asker(self) -> str:
        """The one query in words: `+ at position 5`."""
        return f"{spoken(self.tokens[self.query])} at position {self.query}"


def attention_history(
    run: Run, *, sequence: Sequence = None, steps: Steps = None,
    query: Annotated[int | None, Option("the position that is followed; none: one that asks", least=0)] = None,
    block: Annotated[int | None, Option("the block looked at, counted from 0; none: the last", least=0)] = None,
    head: Head = None, step: Step = -1, member: Member = 0, axis: StepAxis = "auto",
) -> AttentionHistory:  # fmt: skip
    """One head's attention on `sequence` at `steps`, and one query's at many steps.

    Without `steps`: the first, the last, and three between, where one weight is on its way.
    Without `block` and `head`: the last block's head that looks most at the answers; `query` is a position.
    """
    a = run.architecture
    block = a.blocks - 1 if block is None else block
    head = checked(run, block, head, sequence, member)
    last = attention(run, sequence=sequence, member=member)
    length = len(last.tokens)
    query = asked(run, sequence, member) if query is None else query
    if not 0 <= query < length:
        raise CallError(f"query = {query} is not a position from 0 to {length - 1} of this input")
    life = _clock.looks(run, LIFE, member)
    text = looked_at(run, sequence)

    def at(kept: int) -> np.ndarray:
        return run.trace(text, step=kept, member=member)["attention"][block, head].astype(np.float64)

    lines = np.stack([at(kept)[query] for kept in life])
    source = last.source[query]
    key = source if source >= 0 else int(np.argmax(np.nan_to_num(lines[-1])))
    chosen = _clock.chosen(run, list(steps), 5, member) if steps is not None else _moving(life, lines[:, key])
    safe = np.where(lines > 0, lines, 1.0)
    names = placed(last.tokens)
    return AttentionHistory(
        **about_head(run, head, step, member) | {"step": None},
        maps=Labelled(
            np.stack([at(kept) for kept in chosen]),
            {"step": chosen, "query_position": names, "key_position": names},
            "share",
        ),
        weights=Labelled(lines, {"step": life, "key_position": names}, "share"),
        entropy=Labelled(-(lines * np.log(safe)).sum(axis=1), {"step": life}, "nats"),
        uniform=1 / (query + 1 if a.causal else length),
        marked=-1 if step == -1 else _clock.resolve(run, step),
        query=query,
        tokens=last.tokens,
        source=last.source,
        copied=last.copied,
        causal=a.causal,
        marks=last.marks,
        block=block,
        steps=tuple(life),
        scale=spaced(run, axis, member),
        target=key,
    )


def _moving(life: list[int], line: np.ndarray) -> list[int]:
    """The first step, the last, and those where a line is first a quarter, half and three quarters on its way."""
    way = np.nan_to_num((line - line[0]) / (line[-1] - line[0])) if line[-1] != line[0] else np.zeros(len(line))
    between = {life[int(np.argmax(way >= share))] for share in ON_THE_WAY if (way >= share).any()}
    return sorted({life[0], *between, life[-1]})
