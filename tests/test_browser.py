"""The gallery and the films as a browser shows them: from the disk, by mouse or keyboard, wide or narrow."""

import json
import os
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from browsing import Watched, browsing
from glassformer import catalogue, films, gallery
from glassformer.figures import _style
from glassformer.films import _film
from small_runs import run_of

HEADINGS = {  # of the story, in its order
    "what": "What is it?", "learn": "Did it learn?", "know": "What does it know?", "attend": "How does it attend?",
    "decide": "How does it decide?", "path": "How did it get there?", "health": "Is it healthy?",
    "trust": "How sure are we?",
}  # fmt: skip
LOADED = "Promise.all([...document.images].map(image => { image.loading = 'eager'; return image.decode() }))"
HIDDEN = "element => !element.checkVisibility() || element.getBoundingClientRect().height < 1"


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(browser, tmp_path_factory) -> Path:  # noqa: ARG001 - without a browser nothing needs to be drawn
    """A gallery of a small run without its slow figures, drawn by whichever process of the session comes first."""
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "gallery"
    try:
        out.mkdir()
    except FileExistsError:  # another process is drawing; the page is what it writes last
        end = time.monotonic() + 300
        while not (out / "index.html").exists() and time.monotonic() < end:
            time.sleep(0.2)
    else:
        quick = tuple(each.name for each in catalogue.entries("figures") if each.cost in ("a", "b"))
        gallery.gallery(run_of("plus_last_even"), out, only=quick)
    return out


@pytest.fixture(scope="module")
def wide(browser, folder):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watched = Watched(page)
    page.goto((folder / "index.html").as_uri())
    yield watched
    page.close()


@pytest.fixture(scope="module")
def told(folder) -> list[dict]:
    """What the gallery says it has drawn."""
    figures = json.loads((folder / "gallery.json").read_text("utf-8"))["figures"]
    return [each for each in figures if each["files"]]


def test_the_page_opens_from_the_disk_without_complaint_or_network(wide):
    assert wide.page.title() == f"{run_of('plus_last_even').name}: inside the model"
    assert wide.problems == []
    assert wide.asked, "the page itself must have been seen"
    assert wide.outside() == []


def test_a_complaint_and_a_request_would_be_seen(browser, tmp_path):
    """The two tests that look for nothing can find something."""
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='http://localhost:9/x.png'><script>throw new Error('oops')</script>", encoding="utf-8")
    watched = Watched(browser.new_page())
    watched.page.goto(bad.as_uri())
    assert any("oops" in each for each in watched.problems)
    assert watched.outside() == ["http://localhost:9/x.png"]
    watched.page.close()


def test_every_section_that_applies_has_its_heading(wide, told):
    present = {each["section"] for each in told}
    assert len(present) >= 5
    headings = wide.page.locator("main > section > h2").all_inner_texts()
    assert [each for each in headings if each in HEADINGS.values()] == [
        heading for key, heading in HEADINGS.items() if key in present
    ]
    assert wide.page.locator("h1").count() == 1


def test_every_picture_is_loaded_and_described(wide, told):
    wide.page.evaluate(LOADED)
    images = wide.page.evaluate(
        "[...document.images].map(image => [image.alt, image.naturalWidth, image.naturalHeight, image.clientWidth])"
    )
    assert [alt for alt, *_ in images] == [each["alt"] for each in told]
    assert all(alt.strip() for alt, *_ in images)
    assert all(min(width, height, shown) > 100 for _, width, height, shown in images)


def test_a_picture_is_loaded_when_it_is_seen_and_nothing_jumps(browser, folder, told):
    """The first screen is words; whatever comes later has its place from the beginning."""
    watched = Watched(browser.new_page(viewport={"width": 1280, "height": 900}))
    page = watched.page
    page.goto((folder / "index.html").as_uri())
    assert len(watched.asked) <= 1 + len(told) // 10
    places = "all => all.map(image => image.getBoundingClientRect().top + scrollY)"
    before = page.locator("img").evaluate_all(places)
    page.locator("img").last.scroll_into_view_if_needed()
    page.evaluate(LOADED)
    assert len(watched.asked) > len(told)
    after = page.locator("img").evaluate_all(places)
    assert len(after) == len(told)
    assert max(abs(x - y) for x, y in zip(before, after, strict=True)) < 10
    page.close()


def test_every_figure_has_its_title_and_a_caption_that_is_seen(wide, told):
    titles = [title.replace("\u00a0", " ") for title in wide.page.locator("figure > h3").all_inner_texts()]
    assert titles == [each["title"] for each in told]
    captions = wide.page.locator("figure > figcaption")
    assert captions.count() == len(told)
    assert captions.evaluate_all(f"all => all.filter({HIDDEN}).length") == 0
    for text, each in zip(captions.all_inner_texts(), told, strict=True):
        assert text.replace("\u00a0", " ").startswith(each["caption"])


