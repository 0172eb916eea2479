"""Which questions are hard: by distance, by pair of digits or by answer, and the hardest of them."""

from dataclasses import fields
from typing import Annotated, Any

import numpy as np

from glassformer.analyses import _clock, _judged
from glassformer.analyses._options import Member, Option, Step
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, power, result, thousands
from glassformer.analyses.learn.rule_error import distances
from glassformer.run import Run
from glassformer.tasks import Examples
from glassformer.tasks._questions import Questions

ORDER = 60
ANSWERS = ("1.P4", "1.Q43", "1.Q58")
COST = "c"
HARDEST = 14  # that stand beside the map
WINDOWS = 1500
MOST_TOLD = 4  # in the title
MOST_ANSWERS = 60  # of a list of questions: one bar each
FEW_ZEROS = 1e-4  # nearer to 0 or to 1, probabilities are written with powers of ten
LOOKS = 24  # kept steps at which the hardest are asked again
Hardest = Annotated[int, Option("how many of the hardest questions are listed", least=1, most=1000)]


@result
class EveryQuestion(Result):
    """Share of right arg-max answers by question, and the questions with the least probability of a right answer."""

    # (kind, token, other_token): share over the third digit; or (token, distance): what came, how far; or (token, all)
    right: Labelled
    count: Labelled  # as `right`: questions behind each cell
    share: float  # of all that were asked, the right ones; NaN: none was asked, or not all answers are numbers
    hardest: Labelled  # (question, quantity): p(right), right (1 or 0), last wrong and first right step (NaN: none)
    came: tuple[str, ...]  # to each of the hardest questions, the token that came
    likeliest: tuple[str, ...]  # and the one that the model takes for likeliest
    operations: bool
    questions: bool  # whole ones; else places in sequences
    asked: int
    looked: int  # kept steps at which the hardest were asked again

    @property
    def title(self) -> str:
        """How many are right, where the mistakes are, which is hardest."""
        if not self.count.values.sum():
            return "No question has its answer in view"
        if np.isnan(self.share):
            return fate("the answers are not numbers", self.step)
        asked = "questions" if self.questions else "answers in view"
        title = f"{_judged.exactly(self.share)} of {thousands(self.asked)} {asked} are right"
        if self.share < 1:
            return title + _worst(self)
        if not len(self.hardest.values):
            return title
        least, sure = self.hardest.axes["question"].labels[0], chance(float(self.hardest.values[0, 0]))
        return f"{title}; the least sure is “{least}” with probability {sure}"


def applies(run: Run) -> str | None:
    """That there are questions to list."""
    if hasattr(run.task, "questions") or run.task.measure == "rule_error":
        return None
    if not isinstance(run.task, Questions):
        return "this task has no questions that could be listed"
    many = len(np.unique(run.task.every.answers))
    return (
        None if many <= MOST_ANSWERS else f"its questions have {many:,} different answers; the most is {MOST_ANSWERS}"
    )


def every_question(run: Run, *, step: Step = -1, member: Member = 0, hardest: Hardest = HARDEST) -> EveryQuestion:
    """Every question of a task that can list them; otherwise answerable positions of held-out windows, none twice."""
    now, operations = _clock.resolve(run, step), hasattr(run.task, "questions")
    whole_ones = operations or isinstance(run.task, Questions)
    how = _listed if operations else _by_answer if whole_ones else _by_distance
    right, count, seen = how(run, now, member)
    asked = seen.examples.answerable
    rows, places = np.nonzero(asked & seen.finite)  # of what is no number, none is the hardest
    likely = seen.chance_right[rows, places]
    hard: dict[tuple[int, ...], tuple[int, int, float]] = {}
    for k in np.argsort(likely, kind="stable"):
        row, place = int(rows[k]), int(places[k])
        prefix = tuple(
            seen.examples.windows[row, : -1 if run.architecture.read_position is not None else place + 1].tolist()
        )
        hard.setdefault(prefix, (row, place, float(likely[k])))
        if len(hard) == hardest:
            break
    table, said, looked = _history(run, seen, hard, now, member)
    whole = count.values.sum()
    return EveryQuestion(
        **_clock.at_step(run, now, member),
        right=right,
        count=count,
        share=float((right.values * count.values)[count.values > 0].sum() / whole) if whole else float("nan"),
        hardest=Labelled(
            table,
            {
                "question": [run.task.decode(np.array(q)) for q in hard],
                "quantity": ("p_right", "right", "last_wrong", "first_right"),
            },
        ),
        came=said[0],
        likeliest=said[1],
        operations=operations,
        questions=whole_ones,
        asked=int(asked.sum()),
        looked=looked,
    )


def _listed(run: Run, step: int, member: int) -> tuple[Labelled, Labelled, _judged.Judged]:
    task: Any = run.task
    questions, answers = task.questions()
    every = np.column_stack([questions, answers])
    seen = _judged.judge(run, task.judged(every), step, member)
    side = len(task.groups["digit"])
    right = (1 - seen.error).reshape(len(task.kinds), side, side, -1)  # what is left of the question comes last
    digits = [task.vocabulary[token] for token in task.groups["digit"]]
    axes = {"kind": task.kinds, "token": digits, "other_token": digits}
    share = right.mean(axis=-1)
    return Labelled(share, axes, "share"), Labelled(np.full(share.shape, right.shape[-1]), axes, "questions"), seen


