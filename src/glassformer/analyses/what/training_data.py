"""What it was trained on: sequences of the training part, each token judged by the rule."""

from typing import Any

import numpy as np

from glassformer.analyses import _judged
from glassformer.analyses._result import Labelled, Result, numbers, result, thousands
from glassformer.analyses._sought import copied
from glassformer.analyses._verdicts import CODES, UNIT
from glassformer.run import Run
from glassformer.tasks import choose

ORDER = 60
ANSWERS = ("4.03",)
COST = "a"
EDITS = "data"

STRETCH = 40  # tokens of a text in a row
JUDGED = 500  # windows behind the shares


@result
class TrainingData(Result):
    """Some training sequences with a verdict on every token, and the shares of the verdicts in training windows."""

    tokens: tuple[tuple[str, ...], ...]
    verdicts: tuple[tuple[str, ...], ...]
    source: tuple[tuple[int, ...], ...]  # for each token, the position its answer can be read off; -1: none
    ids: Labelled  # (window, position): token ids; NaN after the end of a sequence
    codes: Labelled  # (window, position): verdict as its code; NaN after the end
    counts: dict[str, int]  # verdict → tokens of these sequences
    several: int  # right tokens of these sequences in whose place others would have been right too
    shares: Labelled  # (kind,): of the predicted tokens of training windows
    pieces: int  # sequences in the training part
    text: int  # tokens of the training part where that is one text without a rule; else 0
    windows: int  # behind the shares
    context: int
    one: bool  # one answer per question
    read: int  # where that answer is read; -1: after every token
    copied: bool  # whether the answer is the token at `source` itself; else the rule computes it from that

    @property
    def title(self) -> str:
        """Whether the data obey the rule, and how much of it the window shows."""
        many, what = len(self.tokens), "questions" if self.one else "sequences"
        wrong, away = (self.counts.get(name, 0) for name in ("wrong", "not_in_view"))
        asked = self.counts.get("right", 0) + wrong + away
        if self.text:
            return (
                f"{many} stretches of the {thousands(self.text)} tokens it is trained on; in a text no rule binds the "
                "next one"
            )
        if asked == 0:
            held = f"{sum(self.counts.values())} tokens, none bound by a rule"
            return f"These {many} of {self.pieces} training {what} hold {held}"
        if wrong:
            return f"{wrong} of {asked} constrained tokens in these {many} training {what} break the rule"
        if self.one:
            return f"All {asked} answers are right in these {many} of {thousands(self.pieces)} training questions"
        before = f"the {self.context} tokens before"
        if not self.held_out:
            return (
                f"A text of {sum(self.counts.values())} tokens, to be learnt by heart; {away or 'none'} of the {asked} "
                f"after the first {'is' if away == 1 else 'are'} left open by {before}"
            )
        each = "each" if not self.several else "what is allowed"
        told = f"; {away} cannot be told from {before}" if away else f", and {each} can be told from {before} it"
        these = f"these {many} sequences" if many > 1 else "this one sequence"
        return f"All {asked} constrained tokens of {these} obey the rule{told}"


def training_data(run: Run, *, count: int = 6) -> TrainingData:
    """The first `count` training sequences, judged token by token; in view are at most `context` tokens before each."""
    task, context = run.task, run.architecture.context
    split = task.data(context).train
    ends = [*split.starts[1:].tolist(), len(split.tokens)]
    one = task.answers == "one"
    chosen = choose(len(ends), count, *split.strata).tolist() if one else range(min(count, len(ends)))
    rows = [split.tokens[int(split.starts[k]) : ends[k]] for k in chosen]
    text = not task.exact and len(ends) == 1  # one long text: stretches of it, from all parts
    if text:
        begin, long = int(split.starts[0]), min(context, STRETCH)
        last = int(split.windows[0]) + context - long
        starts = [begin + last * k // count for k in range(count)]
        rows, chosen = [split.tokens[b : b + long] for b in starts], starts
    judged = [judge(task, row, context) for row in rows]
    open_ = [[] if text else _open(task, row, context, verdicts)
             for row, (verdicts, _) in zip(rows, judged, strict=True)]  # fmt: skip
    held_out = _judged.held_out(run)
    if not held_out:  # of a text to be learnt by heart one token came, and what is in view may not settle which
        for places, (verdicts, _) in zip(open_, judged, strict=True):
            for place in places:
                verdicts[place] = "not_in_view"
    longest = max(map(len, rows))
    ids, codes = np.full((2, len(rows), longest), np.nan)
    for k, (row, (verdicts, _)) in enumerate(zip(rows, judged, strict=True)):
        ids[k, : len(row)] = row
        codes[k, : len(row)] = [CODES[verdict] for verdict in verdicts]
    seen = task.examples(context, "train", JUDGED)
    answerable, constrained = float(seen.answerable.mean()), float(seen.constrained.mean())
    axes = {"window": tuple(chosen), "position": numbers(longest)}
    flat = [verdict for verdicts, _ in judged for verdict in verdicts]
    return TrainingData(
        tokens=tuple(tuple(task.vocabulary[token] for token in row) for row in rows),
        verdicts=tuple(tuple(verdicts) for verdicts, _ in judged),
        source=tuple(tuple(source) for _, source in judged),
        ids=Labelled(ids, axes, "id"),
        codes=Labelled(codes, axes, UNIT),
        counts={verdict: flat.count(verdict) for verdict in CODES if verdict in flat},
        several=sum(map(len, open_)),
        held_out=held_out,
        shares=Labelled(
            np.array([1 - constrained, answerable, constrained - answerable]),
            {"kind": ("unconstrained", "constrained and in view", "constrained, answer not in view")},
            "share",
        ),
        pieces=len(ends),
        text=int(split.windows[0]) + context if text else 0,
        windows=len(seen.windows),
        context=context,
        one=task.answers == "one",
        read=-1 if run.architecture.read_position is None else run.architecture.read_position,
        copied=copied(run),
    )


def judge(task: Any, row: np.ndarray, context: int) -> tuple[list[str], list[int]]:
    """The verdict on each token of a sequence, and the position at which its answer can be read off, or -1."""
    verdicts, sources = [], []
    for place, verdict in enumerate(task.verify(row)):
        name, source = "unconstrained", -1
        if verdict is not None:
            begin = max(0, place - context)
            window, last = row[begin : begin + context], place - begin - 1  # one length, cached
            in_view = bool(task.answerable(window)[last])
            name = ("right" if in_view else "not_in_view") if verdict else "wrong"
            if in_view and (found := int(task.source_position(window)[last])) >= 0:
                source = begin + found
        verdicts.append(name)
        sources.append(source)
    return verdicts, sources


def _open(task: Any, row: np.ndarray, context: int, verdicts: list[str]) -> list[int]:
    """The places of right tokens where what is in view allows others too."""
    found = []
    for place in [place for place, verdict in enumerate(verdicts) if verdict == "right" and task.answers == "next"]:
        begin = max(0, place - context)
        if task.allowed(row[begin : begin + context])[place - begin - 1].sum() > 1:
            found.append(place)
    return found
