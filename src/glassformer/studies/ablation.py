"""What each part is needed for: the model trained again without it."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from glassformer.analyses._result import listed
from glassformer.errors import CallError
from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.studies import _measure
from glassformer.study import Cell, Floats, Metric, Study, Trained

FIGURE = "study_parts"
WITHOUT = True  # takes --without
FULL, UNPLACED = "full model", "without positions"


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
        cells.append(Cell(name=UNPLACED, settings=unplaced, bound=bound, reason=reason))
    return [*cells, *map(_named, without)]


def metrics(experiment: Experiment) -> dict[str, Metric]:
    """The accuracy on the judged questions of each kind, where it is logged; some kinds only may need a part."""
    kinds = experiment.task.kinds if experiment.task.measure == "accuracy" else ()
    return {_of(kind): Metric(f"{kind} right", "share", higher=True) for kind in kinds}


def measure(run: Run) -> dict[str, Floats]:
    """What was logged of each kind at the end."""
    return {name: _measure.column(run, f"accuracy_by_kind.{name.removeprefix('accuracy_')}")[-1]
            for name in metrics(run.experiment)}  # fmt: skip


def _of(kind: str) -> str:
    return f"accuracy_{kind}"


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
    worse = [row for row in rows if study.better(metric, full, row)]
    ahead = [row for row in rows if study.better(metric, row, full)]
    same = [row.cell.name for row in rows if row not in worse and row not in ahead]
    title = study.metrics[metric].title
    text = f"{title[0].upper()}{title[1:]}: {study.shown(full, metric)} for the full model"
    if worse:
        are = "is" if len(worse) == 1 else "are"
        text += f"; worse {are} " + listed([f"{study.shown(row, metric)} {_with(row.cell.name)}" for row in worse])
    if ahead:
        are = "is" if len(ahead) == 1 else "are"
        text += f"; better {are} " + listed([f"{study.shown(row, metric)} {_with(row.cell.name)}" for row in ahead])
    if same:
        text += f"; the seeds do not tell these from the full model: {listed(same)}"
    text += "." + _by_kind(study, full, worse)
    bounds = [f"{100 * row.cell.bound:.1f} % {row.cell.name}{_each(study, row)}" for row in rows
              if row.cell.bound is not None]  # fmt: skip
    return text + (f" Over all questions no training can beat {listed(bounds)}." if bounds else "")


def _by_kind(study: Study, full: Trained, worse: list[Trained]) -> str:
    """Which kinds of question suffer without each part that is missed; nothing where kinds were not measured."""
    kinds = [kind for kind in study.experiment.task.kinds if _of(kind) in study.metrics]
    said = []
    for row in worse:
        hurt = [kind for kind in kinds if study.better(_of(kind), full, row)]
        each = listed([f"{kind} ({_median(study, row, kind)})" for kind in hurt])
        rest = listed([f"{kind} ({_median(study, row, kind)})" for kind in kinds if kind not in hurt])
        if hurt:
            verb = "suffers" if len(hurt) == 1 else "suffer"
            whom = f"all kinds suffer: {each}" if len(hurt) == len(kinds) else f"{each} {verb}, {rest} not"
            said.append(f"{_with(row.cell.name)} {whom}")
    return f" By kind of question: {'; '.join(said)}." if said else ""


def _each(study: Study, row: Trained) -> str:
    """The bound without positions, kind by kind."""
    if row.cell.name != UNPLACED:
        return ""
    return f" ({', '.join(f'{kind} {100 * best:.1f} %' for kind, best in unordered(study.experiment).items())})"


def unordered(experiment: Experiment) -> dict[str, float]:
    """Kind → the share of all its questions that the best guess gets right which sees their tokens in no order."""
    questions, answers = experiment.task.questions()  # type: ignore[attr-defined]
    found: dict[str, Counter[tuple[int, ...]]] = {}
    kinds = experiment.task.kinds
    for row, answer, kind in zip(questions.tolist(), answers.tolist(), np.repeat(kinds, len(answers) // len(kinds)),
                                 strict=True):  # fmt: skip
        found.setdefault(str(kind), Counter())[(*sorted(row), answer)] += 1
    best: dict[str, float] = {}
    for kind, counts in found.items():
        most: dict[tuple[int, ...], int] = {}
        for (*seen, _), many in counts.items():
            most[tuple(seen)] = max(most.get(tuple(seen), 0), many)
        best[kind] = sum(most.values()) / counts.total()
    return best


def _median(study: Study, row: Trained, kind: str) -> str:
    return study.metrics[_of(kind)].text(study.spread(row, _of(kind)).median)


def _with(name: str) -> str:
    return name if name.startswith("without") else f"with {name}"
