"""What the page knows of a run before it looks at a weight: RunInfo and Metrics of frontend/src/data/source.ts."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glassformer import catalogue, changed, summary
from glassformer.analyses import UNVERIFIED, _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.errors import CallError
from glassformer.report.events import Event
from glassformer.report.facts import facts
from glassformer.report.reading import reading
from glassformer.report.truth import truth
from glassformer.run import Run
from glassformer.tasks import Rung
from glassformer.tensors import Array
from glassformer.words import pasted

DIGITS = 7  # of a fact: those of float32
CARD = ("id", "name", "title", "status", "parameters", "members")  # what the list of runs tells of each


def identifier(name: str, taken: Sequence[str] = ()) -> str:
    """A name for links and blocks: of small letters, digits, _ and -, and no other run's."""
    plain = re.sub(r"[^a-z0-9_-]+", "_", name.lower()).strip("_-")[:70] or "run"
    return next(each for k in range(1, len(taken) + 2) if (each := plain if k == 1 else f"{plain}-{k}") not in taken)


def about(
    run: Run, identity: str, members: Sequence[int], events: Sequence[Event], analyses: Sequence[str], untrainable: str
) -> dict[str, Any]:  # fmt: skip
    """All that is known of a run but for what depends on which of its steps are embedded."""
    said = len(run.metrics["step"]) > 0
    return {
        "id": identity,
        "name": run.name,
        "title": run.experiment.title + (f" ({UNVERIFIED})" if run.unverified else ""),
        "status": run.status,
        "parameters": run.parameters,
        "members": len(members),
        "experiment": run.experiment.tables(),
        "changes": changed.told(run.experiment),
        "seeds": [run.seeds[member] for member in members],
        "places": list(members),
        "last_step": run.last_step,
        "kept": len(run.steps),
        "floor": run.experiment.floor,
        "floors": _floors(run, members[0]),
        "ladder": [_rung(each) for each in _clock.ladder(run)],
        "task": _task(run),
        "sentences": list(summary.sentences(run)) if said else [],
        "verdict": summary.verdicts(run) if said else "",
        "events": [event.plain() for event in events],
        "catalogue": _catalogue(run),
        "analyses": list(analyses),
        "order": run.task.data(run.architecture.context).order,
        "untrainable": untrainable,
        "engine": "page" if run.about.get("engine") == "page" else "python",
        **_parent(run),
        "versions": {name: str(version) for name, version in _table(run.about.get("versions")).items()},
    }


def over_steps(run: Run, members: Sequence[int], steps: Sequence[int], tell: Callable[[], None]) -> dict[str, Any]:
    """The rest: the embedded steps, and what is true of each member at each of them; `tell` counts the members."""
    told = []
    for member in members:
        told.append([_short(each) for each in facts(run, list(steps), member)])
        tell()
    return {"steps": list(steps), "notice": notice(run, steps), "facts": told}


def notice(run: Run, steps: Sequence[int]) -> str:
    """That numbers are unverified, and how many of the kept steps a file holds, where it does not hold all."""
    first = f"{run.unverified_words[:1].upper()}{run.unverified_words[1:]}. " if run.unverified else ""
    if len(steps) >= len(run.steps):
        return first.strip()
    many = f"{thousands(len(steps))} of the {thousands(len(run.steps))} kept steps are in this file"
    command = pasted(["glassformer", "report", run.name, "--steps", str(len(run.steps))])
    return f"{first}{many}, the early ones closer together; `{command}` puts in all of them."


def metrics(run: Run, members: Sequence[int]) -> dict[str, Any]:
    """Every logged column, a row of members for each line; what is one number for all stands there for each."""
    columns = {name: _by_member(values, run.members)[:, list(members)] for name, values in run.metrics.items()
               if name != "step"}  # fmt: skip
    return {"step": run.metrics["step"], "columns": columns}


def weights(run: Run, members: Sequence[int], steps: Sequence[int]) -> dict[str, Array]:
    """Every parameter by name: (step, …), or (step, member, …) of several members."""
    lives = [run.unedited.weights(step) for step in steps]
    found: dict[str, Array] = {}
    for name in run.architecture.shapes():
        stacked = np.stack([life[name] for life in lives])
        found[name] = stacked if run.members == 1 else stacked[:, members if len(members) > 1 else members[0]]
    return found


def _by_member(values: Array, members: int) -> Array:
    return np.broadcast_to(values.reshape(len(values), -1), (len(values), members))


def _floors(run: Run, member: int) -> dict[str, float]:
    """What the exact predictor pays on the windows behind the last line, by part; what is not known is left out."""
    parts = {part: _clock.window_floor(run, member, part) for part in ("train", "validation")}
    told = {part: value for part, value in _table(run.about.get("floors")).items() if isinstance(value, int | float)}
    return {part: value for part, value in (parts | told).items() if np.isfinite(value)}


def _rung(rung: Rung) -> dict[str, Any]:
    return {"name": rung.name, "nats": rung.nats, "reachable": rung.reachable, "accuracy": rung.accuracy,
            "also": rung.also}  # fmt: skip


def _task(run: Run) -> dict[str, Any]:
    task = run.task
    words = [shown(token) for token in task.vocabulary]
    return {
        "answers": task.answers,
        "measure": task.measure,
        "exact": task.exact,
        "held_out": task.data(run.architecture.context).held_out,
        "skip": task.skip,
        "kinds": task.kinds,
        "vocabulary": task.vocabulary,
        "words": words,
        "outputs": words[: run.architecture.answers],
        "groups": task.groups,
        "showcase": _showcase(run),
        "reading": reading(task),
        "truth": truth(task, run.architecture),
    }


def _showcase(run: Run) -> list[str]:
    """The examples, each once; of those that are longer than what the model sees, the end."""
    task, most = run.task, run.architecture.context
    read = ((text, task.encode(text)) for text in task.showcase)
    return list(dict.fromkeys(text if len(ids) <= most else task.decode(ids[-most:]) for text, ids in read))


def _catalogue(run: Run) -> list[dict[str, Any]]:
    """Every figure and film, with the command that makes it, or why there is none of this run."""
    return [
        {
            "name": each.name,
            "kind": kind,
            "section": each.section,
            "title": each.title,
            "why_not": catalogue.why_not(each, run),
            "command": pasted(["glassformer", {"films": "film"}.get(kind, kind), run.name, each.name]),
        }
        for kind in ("figures", "films")
        for each in catalogue.entries(kind)
    ]


def _parent(run: Run) -> dict[str, Any]:
    """Of a model that was continued in a page: from where."""
    said = _table(run.about.get("parent"))
    kinds = {"run": str, "step": int, "sha256": str, "edits": str}
    return {"parent": said} if said and all(type(said.get(name)) is kind for name, kind in kinds.items()) else {}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _short(value: Any) -> Any:
    """The same facts with no more digits than they have."""
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def checked_members(run: Run, members: Sequence[int] | None) -> list[int]:
    """The members that are embedded: those asked for, each once, or all."""
    if members is None:
        return list(range(run.members))
    if not members:
        raise CallError("members is empty; leave it out for all of them")
    return list(dict.fromkeys(run.place(member) for member in members))
