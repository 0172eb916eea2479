"""Who looks at whom: every head's attention on one input."""

from collections.abc import Sequence as Places
from typing import Annotated

import numpy as np

from glassformer.analyses import _applies, _clock, _decide
from glassformer.analyses._options import Frames, Member, Option, Pace, Sequence, Shown, Step
from glassformer.analyses._pairs import drawn, groups, placed, spoken
from glassformer.analyses._passage import brief, looked_at
from glassformer.analyses._reel import Reel, frames_of, strip
from glassformer.analyses._result import Labelled, Result, fate, listed, numbers, percent, result, shared, thousands
from glassformer.analyses._sought import copied, sought, which
from glassformer.analyses.attend.head_roles import NO_ROLE, head_roles
from glassformer.errors import check_index
from glassformer.run import Run
from glassformer.tasks._text import Text

ORDER = 70
ANSWERS = ("2.F5", "2.F6", "2.F7", "2.F8", "1.P3", "1.P6", "3.§3.3.1")
COST = "b"
APPLIES = (_applies.attention,)
MARKS = ("punctuation", "space", "line end")  # groups of tokens that cut a text


@result
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
    chosen: tuple[tuple[int, int], ...]  # (block, head) of those to be drawn; empty: all

    @property
    def title(self) -> str:
        """Where the attention lies, and whether that is where it should."""
        return self.title_of(self.chosen or None)

    def title_of(self, among: Places[tuple[int, int]] | None = None) -> str:
        """The same of these (block, head) only."""
        weights, there = self.attention.values, self.on_answer.values
        if not np.isfinite(weights).all():
            return fate("the attention is not a number", self.step)
        block, head = told(self, among)
        who = f" ({named(block, head, len(weights))})" if weights.shape[0] * weights.shape[1] > 1 else ""
        if np.isfinite(there).any():
            return _looked_up(self, there[block, head], who)
        if self.held_out and self.roles:
            return _clearest(self, among)
        rows = _asked(weights, self.read)[block, head]
        query, key = np.unravel_index(np.argmax(rows), rows.shape)
        share = percent(float(weights[block, head, query, key]))
        where = "itself" if key == query and self.read < 0 else f"{spoken(self.tokens[key])} at position {key}"
        look = f"puts {share} on {where}{who}"
        if self.read >= 0:
            return f"The sharpest look where the answer is read {look}"
        choice = " that has a choice" if weights.shape[-2] > 1 else ""  # the first position sees only itself
        return f"The sharpest look{choice}: {spoken(self.tokens[query])} at position {query} {look}"


@shared
def attention(
    run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0,
    block: Annotated[int | None, Option("draw the heads of this block only", least=0)] = None,
    head: Annotated[int | None, Option("draw this head of each block only; with a block: this one, large", least=0)] = (
        None
    ),
    roles: bool = True,
) -> Attention:  # fmt: skip
    """Every head's attention on `sequence`, and its weight on the answer.

    None: the task's first showcase, of a text a window of its validation part. `roles=False` does not measure them.
    """
    a = run.architecture
    for name, value, many in (("block", block, a.blocks), ("head", head, a.heads)):
        check_index(name, value or 0, many)
    some = [(b, h) for b in range(a.blocks) for h in range(a.heads) if block in (None, b) and head in (None, h)]
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
        **_clock.at_step(run, seen.step, member),
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
        chosen=() if block is None and head is None else tuple(some),
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


def _looked_up(seen: Attention, on: np.ndarray, who: str) -> str:
    """How much attention goes where the answers are."""
    asks = [k for k, place in enumerate(seen.source) if place >= 0]
    each = [
        f"{spoken(seen.tokens[k])} at position {k} puts {percent(float(on[k]))}"
        f"{f' of its attention{who}' if not n else ''} on "
        f"{spoken(seen.tokens[seen.source[k]])} at position {seen.source[k]}"
        for n, k in enumerate(asks[:2] if len(asks) == 2 else asks[-1:])
    ]
    both = "which hold the answers" if seen.copied else "which the rule needs"
    title = f"{listed(each)}, {both if len(each) > 1 else which(seen.copied)}"
    if len(asks) > 2:
        title += f"; {percent(float(on[asks].mean()))} on average over {len(asks)} such places"
    return title


def _clearest(seen: Attention, among: Places[tuple[int, int]] | None) -> str:
    """How many heads have a role, and which has the clearest one."""
    some = [(at, said) for at, said in seen.roles.items() if among is None or at in among]
    clear = [(at, said) for at, said in some if said != NO_ROLE]
    if len(some) == 1:
        (at, said), *_ = some
        who = named(*at, len(seen.attention.values)).capitalize()
        return f"{who} has {said} at step {thousands(seen.step or 0)}" if not clear else f"{who}: {said}"
    if not clear:
        return f"None of the {len(some)} heads has a clear role at step {thousands(seen.step or 0)}"
    (block, head), said = clear[0]
    who = named(block, head, len(seen.attention.values))
    return f"{len(clear)} of {len(some)} heads have a clear role; clearest is {who}: {said}"


def told(seen: Attention, among: Places[tuple[int, int]] | None = None) -> tuple[int, int]:
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


def reel(
    run: Run, *, sequence: Sequence = None, member: Member = 0, frames: Frames = 200, pace: Pace = "even",
    steps: Shown = None,
) -> Reel:  # fmt: skip
    """Every head's maps over life; beside a single one, the history of the query that is asked."""
    from glassformer.analyses.attend.attention_history import attention_history  # which stands on this file

    def at(step: int) -> Attention:
        return attention(run, sequence=sequence, step=step, member=member, roles=False)

    last, begin = at(-1), at(int(run.steps[0]))
    still: dict[str, Result] = {"last": last}
    if last.attention.values.shape[:2] == (1, 1):
        still["history"] = attention_history(run, sequence=sequence, member=member)
    every = frames_of(run, frames, pace, steps, member)
    return Reel(_grown(begin, last), every, at, strip(run, member), still)


def _grown(begin: Attention, last: Attention) -> str:
    """How the weight on what is sought has grown; without that, the weight that grew most where the answer is read."""
    text, names = brief(last.tokens), drawn(last.attention.axes["query_position"])
    between = f"between steps {thousands(begin.step or 0)} and {thousands(last.step or 0)}"
    blocks, heads = last.attention.values.shape[:2]
    asks = [q for q, s in enumerate(last.source) if s >= 0]
    block, head = told(last)
    ends = [float(each.on_answer.values[block, head, asks].mean()) if asks else np.nan for each in (begin, last)]
    if np.isfinite(ends).all():
        who = f" that {names[asks[0]]} puts" if len(asks) == 1 else ""
        rows = [f"mean of {len(asks)} framed rows"] if len(asks) > 1 else []
        rows += [named(block, head, blocks)] if blocks * heads > 1 else []
        where = f" ({', '.join(rows)})" if rows else ""
        return (
            f"On {text}, the weight{who} on {sought(last.copied)}{where} goes from {percent(ends[0])} to "
            f"{percent(ends[1])} {between}"
        )
    query = len(last.tokens) - 1 if last.read < 0 else min(last.read, len(last.tokens) - 1)
    was, now = (each.attention.values[:, :, query] for each in (begin, last))
    if not np.isfinite([was, now]).all():
        return f"Attention on {text}, of which not every number is finite"
    block, head, key = map(int, np.unravel_index(np.argmax(now - was), now.shape))
    return (
        f"On {text}, block {block}, head {head}: the weight {names[query]} gives {names[key]} goes from "
        f"{percent(float(was[block, head, key]))} to {percent(float(now[block, head, key]))} {between}"
    )
