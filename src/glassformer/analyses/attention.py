"""Who looks at whom: every head's attention on one input."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._pairs import drawn, placed, shown
from glassformer.analyses._result import Labelled, Result, Words, listed, numbers, percent, shared
from glassformer.analyses._sought import copied, sought, which
from glassformer.analyses.head_roles import HAS, head_roles
from glassformer.errors import CallError
from glassformer.run import Run


@dataclass(frozen=True, kw_only=True)
class Attention(Result):
    """Attention weights on one input; each row sums to 1."""

    attention: Labelled  # (block, head, query_position, key_position)
    on_answer: Labelled  # (block, head, query_position): weight on the position looked for; NaN: none
    uniform: Labelled  # (query_position): what the answer would get if all positions in view counted the same
    tokens: tuple[str, ...]
    source: tuple[int, ...]  # for each position, the position that holds the answer, or what the rule needs; -1: none
    copied: bool  # whether the answers are those very tokens; else the rule computes the answer from them
    read: int  # the position where the one answer is read; -1: at every position
    causal: bool
    roles: dict[tuple[int, int], str]  # (block, head) → its clearest measured role; empty where answers are marked


@shared
def attention(run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0) -> Attention:
    """Every head's attention on `sequence` (the task's first showcase when None), and its weight on the answer."""
    if run.architecture.attention == "off":
        raise CallError("this model has no attention")
    seen = run.trace(sequence, step=step, member=member)
    weights = seen["attention"].astype(np.float64)  # (block, head, query_position, key_position)
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    source = _source(run, seen.tokens)
    there = np.full(weights.shape[:-1], np.nan)
    for query, key in enumerate(source):
        if key >= 0:
            there[..., query] = weights[..., query, key]
    in_view = np.arange(1, len(tokens) + 1) if run.architecture.causal else np.full(len(tokens), len(tokens))
    even = np.where(np.array(source) >= 0, 1 / in_view, np.nan)
    heads = {"block": numbers(weights.shape[0]), "head": numbers(weights.shape[1])}
    names = placed(tokens)
    return Attention(
        step=seen.step,
        clock=_clock.text(run, seen.step, member),
        attention=Labelled(weights, heads | {"query_position": names, "key_position": names}, "share"),
        on_answer=Labelled(there, heads | {"query_position": names}, "share"),
        uniform=Labelled(even, {"query_position": names}, "share"),
        tokens=tokens,
        source=source,
        copied=copied(run),
        read=-1 if run.architecture.read_position is None else run.architecture.read_position,
        causal=run.architecture.causal,
        roles={} if max(source) >= 0 or weights.shape[:2] == (1, 1) else _roles(run, seen.step, member),
    )


def named(block: int, head: int, blocks: int) -> str:
    """`head 1` of a model with one block, else `block 0, head 1`."""
    return f"head {head}" if blocks == 1 else f"block {block}, head {head}"


def _roles(run: Run, step: int, member: int) -> dict[tuple[int, int], str]:
    """What each head does over many windows, which one input cannot tell."""
    seen = head_roles(run, step=step, member=member, over_life=False)
    blocks, heads = seen.entropy.values.shape
    return {(b, h): seen.described(b, h, most=1) for b in range(blocks) for h in range(heads)}


def _source(run: Run, tokens: np.ndarray) -> tuple[int, ...]:
    if run.task.answers != "next":
        return (-1,) * len(tokens)
    found = [int(place) for place in run.task.source_position(tokens)][: len(tokens)]
    # a rule that the last token alone answers has nothing to look up there
    return tuple(place if place != query else -1 for query, place in enumerate(found))


def say(seen: Attention, among: Sequence[tuple[int, int]] | None = None) -> Words:
    """Where the attention lies, and whether that is where it should; `among`: of these (block, head) only."""
    text = " ".join(map(shown, seen.tokens))
    weights, there = seen.attention.values, seen.on_answer.values
    names = drawn(seen.attention.axes["key_position"])
    caption = (
        f"Attention of every block and head on the input {text}; in `{names[0]}` the small number is the position. "
        "Rows are the positions that look, columns those looked at; each row sums to 1, and a darker cell (lighter on "
        "a dark page) is a larger share, on a scale fixed from 0 to 1. "
        + ("Cross-hatched cells lie in the future and may not be looked at. " if seen.causal else "")
        + f"A framed cell is the position of {sought(seen.copied)}, where there is one; the ticks "
        "beside the bars are what it would get if all positions in view counted the same. The numbers are exact. If a "
        "head did not look it up, the framed cells would be no darker than the rest of their rows."
        + (
            " Above each map, the head's clearest role over many validation windows and the share of its "
            f"attention that goes there, if that is {HAS:g} points more than looking everywhere alike would give."
            if seen.roles
            else ""
        )
    )
    block, head = told(seen, among)
    many = weights.shape[0] * weights.shape[1] > 1
    who = f" ({named(block, head, len(weights))})" if many else ""
    if not np.isfinite(weights).all():
        title = f"At step {seen.step} the attention is not a number: the training has diverged"
    elif np.isfinite(there).any():
        asks = [k for k, place in enumerate(seen.source) if place >= 0]
        on = there[block, head]
        each = [
            f"{shown(seen.tokens[k])} at position {k} puts {percent(float(on[k]))}"
            f"{f' of its attention{who}' if not n else ''} on "
            f"{shown(seen.tokens[seen.source[k]])} at position {seen.source[k]}"
            for n, k in enumerate(asks[:2] if len(asks) == 2 else asks[-1:])
        ]
        both = "which hold the answers" if seen.copied else "which the rule needs"
        title = f"{listed(each)}, {both if len(each) > 1 else which(seen.copied)}"
        if len(asks) > 2:
            title += f"; {percent(float(on[asks].mean()))} on average over {len(asks)} such places"
        title = title[0].upper() + title[1:]
    else:
        rows = _asked(weights, seen.read)[block, head]
        query, key = np.unravel_index(np.argmax(rows), rows.shape)
        share = percent(float(weights[block, head, query, key]))
        row = "where the answer is read" if seen.read >= 0 else f"{shown(seen.tokens[query])} at position {query}"
        look = f"puts {share} on {shown(seen.tokens[key])} at position {key}{who}"
        title = f"The sharpest look {row} {look}" if seen.read >= 0 else f"The sharpest look of all: {row} {look}"
    count = (
        f"{weights.shape[0]} blocks of {weights.shape[1]} heads"
        if weights.shape[0] > 1
        else f"{weights.shape[1]} heads"
    )
    alt = f"Heat maps of attention ({count if many else 'one head'}) on {text}. {title}."
    return Words(title, caption, alt)


def told(seen: Attention, among: Sequence[tuple[int, int]] | None = None) -> tuple[int, int]:
    """The block and head that look at what is sought most; without that, those of the sharpest look."""
    weights, there = np.nan_to_num(seen.attention.values), seen.on_answer.values
    if np.isfinite(there).any():
        most = np.nan_to_num(there).mean(axis=-1)
    else:
        most = _asked(weights, seen.read).max(axis=(-2, -1))
    every = list(np.ndindex(*most.shape)) if among is None else among
    block, head = max(every, key=lambda at: float(most[at]))
    return int(block), int(head)


def _asked(weights: np.ndarray, read: int) -> np.ndarray:
    """The row where the answer is read; else all but the first, which in a causal model sees only itself."""
    asked = np.full_like(weights, -1)
    rows = slice(read, read + 1) if 0 <= read < weights.shape[-2] else slice(min(1, weights.shape[-2] - 1), None)
    asked[..., rows, :] = weights[..., rows, :]
    return asked
