"""What somebody who writes a client can do with the catalogue and plain results alone."""

import json

import numpy as np
import pytest

from glassformer import analyses, catalogue
from glassformer.analyses._result import Result
from glassformer.errors import CallError, MissingError
from small_runs import POPULATION, run_of
from small_studies import study_of


def sent(value):
    """As it arrives at a client."""
    return json.loads(json.dumps(value, allow_nan=False))


def offered(told, kind):
    return {each["name"]: {one["name"]: one for one in each["options"]} for each in told[kind] if not each["why_not"]}


@pytest.mark.parametrize("name", ["plus_last_even", POPULATION, "five_operations"])
def test_what_is_offered_for_a_run_can_be_asked_for_within_the_limits_that_are_told(name):
    run = run_of(name)
    told = sent(catalogue.overview(run))
    subject, options = told["subject"], offered(told, "analyses")["attention"]
    assert subject["steps"] == run.steps.tolist()
    assert subject["seeds"] == run.seeds
    assert options["member"]["least"] == 0  # a limit of nothing is a limit
    wish = {"step": subject["steps"][0], "member": len(subject["seeds"]) - 1, "sequence": subject["examples"][0]}
    found = sent(catalogue.ask("analyses", "attention", run, **wish).plain())
    table = found["attention"]
    sizes = [len(axis["values"]) for axis in table["axes"].values()]
    assert list(table["axes"]) == ["block", "head", "query_position", "key_position"]
    assert sizes[:2] == [subject["blocks"], subject["heads"]]
    np.testing.assert_allclose(np.reshape(table["values"], sizes).sum(axis=-1), 1, rtol=1e-5)
    assert found["step"] == subject["steps"][0]
    assert analyses.from_plain(found) == analyses.attention(run, **wish)


def test_a_study_is_asked_like_a_run_and_says_with_what_it_is_made():
    study = study_of("study_parts")
    told = sent(catalogue.overview(study))
    assert told["subject"]["kind"] == "study"
    assert set(offered(told, "analyses")) == {"study_parts"} | {
        each.name for each in catalogue.entries("analyses") if each.needs == "nothing"
    }
    assert isinstance(catalogue.ask("analyses", "study_parts", study), Result)
    made = offered(told, "studies")["ablation"]
    assert made["seeds"] | {"help": ""} == {
        "name": "seeds", "type": "whole number", "default": 8, "help": "", "optional": False, "least": 1, "most": 65536,
    }  # fmt: skip
    assert "without" in made
    assert "without" not in offered(told, "studies")["rate"]


def test_what_needs_nothing_or_several_is_asked_the_same_way():
    run = run_of("plus_last_even")
    assert catalogue.ask("analyses", "softmax").title
    assert catalogue.ask("analyses", "softmax", run).title == catalogue.ask("analyses", "softmax").title
    both = catalogue.ask("analyses", "comparison", run, run_of(POPULATION))
    assert len(both.reached.axes["run"]) == 2


def test_figures_and_films_are_asked_the_same_way():
    run = run_of("plus_last_even")
    figure = catalogue.ask("figures", "attention", run, step="100", theme="dark")
    assert figure.axes
    film = catalogue.ask("films", "attention", run, frames=3, fps="7")
    assert (len(film.reel.frames), film.fps) == (3, 7)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("attention", {"step": "soon"}, "step = 'soon' is not a whole number"),
        ("attention", {"stop": 3}, "did you mean step?"),
        ("atention", {}, "did you mean attention?"),
        ("seeds", {}, "it needs a population"),
        ("study_cells", {}, "it is drawn from a study"),
    ],
)
def test_what_cannot_be_had_is_refused_in_one_sentence(name, options, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((CallError, MissingError)) as refused:
        catalogue.ask("analyses", name, run_of("plus_last_even"), **options)
    assert sentence in str(refused.value)
