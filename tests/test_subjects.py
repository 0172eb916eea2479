"""Every analysis, figure and film says what it needs when it is asked about something else."""

from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from glassformer import catalogue
from glassformer.errors import CallError
from small_runs import POPULATION, run_of
from small_studies import study_of

PIECES = [(kind, each.name, each.needs) for kind in catalogue.PREFIXES for each in catalogue.entries(kind)]
NEEDED = {
    "run": "needs a run, and",
    "population": "needs a run of several seeds, and",
    "runs": "needs a run or a list of runs, and",
    "study": "needs a study, and",
    "nothing": "needs options only, and",
}
TAKES = {  # which of the subjects below are right for a need
    "run": {"a run", "a population"},
    "population": {"a population"},
    "runs": {"a run", "a population", "a list of runs", "an empty list"},
    "study": {"a study"},
    "nothing": {"no argument"},
}


def subjects(name: str) -> dict[str, tuple[Any, ...]]:
    """Arguments of every kind, right and wrong, for the piece of this name."""
    run, population, study = run_of("plus_last_even"), run_of(POPULATION), study_of(name)
    return {
        "a run": (run,),
        "a population": (population,),
        "a list of runs": ([run, run],),
        "a study": (study,),
        "a list with a study": ([run, study],),
        "an empty list": ([],),
        "None": (None,),
        "a number": (5,),
        "a name": ("plus_last_even",),
        "a path": (Path("runs"),),
        "an object": (object(),),
        "no argument": (),
        "two runs": (run, run),
        "a run and a number": (run, 5),
    }


def function_of(kind: str, name: str) -> Any:
    """The public function of a piece."""
    return getattr(getattr(gf, kind), catalogue.PREFIXES[kind] + name)


@pytest.mark.parametrize(("kind", "name", "needs"), PIECES)
def test_a_wrong_subject_is_refused_with_what_is_needed(kind: str, name: str, needs: str) -> None:
    ask = function_of(kind, name)
    wrong = {what: given for what, given in subjects(name).items() if what not in TAKES[needs]}
    assert len(wrong) >= 9
    for what, given in wrong.items():
        with pytest.raises(CallError) as refused:
            ask(*given)
        alone = needs == "population" and what == "a run"
        expected = "this run has one member; several seeds are needed" if alone else f"{name} {NEEDED[needs]}"
        assert str(refused.value).startswith(expected), what
        assert "\n" not in str(refused.value)


def test_what_was_given_is_named() -> None:
    run, study = run_of("plus_last_even"), study_of("study_cells")
    for ask, given, said in (
        (gf.analyses.study_cells, (run,), "study_cells needs a study, and a run was given; gf.studies.run(...) makes"),
        (gf.analyses.loss, (study,), "loss needs a run, and a study was given; gf.open(...) opens one"),
        (gf.figures.plot_loss, (5,), "loss needs a run, and 5 was given; gf.open(...) opens one"),
        (gf.films.film_loss, (), "loss needs a run, and nothing was given; gf.open(...) opens one"),
        (gf.films.film_loss, (run, run), "loss needs a run, and 2 were given; gf.open(...) opens one"),
        (gf.analyses.softmax, (run,), "softmax needs options only, and a run was given; leave it out"),
        (gf.analyses.comparison, ([run, None],), "comparison needs a run or a list of runs, and None was given;"),
    ):
        with pytest.raises(CallError) as refused:
            ask(*given)
        assert str(refused.value).startswith(said)


@pytest.mark.parametrize("name", [name for kind, name, needs in PIECES if kind == "analyses" and needs == "study"])
def test_a_study_of_another_question_is_refused(name: str) -> None:
    other = study_of("study_parts" if name == "study_rates" else "study_rates")
    if name == "study_cells":  # it lists the cells of any study
        assert gf.analyses.study_cells(other).title
        return
    with pytest.raises(CallError, match=f"^{name} needs another study; the study {other.name} is shown by study_"):
        getattr(gf.analyses, name)(other)


def test_a_subject_may_be_given_by_its_name() -> None:
    run, study = run_of("plus_last_even"), study_of("study_cells")
    assert gf.analyses.loss(run=run) == gf.analyses.loss(run)
    assert gf.analyses.comparison(runs=[run]) == gf.analyses.comparison(run)
    assert gf.analyses.study_cells(study=study) == gf.analyses.study_cells(study)
    with pytest.raises(CallError, match=r"^loss needs a run, and a study was given"):
        gf.analyses.loss(run=study)
    with pytest.raises(CallError, match="one member"):
        gf.analyses.seeds(run=run)


def test_a_figure_draws_the_result_of_its_own_analysis_only() -> None:
    run = run_of("plus_last_even")
    assert gf.figures.plot_loss(gf.analyses.loss(run))
    with pytest.raises(CallError, match=r"^plot_loss draws what analyses\.loss gives, not a Vocabulary$"):
        gf.figures.plot_loss(gf.analyses.vocabulary(run))
    with pytest.raises(CallError, match=r"^loss needs a run, and 2 were given"):
        gf.figures.plot_loss(gf.analyses.loss(run), run)


@pytest.mark.parametrize("needs", ["run", "study"])
def test_the_catalogue_refuses_what_is_neither_a_run_nor_a_study(needs: str) -> None:
    name = {"run": "loss", "study": "study_cells"}[needs]
    for odd in (5, "plus_last_even", object()):
        with pytest.raises(CallError, match=f"^{name} needs a {needs}, and "):
            catalogue.ask("analyses", name, odd)  # type: ignore[arg-type]
