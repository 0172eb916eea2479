"""The page of a gallery tells which films there are, and shows those that have been made."""

import re

from glassformer import catalogue, gallery
from glassformer.films import _make
from glassformer.gallery.films import link
from small_runs import run_of


def test_the_story_tells_its_films_and_shows_those_that_were_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, out = run_of("plus_last_even"), tmp_path / "figures" / "here"
    folder = tmp_path / "films" / run.name
    paths = list(_make.write("weights", run, folder, formats=("gif",), wanted={"frames": 2}, asked={}))
    gallery.gallery(run, out, only=("mask", "sparsity"))
    text = (out / "index.html").read_text("utf-8")
    assert 'id="know"' in text
    for each in catalogue.entries("films"):
        command = f"<code>glassformer film {run.name} {each.name}</code>"
        there = each.section == "know" and catalogue.why_not(each, run) is None
        assert (command in text) == there, each.name
    (film,) = set(re.findall(r'href="([^"]*weights_film[^"]*)"', text))
    assert (out / film).resolve() == next(path for path in paths if path.suffix == ".gif").resolve()
    (poster,) = re.findall(r'src="([^"]*weights_film[^"]*)"', text)
    assert (out / poster).resolve() == next(path for path in paths if path.suffix == ".png").resolve()


def test_a_link_survives_the_signs_of_an_address():
    assert link("a b/50 %#1?.svg") == "a b/50 %25%231%3F.svg"
