"""The page of a gallery tells which films there are, shows those that have been made, and leads to the report."""

import re

from glassformer import catalogue, gallery
from glassformer.films import _make
from glassformer.gallery.films import link
from glassformer.gallery.shape import shape
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


def test_it_leads_to_the_report_or_names_the_command_that_makes_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, out = run_of("plus_last_even"), tmp_path / "figures" / "here"
    command = f"<code>glassformer report {run.name}</code>"
    assert command in gallery.page(run, [], out)
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / f"{run.name}.html").write_text("the report")
    text = gallery.page(run, [], out)
    assert command not in text
    (report,) = re.findall(r'href="([^"]*reports/[^"]*)"', text)
    out.mkdir(parents=True)
    assert (out / report).read_text() == "the report"


def test_a_picture_says_how_large_it_is(tmp_path):
    """As the program that made it says, whatever its kind; what is no picture says nothing."""
    from PIL import Image

    Image.new("RGB", (640, 17)).save(tmp_path / "a.png")
    (tmp_path / "b.svg").write_text('<?xml version="1.0"?>\n<svg width="864pt" viewBox="0 0 864 475.2" version="1.1">')
    (tmp_path / "c.png").write_text("no picture")
    assert shape(tmp_path / "a.png") == ' width="640" height="17"'
    assert shape(tmp_path / "b.svg") == ' width="864" height="475"'
    assert shape(tmp_path / "c.png") == shape(tmp_path / "not there") == ""


def test_a_link_survives_the_signs_of_an_address():
    assert link("a b/50 %#1?.svg") == "a b/50 %25%231%3F.svg"
