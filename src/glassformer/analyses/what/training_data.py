"""What it was trained on: sequences of the training part, each token judged by the rule."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.analyses._result import Labelled, Result, Words, listed, numbers, percent, thousands, result
from glassformer.analyses._sought import copied, sought
from glassformer.run import Run

ORDER = 60
ANSWERS = ("4.03",)
COST = "a"

VERDICTS = ("unconstrained", "right", "wrong", "not_in_view")
STRETCH = 40  # tokens of a text in a row
JUDGED = 500  # windows behind the shares


@result
class Sequences(Result):
    """Some training sequences with a verdict on every token, and the shares of the verdicts in training windows."""

    tokens: tuple[tuple[str, ...], ...]
    verdicts: tuple[tuple[str, ...], ...]
    source: tuple[tuple[int, ...], ...]  # for each token, the position its answer can be read off; -1: none
    ids: Labelled  # (sequence, position): token ids; NaN after the end of a sequence
    codes: Labelled  # (sequence, position): verdict as its place in VERDICTS; NaN after the end
    shares: Labelled  # (verdict,): of the predicted tokens of training windows
    pieces: int  # sequences in the training part
    text: int  # tokens of the training part where that is one text without a rule; else 0
    windows: int  # behind the shares
    context: int
    one: bool  # one answer per question
    read: int  # where that answer is read; -1: after every token
    copied: bool  # whether the answer is the token at `source` itself; else the rule computes it from that


def training_data(run: Run, *, count: int = 6) -> Sequences:
    """The first `count` training sequences, judged token by token; in view are at most `context` tokens before each."""
    task, context = run.task, run.architecture.context
    split = task.data(context).train
    ends = [*split.starts[1:].tolist(), len(split.tokens)]
    chosen = _spaced(len(ends), count) if task.answers == "one" else range(min(count, len(ends)))
    rows = [split.tokens[int(split.starts[k]) : ends[k]] for k in chosen]
    text = not task.exact and len(ends) == 1  # one long text: stretches of it, from all parts
    if text:
        begin, long = int(split.starts[0]), min(context, STRETCH)
        last = int(split.windows[0]) + context - long
        starts = [begin + last * k // count for k in range(count)]
        rows, chosen = [split.tokens[b : b + long] for b in starts], starts
    judged = [judge(task, row, context) for row in rows]
    longest = max(map(len, rows))
    ids, codes = np.full((2, len(rows), longest), np.nan)
    for k, (row, (verdicts, _)) in enumerate(zip(rows, judged, strict=True)):
        ids[k, : len(row)] = row
        codes[k, : len(row)] = [VERDICTS.index(verdict) for verdict in verdicts]
    seen = task.examples(context, "train", JUDGED)
    answerable, constrained = float(seen.answerable.mean()), float(seen.constrained.mean())
    axes = {"sequence": tuple(str(k) for k in chosen), "position": numbers(longest)}
    return Sequences(
        tokens=tuple(tuple(task.vocabulary[token] for token in row) for row in rows),
        verdicts=tuple(tuple(verdicts) for verdicts, _ in judged),
        source=tuple(tuple(source) for _, source in judged),
        ids=Labelled(ids, axes, "id"),
        codes=Labelled(codes, axes, " ".join(f"{k}={name}" for k, name in enumerate(VERDICTS))),
        shares=Labelled(
            np.array([1 - constrained, answerable, constrained - answerable]),
            {"verdict": ("unconstrained", "constrained and in view", "constrained, answer not in view")},
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


def _spaced(many: int, count: int) -> list[int]:
    return [many * k // count for k in range(min(count, many))]


def say(seen: Sequences) -> Words:
    """Whether the data obey the rule, and how much of it the window shows."""
    flat = [verdict for row in seen.verdicts for verdict in row]
    right, wrong, away = (flat.count(name) for name in ("right", "wrong", "not_in_view"))
    asked, what = right + wrong + away, "questions" if seen.one else "sequences"
    if seen.text:
        title = (
            f"{len(seen.tokens)} stretches of the {thousands(seen.text)} tokens it is trained on; "
            "in a text no rule binds the next one"
        )
    elif asked == 0:
        title = (
            f"These {len(seen.tokens)} of {seen.pieces} training {what} hold {len(flat)} tokens, none bound by a rule"
        )
    elif wrong:
        title = f"{wrong} of {asked} constrained tokens in these {len(seen.tokens)} training {what} break the rule"
    elif seen.one:
        title = (
            f"All {asked} answers are right in these {len(seen.tokens)} of {thousands(seen.pieces)} training questions"
        )
    else:
        these = f"these {len(seen.tokens)} sequences" if len(seen.tokens) > 1 else "this one sequence"
        title = f"All {asked} constrained tokens of {these} obey the rule"
        title += (
            f"; {away} cannot be told from the {seen.context} tokens before"
            if away
            else f", and each can be told from the {seen.context} tokens before it"
        )
    shares = [
        f"{percent(float(v))} {name}" for name, v in zip(seen.shares.axes["verdict"].labels, seen.shares.values, strict=True)
    ]
    if seen.text:
        caption = (
            "Rows are stretches of the training part, evenly spaced, one cell per token; at the left the place at "
            "which each begins. Nothing is right or wrong about a token of a text: the model is to give each a high "
            "probability, given those before it."
        )
        return Words(title, caption, f"Rows of token cells. The first row: {' '.join(seen.tokens[0])}. {title}.")
    caption = (
        f"Rows are {what} of the training part, one cell per token. "
        + (
            "White cells are the question, the last one is its answer, right or wrong. "
            if seen.one
            else "A cell is right or wrong where the rule restricts the token, plain grey where it leaves it free, "
            f"hatched where the rule holds but the {seen.context} tokens before it, the most the model can see, do not "
            "settle the answer. "
        )
        + f"A thin line leads from the position where the answer is read to {sought(seen.copied)}; none is drawn where "
        "that is the same token. "
        + ("" if seen.one else f"Of the predicted tokens in {seen.windows} training windows, {listed(shares)}. ")
        + "The verdicts are exact. A red cell would refute that the data obey the rule."
    )
    first = " ".join(seen.tokens[0])
    return Words(title, caption, f"Rows of token cells with verdicts. The first row: {first}. {title}.")
