"""What each part is needed for: the model trained again without it."""

from collections.abc import Sequence

from glassformer.analyses._result import listed
from glassformer.errors import CallError
from glassformer.experiment import Experiment
from glassformer.studies._say import better, shown
from glassformer.study import Cell, Study

FIGURE = "components"
WITHOUT = True  # takes --without
FULL = "full model"


def ablation(experiment: Experiment, without: Sequence[str] = ()) -> list[Cell]:
    """The whole model, then one part at a time left out; only parts that this model has."""
    a = experiment.architecture
    turned = ("architecture.positions=none",) if a.positions == "rotary" else ()  # they act on queries and keys
    cells = [Cell(name=FULL)]
    if a.blocks > 1:
        cells.append(Cell(name=f"without block {a.blocks}", settings=(f"architecture.blocks={a.blocks - 1}",)))
    if a.attention != "off":
        bound, reason = _alone(experiment)
        cells.append(
            Cell(name="without attention", settings=("architecture.attention=off", *turned), bound=bound, reason=reason)
        )
    if a.attention == "on":
        cells.append(Cell(name="mean in place of attention", settings=("architecture.attention=mean", *turned)))
    if a.feed_forward:
        cells.append(Cell(name="without feed-forward", settings=("architecture.feed_forward=0",)))
    if a.residual:
        cells.append(Cell(name="without residuals", settings=("architecture.residual=false",)))
    if a.norm != "none":
        settings = ("architecture.norm=none", "architecture.final_norm=false")
        cells.append(Cell(name="without norm", settings=settings))
    if a.positions != "none":
        bound, reason = _unordered(experiment)
        unplaced = ("architecture.positions=none",)
        cells.append(Cell(name="without positions", settings=unplaced, bound=bound, reason=reason))
    return [*cells, *map(_named, without)]


def _named(setting: str) -> Cell:
    if "=" not in setting or not setting.startswith(("architecture.", "train.", "data.")):
        raise CallError(f"--without {setting!r} is not of the form table.name=value, such as architecture.causal=true")
    return Cell(name=setting, settings=(setting,))


def _best(experiment: Experiment, rung: str) -> float | None:
    ladder = experiment.task.ladder(experiment.architecture.context)
    return next((each.accuracy for each in ladder if each.name == rung), None)


def _alone(experiment: Experiment) -> tuple[float | None, str]:
    """What can be known where the answer is read, if nothing is brought there."""
    if experiment.task_name != "five_operations":
        return None, ""
    if experiment.architecture.read_position == 0:
        return _best(experiment, "operation only"), "the answer is read where only the operation is seen"
    return _best(experiment, "answer frequencies"), "the answer is read where a bracket stands"


def _unordered(experiment: Experiment) -> tuple[float | None, str]:
    """What can be known without the order of the digits; a causal model may still find the order."""
    if experiment.task_name != "five_operations" or experiment.architecture.causal:
        return None, ""
    return _best(experiment, "operation and digits without order"), "the order of the digits cannot be seen"


def conclude(study: Study) -> str:
    """Which parts the model cannot do without."""
    full, metric = study.row(FULL), study.main
    if full is None:
        return "The full model is not trained yet, so nothing can be compared with it."
    rows = [row for row in study.rows() if row is not full]
    worse = [row for row in rows if better(study, metric, full, row)]
    ahead = [row for row in rows if better(study, metric, row, full)]
    same = [row.cell.name for row in rows if row not in worse and row not in ahead]
    title = study.metrics[metric].title
    text = f"{title[0].upper()}{title[1:]}: {shown(study, full, metric)} for the full model"
    if worse:
        are = "is" if len(worse) == 1 else "are"
        text += f"; worse {are} " + listed([f"{shown(study, row, metric)} {_with(row.cell.name)}" for row in worse])
    if ahead:
        are = "is" if len(ahead) == 1 else "are"
        text += f"; better {are} " + listed([f"{shown(study, row, metric)} {_with(row.cell.name)}" for row in ahead])
    if same:
        text += f"; the seeds do not tell these from the full model: {listed(same)}"
    bounds = [f"{100 * row.cell.bound:.1f} % {row.cell.name}" for row in rows if row.cell.bound is not None]
    return text + (f". Over all questions no training can beat {listed(bounds)}." if bounds else ".")


def _with(name: str) -> str:
    return name if name.startswith("without") else f"with {name}"
