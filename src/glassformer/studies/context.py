"""How far back the model must see: shorter and longer windows, judged on the same tokens of a text."""

import numpy as np

from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.studies._say import compared
from glassformer.study import Cell, Floats, Metric, Study
from glassformer.tasks._text import Text
from glassformer.tensors import Array

FACTORS = (0.25, 0.5, 1, 2)  # of the experiment's context
MOST = 8_192  # tokens that are predicted, each of them once
VIEWED = 512  # of them, predicted again with a whole window in view
AT_ONCE = 4_096  # tokens that are read together
MAIN = "loss_same"
METRICS = {
    "loss_same": Metric("loss on the same tokens", "nats"),
    "loss_view": Metric("loss, whole window in view", "nats"),
}


def needs(experiment: Experiment) -> str | None:
    """Why it cannot be asked."""
    if not isinstance(experiment.task, Text):
        return f"task {experiment.task_name} is no text, and a rule costs another least loss with every window"
    return None if len(contexts(experiment)) > 1 else "the text is too short for two windows of different length"


def contexts(experiment: Experiment) -> list[int]:
    """The windows that half of the validation part can hold."""
    task, a = experiment.task, experiment.architecture
    assert isinstance(task, Text)
    most = int(task.validation * len(task.stream)) // 2 - 1
    return [int(a.context * factor) for factor in FACTORS if 1 <= a.context * factor <= most]


def context(experiment: Experiment) -> list[Cell]:
    """Every window reads as many tokens in a step: half as many windows where they are twice as long."""
    task, a, train = experiment.task, experiment.architecture, experiment.train
    assert isinstance(task, Text)
    split = ("data.split=tokens",) if task.split == "windows" else ()  # whose border would move with the window

    def settings(many: int) -> tuple[str, ...]:
        batch = max(1, round(train.batch * a.context / many))
        return (f"architecture.context={many}", f"train.batch={batch}", *split)

    return [Cell(name=f"context {many}", settings=settings(many), x=many) for many in contexts(experiment)]


def measure(run: Run) -> dict[str, Floats]:
    """Nats per token on the second half of the validation part: in windows side by side, and each in full view."""
    windows, counted = beside(run)
    first = predicted(run)
    viewed = first[np.arange(min(VIEWED, len(first))) * len(first) // min(VIEWED, len(first))]
    assert isinstance(run.task, Text)
    full = run.task.stream[viewed[:, None] + np.arange(-run.architecture.context, 1)]
    found = [(_costs(run, windows, k)[counted].mean(), _costs(run, full, k)[:, -1].mean()) for k in range(run.members)]
    same, view = np.array(found, dtype=float).T
    return {"loss_same": same, "loss_view": view}


def predicted(run: Run) -> Array:
    """Places in the text of the tokens that are predicted: the same, however long the windows are."""
    assert isinstance(run.task, Text)
    begin, end = run.task.bounds(run.architecture.context)["validation"]
    end += run.architecture.context
    first = (begin + end) // 2
    return np.arange(first, min(end, first + MOST))


def beside(run: Run) -> tuple[Array, Array]:
    """(window, context + 1): windows side by side over these tokens; (window, context): which of them count."""
    assert isinstance(run.task, Text)
    places, many = predicted(run), run.architecture.context
    targets = places[0] + np.arange(-(-len(places) // many) * many).reshape(-1, many)
    inside = np.minimum(np.column_stack([targets[:, 0] - 1, targets]), len(run.task.stream) - 1)
    return run.task.stream[inside], targets <= places[-1]  # the last window may run over, uncounted


def _costs(run: Run, windows: Array, member: int) -> Floats:
    """(window, place): what each token costs a member."""
    import jax

    from glassformer import model
    from glassformer.architecture import nest
    from glassformer.judge import fine_loss

    a, params = run.architecture, jax.device_put(nest(run.weights(-1, member)))
    price = jax.jit(lambda rows: fine_loss(model.answers(params, rows[:, :-1], a), rows[:, 1:]))
    step = max(1, AT_ONCE // a.context)
    return np.concatenate([np.asarray(price(windows[k : k + step]), float) for k in range(0, len(windows), step)])


def conclude(study: Study) -> str:
    """Which windows do as well as the best, and whether it is what they see or how they were trained."""
    text = compared(study, MAIN)
    rows = sorted(study.rows(), key=lambda row: row.cell.x or 0)
    view = ", ".join(f"{study.shown(row, 'loss_view')} ({row.cell.name})" for row in rows)
    return text[0].upper() + text[1:] + f" With a whole window in view before every token it is {view}."
