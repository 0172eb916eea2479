"""The catalogue: what there is, what applies where, what it can be asked for; and that asking loads nothing heavy."""

import json
import re
import subprocess
import sys

import pytest

import applies
import glassformer as gf
from bare_runs import BARE, bare_run
from command import call
from glassformer import _discover, analyses, catalogue, figures, films
from glassformer.errors import CallError, Error, MissingError
from small_runs import POPULATION, run_of
from small_studies import study_of

ANALYSES = _discover.names(analyses)


def test_who_applies_where_is_as_it_was_kept():
    """A change of this table must be meant: `python tests/applies.py` writes it anew. What is new need not be in it."""
    kept, now = applies.read(), applies.table()
    assert kept.keys() <= now.keys()
    for name, row in kept.items():
        assert now[name] == row, name


def availability_fault(entry: catalogue.Entry, run: gf.Run) -> str | None:
    """How calling an analysis contradicts what the catalogue says about it, if it does."""
    reason = catalogue.why_not(entry, run)
    if not reason and entry.cost == "d":
        return None  # it compiles for seconds; tests/test_figures.py calls it
    if reason and reason.endswith("."):
        return f"the reason ends with a full stop: {reason}"
    try:
        arrays = getattr(analyses, entry.name)(run).arrays()
    except CallError as refusal:
        if str(refusal) == reason:
            return None
        return f"the catalogue says {reason or 'that it applies'!r}, the analysis says {str(refusal)!r}"
    except Exception as problem:
        return f"it fails with {problem!r}"
    if reason:
        return f"the catalogue says {reason!r}, and the analysis can be computed"
    return None if arrays else "its result has no arrays"


@pytest.mark.parametrize("lacks", BARE)
def test_an_analysis_is_computed_where_it_applies_and_refused_with_the_catalogues_reason_elsewhere(lacks):
    run = bare_run(lacks)
    entries = [entry for entry in catalogue.entries("analyses") if entry.needs == "run"]
    assert len(entries) > 50
    faults = [f"{entry.name}: {fault}" for entry in entries if (fault := availability_fault(entry, run))]
    assert not faults, "\n".join(faults)


def test_every_figure_and_film_has_the_name_of_an_analysis_in_the_same_section():
    there = _discover.places(analyses)
    for folder in (figures, films):
        for name, place in _discover.places(folder).items():
            assert there[name].split(".")[2:] == place.split(".")[2:]


@pytest.mark.parametrize("kind", catalogue.SHOWN)
def test_an_entry_says_all_that_a_client_needs(kind):
    sections = catalogue.sections()
    for each in catalogue.entries(kind):
        assert each.title[0].isupper()
        assert each.section in sections
        assert each.cost in catalogue.SECONDS
        assert each.needs in ("run", "population", "runs", "study", "experiment", "nothing")
        assert each.title == catalogue.pieces(kind)[each.name]
        assert json.loads(json.dumps(each.plain(), allow_nan=False))["name"] == each.name
        for option in each.options:
            assert len(option.help.split()) >= 2, f"{each.name}.{option.name}"
            assert not option.help[0].isupper()
            assert not option.help.endswith(".")
            if option.default is not None:
                assert option.taken(option.default) == option.default, f"{each.name}.{option.name}"
            else:
                assert option.optional


def test_the_story_is_told_in_order():
    places = [each.place for each in catalogue.entries("figures")]
    assert places == sorted(places)
    assert " ".join(catalogue.sections()) == "primer what learn know attend decide path health trust"
    assert all(section.title and section.lead.endswith(".") for section in catalogue.sections().values())


def test_an_overview_can_be_sent_as_json_and_says_why_not():
    told = json.loads(json.dumps(catalogue.overview(run_of("plus_last_even")), allow_nan=False))
    by_name = {each["name"]: each for each in told["figures"]}
    assert by_name["loss"]["why_not"] is None
    assert "--seeds" in by_name["seeds"]["why_not"]
    assert {each["name"] for each in told["films"]} == set(_discover.names(films))
    assert {option["name"] for option in by_name["attention"]["options"]} >= {"sequence", "step", "member", "theme"}
    assert "ablation" in {each["name"] for each in told["studies"]}


