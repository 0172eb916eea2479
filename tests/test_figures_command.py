"""`glassformer figures`: what is drawn from a run, a population, several runs or a study; pages; and refusals."""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
import small_studies
from command import call
from glassformer import catalogue, figures, gallery
from glassformer.errors import CallError
from glassformer.gallery import making
from small_runs import POPULATION, run_of
from small_studies import study_of

RUN = "plus_last_even"


@cache
def pieces():
    return {each.name: each for each in catalogue.entries("figures")}


def drawn(out):
    """The pictures and numbers in a folder."""
    return sorted(path.name for path in Path(out).iterdir())


def test_a_figure_by_name_comes_with_its_numbers(tmp_path):
    answer = call("figures", run_of(RUN).path, "loss", "--format", "png", "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert answer.out.split() == [str(tmp_path / f"loss.{kind}") for kind in ("png", "json")]
    assert drawn(tmp_path) == ["loss.json", "loss.png"]


@pytest.mark.parametrize(("where", "word"), [("", "."), ("weights", "..")])
def test_a_run_that_one_stands_in_has_a_name(tmp_path, monkeypatch, where, word):
    kept = shutil.copytree(run_of(RUN).path, tmp_path / "mine")
    monkeypatch.chdir(kept / where)
    answer = call("figures", word, "loss", "--format", "svg")
    assert answer.code == 0, answer.err
    assert drawn("figures/mine") == ["loss.json", "loss.svg"]


def test_a_population_is_needed_where_seeds_are_compared(tmp_path):
    answer = call("figures", run_of(RUN).path, "seeds", "--out", tmp_path)
    assert answer.code == 2
    assert "seeds is not drawn" in answer.err
    assert "--seeds 8" in answer.err
    answer = call("figures", run_of(POPULATION).path, "seeds", "--format", "svg", "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert list(tmp_path.glob("seeds*.svg"))


def test_further_runs_are_compared(tmp_path):
    one, other = run_of(RUN), run_of("lucky7")
    answer = call(
        "figures", one.path, "comparison", "--with", other.path, "--format", "svg", "--out", tmp_path, "--json"
    )
    assert answer.code == 0, answer.err
    (made,) = answer.json["figures"]
    shown = json.loads((tmp_path / next(name for name in made["files"] if name.endswith(".json"))).read_text("utf-8"))
    assert len(shown["result"]["curves"]) == 2


@pytest.mark.parametrize("named", [True, False])
def test_a_study_is_drawn_like_a_run(tmp_path, named):
    found = study_of("study_parts")
    names = ["study_parts"] if named else []
    answer = call("figures", found.path, *names, "--format", "svg", "--size", "print", "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert drawn(tmp_path) == ["study_parts_print.json", "study_parts_print.svg"]
    assert json.loads((tmp_path / "study_parts_print.json").read_text("utf-8"))["study"] == found.name


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("STUDY", "loss"), "loss is not drawn for study: it is drawn from a run, not from a study"),
        (("STUDY", "study_parts", "--step", 5), "--sequence and --edit are for figures that are drawn from a run"),
        (("STUDY", "lost"), "nothing called 'lost' in figures (did you mean loss?)"),
        (("STUDY", "study_rates"), "the study ablation is drawn by study_parts"),
        (("study_parts",), "study_parts is not drawn: it is drawn from a study, and studies/ has none"),
        (("RUN", "study_parts"), "`glassformer study ablation plus_last_even` makes one"),
        (("RUN", "attention", "--set", "page=3"), "page = 3 is not 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said_in_a_sentence(tmp_path, words, sentence):
    paths = {"STUDY": study_of("study_parts").path, "RUN": run_of(RUN).path}
    answer = call("figures", *(paths.get(word, word) for word in words), "--out", tmp_path)
    assert answer.code == 2
    assert sentence in answer.err
    assert "Traceback" not in answer.err


def test_a_run_is_drawn_with_the_studies_of_its_experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = run_of(RUN)
    for k, (study, experiment) in enumerate([("ablation", run.experiment.name), ("ablation", "lucky7")]):
        small_studies.write(tmp_path / "studies" / f"mine-{k}", study, experiment)
    answer = call("figures", run.path, "study_parts", "study_rates", "loss", "--format", "svg", "--out", "there")
    assert answer.code == 2
    assert "study_rates is not drawn" in answer.err
    assert "`glassformer study rate plus_last_even` makes one" in answer.err
    assert [name for name in drawn(tmp_path / "there") if name.endswith("svg") and not name.startswith("loss")] == [
        "study_parts_mine-0.svg"
    ]
    about = json.loads((tmp_path / "there" / "study_parts_mine-0.json").read_text("utf-8"))
    assert about["study"] == "ablation"
    (tmp_path / "studies" / "mine-0" / "study.json").write_text("{", "utf-8")
    answer = call("figures", run.path, "study_parts", "loss", "--format", "svg", "--out", "again")
    assert answer.code == 1
    assert "study_parts could not be drawn: studies/mine-0/study.json" in answer.err
    assert any(name.startswith("loss") for name in drawn(tmp_path / "again"))


def test_a_figure_that_needs_nothing_asks_for_no_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nothing = [name for name, each in pieces().items() if each.needs == "nothing"]
    for name in nothing:
        answer = call("figures", name, "--format", "svg")
        assert answer.code == 0, answer.err
        assert list((tmp_path / "figures").glob(f"{name}*.svg"))
    assert all(catalogue.why_not(pieces()[name], None) is None for name in nothing)


def test_every_figure_says_what_it_is_drawn_from():
    assert {each.needs for each in pieces().values()} <= {"run", "population", "runs", "study", "nothing"}
    assert not [
        name for name, each in pieces().items() if each.needs == "study" and not catalogue.why_not(each, run_of(RUN))
    ]


# ---- pages -----------------------------------------------------------------------------------------------------------


def test_on_slides_every_page_is_a_file_of_its_own(tmp_path):
    answer = call(
        "figures", run_of(RUN).path, "embeddings", "--size", "slide", "--format", "png", "--out", tmp_path, "--json"
    )
    assert answer.code == 0, answer.err
    made = answer.json["figures"]
    pages = made[0]["pages"]
    assert pages == 2  # the tables, then the planes
    assert [each["page"] for each in made] == list(range(pages))
    step = f"step{run_of(RUN).last_step:06}"
    names = [f"embeddings_{step}_slide.png", *(f"embeddings_page{k + 1}_{step}_slide.png" for k in range(1, pages))]
    assert [each["files"][0] for each in made] == names
    assert len({(tmp_path / name).read_bytes() for name in names}) == pages
    for k, each in enumerate(made):
        assert each["caption"].endswith(f"Page {k + 1} of {pages}.")


def test_one_page_can_be_asked_for(tmp_path):
    wish = ("--size", "slide", "--format", "png", "--set", "page=1")
    answer = call("figures", run_of(RUN).path, "embeddings", *wish, "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert [name.split("_step")[0] for name in drawn(tmp_path)] == ["embeddings_page2"] * 2


def test_no_more_pages_are_drawn_than_a_reader_will_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(making, "MOST_PAGES", 1)
    wish = gallery.Wish(size="slide", formats=("png",))
    (made,) = gallery.make(pieces()["embeddings"], run_of(RUN), wish, tmp_path)
    assert made.pages == 2
    assert made.caption.endswith("Page 1 of 2.")


@pytest.mark.parametrize("name", ["attention", "embeddings", "loss"])
def test_a_page_that_is_not_there_is_refused(name):
    plot = getattr(figures, f"plot_{name}")
    for page in (-1, 99):
        with pytest.raises(CallError, match=f"page = {page} is not"):
            plot(run_of(RUN), page=page)


def test_the_contents_name_a_figure_once_however_many_pages_it_has(tmp_path):
    made = gallery.gallery(run_of(RUN), tmp_path, gallery.Wish(size="slide"), only=("loss", "embeddings"))
    assert len(made) > 2
    text = (tmp_path / "index.html").read_text("utf-8")
    contents = text[text.index("<nav") : text.index("</nav>")]
    assert contents.count("<li>") == 2
    assert text.count("<figure ") == len(made)
    assert "2 figures" in text
    assert "(page 2 of " in text


# ---- edits -----------------------------------------------------------------------------------------------------------


def test_a_figure_of_an_edited_model_shows_it_and_says_so(tmp_path):
    """Scores of zero are all alike, so every position looks everywhere alike."""
    run, edit = run_of(RUN), "zero(scores)"
    answer = call("figures", run.path, "attention", "--edit", edit, "--format", "svg", "--out", tmp_path)
    assert answer.code == 0, answer.err
    (path,) = tmp_path.glob("attention*.json")
    told = json.loads(path.read_text("utf-8"))
    assert told["edits"] == [edit]
    seen = gf.analyses.from_plain(told["result"])
    assert f"edited: {edit}" in seen.clock
    assert "loss" not in seen.clock, "the logged loss is not that of the edited model"
    rows = np.tri(len(seen.tokens))
    np.testing.assert_allclose(seen.attention.values[0, 0], rows / rows.sum(axis=1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "edit", "sentence"),
    [
        ("weights", "zero(value)", "is about the trained weights, which edits do not change"),
        ("landscape", "zero(fed, position=1)", "zero(fed, position=1) differs from position to position"),
        ("token_counts", "zero(value)", "and this figure shows none of them"),
        ("attention", "zero(valeu)", "did you mean value?"),
    ],
)
def test_an_edit_that_a_figure_cannot_show_is_refused(tmp_path, name, edit, sentence):
    answer = call("figures", run_of(RUN).path, name, "--edit", edit, "--out", tmp_path)
    assert answer.code == 2
    assert sentence in answer.err
    assert drawn(tmp_path) == []


def test_options_stand_in_the_name_and_never_overwrite_the_gallery_s_file(tmp_path):
    wish = ("--format", "svg", "--out", tmp_path)
    assert call("figures", run_of(RUN).path, "loss", *wish).code == 0
    before = (tmp_path / "loss.svg").read_bytes()
    assert call("figures", run_of(RUN).path, "loss", "--set", "unit=bits", *wish).code == 0
    assert (tmp_path / "loss.svg").read_bytes() == before
    assert (tmp_path / "loss_unit-bits.svg").read_bytes() != before


@pytest.mark.parametrize(
    ("assignment", "sentence"),
    [
        ("steps=0,soon", "steps = 'soon' is not a list of whole numbers, at least -1, or none"),
        ("steps=0,7777777", "step 7777777"),
        ("stops=3", "nothing called 'stops' in the options of confusion (did you mean steps?)"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_exit_code_2(tmp_path, assignment, sentence):
    answer = call("figures", run_of(RUN).path, "confusion", "--set", assignment, "--out", tmp_path)
    assert answer.code == 2, answer.err
    assert sentence in answer.err
    assert "Traceback" not in answer.err
