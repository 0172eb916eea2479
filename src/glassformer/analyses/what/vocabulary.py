"""Which tokens there are: id, group and count of each, and how a text becomes numbers and comes back."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Labelled, Result, Words, listed, percent, thousands, result
from glassformer.run import Run

ORDER = 30
ANSWERS = ("3.§2.2",)
COST = "a"

MOST = 40  # tokens shown; beyond, the most frequent and those of the text


@result
class Vocabulary(Result):
    """How often each token occurs in the data, the family of each, and one text encoded and decoded."""

    counts: Labelled  # (token,): occurrences in the whole text, or in the sequences made for training
    groups: tuple[str, ...]  # of each token
    ids: Labelled  # (position,): the ids of the text
    tokens: tuple[str, ...]  # of the text
    text: str
    back: str  # what decoding gives
    lost: str  # what of the text decoding does not give back, in words; empty: nothing
    returns: bool  # encoding what decoding gave yields the same ids
    total: int
    counted: str  # what was counted, in words
    nats: float  # entropy of the counts
    rung: float  # exact price of "token frequencies" on the ladder; NaN where the task has no such rung


def vocabulary(run: Run, *, sequence: str | None = None) -> Vocabulary:
    """Every token with its id, its group and its count; `sequence` goes to ids and back."""
    task, context = run.task, run.architecture.context
    split = task.data(context).train
    counts = np.bincount(split.tokens, minlength=len(task.vocabulary)).astype(float)
    group = {int(token): name for name, tokens in task.groups.items() for token in tokens}
    ids = run.tokens(sequence)
    words = tuple(task.vocabulary[token] for token in ids)
    back = task.decode(ids)
    whole = len(task.encode(task.showcase[0])) == len(ids)
    text = sequence if sequence is not None else task.showcase[0] if whole else back
    chances = counts[counts > 0] / max(counts.sum(), 1)
    rungs = {rung.name: rung.nats for rung in task.ladder(context)}
    return Vocabulary(
        counts=Labelled(counts, {"token": tuple(task.vocabulary)}, "tokens"),
        groups=tuple(group.get(k, "") for k in range(len(task.vocabulary))),
        ids=Labelled(ids.astype(float), {"position": placed(words)}, "id"),
        tokens=words,
        text=text,
        back=back,
        lost=_lost(text, back) if not task.exact else "",
        returns=bool(np.array_equal(task.encode(back), ids)),
        total=int(counts.sum()),
        counted=_counted(run),
        nats=float(-(chances * np.log(chances)).sum()),
        rung=float(rungs.get("token frequencies", np.nan)),
    )


def _counted(run: Run) -> str:
    """What the tokens of training lie in: a text with its held-out parts, or sequences made for training alone."""
    data = run.task.data(run.architecture.context)
    one_text = len(data.train.starts) == 1 and data.validation.tokens is data.train.tokens
    return "the whole text" if one_text else "the training part"


def _lost(text: str, back: str) -> str:
    """What is not as it was."""
    if text == back:
        return ""
    return "with other spaces" if "".join(text.split()) == "".join(back.split()) else "with other signs"


def order(seen: Vocabulary) -> list[int]:
    """Ids to show: all, or the most frequent together with those of the text; in the order of the ids."""
    if len(seen.groups) <= MOST:
        return list(range(len(seen.groups)))
    often = np.argsort(-seen.counts.values, kind="stable").tolist()
    first = dict.fromkeys([int(token) for token in seen.ids.values] + often)
    return sorted(list(first)[:MOST])


def say(seen: Vocabulary) -> Words:
    """How many tokens in which groups, and whether the text comes back."""
    names = list(dict.fromkeys(seen.groups))
    each = [f"{sum(g == name for g in seen.groups)} {name}" for name in names]
    size = len(seen.groups)
    back = "comes back unchanged" if seen.returns else "does not come back"
    if seen.lost:
        back = f"comes back {seen.lost}"
    title = (
        f"{size} tokens ({listed(each)}) are all this model knows; the text becomes {len(seen.tokens)} ids and {back}"
    )
    rest = f" Of {size} tokens, the {MOST} most frequent and those of the text are listed." if size > MOST else ""
    caption = (
        "Above: every token with its id, its group (marker and word) and how often it occurs in "
        f"{seen.counted} ({thousands(seen.total)} tokens, counted exactly; bars compare the counts). Below: a text cut "
        "into tokens, the ids the model gets in their place, and the tokens these ids stand for; the round trip was "
        f"checked by encoding the result again.{rest}"
        + (f" This tokenizer does not keep the text: “{seen.text}” comes back as “{seen.back}”." if seen.lost else "")
    )
    text = " ".join(map(shown, seen.tokens))
    return Words(
        title, caption, f"A table of tokens and the text {text} as ids {seen.ids.values.astype(int).tolist()}. {title}."
    )


def say_counts(seen: Vocabulary) -> Words:
    """Which token leads, and how much frequencies alone tell."""
    counts, names = seen.counts.values, seen.counts.axes["token"].labels
    top, blind = int(np.argmax(counts)), float(np.log(len(names)))
    used = int((counts > 0).sum())
    never = f"; {len(names) - used} of {len(names)} never occur" if used < len(names) else ""
    title = (
        f"“{shown(names[top])}” is the most frequent: {percent(float(counts[top] / max(seen.total, 1)))} of "
        f"{thousands(seen.total)} tokens; the counts' entropy is {seen.nats:.2f} of at most {blind:.2f} nats{never}"
    )
    rung = (
        f" The second rung of the ladder, the exact price of guessing what must be predicted by frequency alone, is "
        f"{seen.rung:.3f} nats; it differs from the entropy of these counts as far as predicted tokens differ from all."
        if np.isfinite(seen.rung)
        else ""
    )
    caption = (
        f"Left: the most frequent tokens of {seen.counted}, at most 20, as shares; shade and marker give the group. "
        "Right: count against rank, both logarithmic; the dotted line is Zipf's 1/rank from the first token, which "
        "natural language follows roughly and this corpus need not. Counts are exact. Entropy of the counts: "
        f"{seen.nats:.3f} nats.{rung}"
    )
    return Words(title, caption, f"Bars of token frequencies and a rank chart. {title}.")
