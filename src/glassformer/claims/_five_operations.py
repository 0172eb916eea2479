"""What the claims on the five operations measure: each a number, or one for every member of a population."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from glassformer import reference
from glassformer.architecture import Architecture, nest, part
from glassformer.run import Run
from glassformer.study import Spread, spread
from glassformer.tasks import five_operations as task
from glassformer.tensors import Array

OPERATIONS, DIGITS = slice(task.FIRST, task.FIRST + 5), slice(task.ZERO, task.ZERO + 10)
DIGIT_PLACES = [2, 4, 6]
CLASSES = {"operation": [0], "digits": DIGIT_PLACES, "syntax": [1, 3, 5, 7]}  # positions of a question
ASKED = 200  # questions behind a measured mean


def covered(draws: int, every: int) -> float:
    """The share of questions that so many draws hold, as many for each of five operations."""
    missed: float = (1 - 5 / every) ** (draws / 5)
    return 1 - missed


def mean_log_sum(many: int) -> float:
    """The mean of ln Σ exp(x) over so many x, each uniform in [−1, 1].

    ln s is the integral over t > 0 of (exp(−t) − exp(−s t)) / t, and the mean of exp(−s t) is a product of equal means.
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    along, heavy = np.polynomial.legendre.leggauss(400)
    low, high = np.log(1e-12), np.log(60.0)
    t = np.exp(low + (high - low) * (along + 1) / 2)  # evenly in its logarithm, which takes the place of 1 / t
    mean = (np.exp(-t[:, None] * np.exp(nodes)) @ weights / 2) ** many
    return float((np.exp(-t) - mean) @ heavy * (high - low) / 2)


def multiply_adds(a: Architecture) -> int:
    """Of one answer: every matrix at every position, the scores and the mixing, one read-out."""
    matrices = sum(prod(shape) for name, shape in a.shapes().items() if name.startswith("blocks.") and len(shape) == 2)
    return a.context * matrices + a.blocks * 2 * a.context**2 * a.inner + a.width * a.answers


def asked(run: Run, many: int = ASKED) -> Array:
    """(question, position): held-out questions, evenly over all operations."""
    return run.task.examples(8, "validation", many).windows[:, :8]


def passed_on(run: Run) -> tuple[Array, Array, Array]:
    """(member, block) three times, before training: how a block changes what passes through it.

    The cosine of what leaves it with what entered, the ratio of their sizes, and the largest share of the stream that
    attention or feed-forward adds.
    """
    inputs, found = asked(run, 100), []
    for member in range(run.members):
        seen = run.trace(inputs, step=0, member=member)
        entered = [seen["embedded"], seen["normed_2"][:, 0]]
        rows = []
        for block, into in enumerate(entered):
            out, between = seen["normed_2"][:, block], seen["normed_1"][:, block]
            one, two = np.linalg.norm(into, axis=-1), np.linalg.norm(out, axis=-1)
            added = max(size(seen["attended"][:, block]) / size(into), size(seen["fed"][:, block]) / size(between))
            rows.append((((into * out).sum(-1) / (one * two)).mean(), (two / one).mean(), added))
        found.append(np.array(rows))
    cosine, ratio, added = np.moveaxis(np.array(found, dtype=np.float64), -1, 0)
    return cosine, ratio, added


def size(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def attention(run: Run, step: int, member: int, inputs: Array) -> Array:
    """(question, block, head, query position, key position)."""
    return run.trace(inputs, step=step, member=member)["attention"]


def answers(run: Run, questions: Array, step: int = -1) -> Array:
    """(member, question, token): the chances of each answer, to questions of any length."""
    long = replace(run.architecture, context=questions.shape[1])
    weights, found = run.weights(step), []
    for member in range(run.members):
        own = {name: value if run.members == 1 else value[member] for name, value in weights.items()}
        found.append(reference.softmax(reference.forward(nest(own), questions, long)[0][:, 0]))
    return np.array(found)


def right(run: Run, questions: Array, truth: Array, step: int = -1) -> Array:
    """(member,): the share of questions answered right."""
    return (answers(run, questions, step).argmax(-1) == truth).mean(-1)


def drawn(arguments: int, many: int = 500) -> tuple[Array, Array]:
    """Questions with so many arguments, drawn with a fixed seed, equally many of each operation; and their answers."""
    rng = np.random.default_rng(arguments)
    digits = rng.integers(10, size=(many, arguments))
    tokens = np.full((many, task.length(arguments)), task.COMMA, dtype=np.int32)
    operation = np.arange(many) % 5
    tokens[:, 0], tokens[:, 1], tokens[:, -1], tokens[:, 2::2] = (
        task.FIRST + operation, task.OPEN, task.CLOSE, task.ZERO + digits
    )  # fmt: skip
    truth = [task.answer((int(op), *map(int, row))) for op, row in zip(operation, digits, strict=True)]
    return tokens, np.array(truth)


def among(points: Array, other: Array | None = None) -> Array:
    """The cosines of every two different vectors of one group, or of each with each of another group."""
    first, second = np.asarray(points), np.asarray(points if other is None else other)
    one, two = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (first, second))
    found: Array = one @ two.T
    return found.ravel() if other is not None else found[np.triu_indices(len(one), 1)]


