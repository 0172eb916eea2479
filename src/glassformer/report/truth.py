"""What the page must know to judge any input: a rule as tables of states and beliefs, other tasks by a few numbers.

`frontend/src/task/truth.ts` is the other half: from these values it says for any tokens, legal or not, what
`constrained`, `allowed`, `answerable`, `source_position`, `true_distribution` and `verify` of the task say here.
"""

import json
from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.architecture import Architecture
from glassformer.tasks import Rule, Task
from glassformer.tasks._questions import Questions
from glassformer.tasks._repeated import SYMBOLS, Repeated
from glassformer.tasks._text import Text
from glassformer.tasks.five_operations import FiveOperations
from glassformer.tasks.mary import RUN, TOKENS, Mary
from glassformer.tasks.modular_addition import ModularAddition, P
from glassformer.tasks.sort import DIGITS, MANY, Sort

Array = NDArray[Any]
MOST = 400_000  # characters of JSON
MOST_STATES = 50_000  # of a rule, wrong tokens included; those of ours have 16,105 at most
MOST_STREAM = 300_000  # tokens of a text whose counts the page can make by itself
DIGITS_KEPT = 9  # of a chance: more than 32 bits hold
MOST_GROUPS = 6  # of tokens that are tried together
PROBES = 64  # windows on which it is found out where a rule looks
VERDICTS = ("constrained", "allowed", "answerable", "source_position", "true_distribution", "verify")
UNKNOWN: dict[str, Any] = {"kind": "unknown"}


def truth(task: Task, architecture: Architecture) -> dict[str, Any]:
    """The law of a task as JSON values; `unknown` where it cannot be told, or not in some hundred kilobytes."""
    context = architecture.context
    found = _told(task, context)
    return found if len(json.dumps(found, separators=(",", ":"))) <= MOST else UNKNOWN


def _told(task: Task, context: int) -> dict[str, Any]:
    if _keeps(task, FiveOperations):
        return {"kind": "operations", "arguments": task.arguments, "length": task.length}  # type: ignore[attr-defined]
    if _keeps(task, Mary):
        windows = len(task._windows(context))  # type: ignore[attr-defined]
        return {"kind": "memory", "text": TOKENS.tolist(), "run": RUN, "windows": windows}
    if _keeps(task, Sort):
        return {"kind": "sorted", "digits": DIGITS, "many": MANY}
    if _keeps(task, Repeated):
        periods: range = task.periods  # type: ignore[attr-defined]
        return {"kind": "repeated", "symbols": SYMBOLS, "first": periods[0], "last": periods[-1]}
    if _keeps(task, Text):
        small = len(task.stream) <= MOST_STREAM  # type: ignore[attr-defined]
        return {"kind": "counts", "longest": task.best(context) if small else None}  # type: ignore[attr-defined]
    if isinstance(task, ModularAddition) and _keeps(task, Questions):
        return {"kind": "sum", "modulus": P}
    if isinstance(task, Questions) and _keeps(task, Questions):
        return _listed(task)
    if isinstance(task, Rule) and _keeps(task, Rule):
        return _machine(task, context)
    return UNKNOWN


def _keeps(task: Task, kind: Any) -> bool:
    """Whether a task is of a kind and judges as that kind does; a class of one's own may judge in its own way."""
    return isinstance(task, kind) and all(getattr(type(task), name) is getattr(kind, name) for name in VERDICTS)


# ---- questions that are listed ---------------------------------------------------------------------------------------


def _listed(task: Questions) -> dict[str, Any]:
    every = task.every
    if 3 * every.questions.size > MOST:
        return UNKNOWN
    rows = [[[int(token), _short(row[token])] for token in np.flatnonzero(row)] for row in every.chances]
    return {"kind": "questions", "questions": every.questions.tolist(), "answers": rows}


# ---- rules as machines -----------------------------------------------------------------------------------------------


def _machine(rule: Rule, context: int) -> dict[str, Any]:
    """States for what is allowed, which must be known after wrong tokens too, and beliefs for what is likely."""
    walked = _walked(rule)
    if walked is None:
        return UNKNOWN
    begins = {frozenset(np.flatnonzero(rule.prior(length)).tolist()) for length in range(1, context + 1)}
    if len(begins) > 1:  # a shorter window would have to be judged by other beliefs
        return UNKNOWN
    (following, laws, constrained), known = walked, rule._beliefs(context)
    sets, asks = np.unique(laws > 0, axis=0, return_inverse=True)
    state, first = _merged(following, np.column_stack([asks.ravel(), constrained]))
    rows, expects = np.unique(np.round(known.predicted, 12), axis=0, return_inverse=True)
    belief, leader = _merged(known.next, np.column_stack([expects.ravel(), known.answerable]))
    return {
        "kind": "machine",
        "next": _packed(state[following[first]]),
        "asks": asks.ravel()[first].tolist(),
        "sets": [np.flatnonzero(each).tolist() for each in sets],
        "constrained": _bits(constrained[first]),
        "follow": _packed(belief[known.next[leader]]),
        "expects": expects.ravel()[leader].tolist(),
        "chances": [[_short(chance) for chance in row] for row in rows],
        "answerable": _bits(known.answerable[leader]),
        "source": _source(rule, context),
    }


