"""What a task must keep, as far as a moment tells; the tests hold Glassformer's own to the same, and longer."""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import get_annotations
from itertools import pairwise
from math import isfinite

import numpy as np

from glassformer import own
from glassformer.architecture import Architecture
from glassformer.errors import CallError, Error
from glassformer.settings import described
from glassformer.tasks import Rule, Task

MOST_VOCABULARY = 65_536
SEQUENCES, LENGTH = 20, 30  # of what a task makes, looked at


def check(task: Task, context: int) -> None:
    """Refuse a task from outside that would not do, in one sentence with its class and what is wrong."""
    with _named(task):
        _check_law(task)
        _check_showcase(task)
        _check_sequences(task, context)
        _check_ladder(task, context)


@contextmanager
def _named(task: Task) -> Iterator[None]:
    """What is wrong begins with the name of the class."""
    name = type(task).__name__
    try:
        with own.blamed(type(task)):
            yield
    except Error as problem:
        said = str(problem)
        raise type(problem)(said if said.startswith(name) else f"{name}: {said}") from None


def check_class(kind: type[Task]) -> None:
    """Refuse a class whose settings cannot be settings."""
    name = kind.__name__
    with own.blamed(kind):
        known = described(kind)
        for each, hint in get_annotations(kind).items():
            if each not in known and "ClassVar" not in str(hint):
                raise CallError(
                    f"{name}.{each} has a type, so it is a setting, but {name} is no dataclass: "
                    "write @dataclass(frozen=True, kw_only=True) above it, or leave the type out"
                )
        for each in ("vocabulary", "showcase"):
            if not hasattr(kind, each):
                raise CallError(f"{name} has no {each}; give it a tuple of texts")


def check_words(task: Task) -> None:
    """Refuse a vocabulary that is none; the model's size follows from it."""
    with _named(task):
        _check_words(task)


def _check_words(task: Task) -> None:
    words = task.vocabulary
    if not isinstance(words, tuple) or not words or not all(isinstance(each, str) and each for each in words):
        raise CallError(f"vocabulary = {words!r:.80} must be a tuple of texts, none of them empty")
    if len(words) > MOST_VOCABULARY:
        raise CallError(f"the vocabulary has {len(words):,} tokens; the most is {MOST_VOCABULARY:,}")
    if twice := [each for k, each in enumerate(words) if each in words[:k]][:1] if len(words) < 2000 else []:
        raise CallError(f"{twice[0]!r} stands twice in the vocabulary; each token has one word")
    if len(set(words)) < len(words):
        raise CallError("a word stands twice in the vocabulary; each token has one word")
    grouped = sorted(token for group in task.groups.values() for token in group)
    if grouped != list(range(len(words))):
        raise CallError(f"groups hold the tokens {grouped!r:.60}; each of 0 to {len(words) - 1} belongs to exactly one")
    if unknown := sorted(set(task.sizes()) - set(described(Architecture))):
        raise CallError(f"sizes names {unknown[0]!r}, which is no setting of the architecture")


def _check_law(task: Task) -> None:
    """The law of a rule in every state that can be reached."""
    if isinstance(task, Rule) and (many := task._tables.law.shape[1]) != len(task.vocabulary):
        raise CallError(f"its law has {many} chances, and its vocabulary {len(task.vocabulary)} tokens")


def _check_showcase(task: Task) -> None:
    texts = task.showcase
    if not isinstance(texts, tuple) or not texts or not all(isinstance(each, str) for each in texts):
        raise CallError(f"showcase = {texts!r:.80} must be a tuple of texts")
    for text in texts:
        tokens = task.encode(text)
        if not len(tokens):
            raise CallError("an example in showcase is empty")
        if task.answers == "next" and False in (verdicts := task.verify(tokens)):
            place = verdicts.index(False)
            raise CallError(f"the example {text!r} in showcase breaks the rule at position {place}")


def _check_sequences(task: Task, context: int) -> None:
    """What it makes obeys its own rule, and whatever a model may write can be judged."""
    rng, size, judged = np.random.default_rng(5), len(task.vocabulary), 0
    for _ in range(SEQUENCES):
        made = np.asarray(task.sample(rng, LENGTH))
        if made.ndim != 1 or not len(made) or made.min() < 0 or made.max() >= size:
            raise CallError(f"sample gives {made!r:.80}, which is not a sequence of tokens from 0 to {size - 1}")
        verdicts = task.verify(made)
        judged += sum(verdict is not None for verdict in verdicts)
        if False in verdicts:
            place = verdicts.index(False)
            raise CallError(
                f"what sample makes breaks the rule: {task.decode(made[: place + 1])!r} ends with a token that the law "
                "forbids there"
            )
        allowed, constrained = task.allowed(made[:-1]), task.constrained(made[:-1])
        if any(allowed[place].all() for place in np.flatnonzero(constrained)) and task.answers == "next" and size > 1:
            raise CallError("a place is called constrained where the law allows every token; the two must agree")
        written = rng.integers(size, size=LENGTH)
        if len(task.verify(written)) != LENGTH:
            raise CallError("verify must judge every token of a sequence, right or wrong")
        view = made[: context if task.answers == "next" else -1]
        sources, settled = task.source_position(view), task.answerable(view)
        wrong = np.flatnonzero(settled & ((sources < -1) | (sources > np.arange(len(view)))))
        if len(wrong):
            raise CallError(
                f"source says that the answer after {task.decode(view[: wrong[0] + 1])!r} lies at {sources[wrong[0]]}, "
                f"which is not one of its places"
            )
    if not judged:
        raise CallError(
            f"in {SEQUENCES} sequences of {LENGTH} tokens no place is constrained, so there is no rule to be learnt"
        )


def _check_ladder(task: Task, context: int) -> None:
    rungs = task.ladder(context)
    if not rungs or not all(isfinite(rung.nats) and rung.nats >= 0 for rung in rungs):
        raise CallError("its ladder has no rung, or one whose price is no number")
    for higher, lower in pairwise(rungs):
        if lower.nats > higher.nats + 1e-9:
            raise CallError(f"its rung {lower.name!r} costs {lower.nats:.4f}, more than {higher.name!r} before it")
    made = np.asarray(task.sample(np.random.default_rng(6), context))[:context]
    if not np.allclose(task.true_distribution(made, context).sum(axis=1), 1):
        raise CallError("its exact predictor's chances do not sum to 1")
