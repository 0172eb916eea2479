"""Whether three arguments teach two and four: tested on other lengths, and on questions inside questions."""

from dataclasses import replace

import numpy as np

from glassformer import reference
from glassformer.architecture import nest
from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.study import Cell, Floats, Metric, Study
from glassformer.tasks import five_operations
from glassformer.tasks._task import IntArray

LENGTHS = (2, 3, 4)
MOST = 2_000  # questions of a length that are asked
MAIN = "accuracy_2"
METRICS = {f"accuracy_{n}": Metric(f"accuracy, {n} arguments", "share", higher=True) for n in LENGTHS} | {
    "accuracy_nested": Metric("accuracy, nested", "share", higher=True)
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
    return found | {"accuracy_nested": _accuracy(run, *nested())}


def _asked(run: Run, many: int) -> tuple[IntArray, IntArray]:
    task = run.task
    tokens, answers = five_operations.questions(many)
    if many == task.arguments:  # type: ignore[attr-defined]
        seen = {tuple(row) for row in task.examples(run.architecture.context, "train", len(tokens)).windows[:, :-1]}
        fresh = np.array([tuple(row) not in seen for row in tokens])
        tokens, answers = tokens[fresh], answers[fresh]
    chosen = np.arange(min(MOST, len(tokens))) * len(tokens) // min(MOST, len(tokens))
    return tokens[chosen], answers[chosen]


def nested() -> tuple[IntArray, IntArray]:
    """Questions with a question as one of their arguments, such as Max(Min(1,2,3),4,5), and their answers."""
    rng = np.random.default_rng(0)
    inner, found = five_operations.questions()
    rows, answers = [], []
    for which in rng.integers(len(inner), size=(MOST, 2)):
        outer, place = list(inner[which[0]]), 2 + 2 * int(rng.integers(3))
        known = [*outer[:place], found[which[1]], *outer[place + 1 :]]
        question = five_operations.read(np.array(known))
        assert question is not None
        rows.append([*outer[:place], *inner[which[1]], *outer[place + 1 :]])
        answers.append(five_operations.answer(question))
    return np.array(rows), np.array(answers)


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
    two, four, deep = (study.shown(row, f"accuracy_{kind}") for kind in ("2", "4", "nested"))
    return (
        f"Trained on three arguments it answers {own} of the new questions with three right, {two} of those with two, "
        f"{four} of those with four, and {deep} of those with a question inside."
    )