def _walked(rule: Rule) -> tuple[Array, Array, Array] | None:
    """Every state that any tokens lead to: (state, token) the next one, (state, token) its law, (state,) constrained.

    None where there are too many, or where the rule's own code fails on tokens that break it.
    """
    size = len(rule.vocabulary)
    number: dict[Hashable, int] = {rule.start: 0}
    found: list[Any] = [rule.start]
    rows: list[list[int]] = []
    try:
        for state in found:  # grows while we walk it
            after = [rule.advance(state, token) for token in range(size)]
            for each in after:
                if each not in number:
                    number[each] = len(found)
                    found.append(each)
            rows.append([number[each] for each in after])
            if len(found) > MOST_STATES:
                return None
        laws = np.array([rule.law(state) for state in found], dtype=np.float64)
        return np.array(rows), laws, np.array([rule.is_constrained(state) for state in found], dtype=bool)
    except Exception:
        return None


def _merged(following: Array, label: Array) -> tuple[Array, Array]:
    """The class of each state, and one state of each class: states in one class can never be told apart.

    Classes by label are split by where their states lead until nothing splits; the class of state 0 is 0.
    """
    group = np.unique(label, axis=0, return_inverse=True)[1].ravel()
    while True:
        finer = np.unique(np.column_stack([group, group[following]]), axis=0, return_inverse=True)[1].ravel()
        if finer.max() == group.max():
            break
        group = finer
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(np.where(first == first[group[0]], -1, first), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[group.ravel()], first[order]


def _packed(following: Array) -> list[Any]:
    """Rows of numbers. One whose numbers are all the same is that number; one that is mostly the first row is -1 and,
    of each place where it is not, the place and its number.
    """
    found: list[Any] = []
    for row in following:
        other = np.flatnonzero(row != following[0])
        if (row == row[0]).all():
            found.append(int(row[0]))
        elif found and 2 * len(other) + 1 < len(row):
            found.append([-1, *np.column_stack([other, row[other]]).ravel().tolist()])
        else:
            found.append(row.tolist())
    return found


def _bits(values: Array) -> str:
    return "".join("1" if each else "0" for each in values)


def _source(rule: Rule, context: int) -> dict[str, Any] | None:
    """Where the rule looks, in one of the forms that the page can follow; None where it is none of them."""
    rng = np.random.default_rng(0)
    half = [rule.sample(rng, context) for _ in range(PROBES)]
    half += [rng.integers(len(rule.vocabulary), size=context) for _ in range(PROBES)]  # and what breaks the rule
    try:
        seen = [(row.tolist(), rule.source_position(row).tolist()) for row in half]
    except Exception:
        return None
    asked = [(row, place, at) for row, found in seen for place, at in enumerate(found) if at >= 0]
    return next((form for form in _forms(rule, asked) if all(_looks(form, *each) for each in asked)), None)


def _forms(rule: Rule, asked: list[tuple[list[int], int, int]]) -> Iterator[dict[str, Any]]:
    for back in sorted({place - at for _, place, at in asked} or {0}):
        yield {"form": "back", "back": back}
    groups = list(rule.groups.values())[:MOST_GROUPS]
    some = (chosen for many in range(1, len(groups) + 1) for chosen in combinations(groups, many))
    unions = (sorted(int(token) for group in chosen for token in group) for chosen in some)
    for tokens in (sorted({row[at] for row, _, at in asked}), *unions):
        yield {"form": "last", "tokens": tokens}
        yield {"form": "larger", "tokens": tokens}


def _looks(form: dict[str, Any], row: list[int], place: int, at: int) -> bool:
    """Whether a form finds the position that the rule does."""
    if form["form"] == "back":
        return bool(place - form["back"] == at)
    there = [k for k in range(place) if row[k] in form["tokens"]]
    if form["form"] == "last":
        return there[-1:] == [at]
    return bool(there) and max(there[-2:], key=lambda k: (row[k], k)) == at


def _short(chance: Any) -> float:
    return float(f"{float(chance):.{DIGITS_KEPT}g}")
