"""How a head learns where to look: its attention on one input over the life of the model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._attend import asked, checked
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._passage import looked_at
from glassformer.analyses._result import Labelled, Result, Words, percent, thousands, result
from glassformer.analyses._sought import sought, which
from glassformer.analyses.attend.attention import attention, named
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 80
ANSWERS = ("1.P6", "2.§5.3")
COST = "b"

LIFE = 150  # kept steps looked at
RELAPSE = 0.1  # of the attention, from which a peak above both ends is named
ON_THE_WAY = (0.25, 0.5, 0.75)  # maps are drawn where one weight has come so far from its first to its last value


@result
class AttentionHistory(Result):
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
    steps: tuple[int, ...]


def attention_history(
    run: Run,
    *,
    sequence: str | None = None,
    steps: Sequence[int] | None = None,
    query: int | None = None,
    block: int | None = None,
    head: int | None = None,
    step: int = -1,
    member: int = 0,
) -> AttentionHistory:
    """One head's attention on `sequence` at `steps`, and one query's at many steps.

    Without `steps`: the first, the last, and three between, where one weight is on its way.
    Without `block` and `head`: the last block's head that looks most at the answers; `query` is a position.
    """
    a = run.architecture
    block = a.blocks - 1 if block is None else block
    if a.attention == "off":
        raise CallError("this model has no attention")
    head = checked(run, block, head, sequence, member)
    last = attention(run, sequence=sequence, member=member)
    length = len(last.tokens)
    query = asked(run, sequence, member) if query is None else query
    if not 0 <= query < length:
        raise CallError(f"query = {query} is not a position from 0 to {length - 1} of this input")
    life = _clock.looks(run, LIFE, member)
    text = looked_at(run, sequence)

    def at(kept: int) -> np.ndarray:
        return run.trace(text, step=kept, member=member)["attention"][block, head].astype(np.float64)  # type: ignore[no-any-return]

    lines = np.stack([at(kept)[query] for kept in life])
    key = _target(last.source[query], lines)
    chosen = _clock.chosen(run, list(steps), 5, member) if steps is not None else _moving(life, lines[:, key])
    safe = np.where(lines > 0, lines, 1.0)
    names = placed(last.tokens)
    return AttentionHistory(
        clock=_clock.text(run, step, member) if step != -1 else _clock.text(run, -1, member),
        maps=Labelled(
            np.stack([at(kept) for kept in chosen]),
            {"step": tuple(map(str, chosen)), "query_position": names, "key_position": names},
            "share",
        ),
        weights=Labelled(lines, {"step": tuple(map(str, life)), "key_position": names}, "share"),
        entropy=Labelled(-(lines * np.log(safe)).sum(axis=1), {"step": tuple(map(str, life))}, "nats"),
        uniform=1 / (query + 1 if a.causal else length),
        marked=-1 if step == -1 else _clock.resolve(run, step),
        query=query,
        tokens=last.tokens,
        source=last.source,
        copied=last.copied,
        causal=a.causal,
        marks=last.marks,
        block=block,
        head=head,
        blocks=a.blocks,
        heads=a.heads,
        steps=tuple(life),
    )


def target(seen: AttentionHistory) -> int:
    """The key to speak of: the one that is sought, else the one looked at most in the end."""
    return _target(seen.source[seen.query], seen.weights.values)


def _target(source: int, lines: np.ndarray) -> int:
    return source if source >= 0 else int(np.argmax(np.nan_to_num(lines[-1])))


def _moving(life: list[int], line: np.ndarray) -> list[int]:
    """The first step, the last, and those where a line is first a quarter, half and three quarters on its way."""
    way = np.nan_to_num((line - line[0]) / (line[-1] - line[0])) if line[-1] != line[0] else np.zeros(len(line))
    between = {life[int(np.argmax(way >= share))] for share in ON_THE_WAY if (way >= share).any()}
    return sorted({life[0], *between, life[-1]})


def say(seen: AttentionHistory) -> Words:
    """From how much to how much, and when."""
    text = " ".join(map(shown, seen.tokens))
    who = f" ({named(seen.block, seen.head, seen.blocks)})" if seen.blocks * seen.heads > 1 else ""
    asker = f"{shown(seen.tokens[seen.query])} at position {seen.query}"
    caption = (
        f"Top: attention on the input {text}{who} at some steps (rows look at columns"
        + (f"; framed: {sought(seen.copied)}" if max(seen.source) >= 0 else "")
        + ("; short lines at the edges: punctuation and white space" if seen.marks else "")
        + "). "
        f"Below: the share that {asker} gives each position, over life, with the share that all would get if it looked "
        f"everywhere alike; and the entropy of that attention, whose highest value is ln {round(1 / seen.uniform)} = "
        f"{np.log(1 / seen.uniform):.2f} nats. Exact at every step drawn. If the head had learned nothing, all lines "
        "would stay at the dashed one."
    )
    lines, key = seen.weights.values, target(seen)
    if not np.isfinite(lines).all():
        bad = next(s for s, row in zip(seen.steps, lines, strict=True) if not np.isfinite(row).all())
        title = f"From step {thousands(bad)} on the attention is not a number: the training has diverged"
        return Words(title, caption, title)
    first, last = float(lines[0, key]), float(lines[-1, key])
    held = which(seen.copied) if seen.source[seen.query] >= 0 else "where it looks most in the end"
    title = (
        f"The attention of {asker} on {shown(seen.tokens[key])} at position {key}, {held}{who}, goes from "
        f"{percent(first)} at step {thousands(seen.steps[0])} to {percent(last)} at step {thousands(seen.steps[-1])}"
    )
    half = np.flatnonzero(lines[:, key] > 0.5)
    if last > 0.5 and first <= 0.5 and len(half):
        title += f"; first above half at step {thousands(seen.steps[int(half[0])])}"
    top = int(np.argmax(lines[:, key]))
    if lines[top, key] > max(first, last) + RELAPSE:
        title += f"; highest, {percent(float(lines[top, key]))}, at step {thousands(seen.steps[top])}"
    return Words(
        title[0].upper() + title[1:], caption, f"Attention maps over training and the attention of one query. {title}."
    )
