"""Whether three arguments teach two and four: tested on other lengths, and on questions inside questions."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from glassformer import reference
from glassformer.architecture import nest
from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.study import Cell, Floats, Metric, Study
from glassformer.tasks import choose, five_operations
from glassformer.tasks._task import IntArray

LENGTHS = (2, 3, 4)
MOST = 2_000  # questions of a length that are asked
MAIN = "accuracy_2"
Asked: TypeAlias = tuple[list[int], int]  # the tokens of a question, and the token that answers it
METRICS = {f"accuracy_{n}": Metric(f"accuracy, {n} arguments", "share", higher=True) for n in LENGTHS} | {
    "accuracy_nested": Metric("accuracy, nested", "share", higher=True),
    "accuracy_nested_two": Metric("accuracy, two nested", "share", higher=True),
    "accuracy_nested_deep": Metric("accuracy, nested twice", "share", higher=True),
}


def needs(experiment: Experiment) -> str | None:
    """Why it cannot be asked."""
    a = experiment.architecture
    if not hasattr(experiment.task, "arguments"):
        return f"the questions of task {experiment.task_name} have no arguments"
    if a.positions == "learned":
        return "learned positions end where the training questions end; set architecture.positions=sinusoidal"
    return None if a.read_position == 0 else "the answer is read at another position when a question is longer"


def arguments(experiment: Experiment) -> list[Cell]:  # noqa: ARG001
    """Trained on three, on two, on four; and on three with positions that turn queries and keys, or none."""
    cells = [
        Cell(name=f"trained on {n}", settings=(f"data.arguments={n}", f"architecture.context={2 * n + 2}"), x=n)
        for n in (3, 2, 4)
    ]
    three = ("data.arguments=3", "architecture.context=8")
    return [
        *cells,
        Cell(name="trained on 3, rotary positions", settings=(*three, "architecture.positions=rotary")),
        Cell(name="trained on 3, no positions", settings=(*three, "architecture.positions=none")),
    ]


def measure(run: Run) -> dict[str, Floats]:
    """Accuracy on questions of every length; of the trained one, only on those that were not trained on."""
    found = {f"accuracy_{n}": _accuracy(run, *_asked(run, n)) for n in LENGTHS}
    return found | {f"accuracy_{kind}": _accuracy(run, *nested(kind)) for kind in NESTED}


def _asked(run: Run, many: int) -> tuple[IntArray, IntArray]:
    task = run.task
    tokens, answers = five_operations.questions(many)
    if many == task.arguments:  # type: ignore[attr-defined]
        seen = {tuple(row) for row in task.examples(run.architecture.context, "train", len(tokens)).windows[:, :-1]}
        fresh = np.array([tuple(row) not in seen for row in tokens])
        tokens, answers = tokens[fresh], answers[fresh]
    shuffled = np.random.default_rng(0).permutation(len(tokens))  # at even distances they would share their last digits
    chosen = choose(len(tokens), MOST, tokens[:, 0], shuffled)
    return tokens[chosen], answers[chosen]


def nested(kind: str = "nested") -> tuple[IntArray, IntArray]:
    """Questions with questions in the place of digits, and their answers.

    `nested` has one, as Max(Min(1,2,3),4,5); `nested_two` two of them, as Max(First(1,2,3),4,Min(5,6,7));
    `nested_deep` one that has one itself, as Max(1,Min(2,Last(3,4,5),6),7).
    """
    rng = np.random.default_rng(0)
    made = [NESTED[kind](rng) for _ in range(MOST)]
    return np.array([tokens for tokens, _ in made]), np.array([answer for _, answer in made])


def _flat(rng: np.random.Generator) -> Asked:
    tokens, answers = five_operations.questions()
    which = int(rng.integers(len(tokens)))
    return tokens[which].tolist(), int(answers[which])


def _around(rng: np.random.Generator, *inner: Asked) -> Asked:
    """A question with others in the place of as many of its digits; its answer is found with theirs."""
    outer, _ = _flat(rng)
    places = sorted((2 + 2 * rng.permutation(3)[: len(inner)]).tolist())
    known, row, begin = list(outer), [], 0
    for place, (tokens, answer) in zip(places, inner, strict=True):
        known[place] = answer
        row += [*outer[begin:place], *tokens]
        begin = place + 1
    question = five_operations.read(np.array(known))
    assert question is not None
    return row + outer[begin:], five_operations.answer(question)


NESTED: dict[str, Callable[[np.random.Generator], Asked]] = {
    "nested": lambda rng: _around(rng, _flat(rng)),
    "nested_two": lambda rng: _around(rng, _flat(rng), _flat(rng)),
    "nested_deep": lambda rng: _around(rng, _around(rng, _flat(rng))),
}


def _accuracy(run: Run, tokens: IntArray, answers: IntArray) -> Floats:
    """The share of right answers of every member, by the plain forward pass."""
    long = replace(run.architecture, context=tokens.shape[1])
    weights = run.weights(-1)
    shares = []
    for k in range(run.members):
        params = nest({name: value if run.members == 1 else value[k] for name, value in weights.items()})
        with np.errstate(all="ignore"):  # a member may have diverged
            logits = reference.forward(params, tokens, long)[0]
        sound = np.isfinite(logits).all()  # the likeliest of what is no number would be the first token
        shares.append(np.mean(logits[:, 0].argmax(-1) == answers) if sound else np.nan)
    return np.array(shares)


def conclude(study: Study) -> str:
    """How far three arguments carry."""
    row = study.row("trained on 3")
    if row is None:
        return "The model of three arguments is not trained yet."
    own = study.shown(row, "accuracy_3")
    others = ("2", "4", "nested", "nested_two", "nested_deep")
    two, four, one, both, deep = (study.shown(row, f"accuracy_{kind}") for kind in others)
    return (
        f"Trained on three arguments it answers {own} of the new questions with three right, {two} of those with two, "
        f"{four} of those with four, {one} of those with a question inside, {both} with two inside and {deep} with a "
        "question inside the one inside."
    )
