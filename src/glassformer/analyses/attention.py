"""Who looks at whom: every head's attention on one input."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _decide
from glassformer.analyses._pairs import drawn, groups, placed, shown
from glassformer.analyses._passage import looked_at
from glassformer.analyses._result import Labelled, Result, Words, listed, numbers, percent, shared
from glassformer.analyses._sought import copied, sought, which
from glassformer.analyses.head_roles import HAS, NO_ROLE, head_roles
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._text import Text

MARKS = ("punctuation", "space", "line end")  # groups of tokens that cut a text


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
    marks: tuple[int, ...]  # the positions of punctuation and white space, on which whole columns may lie
    held_out: bool  # the input is a window of a text that training did not see
    roles: dict[tuple[int, int], str]  # (block, head) → clearest role, clearest first; empty where answers are marked


@shared
def attention(
    run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0, roles: bool = True
) -> Attention:
    """Every head's attention on `sequence`, and its weight on the answer.

    None: the task's first showcase, of a text a window of its validation part. `roles=False` does not measure them.
    """
    if run.architecture.attention == "off":
        raise CallError("this model has no attention")
    seen = run.trace(looked_at(run, sequence), step=step, member=member)
    weights = seen["attention"].astype(np.float64)  # (block, head, query_position, key_position)
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    source = sources(run, seen.tokens)
    kinds = groups(run)
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
        marks=tuple(k for k, token in enumerate(seen.tokens) if kinds[token] in MARKS),
        held_out=sequence is None and isinstance(run.task, Text),
        roles={} if not roles or max(source) >= 0 or weights.shape[:2] == (1, 1) else _roles(run, seen.step, member),
    )


def named(block: int, head: int, blocks: int) -> str:
    """`head 1` of a model with one block, else `block 0, head 1`."""
    return f"head {head}" if blocks == 1 else f"block {block}, head {head}"


def _roles(run: Run, step: int, member: int) -> dict[tuple[int, int], str]:
    """What each head does over many windows, which one input cannot tell; the clearest first."""
    seen = head_roles(run, step=step, member=member, over_life=False)
    most = np.nan_to_num(seen.excess.values).max(axis=-1)  # (block, head)
    every = sorted(np.ndindex(*most.shape), key=lambda at: -float(most[at]))
    return {(b, h): seen.described(b, h, most=1) for b, h in every}


def sources(run: Run, tokens: np.ndarray) -> tuple[int, ...]:
    """For each position, the one that holds the answer, or what the rule needs; -1: none."""
    return _decide.asked(run, tokens).source


def say(seen: Attention, among: Sequence[tuple[int, int]] | None = None) -> Words:
    """Where the attention lies, and whether that is where it should; `among`: of these (block, head) only."""
    text = " ".join(map(shown, seen.tokens))
    weights, there = seen.attention.values, seen.on_answer.values
    names = drawn(seen.attention.axes["key_position"])
    caption = (
        f"Attention of every block and head on {'a window of the validation part, ' if seen.held_out else 'the input '}"
        f"{text}; in `{names[0]}` the small number is the position. "
        "Rows are the positions that look, columns those looked at; each row sums to 1, and a darker cell (lighter on "
        "a dark page) is a larger share, on a scale fixed from 0 to 1. "
        + ("Cross-hatched cells lie in the future and may not be looked at. " if seen.causal else "")
        + (
            f"A framed cell is the position of {sought(seen.copied)}, where there is one"
            f"{' (of equal tokens that would do, the first)' if _tied(seen) else ''}; the ticks beside the "
            "bars are what it would get if all positions in view counted the same. The numbers are exact. "
            "If a head did not look it up, the framed cells would be no darker than the rest of their rows."
            if np.isfinite(there).any() or not seen.marks
            else "Short lines at the edges mark punctuation and white space: a head that looks for them has dark "
            "columns there, one that looks at the token before has a dark line beside the diagonal. The numbers are "
            "exact; what a head does on one window may be chance."
        )
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
    elif seen.held_out and seen.roles:
        title = _clearest(seen, among)
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


def _clearest(seen: Attention, among: Sequence[tuple[int, int]] | None) -> str:
    """How many heads have a role, and which has the clearest one."""
    some = [(at, said) for at, said in seen.roles.items() if among is None or at in among]
    clear = [(at, said) for at, said in some if said != NO_ROLE]
    if not clear:
        return f"None of the {len(some)} heads has a clear role at step {seen.step}"
    (block, head), said = clear[0]
    who = named(block, head, len(seen.attention.values))
    return f"{len(clear)} of {len(some)} heads have a clear role; clearest is {who}: {said}"


def _tied(seen: Attention) -> bool:
    """Whether the one answer stands at several positions, of which one is framed."""
    key = seen.source[seen.read] if 0 <= seen.read < len(seen.source) else -1
    return key >= 0 and seen.tokens.count(seen.tokens[key]) > 1


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
