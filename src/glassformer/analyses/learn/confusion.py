"""What is answered when it is wrong: the true token against the likeliest one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, thousands, result
from glassformer.run import Run

ORDER = 50
ANSWERS = ("1.P5",)
COST = "b"

MOST_TOKENS = 24
MOST_TOLD = 3  # mistakes equally common in the title


@result
class Confusion(Result):
    """Share of each answer given the true token, at a few steps; rows sum to 1."""

    share: Labelled  # (step, true, predicted): tokens asked for, tokens asked for or said; NaN: no answer is a number
    count: Labelled  # (step, true, predicted)
    answered_as: Labelled | None  # (step, asked, answered_as): five operations only
    beyond_chance: Labelled | None  # (step, asked, answered_as): the same, minus what coincidence would give
    steps: tuple[int, ...]
    left_out: int  # tokens not shown, though asked for or said
    unused: int  # tokens neither asked for nor said
    counted: int  # answers judged at each step
    matched: float  # share of them, at the last step, that are the token that came; also of tokens not shown
    lost: int  # of them, at the last step, that are no numbers
    rule: bool
    several: bool  # whether more than one token may be right


def confusion(run: Run, *, step: int = -1, steps: Sequence[int] | None = None, member: int = 0) -> Confusion:
    """True against predicted token: of a rule, where it is answerable; otherwise everywhere. Four steps at most."""
    chosen = _clock.chosen(run, tuple(steps), member=member) if steps is not None else _few(run, step, member)
    chosen = chosen[-4:]
    most = _judged.enough(run, 1000 if run.parameters < _judged.LARGE else 500)
    rule, known = run.task.measure == "rule_error", run.task.exact
    pairs, credits, corrected = [], [], []
    several = not known  # in a text, anything may come
    for each in chosen:
        seen = _judged.judged(run, each, member, most)
        asked = seen.examples.answerable if rule else np.ones_like(seen.examples.answerable)
        several = several or bool((seen.examples.allowed.sum(-1)[asked] > 1).any())
        said = asked & seen.finite  # the likeliest of what are no numbers is no answer
        pairs.append((seen.targets[said], seen.guess[said]))
        if hasattr(run.task, "questions") and run.task.kinds:
            given, by_chance = _credited(run, seen)
            credits.append(given)
            corrected.append(given - by_chance)
    every = [seen.targets[asked], *(guess for _, guess in pairs)]  # all steps are judged on the same windows
    used = np.bincount(np.concatenate(every), minlength=1)
    drawn = np.flatnonzero(used > 0)
    if len(drawn) > MOST_TOKENS:
        drawn = np.sort(np.argsort(-used, kind="stable")[:MOST_TOKENS])
    left = int((used > 0).sum() - len(drawn))
    asks = drawn[np.isin(drawn, seen.targets[asked])]
    tables = [_table(asks, drawn, *pair) for pair in pairs]
    counts, whole = np.array([table for table, _ in tables]), np.array([rows for _, rows in tables])[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(whole > 0, counts / whole, np.nan)
    true, said_words = (tuple(run.task.vocabulary[k] for k in some) for some in (asks, drawn))
    axes = {"step": tuple(map(str, chosen)), "true": true, "predicted": said_words}
    kinds = tuple(run.task.kinds)
    return Confusion(
        step=chosen[-1],
        clock=_clock.text(run, chosen[-1], member),
        share=Labelled(share, axes, "share"),
        count=Labelled(counts, axes, "answers"),
        answered_as=Labelled(
            np.array(credits), {"step": axes["step"], "asked": kinds, "answered_as": (*kinds, "none")}, "share"
        )
        if credits
        else None,
        beyond_chance=Labelled(
            np.array(corrected), {"step": axes["step"], "asked": kinds, "answered_as": (*kinds, "none")}, "share"
        )
        if corrected
        else None,
        steps=tuple(chosen),
        left_out=left,
        unused=len(run.task.vocabulary[: run.architecture.answers]) - int((used > 0).sum()),
        counted=int(asked.sum()),
        lost=int((asked & ~seen.finite).sum()),
        matched=float(np.mean(pairs[-1][0] == pairs[-1][1])) if len(pairs[-1][0]) else float("nan"),
        rule=rule,
        several=several,
    )


def _table(rows: Array, columns: Array, true: Array, guess: Array) -> tuple[Array, Array]:
    """Counts of (true, predicted) among the tokens shown, and of each true token whatever was predicted."""
    shape = (len(rows), len(columns))
    row, column = np.searchsorted(rows, true), np.searchsorted(columns, guess)
    inside = [np.isin(true, rows), np.isin(guess, columns)]
    both = inside[0] & inside[1]
    counts = np.bincount(row[both] * shape[1] + column[both], minlength=shape[0] * shape[1]).reshape(shape)
    return counts.astype(float), np.bincount(row[inside[0]], minlength=shape[0])[: shape[0]].astype(float)


def diagonal(seen: Confusion) -> Array:
    """(true, predicted): whether the answer is the token that came."""
    true, predicted = (np.array(seen.share.axes[axis].labels, dtype=object) for axis in ("true", "predicted"))
    found: Array = true[:, None] == predicted[None]
    return found


def _few(run: Run, step: int, member: int) -> list[int]:
    """The first step, the chosen step, and between them where the last rungs but one are passed: two of them where
    operations are told apart, since those are confused while they are being learnt.
    """
    last = _clock.resolve(run, step)
    before = [s for s in _clock.moments(run, member=member) if s < last]
    between = 2 if hasattr(run.task, "questions") and run.task.kinds else 1
    return sorted({*before[:1], *(before[1:][-1 - between : -1] or before[-1:]), last})


def _credited(run: Run, seen: _judged.Judged) -> tuple[Array, Array]:
    """(asked, answered as) twice: a wrong answer is shared among the operations that would give it, or goes to none.

    The second is what coincidence would give: the same wrong answers, each paired with every question of its operation
    to which it is as wrong, instead of with its own.
    """
    task: Any = run.task
    questions, answers = task.questions()
    kinds = len(task.kinds)
    by_operation = answers.reshape(kinds, -1)  # (operation, digits)
    place = {tuple(row): k for k, row in enumerate(questions[: by_operation.shape[1], 1:].tolist())}
    found, chance = np.zeros((kinds, kinds + 1)), np.zeros((kinds, kinds + 1))
    asked = np.where(seen.finite[:, 0], seen.examples.kind[:, 0], -1)
    guess, target = seen.guess[:, 0], seen.targets[:, 0]
    would = by_operation[:, [place[tuple(row)] for row in seen.examples.windows[:, 1:-1].tolist()]].T  # (window, kind)
    for kind in range(kinds):
        here = asked == kind
        found[kind, kind] = chance[kind, kind] = (here & (guess == target)).sum()
        for wrong in guess[here & (guess != target)]:
            chance[kind] += _shares(would[here & (target != wrong)], wrong, kinds)
        for k in np.flatnonzero(here & (guess != target)):
            found[kind] += _shares(would[k : k + 1], guess[k], kinds)
    whole = found.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return found / whole, chance / whole


def _shares(would: Array, answer: int, kinds: int) -> Array:
    """(kind + none,): an answer shared among the operations that would give it, mean over questions."""
    found: Array = np.zeros(kinds + 1)
    if not len(would):
        found[-1] = 1
        return found
    fits = (would == answer).astype(np.float64)
    many = fits.sum(1, keepdims=True)
    found[:kinds], found[kinds] = (fits / np.maximum(many, 1)).mean(0), (many == 0).mean()
    return found


def say(seen: Confusion) -> Words:
    """The share right, and the commonest mistake."""
    where = "positions whose answer is in view" if seen.rule else "held-out answers"
    caption = (
        f"Rows are the token that came, columns the likeliest token of the model, at {seen.counted} {where}; each row "
        "sums to 1, colours run from 0 to 1, and cells hold counts where there is room. Frames mark the diagonal, "
        "where the answer is the token that came; a token that is said but never asked for has a column and no row"
        + (f", {seen.unused} that are neither have none. " if seen.unused else ". ")
        + ("Where no answer is a number, rows are hatched. " if seen.lost else "")
        + ("Here several tokens may be right, so a cell off the diagonal may be no mistake. " if seen.several else "")
        + ("Middle row: which operation the answers fit; a wrong answer is shared among the operations that "
           "would give it, or goes to none. Bottom row: what is left of that after coincidence is taken off, which is "
           "what the same wrong answers would fit if they had been given to other questions of the same operation; "
           "red where an operation is confused with another more often than by chance. "
           if seen.answered_as is not None else "")
        + (f"{seen.left_out} rarer tokens are not shown. " if seen.left_out else "")
        + "Exact counts on a fixed sample. A model that guesses blindly fills a column, one that knows fills the "
          "diagonal."
    )  # fmt: skip
    counts, names = seen.count.values[-1], seen.count.axes["predicted"].labels
    whole, off = counts.sum(), np.where(diagonal(seen), 0, counts)
    step = thousands(seen.steps[-1])
    if seen.lost:
        title = f"At step {step} the answers are not numbers: the training has diverged"
    elif not whole:
        title = f"At step {step} there is nothing to compare: no answer is in view"
    else:
        good = "match what came" if seen.several else "are right"
        title = f"{_judged.exactly(seen.matched)} of {thousands(seen.counted)} answers {good} at step {step}"
        if off.max(initial=0) > 0:
            filled = counts.sum(axis=0)
            most = int(filled.argmax())
            if filled[most] > 0.6 * whole and len(names) > 2:
                title += f"; {_judged.exactly(filled[most] / whole)} of all answers are “{shown(names[most])}”"
            elif not seen.several and len(names) > 2 and off.sum(axis=0).max() > 0.6 * off.sum():
                usual = int(off.sum(axis=0).argmax())
                title += f"; {int(off[:, usual].sum())} of the {int(off.sum())} mistakes are “{shown(names[usual])}”"
            else:
                title += f"; {_commonest(seen, off)}"
        else:
            title += ": every one lies on the diagonal"
    return Words(
        title, caption, f"Matrices of true against predicted token at steps {', '.join(map(str, seen.steps))}. {title}."
    )


def _commonest(seen: Confusion, off: Array) -> str:
    """The commonest mistake, or all that are equally common; of many their number."""
    what, times = "difference" if seen.several else "mistake", int(off.max())
    true, predicted = seen.count.axes["true"].labels, seen.count.axes["predicted"].labels
    said = [f"“{shown(predicted[column])}” for “{shown(true[row])}”" for row, column in np.argwhere(off == times)]
    if len(said) == 1:
        return f"the commonest {what} is {said[0]} ({thousands(times)} time{'s' * (times > 1)})"
    if len(said) > MOST_TOLD:
        return f"no {what} is commonest: {len(said)} occur {thousands(times)} time{'s' * (times > 1)} each"
    return f"the commonest {what}s are {listed(said)} ({thousands(times)} time{'s' * (times > 1)} each)"