def test_every_link_leads_somewhere(wide, folder, told):
    here = (folder / "index.html").as_uri()
    links = wide.page.locator("a[href]").evaluate_all("all => all.map(link => link.href)")
    files, anchors = set(), set()
    for link in links:
        parts = urlsplit(link)
        assert parts.scheme == "file"
        if link.startswith(f"{here}#"):
            anchors.add(unquote(parts.fragment))
        else:
            files.add(Path(unquote(parts.path)))
    assert {path.name for path in files} == {name for each in told for name in each["files"]}
    assert all(path.stat().st_size for path in files)
    for suffix in (".svg", ".json"):
        assert sum(path.suffix == suffix for path in files) == len(told), f"one {suffix} for each figure"
    assert [name for name in anchors if not wide.page.evaluate("id => !!document.getElementById(id)", name)] == []


def test_a_link_of_the_contents_goes_to_its_figure(wide, told):
    page, last = wide.page, told[-1]
    page.locator("nav details").last.locator("summary").click(position={"x": 3, "y": 10})
    page.locator("nav li a").last.click()
    assert page.locator("figure").last.evaluate("each => Math.abs(each.getBoundingClientRect().top) < innerHeight / 2")
    assert unquote(urlsplit(page.url).fragment) == page.locator("figure").last.get_attribute("id")
    assert last["title"] == page.locator("figure > h3").last.inner_text().replace("\u00a0", " ")


def test_the_keyboard_reaches_every_link(browser, folder):
    """Tab goes through all links in the order of the page, and each shows that it has the focus."""
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    wanted = page.locator("a[href]").evaluate_all("all => all.map(link => link.getAttribute('href'))")
    reached = []
    for _ in range(2 * len(wanted) + 20):
        page.keyboard.press("Tab")
        name, href, ring = page.evaluate(
            "(at => [at.tagName, at.getAttribute('href'), getComputedStyle(at).outlineStyle])(document.activeElement)"
        )
        if name == "BODY" or len(reached) == len(wanted):
            break
        if name == "A":
            reached.append(href)
            assert ring != "none", f"{href} has the focus and does not show it"
    assert reached == wanted
    page.close()


@pytest.mark.parametrize("width", [400, 320])
def test_a_narrow_screen_needs_no_scrolling_sideways(browser, folder, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto((folder / "index.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.evaluate(LOADED)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wider = page.locator("h1, h2, h3, p, dt, dd, li, figcaption").evaluate_all(
        "all => all.filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.textContent)"
    )
    assert wider == []
    page.close()


def test_no_figure_is_cut_on_paper(browser, folder):
    """A sheet of A4 is as narrow as a small screen, but nobody can push what is on it sideways."""
    page = browser.new_page(viewport={"width": 680, "height": 1000})  # 180 mm
    page.goto((folder / "index.html").as_uri())
    wider = "all => all.filter(each => each.scrollWidth > each.clientWidth + 1).length"
    assert page.locator(".sheet").evaluate_all(wider) > 0, "on a screen they may be pushed"
    page.emulate_media(media="print")
    assert page.locator(".sheet").evaluate_all(wider) == 0
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_has_the_ground_of_its_figures(browser, tmp_path, theme):
    """Whatever the screen prefers: figures for light paper would not be readable on a dark page, nor the reverse."""
    (tmp_path / "index.html").write_text(gallery.page(run_of("plus_last_even"), [], tmp_path, theme), encoding="utf-8")
    paper = ", ".join(str(int(_style.theme(theme).paper[k : k + 2], 16)) for k in (1, 3, 5))
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto((tmp_path / "index.html").as_uri())
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == f"rgb({paper})"
        page.close()


def test_a_film_plays(browser, tmp_path):
    if not _film.ffmpeg(needed=False):
        pytest.skip("no ffmpeg to write an MP4 with; `pip install 'glassformer[video]'` brings it")
    films.film_loss(run_of("plus_last_even"), frames=30).save(tmp_path / "film.mp4", tmp_path / "film.gif")
    (tmp_path / "page.html").write_text("<video muted src='film.mp4'></video><img src='film.gif'>", encoding="utf-8")
    watched = Watched(browser.new_page())
    page = watched.page
    page.goto((tmp_path / "page.html").as_uri())
    if not page.evaluate("document.querySelector('video').canPlayType('video/mp4; codecs=\"avc1.640028\"')"):
        pytest.skip("this browser was built without H.264; Debian's chromium has it")
    page.wait_for_function("document.querySelector('video').readyState >= 2")
    seen = "(video => [video.videoWidth, video.videoHeight, video.duration])(document.querySelector('video'))"
    width, height, seconds = page.evaluate(seen)
    assert (width, height) == (_film.WIDTH, _film.WIDTH * 9 // 16)
    assert seconds == pytest.approx((28 + 3 * _film.FPS) / _film.FPS, abs=0.1)
    page.evaluate("document.querySelector('video').play()")
    page.wait_for_function("document.querySelector('video').currentTime > 0.3")
    page.evaluate("document.querySelector('img').decode()")
    assert page.evaluate("document.querySelector('img').naturalWidth") == _film.GIF_WIDTH
    assert watched.problems == []
    page.close()