def test_a_study_is_drawn_by_its_own_figure():
    found = study_of("study_parts")
    reasons = {each.name: catalogue.why_not(each, found) for each in catalogue.entries("figures")}
    needing = [each.name for each in catalogue.entries("figures") if each.needs == "study"]
    assert [name for name in needing if not reasons[name]] == ["study_parts"]
    assert reasons["loss"] == "it is drawn from a run, not from a study"


@pytest.mark.parametrize(
    ("name", "option", "value", "taken"),
    [
        ("attention", "step", 100.0, 100),
        ("attention", "sequence", 5, "5"),
        ("confusion", "steps", "0,100", (0, 100)),
        ("confusion", "steps", [0, 100], (0, 100)),
        ("confusion", "steps", 100, (100,)),
        ("confusion", "steps", None, None),
    ],
)
def test_options_are_taken_as_people_write_them(name, option, value, taken):
    assert catalogue.chosen(catalogue.entry("figures", name), {option: value}) == {option: taken}


@pytest.mark.parametrize(
    ("name", "option", "value", "sentence"),
    [
        ("attention", "step", "soon", "step = 'soon' is not a whole number, at least -1"),
        ("attention", "step", 1.5, "step = 1.5 is not a whole number, at least -1"),
        ("attention", "step", -2, "step = -2 is not a whole number, at least -1"),
        ("attention", "step", True, "step = True is not a whole number, at least -1"),
        ("confusion", "steps", "0,x", "steps = 'x' is not a list of whole numbers, at least -1, or none"),
        ("attention", "theme", "green", "nothing called 'green' in the choices of theme"),
        ("attention", "stop", 3, "nothing called 'stop' in the options of attention (did you mean step?)"),
    ],
)
def test_what_an_option_may_not_be_is_refused_in_one_sentence(name, option, value, sentence):
    with pytest.raises(Error) as refused:
        catalogue.chosen(catalogue.entry("figures", name), {option: value})
    assert sentence in str(refused.value)
    assert refused.value.exit_code == 2


# ---- glassformer list ------------------------------------------------------------------------------------------------


def test_a_list_for_a_run_says_what_can_be_drawn_and_of_the_rest_why_not():
    answer = call("list", "figures", run_of("plus_last_even").path)
    assert answer.code == 0, answer.err
    can, cannot = answer.out.split("not of ")
    assert re.search(r"^How does it attend\?$", can, re.M)
    assert re.search(r"^  attention +\S", can, re.M)
    assert re.search(r"^  seeds +it needs a population", cannot, re.M)
    assert "  seeds " not in can
    population = call("list", "figures", run_of(POPULATION).path)
    assert "  seeds " in population.out.split("not of ")[0]


def test_a_list_with_options_names_types_defaults_and_limits():
    answer = call("list", "films", "--options")
    assert answer.code == 0, answer.err
    assert re.search(r"frames=200: how many .* \(whole number from 2 to 5000\)", answer.out)


def test_a_list_is_json_for_scripts():
    told = call("list", "figures", run_of("plus_last_even").path, "--json").json
    assert {each["name"]: each["why_not"] for each in told}["loss"] is None
    assert call("list", "tasks", "--json").json["tasks"]["lucky7"]


@pytest.mark.parametrize("words", [("tasks", "x"), ("nonsense",), ("figures", "no such run")])
def test_what_cannot_be_listed_is_said(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("list", *words)
    assert answer.code == 2
    assert answer.err.count("\n") == 1


def test_listing_the_figures_of_a_run_loads_neither_matplotlib_nor_jax():
    order = (
        "import sys; from glassformer.cli import main; sys.argv[1:] = ['list', 'figures', sys.argv[1]]\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('matplotlib', 'jax', 'scipy', 'optax') if name in sys.modules])"
    )
    path = run_of("plus_last_even").path
    done = subprocess.run([sys.executable, "-c", order, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_piece_is_answered_with_the_nearest():
    with pytest.raises(MissingError, match=r"did you mean attention\?"):
        catalogue.entry("figures", "atention")
