"""Where the answering position looks when it is asked for this or for that: its mean attention by kind of question."""

from collections.abc import Sequence as Places

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._options import Member, Step
from glassformer.analyses._pairs import drawn, groups, placed
from glassformer.analyses._question import holds_answer, kind_is_written
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, numbers, percent, result
from glassformer.analyses.attend.attention import named
from glassformer.run import Run

ORDER = 105
ANSWERS = ("1.P3", "1.P6")
COST = "b"
APPLIES = (_applies.attention,)
QUESTIONS = 500
HALF = 0.5  # share of the attention from which a head is said to look at a place
SAME = 0.05  # difference of shares up to which a head looks alike whatever is asked


@result
class AttentionByKind(Result):
    """The attention of the position where the answer is read."""

    share: Labelled  # (block, head, kind, key_position): means
    on_answer: Labelled | None  # (block, head, kind): on all positions that hold the answer; None: not always in view
    questions: Labelled  # (kind,): how many the means are of
    moved: Labelled  # (block, head): by how much the share of a position changes with the kind of question, at most
    read: int  # the position that answers

    def title_of(self, among: Places[tuple[int, int]] | None = None) -> str:
        """Where one head looks, by what is asked; of these (block, head) only, if any are named."""
        if not np.isfinite(self.share.values).all():
            return fate("the attention is not a number", self.step)
        every = list(np.ndindex(*self.moved.values.shape)) if among is None else among
        block, head = max(every, key=lambda at: float(self.moved.values[at]))  # whose look depends most on the question
        if (apart := float(self.moved.values[block, head])) <= SAME:
            return f"Whatever is asked, {self.me} looks alike: no share changes by more than {100 * apart:.1f} points"
        who = named(block, head, len(self.share.values))
        return f"{who[0].upper()}{who[1:]} looks {_where(self, block, head)}"

    @property
    def me(self) -> str:
        """The position that answers, as it is drawn."""
        return drawn(self.share.axes["key_position"])[self.read]


def applies(run: Run) -> str | None:
    """That there are kinds of question to tell apart."""
    if run.task.answers != "one" or run.architecture.read_position is None:
        return "this task has no one position that answers a question"
    return None if kind_is_written(run) else "no token of a question of this task says of which kind it is"


def attention_by_kind(run: Run, *, step: Step = -1, member: Member = 0) -> AttentionByKind:
    """Mean attention of the answering position on every position and on the answer, over validation questions."""
    a, step = run.architecture, _clock.resolve(run, step)
    assert a.read_position is not None
    examples = run.task.examples(a.context, "validation", _judged.enough(run, QUESTIONS))
    windows, kind = examples.windows[:, : a.context], examples.kind[:, 0]
    seen = run.trace(windows, step=step, member=member)["attention"]  # (window, block, head, query, key)
    weights = seen[..., a.read_position, :].astype(np.float64)
    asked = np.unique(kind[kind >= 0])

    def means(values: Array) -> Array:
        return np.stack([values[kind == k].mean(axis=0) for k in asked], axis=2)

    holds, share = holds_answer(run, windows), means(weights)
    axes = {
        "block": numbers(a.blocks),
        "head": numbers(a.heads),
        "kind": tuple(run.task.kinds[k] for k in asked),
    }
    there = means((weights * holds[:, None, None]).sum(axis=-1)) if holds.any(axis=1).all() else None
    return AttentionByKind(
        **_clock.at_step(run, step, member),
        share=Labelled(share, axes | {"key_position": placed(_words(run, windows))}, "share"),
        on_answer=None if there is None else Labelled(there, axes, "share"),
        questions=Labelled(np.array([float((kind == k).sum()) for k in asked]), {"kind": axes["kind"]}, "questions"),
        moved=Labelled(np.ptp(share, axis=2).max(axis=-1), {k: axes[k] for k in ("block", "head")}, "share"),
        read=a.read_position,
    )


def _words(run: Run, windows: Array) -> tuple[str, ...]:
    """What stands at each position: the token, if that is always the same, else the group of its tokens."""
    family = np.array(groups(run))
    return tuple(
        run.task.vocabulary[column[0]] if (column == column[0]).all() else "/".join(np.unique(family[column]))
        for column in windows.T
    )


def _where(seen: AttentionByKind, block: int, head: int) -> str:
    """`at digit₂ for First (98 %) and ...`; kinds without a place of their own: at the answer, or at none."""
    kinds, rows = seen.share.axes["kind"].labels, seen.share.values[block, head]
    names, best = drawn(seen.share.axes["key_position"]), rows.argmax(axis=1)
    there = np.zeros(len(kinds)) if seen.on_answer is None else seen.on_answer.values[block, head]
    parts, moved, spread = [], [], []
    for k, kind in enumerate(kinds):
        if rows[k, best[k]] >= HALF:
            parts.append(f"at {names[best[k]]} for {kind} ({percent(float(rows[k, best[k]]))})")
        elif there[k] >= HALF:
            moved.append(f"{kind} ({percent(float(there[k]))})")
        else:
            spread.append(kind)
    if not parts and not moved:
        tops = [f"{names[best[k]]} for {kind} ({percent(float(rows[k, best[k]]))})" for k, kind in enumerate(kinds)]
        return f"most at {listed(tops)}"
    parts += [f"at the answer, wherever it stands, for {listed(moved)}"] if moved else []
    parts += [f"at no one place above half for {listed(spread)}"] if spread else []
    return listed(parts)
