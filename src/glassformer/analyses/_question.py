"""What the tokens of a question are to it, where a task has one answer: its numbers, the largest, the answer."""

import numpy as np

from glassformer.analyses._result import Array
from glassformer.run import Run

ENOUGH = 500  # questions, to tell whether one position always says the kind


def arguments(run: Run, windows: Array) -> dict[str, Array]:
    """Role → (window, position): the first, second, ... number of each question, the largest and the smallest.

    Equal numbers share a role. Empty where questions are not about digits.
    """
    if run.task.answers != "one" or "digit" not in run.task.groups:
        return {}
    digit = np.isin(windows, list(run.task.groups["digit"]))
    place = np.cumsum(digit, axis=1) * digit  # 1 for the first number, 0 for what is none
    high, low = np.where(digit, windows, -1), np.where(digit, windows, windows.max(initial=0) + 1)
    found = {f"number {k}": place == k for k in range(1, int(place.max(initial=0)) + 1)}
    largest, smallest = (value == best for value, best in ((high, high.max(1)[:, None]), (low, low.min(1)[:, None])))
    return found | {"largest": largest & digit, "smallest": smallest & digit}


def answer_at(run: Run, windows: Array) -> Array:
    """(window,): the position that holds the answer of each whole question, of equal ones the first; -1: none does."""
    return np.array([int(run.task.source_position(row)[-1]) for row in windows], dtype=np.int64)


def holds_answer(run: Run, windows: Array) -> Array:
    """(window, position): every position that holds the answer of a whole question."""
    at = answer_at(run, windows)
    right = np.where(at >= 0, np.take_along_axis(windows, np.maximum(at, 0)[:, None], axis=1)[:, 0], -1)
    return windows == right[:, None]


def kind_is_written(run: Run) -> bool:
    """Whether some position of a question says which kind it is; else a model cannot know the kind."""
    seen = run.task.examples(run.architecture.context, "validation", ENOUGH)
    kind = seen.kind[:, 0]
    if len(np.unique(kind[kind >= 0])) < 2:
        return False
    pairs = (
        [len(np.unique(kind[column == token])) for token in np.unique(column)] for column in seen.windows[:, :-1].T
    )
    return any(max(many) == 1 for many in pairs)


def moving(run: Run, windows: Array, kind: Array) -> list[int]:
    """The kinds of question whose answer stands now here, now there; `kind` (window,) says which kind each is."""
    at = answer_at(run, windows)
    return [int(k) for k in np.unique(kind[kind >= 0]) if len(np.unique(at[(kind == k) & (at >= 0)])) > 1]
