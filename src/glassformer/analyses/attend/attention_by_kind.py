"""Where the answering position looks when it is asked for this or for that: its mean attention by kind of question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._pairs import drawn, groups, in_file
from glassformer.analyses._question import holds_answer, kind_is_written
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, numbers, percent, result
from glassformer.analyses.attend.attention import named
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 105
ANSWERS = ("1.P3", "1.P6")
COST = "b"
APPLIES = (_applies.asking,)


QUESTIONS = 500
ANSWER = "answer"  # the column of the positions that hold the answer, wherever they stand
HALF = 0.5  # share of the attention from which a head is said to look at a place
SAME = 0.05  # difference of shares up to which a head looks alike whatever is asked


@result
class AttentionByKind(Result):
    """The attention of the position where the answer is read."""

    share: Labelled  # (block, head, kind, key_position): means; the last may be `answer`, part of the others
    questions: Labelled  # (kind,): how many the means are of
    read: str  # the position that answers, as files write it

    @property
    def places(self) -> int:
        """How many of the columns are positions."""
        return sum(name != ANSWER for name in self.share.axes["key_position"].labels)


def not_asking(run: Run) -> str | None:
    """Why there are no kinds of question to tell apart; None: there are."""
    if run.architecture.attention == "off":
        return "this model has no attention"
    if run.task.answers != "one" or run.architecture.read_position is None:
        return "this task has no one position that answers a question"
    return None if kind_is_written(run) else "no token of a question of this task says of which kind it is"


def attention_by_kind(run: Run, *, step: int = -1, member: int = 0) -> AttentionByKind:
    """Mean attention of the answering position on every position and on the answer, over validation questions."""
    if reason := not_asking(run):
        raise CallError(reason)
    a, step = run.architecture, _clock.resolve(run, step)
    assert a.read_position is not None
    examples = run.task.examples(a.context, "validation", _judged.enough(run, QUESTIONS))
    windows, kind = examples.windows[:, : a.context], examples.kind[:, 0]
    seen = run.trace(windows, step=step, member=member)["attention"]  # (window, block, head, query, key)
    weights = seen[..., a.read_position, :].astype(np.float64)
    holds, names = holds_answer(run, windows), _names(run, windows)
    if holds.any(axis=1).all():
        there = (weights * holds[:, None, None]).sum(axis=-1, keepdims=True)
        weights, names = np.concatenate([weights, there], axis=-1), (*names, ANSWER)
    asked = np.unique(kind[kind >= 0])
    means = np.stack([weights[kind == k].mean(axis=0) for k in asked], axis=2)
    kinds = tuple(run.task.kinds[k] for k in asked)
    axes = {"block": numbers(a.blocks), "head": numbers(a.heads), "kind": kinds, "key_position": names}
    return AttentionByKind(
        step=step,
        clock=_clock.text(run, step, member),
        share=Labelled(means, axes, "share"),
        questions=Labelled(np.array([float((kind == k).sum()) for k in asked]), {"kind": kinds}, "questions"),
        read=names[a.read_position],
    )


def _names(run: Run, windows: Array) -> tuple[str, ...]:
    """Each position with its token, if that is always the same, else with the group of its tokens."""
    family, found = np.array(groups(run)), []
    for place, column in enumerate(windows.T):
        word = run.task.vocabulary[column[0]] if (column == column[0]).all() else "/".join(np.unique(family[column]))
        found.append(in_file(word, place))
    return tuple(found)


def told(seen: AttentionByKind, among: Sequence[tuple[int, int]] | None = None) -> tuple[int, int]:
    """The block and head whose look depends most on what is asked; `among`: of these only."""
    range_ = np.ptp(np.nan_to_num(seen.share.values[..., : seen.places]), axis=2).max(axis=-1)  # (block, head)
    every = list(np.ndindex(*range_.shape)) if among is None else among
    block, head = max(every, key=lambda at: float(range_[at]))
    return int(block), int(head)


def say(seen: AttentionByKind, among: Sequence[tuple[int, int]] | None = None) -> Words:
    """Where one head looks, by what is asked."""
    kinds, share = seen.share.axes["kind"].labels, seen.share.values
    me, many = drawn([seen.read])[0], int(seen.questions.values.min())
    answers = seen.share.axes["key_position"].labels[-1] == ANSWER
    caption = (
        f"One panel per head: the share of its attention that {me}, where the answer is read, gives to each position, "
        f"by kind of question, on a scale fixed from 0 to 1; means over validation questions, at least {many} of each "
        "kind. A position is named by its token, or by the group of its tokens where they vary. "
        + (
            "The last column, right of the line, is the share on the positions that hold the answer, wherever they "
            "stand; it is counted once more among the others. "
            if answers
            else ""
        )
        + "Exact means, not causes (see ablation). If a head did not care what is asked, its rows would be alike."
    )
    block, head = told(seen, among)
    who = named(block, head, share.shape[0])
    who = who[0].upper() + who[1:]
    rows = share[block, head, :, : seen.places]
    if not np.isfinite(share).all():
        title = f"At step {seen.step} the attention is not a number: the training has diverged"
    elif (apart := float(np.ptp(rows, axis=0).max())) <= SAME:
        title = f"Whatever is asked, {me} looks alike: no share changes by more than {100 * apart:.1f} points"
    else:
        title = f"{who} looks {_where(seen, block, head)}"
    return Words(title, caption, f"Tables of attention by kind of question ({listed(list(kinds))}). {title}.")


def _where(seen: AttentionByKind, block: int, head: int) -> str:
    """`at digit₂ for First (98 %) and ...`; kinds without a place of their own: at the answer, or at none."""
    kinds, rows = seen.share.axes["kind"].labels, seen.share.values[block, head]
    names = drawn(seen.share.axes["key_position"].labels)
    best = rows[:, : seen.places].argmax(axis=1)
    parts, moved, spread = [], [], []
    for k, kind in enumerate(kinds):
        if rows[k, best[k]] >= HALF:
            parts.append(f"at {names[best[k]]} for {kind} ({percent(float(rows[k, best[k]]))})")
        elif names[-1] == ANSWER and rows[k, -1] >= HALF:
            moved.append(f"{kind} ({percent(float(rows[k, -1]))})")
        else:
            spread.append(kind)
    if not parts and not moved:
        tops = [f"{names[best[k]]} for {kind} ({percent(float(rows[k, best[k]]))})" for k, kind in enumerate(kinds)]
        return f"most at {listed(tops)}"
    parts += [f"at the answer, wherever it stands, for {listed(moved)}"] if moved else []
    parts += [f"at no one place above half for {listed(spread)}"] if spread else []
    return listed(parts)
