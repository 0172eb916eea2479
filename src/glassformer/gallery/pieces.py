"""The figures that there are: what each says of itself, what it is drawn from, and whether that is at hand."""

from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TypeAlias

from glassformer import _discover, figures, studies, study
from glassformer.gallery.story import SECTIONS
from glassformer.run import Run
from glassformer.run import open as open_run
from glassformer.study import Study

SECONDS = {"a": 0.15, "b": 0.5, "c": 1.5, "d": 5.0}  # of computing and drawing, by cost
Subject: TypeAlias = Run | Study | None  # what figures are drawn from; None: from nothing


@dataclass(frozen=True)
class Piece:
    """One figure's file: where it stands in the story, what it needs, how it is drawn."""

    name: str
    section: str
    order: int
    needs: str
    cost: str
    options: tuple[str, ...]

    @property
    def place(self) -> tuple[int, int, str]:
        """Order in the story."""
        return list(SECTIONS).index(self.section), self.order, self.name


def piece(name: str) -> Piece:
    """What a figure's file says of itself."""
    plot = _discover.piece(figures, name, f"plot_{name}")
    file = import_module(f"{figures.__name__}.{name}")
    needs = getattr(file, "NEEDS", "run")
    given = [p.name for p in signature(plot).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return Piece(name, file.SECTION, file.ORDER, needs, file.COST, tuple(given))


def names() -> list[str]:
    """Every figure, in the order of the story."""
    return [each.name for each in sorted(map(piece, _discover.names(figures)), key=lambda each: each.place)]


def opened(path: str | Path) -> Run | Study:
    """The study or the run in this folder."""
    return study.open(path) if (Path(path) / study.ABOUT).is_file() else open_run(path)


def drawn_from(each: Piece, subject: Subject, root: Path = Path("studies")) -> list[Subject]:
    """The subject itself; where that is a run and the figure shows a study, every such study of its experiment."""
    if each.needs != "study" or not isinstance(subject, Run):
        return [subject]
    return [found for found in study.of(subject.experiment.name, root) if figure_of(found.name) == each.name]


def figure_of(name: str) -> str:
    """The figure that draws a study."""
    figure: str = getattr(studies.find(name), "FIGURE", "cells")
    return figure


def suits(each: Piece, subject: Subject) -> str | None:
    """Why a figure cannot be drawn from this, as half a sentence; None: it can."""
    if each.needs == "nothing":
        return None
    if each.needs == "study" and not isinstance(subject, Study):
        return _no_study(each, subject)
    if each.needs != "study" and not isinstance(subject, Run):
        return "it is drawn from a run, not from a study" if subject else "it is drawn from a run"
    if each.needs == "population" and isinstance(subject, Run) and subject.members == 1:
        return "it needs a population; `glassformer train ... --seeds 8` makes one"
    applies = getattr(import_module(f"{figures.__name__}.{each.name}"), "applies", None)
    reason: str | None = applies(subject) if applies else None
    return reason


def _no_study(each: Piece, run: Run | None) -> str:
    """That there is no study to draw, and the command that makes one, where this experiment can be asked."""
    fitting = [name for name in studies.names() if figure_of(name) == each.name]
    reasons = {name: studies.find(name).needs(run.experiment) for name in fitting
               if run and hasattr(studies.find(name), "needs")}  # fmt: skip
    possible = [name for name in fitting if not reasons.get(name)]
    if not possible:
        return f"it is drawn from a study, and {reasons[fitting[0]]}"
    command = f"glassformer study {possible[0]} {run.experiment.name if run else 'EXPERIMENT'}"
    return f"it is drawn from a study, and studies/ has none; `{command}` makes one"


def left_out(each: Piece, run: Run) -> str | None:
    """Why a gallery does not draw a figure, as half a sentence with the command that does; None: it draws it."""
    asked = f"glassformer figures {run.name} {each.name}"
    if each.needs == "nothing" and each.section == "primer":
        return f"it is about no run; `glassformer figures {each.name}` draws it"
    if each.needs == "runs":
        return f"it compares runs; `{asked} --with OTHER_RUN` draws it"
    if each.needs == "run" and each.cost == "d":
        return suits(each, run) or f"it takes long; `{asked}` draws it"
    return None
