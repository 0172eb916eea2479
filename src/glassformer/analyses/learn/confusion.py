"""What is answered when it is wrong: the true token against the likeliest one."""

from typing import Any

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._options import Frames, Member, Pace, Shown, Step, Steps
from glassformer.analyses._pairs import shown
from glassformer.analyses._reel import Reel, frames_of, strip
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, listed, result, thousands
from glassformer.run import Run

ORDER = 50
ANSWERS = ("1.P5",)
COST = "b"

MOST_TOKENS = 24
MOST_TOLD = 3  # mistakes equally common in the title


@result
class Confusion(Result):
    """Share of each answer given the true token, at a few steps; rows sum to 1."""

    share: Labelled  # (step, token, answer): tokens that came, tokens that came or were said; NaN: nothing is a number
    count: Labelled  # (step, token, answer)
    answered_as: Labelled | None  # (step, kind, other_kind): asked, and answered as; five operations only
    beyond_chance: Labelled | None  # (step, kind, other_kind): the same, minus what coincidence would give
    steps: tuple[int, ...]
    left_out: int  # tokens not shown, though asked for or said
    unused: int  # tokens neither asked for nor said
    counted: int  # answers judged at each step
    matched: float  # share of them, at the last step, that are the token that came; also of tokens not shown
    lost: int  # of them, at the last step, that are no numbers
    unshown: tuple[tuple[str, str], ...]  # (came, said): the commonest differences at the end that have no cell
    unshown_times: int  # how often each of these occurs
    rule: bool
    several: bool  # whether more than one token may be right

    @property
    def title(self) -> str:
        """The share right, and the commonest mistake."""
        if self.lost:
            return fate("the answers are not numbers", self.step)
        counts, names = self.count.values[-1], self.count.axes["answer"].labels
        whole, off = counts.sum(), np.where(diagonal(self), 0, counts)
        step = thousands(self.steps[-1])
        if not whole:
            return f"At step {step} there is nothing to compare: no answer is in view"
        good = "match what came" if self.several else "are right"
        title = f"{_judged.exactly(self.matched)} of {thousands(self.counted)} answers {good} at step {step}"
        if not off.max(initial=0) > 0 and not self.unshown:
            return f"{title}: every one lies on the diagonal"
        filled, wrong, missed = counts.sum(axis=0), off.sum(axis=0), off.sum()
        if self.left_out:
            whole, missed = self.counted, round((1 - self.matched) * self.counted)
        most, usual = int(filled.argmax()), int(wrong.argmax())
        if filled[most] > 0.6 * whole and len(names) > 2:
            return f"{title}; {_judged.exactly(filled[most] / whole)} of all answers are “{shown(names[most])}”"
        if not self.several and len(names) > 2 and wrong[usual] > 0.6 * missed:
            which = f"{int(wrong[usual])} of the {int(missed)} mistakes are" if missed > 1 else "the one mistake is"
            return f"{title}; {which} “{shown(names[usual])}”"
        return f"{title}; {_commonest(self, off)}"


def confusion(run: Run, *, step: Step = -1, steps: Steps = None, member: Member = 0) -> Confusion:
    """True against predicted token: of a rule, where it is answerable; otherwise everywhere. Four steps at most."""
    chosen = _clock.chosen(run, steps, member=member) if steps is not None else _few(run, step, member)
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
    came, answers = ([run.task.vocabulary[k] for k in some] for some in (asks, drawn))
    axes: dict[str, Any] = {"step": chosen, "token": came, "answer": answers}
    unshown, unshown_times = _unshown(asks, drawn, *pairs[-1])
    kinds = {"step": chosen, "kind": run.task.kinds, "other_kind": (*run.task.kinds, "none")}
    return Confusion(
        **_clock.at_step(run, chosen[-1], member),
        truth_known=known,
        held_out=_judged.held_out(run),
        share=Labelled(share, axes, "share"),
        count=Labelled(counts, axes, "answers"),
        answered_as=Labelled(np.array(credits), kinds, "share") if credits else None,
        beyond_chance=Labelled(np.array(corrected), kinds, "share") if corrected else None,
        steps=tuple(chosen),
        left_out=left,
        unused=len(run.task.vocabulary[: run.architecture.answers]) - int((used > 0).sum()),
        counted=int(asked.sum()),
        lost=int((asked & ~seen.finite).sum()),
        unshown=tuple((run.task.vocabulary[token], run.task.vocabulary[answer]) for token, answer in unshown),
        unshown_times=unshown_times,
        matched=float(np.mean(pairs[-1][0] == pairs[-1][1])) if len(pairs[-1][0]) else float("nan"),
        rule=rule,
        several=several,
    )