def _by_answer(run: Run, step: int, member: int) -> tuple[Labelled, Labelled, _judged.Judged]:
    """Every question of a list, trained on or not; of long lists, questions spaced evenly over each part."""
    task: Any = run.task
    parts = [task.examples(run.architecture.context, part, WINDOWS) for part in task.every.parts]
    each = (np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Examples))
    seen = _judged.judge(run, Examples(*each), step, member)
    tokens = np.unique(seen.targets)
    chosen = seen.targets[:, 0] == tokens[:, None]  # (token, question)
    count = chosen.sum(axis=1, keepdims=True).astype(float)
    share = np.array([[float(np.mean(1 - seen.error[of, 0]))] for of in chosen])
    axes: dict[str, Any] = {"token": [task.vocabulary[t] for t in tokens], "distance": ["all"]}
    return Labelled(share, axes, "share"), Labelled(count, axes, "questions"), seen


def _by_distance(run: Run, step: int, member: int) -> tuple[Labelled, Labelled, _judged.Judged]:
    seen = _judged.judged(run, step, member, WINDOWS)
    back = distances(run, seen)
    present = [d for d in range(run.architecture.context) if (back == d).any()]
    tokens = [t for t in range(len(run.task.vocabulary)) if (seen.targets[back >= 0] == t).any()]
    count = np.zeros((len(tokens), len(present)))
    good = np.zeros_like(count)
    for i, token in enumerate(tokens):
        for j, distance in enumerate(present):
            chosen = (seen.targets == token) & (back == distance)
            count[i, j], good[i, j] = chosen.sum(), (1 - seen.error[chosen]).sum()
    axes: dict[str, Any] = {"token": [run.task.vocabulary[t] for t in tokens], "distance": present}
    share = np.where(count > 0, good / np.maximum(count, 1), np.nan)
    return Labelled(share, axes, "share"), Labelled(count, axes, "positions"), seen


def _history(
    run: Run, seen: _judged.Judged, hard: dict[tuple[int, ...], tuple[int, int, float]], now: int, member: int
) -> tuple[Array, tuple[tuple[str, ...], ...], int]:
    """(question, quantity) as in `hardest`, asked again at earlier kept steps; what came and what is likeliest."""
    rows = np.array([row for row, _, _ in hard.values()], dtype=int)
    places = np.array([place for _, place, _ in hard.values()], dtype=int)
    if not len(rows):
        return np.zeros((0, 4)), ((), ()), 0
    e = seen.examples
    few = Examples(
        e.windows[rows], e.constrained[rows], e.answerable[rows], e.allowed[rows], e.kind[rows], e.truth[rows]
    )
    steps = [s for s in _clock.looks(run, LOOKS, member) if s <= now]
    steps = sorted({*steps, now})
    last, first = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    for each in steps:
        right = _judged.judge(run, few, each, member).right[np.arange(len(rows)), places]
        last[~right] = each
        first[right & np.isnan(first)] = each
    likely, words = [p for _, _, p in hard.values()], run.task.vocabulary
    said = tuple(tuple(words[token] for token in ids[rows, places]) for ids in (seen.targets, seen.guess))
    return np.column_stack([likely, seen.right[rows, places], last, first]), said, len(steps)


def chance(p: float) -> str:
    """0.79, 0.9987, 1 − 3 · 10⁻⁵, 9 · 10⁻⁶: a probability that is 0 or 1 only if it is."""
    if not np.isfinite(p) or p in (0.0, 1.0):
        return "–" if not np.isfinite(p) else f"{p:.0f}"
    if float(f"{min(p, 1 - p):.0e}") < FEW_ZEROS:
        return f"1 − {power(1 - p)}" if p > 0.5 else power(p)
    return f"{p:.2f}" if 0.005 <= p < 0.995 else f"{p:.4f}"


def _worst(seen: EveryQuestion) -> str:
    """The operations, the distances or, with one distance only, the answers that are right least often."""
    right, count = np.nan_to_num(seen.right.values), seen.count.values
    if seen.operations:
        by, names = right.mean(axis=(1, 2)), list(seen.right.axes["kind"].labels)
    else:
        axis = 0 if count.shape[1] > 1 else 1
        by = (right * count).sum(axis=axis) / np.maximum(count.sum(axis=axis), 1)
        names = [f"{d} back" for d in seen.right.axes["distance"].labels]
        if axis == 1:
            names = [f"“{shown(token)}”" for token in seen.right.axes["token"].labels]
    worst = [names[k] for k in np.flatnonzero(by <= by.min() + 1e-12)]
    if len(worst) == len(names):
        return ", alike in every column" if not seen.operations and len(names) > 1 else ""
    told = (
        listed(worst)
        if len(worst) <= MOST_TOLD
        else f"{', '.join(worst[:MOST_TOLD])} and {len(worst) - MOST_TOLD} more"
    )
    return f"; hardest {'is' if len(worst) == 1 else 'are'} {told} with {_judged.exactly(float(by.min()))}"