def logged(run: Run, name: str, steps: Sequence[int]) -> Array:
    """(step, member): a metric at logged steps."""
    values = run.metrics[name]
    return (values if values.ndim == 2 else values[:, None])[np.searchsorted(run.metrics["step"], steps)]


def one_largest() -> tuple[Array, Array]:
    """Every question for Max whose largest digit occurs once, and the position of that digit."""
    tokens = task.questions()[0].reshape(5, -1, 8)[task.OPERATIONS.index("Max")]
    digits = tokens[:, DIGIT_PLACES]
    once = (digits == digits.max(1, keepdims=True)).sum(1) == 1
    return tokens[once], 2 + 2 * digits[once].argmax(1)


def moved(run: Run, begin: int, end: int) -> dict[str, Array]:
    """Part → (member,): the mean absolute change of its parameters between two kept steps; `all` of them first."""
    before, after = run.weights(begin), run.weights(end)
    lone = run.members == 1
    change = {name: abs(after[name] - before[name]).reshape(1 if lone else run.members, -1) for name in after}
    parts: dict[str, list[Array]] = {"all": list(change.values())}
    for name, each in change.items():
        parts.setdefault(part(name), []).append(each)
    return {name: np.concatenate(each, axis=1).mean(1) for name, each in parts.items()}


def step_at(run: Run, level: float, *kinds: str) -> tuple[int, float]:
    """The kept and logged step at which so many answers to these kinds of question are right, nearly; and how many."""
    both = [int(step) for step in run.steps if step in run.metrics["step"]]
    shares = [logged(run, f"accuracy_by_kind.{kind}", both).mean(axis=1) for kind in kinds]
    right = np.mean(shares, axis=0)
    best = int(np.argmin(abs(right - level)))
    return both[best], float(right[best])


def repeated(run: Run) -> tuple[int, tuple[Array, Array]]:
    """Max and Min when nine of ten are right: the step, and (member,) the share right with and without equal digits."""
    step, _ = step_at(run, 0.9, "Max", "Min")
    tokens, truth = task.questions()
    tokens, truth = tokens.reshape(5, -1, 8)[3:].reshape(-1, 8), truth.reshape(5, -1)[3:].ravel()
    twice = np.array([len(set(row)) < len(row) for row in tokens[:, DIGIT_PLACES].tolist()])
    good = answers(run, tokens, step).argmax(-1) == truth  # (member, question)
    return step, (good[:, twice].mean(1), good[:, ~twice].mean(1))


def digits_known(run: Run, sure: float = 0.99) -> Array:
    """(member,): the first kept step at which so much of the probability goes to digits."""
    inputs = asked(run, 50)
    mass = np.array([answers(run, inputs, step)[..., DIGITS].sum(-1).mean(-1) for step in run.steps.tolist()])
    there = mass >= sure
    return np.where(there.any(0), run.steps[np.argmax(there, axis=0)], np.nan)


def settled(run: Run, near: float = 0.5) -> Array:
    """(member, block): the first kept step from which attention, where the answer is read, stays nearer to its end than
    half its first distance; that is half the sum of absolute differences of a row, mean over questions and heads.
    """
    inputs, found = asked(run, 50), []
    for member in range(run.members):
        life = np.array([attention(run, step, member, inputs)[..., 0, :] for step in run.steps.tolist()])
        apart = abs(life - life[-1]).sum(-1).mean(axis=(1, 3)) / 2  # (step, block)
        stays = np.logical_and.accumulate((apart <= near * apart[0])[::-1], axis=0)[::-1]
        found.append(run.steps[np.argmax(stays, axis=0)])
    return np.array(found, dtype=np.float64)


def unlike(run: Run, pairs: int = 8) -> tuple[Spread, Spread]:
    """Of neighbouring seeds: the cosine of what they learnt (weights now, less at first), and the loss half-way."""
    from glassformer.studies.pruning import judged

    first, last = run.weights(0), run.weights(-1)
    learnt = np.concatenate([(last[name] - first[name]).reshape(run.members, -1) for name in last], axis=1)
    two = [(k, k + 1) for k in range(min(pairs, run.members - 1))]
    cosines = [float(among(learnt[list(each)])[0]) for each in two]
    halves = [judged(run, {name: (value[a] + value[b]) / 2 for name, value in last.items()})[1] for a, b in two]
    return spread(np.array(cosines), True), spread(np.array(halves), False)


def pruned(run: Run, share: float) -> Array:
    """(member,): right after the smallest weights are set to nothing."""
    from glassformer.studies.pruning import judged, mask

    found = []
    for member in range(run.members):
        weights = run.weights(-1, member)
        kept = mask(weights, share)
        found.append(judged(run, {name: weights[name] * kept[name] for name in weights})[0])
    return np.array(found)


def downhill(run: Run) -> tuple[int, int]:
    """How many directions of curvature below zero there are where training ended, and how many parameters."""
    from glassformer.analyses.path.hessian import hessian

    found = hessian(run, steps=(-1,))
    return round(found.negative), found.parameters