def _table(rows: Array, columns: Array, true: Array, guess: Array) -> tuple[Array, Array]:
    """Counts of (token, answer) among the tokens shown, and of each token whatever was answered."""
    shape = (len(rows), len(columns))
    row, column = np.searchsorted(rows, true), np.searchsorted(columns, guess)
    inside = [np.isin(true, rows), np.isin(guess, columns)]
    both = inside[0] & inside[1]
    counts = np.bincount(row[both] * shape[1] + column[both], minlength=shape[0] * shape[1]).reshape(shape)
    return counts.astype(float), np.bincount(row[inside[0]], minlength=shape[0])[: shape[0]].astype(float)


def _unshown(rows: Array, columns: Array, true: Array, guess: Array) -> tuple[list[tuple[int, int]], int]:
    """The commonest differences (came, said) that have no cell, and how often each occurs."""
    away = (true != guess) & ~(np.isin(true, rows) & np.isin(guess, columns))
    found, times = np.unique(np.stack([true[away], guess[away]], axis=1), axis=0, return_counts=True)
    most = int(times.max(initial=0))
    return [(int(token), int(answer)) for token, answer in found[times == most]], most


def diagonal(seen: Confusion) -> Array:
    """(token, answer): whether the answer is the token that came."""
    came, said = (np.array(seen.share.axes[axis].labels, dtype=object) for axis in ("token", "answer"))
    return came[:, None] == said[None]


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


def _commonest(seen: Confusion, off: Array) -> str:
    """The commonest mistake, or all that are equally common; of many their number."""
    what, times = "difference" if seen.several else "mistake", max(int(off.max(initial=0)), seen.unshown_times)
    came, answers = seen.count.axes["token"].labels, seen.count.axes["answer"].labels
    said = [f"“{shown(answers[column])}” for “{shown(came[row])}”" for row, column in np.argwhere(off == times)]
    said += [
        f"“{shown(answer)}” for “{shown(token)}”" for token, answer in seen.unshown * (seen.unshown_times == times)
    ]
    if len(said) == 1:
        away = ", not in the map" if times > off.max(initial=0) else ""
        return f"the commonest {what} is {said[0]} ({thousands(times)} time{'s' * (times > 1)}{away})"
    if len(said) > MOST_TOLD:
        return f"no {what} is commonest: {len(said)} occur {thousands(times)} time{'s' * (times > 1)} each"
    return f"the commonest {what}s are {listed(said)} ({thousands(times)} time{'s' * (times > 1)} each)"


@result
class Table(Result):
    """The confusion of one step, over the same tokens in every frame of a film."""

    share: Labelled  # (token, answer)
    answered_as: Labelled | None  # (kind, other_kind)


def reel(
    run: Run, *, member: Member = 0, frames: Frames = 200, pace: Pace = "change", steps: Shown = None
) -> Reel:  # fmt: skip
    """The confusion at every frame, over the tokens of a few steps of the whole life."""
    first, last = int(run.steps[0]), int(run.steps[-1])
    several = sorted({first, int(run.steps[len(run.steps) // 4]), int(run.steps[len(run.steps) // 2]), last})
    whole = confusion(run, steps=tuple(several), member=member)
    rows = zip(whole.share.axes["token"].labels, whole.count.values.sum(axis=(0, 2)), strict=True)
    every = tuple(run.task.vocabulary[: run.architecture.answers])
    axes = {"token": Axis(tuple(word for word, row in rows if row > 0)),
            "answer": Axis(every) if len(every) <= MOST_TOKENS else whole.share.axes["answer"]}  # fmt: skip

    def at(step: int) -> Table:
        seen = confusion(run, steps=(step,), member=member)
        fits = seen.answered_as
        return Table(
            step=seen.step,
            clock=seen.clock,
            share=_placed(seen, axes),
            answered_as=fits and Labelled(fits.values[0], {name: fits.axes[name] for name in ("kind", "other_kind")},
                                          "share"),
        )  # fmt: skip

    hits = [found.matched if found.counted else 0.0
            for found in (confusion(run, steps=(step,), member=member) for step in (first, last))]  # fmt: skip
    title = (
        f"Of {thousands(whole.counted)} {'answerable places' if whole.rule else f'{whole.whose} answers'}, "
        f"{_judged.exactly(hits[0])} lie on the diagonal at step {thousands(first)} and {_judged.exactly(hits[1])} at "
        f"step {thousands(last)}"
    )
    return Reel(whole.title if whole.lost else title, frames_of(run, frames, pace, steps, member), at,
                strip(run, member), {"whole": whole, "last": at(last)})  # fmt: skip


def _placed(seen: Confusion, axes: dict[str, Axis]) -> Labelled:
    """The shares of one step, in the rows and columns of the film."""
    came, said = axes["token"].values, axes["answer"].values
    rows, columns = seen.share.axes["token"].values, seen.share.axes["answer"].values
    table = np.zeros((len(came), len(said)))
    for row, token in enumerate(came):
        for column, answer in enumerate(said):
            if token in rows and answer in columns:
                table[row, column] = seen.share.values[0, rows.index(token), columns.index(answer)]
    return Labelled(table, axes, "share")
