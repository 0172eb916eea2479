"""What a task must keep, as far as a moment tells; the tests hold Glassformer's own to the same, and longer."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import get_annotations, getattr_static
from itertools import pairwise
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer import folder, own, settings
from glassformer.architecture import Architecture
from glassformer.errors import CallError, Error
from glassformer.given import written
from glassformer.settings import described
from glassformer.tasks import Task
from glassformer.tasks._questions import Listed
from glassformer.tasks._task import Data, Examples, Rung

if TYPE_CHECKING:
    from glassformer.experiment import Experiment

MOST_VOCABULARY = 65_536
MOST_WINDOWS = 8  # of the examples that are looked at
SEQUENCES, LENGTH = 20, 30  # of what a task makes, looked at
NUMBERS = {  # what an array holds: NumPy's letters, words, the least, the most
    "tokens": ("iu", "tokens from 0 to {most}", 0, inf),
    "places": ("iu", "whole numbers", -inf, inf),
    "flags": ("b", "truth values", 0, 1),
    "numbers": ("biuf", "probabilities", -inf, inf),  # whose limits are looked at elsewhere
    "chances": ("biuf", "probabilities", 0, 1 + 1e-9),
    "logs": ("f", "logarithms of probabilities", -1e300, 1e-9),
}
ARRAYS = {  # what a method returns, and how many along each axis: n as the tokens given, v the vocabulary, * any
    "allowed": ("flags", "nv"), "constrained": ("flags", "n"), "answerable": ("flags", "n"), "law": ("numbers", "v"),
    "source_position": ("places", "n"), "true_distribution": ("chances", "nv"), "encode": ("tokens", "*"),
    "sample": ("tokens", "*"),
}  # fmt: skip
TYPES: dict[str, tuple[type, ...]] = {
    "advance": (Hashable,), "is_constrained": (bool, np.bool_), "source": (int, np.integer), "listed": (Listed,),
    "original": (bytes,), "decode": (str,), "readable": (str,), "verify": (list,), "data": (Data,), "ladder": (tuple,),
    "examples": (Examples,), "floor": (float, int), "expectations": (list,), "files": (dict,), "within": (Task,),
}  # fmt: skip


def check(made: "Experiment") -> None:
    """Refuse a task from outside that would not do, in one sentence with its class and what is wrong."""
    task, context = made.task, made.architecture.context
    with _named(task), _watch(task):
        if type(task.skip) is not int or not 0 <= task.skip < context:
            raise CallError(f"skip = {task.skip!r:.60} leaves nothing of the {context} predictions of a window")
        _check_ladder(task, context)  # which looks at the law of a rule in every state that can be reached
        _check_showcase(task)
        _check_sequences(task, context)
        _check_data(task, context)
        task.within({})
        if not all(isinstance(sentence, str) for sentence in task.expectations(made.architecture, made.train)):
            raise CallError("expectations gives a list of something else than texts")
        files = task.files()
        if any(name not in folder.FILES or not isinstance(data, bytes) for name, data in files.items()):
            raise CallError(f"files gives something else than bytes for {' or '.join(folder.FILES)}")
        if {*files} != {*task.needs}:
            raise CallError(f"files gives {sorted(files)}, and needs names {sorted(task.needs)}; name the same files")


@contextmanager
def _watch(task: Task) -> Iterator[None]:
    """Look at what the methods of a class return as long as this lasts, whoever calls them."""
    kind = type(task)
    with ExitStack() as after:
        for name in (*ARRAYS, *TYPES):
            if hasattr(kind, name):
                method = getattr_static(kind, name)
                after.callback(*((setattr, kind, name, method) if name in vars(kind) else (delattr, kind, name)))
                setattr(kind, name, _look_at(name, method, len(task.vocabulary)))
        yield


def _look_at(name: str, method: Any, size: int) -> Any:
    @wraps(method)
    def call(task: Task, *given: Any, **named: Any) -> Any:
        found = getattr(method, "__get__", lambda *_: method)(task, type(task))(*given, **named)
        if name in TYPES and not isinstance(found, TYPES[name]):
            raise CallError(f"{name} gives {written(found)}, which is not of the type {TYPES[name][0].__name__}")
        if name in ARRAYS:
            numbers, axes = ARRAYS[name]
            known = {"n": np.size([*given, *named.values()][0]), "v": size, "*": getattr(found, "size", 0)}
            _check_array(name, found, numbers, size, *(known[axis] for axis in axes))
        return found

    return call


def _check_array(name: str, found: Any, numbers: str, size: int, *shape: int) -> None:
    letters, words, least, most = NUMBERS[numbers]
    most = size - 1 if numbers == "tokens" else most
    right = isinstance(found, np.ndarray) and found.dtype.kind in letters and found.shape == shape
    if not right or (least > -inf and found.size and not least <= found.min() <= found.max() <= most):  # NaN neither
        many = f"{' × '.join(map(str, shape))} " if shape != (getattr(found, "size", 0),) else ""
        wanted = f"an array of {many}{words.format(most=most)}"
        raise CallError(f"{name} gives {written(found)}, which is not {wanted}")


@contextmanager
def _named(task: Task) -> Iterator[None]:
    """What is wrong begins with the name of the class."""
    name = type(task).__name__
    try:
        with own.blamed(type(task)):
            yield
    except Error as problem:
        said = str(problem)
        at = own.line_of(type(task), said)
        raise type(problem)(said if said.startswith(name) else f"{name}: {said}{at}") from None


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
        words = task.vocabulary
        if not isinstance(words, tuple) or not words or not all(isinstance(each, str) and each for each in words):
            raise CallError(f"vocabulary = {words!r:.80} must be a tuple of texts, none of them empty")
        if len(words) > MOST_VOCABULARY:
            raise CallError(f"the vocabulary has {len(words):,} tokens; the most is {MOST_VOCABULARY:,}")
        if twice := [each for each, many in Counter(words).items() if many > 1]:
            raise CallError(f"{twice[0]!r:.60} stands twice in the vocabulary; each token has one word")
        groups, sizes = task.groups, task.sizes()
        if not isinstance(groups, Mapping) or not all(isinstance(name, str) for name in groups):
            raise CallError(f"groups = {written(groups)} is not a table from names to tokens")
        grouped = [token for group in groups.values() for token in group]
        whole = all(isinstance(token, int | np.integer) for token in grouped)
        if not whole or sorted(grouped) != list(range(len(words))):
            held = written(sorted(grouped) if whole else grouped)
            raise CallError(f"groups hold the tokens {held}; each of 0 to {len(words) - 1} belongs to exactly one")
        if not isinstance(sizes, dict) or not sizes.keys() <= described(Architecture).keys():
            raise CallError(f"sizes gives {written(sizes)}, which are not settings of the architecture")
        settings.checked(Architecture, sizes, "sizes")
        for name, values in (("answers", ("next", "one")), ("measure", ("rule_error", "accuracy"))):
            if getattr(task, name) not in values:
                raise CallError(f"{name} = {written(getattr(task, name))} must be {' or '.join(values)}")
        for name in ("kinds", "starts"):
            if not isinstance(texts := getattr(task, name), tuple) or not all(isinstance(each, str) for each in texts):
                raise CallError(f"{name} = {written(texts)} must be a tuple of texts")


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
        made = task.sample(rng, LENGTH)
        verdicts, _ = task.verify(made), task.readable(made)
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
        again = task.verify(rng.integers(size, size=LENGTH))
        if len(again) != LENGTH or not {*map(type, again)} <= {bool, np.bool_, type(None)}:
            raise CallError("verify must judge every token of a sequence: True, False or None")
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
    good = [isinstance(each, Rung) and isinstance(each.nats, float | int) and 0 <= each.nats < inf for each in rungs]
    if not all(good) or not any(rung.reachable for rung in rungs):
        raise CallError("its ladder has no rung that can be reached, or one whose price is no number")
    for higher, lower in pairwise(rungs):
        if lower.nats > higher.nats + 1e-9:
            raise CallError(f"its rung {lower.name!r} costs {lower.nats:.4f}, more than {higher.name!r} before it")
    if not isfinite(task.floor(context)):
        raise CallError("its floor is no number")
    made = task.sample(np.random.default_rng(6), context)[:context]
    if not np.allclose(task.true_distribution(made, context).sum(axis=1), 1):
        raise CallError("the probabilities of true_distribution do not sum to 1")


def _check_data(task: Task, context: int) -> None:
    """Every window lies within its part, and the arrays of the examples fit together."""
    size, data = len(task.vocabulary), task.data(context)
    for part, split in (("train", data.train), ("validation", data.validation), ("test", data.test or data.train)):
        for name in ("tokens", "starts", "windows"):
            found = getattr(split, name)
            _check_array(
                f"data ({part}.{name})", found, "tokens" if name == "tokens" else "places", size, np.size(found)
            )
        ends = split.starts + split.windows + context if len(split.starts) == len(split.windows) else np.array([])
        if not len(ends) or split.starts.min() < 0 or split.windows.min() < 1 or ends.max() > len(split.tokens):
            raise CallError(
                f"data ({part}) has no window, or one of {context + 1} tokens that is not within its tokens"
            )
    made, places = task.examples(context, "validation", MOST_WINDOWS), 1 if task.answers == "one" else context
    many = len(made.windows)
    if not 0 < many <= MOST_WINDOWS:
        raise CallError(f"examples gives {many} windows where 1 to {MOST_WINDOWS} are asked for")
    for name, numbers, *shape in (
        ("windows", "tokens", context + 1), ("constrained", "flags", places), ("answerable", "flags", places),
        ("allowed", "flags", places, size), ("kind", "places", places), ("truth", "logs", places),
    ):  # fmt: skip
        _check_array(f"examples ({name})", getattr(made, str(name)), str(numbers), size, many, *map(int, shape))
