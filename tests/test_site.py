"""The site of `make docs`: built without a warning, whole, readable by everybody, and all of it on the disk."""

import html
import inspect
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import glassformer as gf
from browsing import Watched, browsing, found_by_axe
from glassformer import catalogue
from glassformer.teaching.script import names
from making import galleries, site

ROOT = Path(__file__).parents[1]
TYPICAL = ("index.html", "docs/places.html", "lessons/index.html", "lessons/one_neuron.html", "api/attend.html")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site without its gallery, which takes trainings; Sphinx's warnings are errors."""
    pytest.importorskip("furo", reason="no Sphinx; `pip install '.[docs]'` brings it")
    folder = tmp_path_factory.mktemp("site")
    words = ("--no-gallery", "--out", folder / "site", "--stage", folder / "stage")
    given = {**os.environ, "PYTHONPATH": str(ROOT / "docs"), "OPENBLAS_NUM_THREADS": "1"}
    made = subprocess.run(
        [sys.executable, "-m", "making.site", *map(str, words)], env=given, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr[-3000:]
    return folder / "site"


class Page(HTMLParser):
    """What a page leads to, what it loads, and what can be led to in it."""

    def __init__(self, path):
        super().__init__()
        self.leads, self.loads, self.anchors = [], [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.leads.append(given["href"])
        elif tag in ("script", "link", "img", "video", "iframe", "source"):
            self.loads += [given[name] for name in ("src", "href") if given.get(name)]


@pytest.fixture(scope="module")
def pages(built):
    return {path.resolve(): Page(path) for path in built.rglob("*.html")}


def test_every_page_and_lesson_is_in_it(built, pages):
    assert len(pages) > 100
    for place in site.pages().values():
        assert (built / f"{place}.html").exists(), place
    shown = (built / "lessons/index.html").read_text("utf-8")
    assert all(f'href="{name}.html"' in shown for name in names())


def test_every_link_leads_somewhere(pages):
    for path, page in pages.items():
        for target in [*page.leads, *page.loads]:
            there = urlsplit(target)
            if there.scheme in ("http", "https", "mailto", "data"):
                continue
            found = (path.parent / unquote(there.path)).resolve() if there.path else path
            assert found.exists(), f"{path.name} leads to {target}"
            if there.fragment and found in pages and there.fragment != "__":
                assert unquote(there.fragment) in pages[found].anchors, f"{path.name} leads to {target}"


def test_nothing_is_loaded_from_elsewhere(built, pages):
    for path, page in pages.items():
        assert not [url for url in page.loads if "//" in url and not url.startswith("data:")], path.name
    for style in built.rglob("*.css"):
        assert "url(http" not in style.read_text("utf-8")
        assert "@import" not in style.read_text("utf-8")


def test_the_reference_has_every_public_name(pages):
    there = {anchor for path, page in pages.items() if path.parent.name == "api" for anchor in page.anchors}
    wanted = {f"glassformer.{name}" for name in dir(gf) if not name.startswith("_") and callable(getattr(gf, name))}
    wanted |= {f"glassformer.analyses.{each.name}" for each in catalogue.entries("analyses")}
    wanted |= {f"glassformer.figures.plot_{each.name}" for each in catalogue.entries("figures")}
    wanted |= {f"glassformer.films.film_{each.name}" for each in catalogue.entries("films")}
    wanted |= {
        f"glassformer.Run.{name}" for name, _ in inspect.getmembers(gf.Run, inspect.isfunction) if name[0] != "_"
    }
    wanted |= {"glassformer.studies.run", "glassformer.catalogue.overview", "glassformer.edits.parse",
               "glassformer.physics.one_layer", "glassformer.Trace.to_xarray"}  # fmt: skip
    assert wanted - there == set()


def test_it_is_searched_and_read_without_a_network(built):
    with browsing() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        seen = Watched(page)
        page.goto((built / "search.html").as_uri() + "?q=attention")
        page.locator("#search-results li").nth(5).wait_for()
        assert page.locator("#search-results a", has_text="How does it attend?").count() > 0
        for name in TYPICAL:
            page.goto((built / name).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert seen.problems == []
        for name in TYPICAL:  # axe asks for the style sheets once more, which a file may not, and the page complains
            page.goto((built / name).as_uri())
            assert found_by_axe(page) == []
        assert seen.outside() == []


def test_the_gallery_names_figures_that_are_there():
    """One list says where a figure is best seen, another which study draws it."""
    figures = {each.name: each for each in catalogue.entries("figures")}
    best = [name for there in galleries.BEST.values() for name in there]
    assert len(best) == len(set(best))
    assert set(best) <= {name for name, each in figures.items() if each.needs == "run"}
    assert set(galleries.BEST) <= set(galleries.MODELS)
    assert set(galleries.STUDIES) == {name for name, each in figures.items() if each.needs == "study"}
    for figure, study in galleries.STUDIES.items():
        assert catalogue.figure_of(study) == figure


@pytest.mark.parametrize("text", ["<END>", "a_b_c * `d` [x](y) # | ~ \\ $5", "+₆ → 10₄", "1 < 2 && 3 > 2"])
def test_tokens_are_shown_as_they_are(text):
    markdown = pytest.importorskip("markdown_it").MarkdownIt()
    assert html.unescape(markdown.render(galleries.plain(text))) == f"<p>{text}</p>\n"
