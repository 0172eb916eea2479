"""How far back the model must see: shorter and longer windows, judged on the same tokens of a text."""

import numpy as np

from glassformer.analyses._result import listed
from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.studies._say import compared
from glassformer.study import Cell, Floats, Metric, Study
from glassformer.tasks import choose
from glassformer.tasks._text import Text
from glassformer.tensors import Array

FACTORS = (0.25, 0.5, 1, 2)  # of the experiment's context
MOST = 8_192  # tokens that are predicted, each of them once
VIEWED = 512  # of them, from every place of a window alike: predicted again with a whole window in view
AT_ONCE = 4_096  # tokens that are read together
MAIN = "loss_same"
METRICS = {
    "loss_same": Metric("loss on the same tokens", "nats"),
    "gain_view": Metric("gained by a whole window", "nats", higher=True),
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
    """Nats per token on the second half of the validation part, in windows side by side, and what a full view gains.

    Side by side, a token early in its window has little before it; with a whole window before each it costs less. This
    is measured on some of the tokens, and on the same ones both times.
    """
    windows, counted = beside(run)
    places = predicted(run)
    viewed = choose(len(places), VIEWED, np.arange(len(places)) % run.architecture.context)
    assert isinstance(run.task, Text)
    full = run.task.stream[places[viewed, None] + np.arange(-run.architecture.context, 1)]
    same, gain = np.zeros(run.members), np.zeros(run.members)
    for member in range(run.members):
        costs = _costs(run, windows, member)[counted]
        same[member] = costs.mean()
        gain[member] = (costs[viewed] - _costs(run, full, member)[:, -1]).mean()
    return {"loss_same": same, "gain_view": gain}


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
    """Which windows do as well as the best, and how much of that lies in what is hidden where a window begins."""
    text = compared(study, MAIN)
    rows = sorted(study.rows(), key=lambda row: row.cell.x or 0)
    view = [f"{study.shown(row, 'gain_view')} ({row.cell.name})" for row in rows]
    return text[0].upper() + text[1:] + f" A whole window before every token gains, in nats: {listed(view)}."
