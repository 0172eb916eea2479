"""What an analysis may ask of a run before it can say anything: each a reason, as half a sentence, or None.

An analysis names those it needs, `APPLIES = (attention, plane)`, beside functions of its own. Unless it says otherwise,
it shows the edited model of an edited run. `EDITS = "weights"`: it is about the weights and refuses edited runs.
`EDITS = "training"`: it shows how the model was trained, which edits do not change, and is labelled accordingly.
`EDITS = "data"`: it shows nothing of the model.
"""

from inspect import signature
from pathlib import PurePath
from types import ModuleType
from typing import Any

from glassformer import given
from glassformer.errors import CallError
from glassformer.run import Run

NEEDED = {  # what an analysis needs: how it is called, and where it comes from
    "run": ("a run", "gf.open(...) opens one"),
    "population": ("a run of several seeds", "gf.train(..., seeds=8) makes one"),
    "runs": ("a run or a list of runs", "gf.open(...) opens one"),
    "study": ("a study", "gf.studies.run(...) makes one, gf.catalogue.opened(...) opens it again"),
    "nothing": ("options only", "leave it out"),
}


def take_subject(
    analysis: ModuleType, subjects: tuple[Any, ...], options: dict[str, Any], *, film: bool = False
) -> tuple[Any, ...]:
    """The subject of a call, given by position or by name; refuse what the analysis, given as its file, cannot take."""
    name, needs = analysis.__name__.rpartition(".")[2], getattr(analysis, "NEEDS", "run")
    first = next(iter(signature(getattr(analysis, name)).parameters.values()))
    if needs != "nothing" and not subjects and first.name in options:
        subjects = (options.pop(first.name),)
    several = needs == "runs" and len(subjects) == 1 and isinstance(subjects[0], list | tuple)
    every, kind = (subjects[0], Run) if several else (subjects, first.annotation if needs != "runs" else Run)
    wrong = [each for each in every if needs == "nothing" or not isinstance(each, kind)]
    if wrong or len(subjects) != (needs != "nothing"):
        (needed, where), many = NEEDED[needs], len(subjects)
        found = f"{many} were given" if many > 1 else _describe(wrong[0], needed) if many else "nothing was given"
        raise CallError(f"{name} needs {needed}, and {found}; {where}")
    if why := next((why for each in every if isinstance(each, Run) and (why := reason(analysis, each, film=film))), ""):
        raise CallError(why)
    if needs == "study" and name != "study_cells":  # which shows any study
        from glassformer.catalogue import figure_of

        if (own := figure_of(subjects[0].name)) != name:
            raise CallError(f"{name} needs another study; the study {subjects[0].name} is shown by {own}")
    return subjects


def _describe(subject: Any, needed: str) -> str:
    """What was given in place of what is needed."""
    if isinstance(subject, str | PurePath):
        return f"{given.written(str(subject))} is a name, not {needed}"
    kind = type(subject).__name__
    return f"{f'a {kind.lower()}' if kind in ('Run', 'Study') else given.written(subject)} was given"


def reason(analysis: ModuleType, run: Run, *, film: bool = False) -> str | None:
    """Why an analysis, given as its file, has nothing to say of a run; None: it has. A film may ask for more."""
    if run.edits and getattr(analysis, "EDITS", "") == "weights":
        return "this analysis is about the trained weights, which edits do not change; ask for it without edits"
    if run.edits and film and hasattr(analysis, "EDITS"):
        return "this film shows the training, in which the edits took no part"
    asks = [*getattr(analysis, "APPLIES", ()), *([analysis.applies] if hasattr(analysis, "applies") else [])]
    asks += getattr(analysis, "REEL_APPLIES", ()) if film else ()
    try:
        return next((why for ask in asks if (why := ask(run))), None)
    except CallError as problem:  # an edit that does not fit the windows on which the run is evaluated
        return str(problem)


def attention(run: Run) -> str | None:
    """That the model looks around."""
    return "this model has no attention" if run.architecture.attention == "off" else None


def asking(run: Run) -> str | None:
    """That the model has queries and keys."""
    return None if run.architecture.attention == "on" else "this model computes no queries and keys"


def parts(run: Run) -> str | None:
    """That something is added to the stream on its way."""
    a = run.architecture
    return None if a.attention != "off" or a.feed_forward else "the model has neither attention nor feed-forward"


def feed_forward(run: Run) -> str | None:
    """That the model has neurons."""
    return None if run.architecture.feed_forward else "this model has no feed-forward part"


def plane(run: Run) -> str | None:
    """That the stream has two directions to draw."""
    return "a model with one feature has a line and no plane" if run.architecture.width == 1 else None


def choice(run: Run) -> str | None:
    """That more than one answer is possible: else every probability is 1 and every loss 0."""
    return "there is one token to answer with, so there is nothing to choose" if run.architecture.answers < 2 else None


def next_token(run: Run) -> str | None:
    """That the task goes on token by token."""
    return None if run.task.answers == "next" else "this task has one answer, so nothing is written token by token"


def logged(run: Run) -> str | None:
    """That there are curves."""
    return None if len(run.metrics["step"]) else "nothing was logged during this training"


def moved(run: Run) -> str | None:
    """That there is a path to look back on."""
    return None if len(run.steps) > 1 else "only one step was kept"


def population(run: Run) -> str | None:
    """That there are several members."""
    return None if run.members > 1 else "this run has one member; several seeds are needed"
