"""A lesson as a page: its block, the lab that its text leads, its questions; by mouse, by keyboard, narrow, printed."""

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from browsing import browsing, found_by_axe
from glassformer.errors import LimitError
from glassformer.report import link
from glassformer.report.payload import Wish
from glassformer.teaching import as_html, page
from glassformer.teaching.running import run as told
from glassformer.teaching.script import read
from glassformer.teaching.tellers import Record
from page_reports import visit
from small_runs import run_of

# It has the name of a lesson of the course, in which it has its place.
LESSON = '''"""A small lesson: told to try its page."""

from small_runs import run_of

from glassformer.figures import plot_one_neuron
from glassformer.teaching import choice, discuss, lab, number, point, say, show, table, work

ORDER = 30
MINUTES = 10
AIMS = ("compute `a < b`",)
BEFORE = ("numbers_for_words",)
ANSWERS = ()
MISCONCEPTIONS = (("It is <b>hard</b>.", "It is not."),)
PLAN = ((45, "Exit question"),)

# %% [markdown]
# ## One and one
#
# A **first** text, with <script>alert(1)</script> in it.

# %%
total = 1 + 1
work("1 + 1", 2)
number("How much is it?", total, "One and one.", tolerance=0.1, unit="nats",
       mistakes={11: "That is *beside*, not plus."})
table(["what", "how much"], [["all", "2.50"]])

# %% [markdown]
# ## The model

# %%
run = run_of("plus_last_even")
say("It is small. " * 60)
lab(run, "Its first steps", step=40, input="10 + 10 6 +", edits="zero(mixed)", panels=("attention", "weights"))
show(plot_one_neuron(), "neuron", "A neuron")
choice("Which?", "this", "It is this one.", {"that": "That is another one."})
say("It is small. " * 120)

# %% [markdown]
# ## Where to look

# %%
lab(run, "Train it", mode="train", panels=("curves",))
cells = [["1", "2"], ["3", "4"]]
point("Where?", ["one", "two"], ["left", "right"], (1, 0), "There.", otherwise="Not there.", cells=cells)
discuss("Why so?", "a reason", "another seed")
say("It is small. " * 60)
'''
LOOKS = "[data-look]"
REPLY = ".reply"


@pytest.fixture(scope="module")
def told_lesson(tmp_path_factory):
    path = tmp_path_factory.mktemp("lesson") / "one_neuron.py"
    path.write_text(LESSON, encoding="utf-8")
    script, stage = read(path), Record(seed=18)
    told(script, stage)
    return script, stage


@pytest.fixture(scope="module")
def made(told_lesson):
    return page.of(*told_lesson)


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


@pytest.fixture(scope="module")
def file(browser, made, tmp_path_factory) -> Path:  # noqa: ARG001 - without a browser no file is needed
    path = tmp_path_factory.mktemp("page") / "lesson.html"
    path.write_text(made.html, encoding="utf-8")
    return path


def block(html: str, name: str):
    found = re.search(rf'data-block="{name}">([^<]*)<', html)
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def opened(browser, file, link="", width=1440, height=900, **context):
    seen = visit(browser, file, link, width, height, **context) if width >= 1024 else None
    if seen is None:
        seen = _narrow(browser, file, link, width, height)
    seen.page.locator(".lesson h1").wait_for()
    return seen


def _narrow(browser, file, link, width, height):
    """As `visit`, but the clock is not to be seen at first."""
    from browsing import Watched

    opened = browser.new_context(offline=True, viewport={"width": width, "height": height}).new_page()
    seen = Watched(opened)
    opened.goto(file.as_uri() + link)
    return seen


def read_to(where, look: int) -> None:
    """Scroll until a look stands in the middle of the window."""
    where.locator(LOOKS).nth(look).evaluate("each => each.scrollIntoView({block: 'center'})")
    where.locator(f"{LOOKS}.current[data-look='{look}']").wait_for()


def test_the_block_holds_the_lesson_and_the_file_all_that_it_looks_at(made):
    lesson = block(made.html, "lesson")
    assert lesson["title"] == "A small lesson: told to try its page."
    assert 1 <= lesson["number"] < lesson["of"]
    assert lesson["next"]["name"] != lesson["before"][0]["name"] == "numbers_for_words"
    assert lesson["aims"] == ["compute <code>a &lt; b</code>"]
    kinds = [[part["kind"] for part in beat["parts"]] for beat in lesson["beats"]]
    assert kinds == [["said", "said", "number", "said"], ["said", "look", "picture", "choice", "said"],
                     ["look", "point", "discuss", "said"]]  # fmt: skip
    first = lesson["beats"][0]
    assert "total = 1 + 1" in first["code"]
    assert "number(" not in first["code"]
    assert "&lt;script&gt;" in first["parts"][0]["html"]
    assert "<script>" not in json.dumps(lesson)
    assert first["parts"][1]["html"] == '<p class="work"><code>1 + 1 = 2</code></p>'
    assert first["parts"][2]["mistakes"] == [[11.0, "<p>That is <em>beside</em>, not plus.</p>"]]
    assert '<th class="number">how much</th>' in first["parts"][3]["html"]
    look = lesson["beats"][1]["parts"][1]["link"]
    [inside] = made.runs
    assert link.fields(look) == {"step": "40", "edits": "zero(mixed)", "panels": "attention,weights",
                                 "input": "10 + 10 6 +", "run": inside.identity}  # fmt: skip
    assert 40 in inside.steps
    picture = lesson["beats"][1]["parts"][2]
    assert picture["source"].startswith(("data:image/svg+xml,", "data:image/png;base64,"))
    assert picture["width"] > picture["height"] > 50
    assert "<title>A small lesson: told to try its page.</title>" in made.html


def test_a_page_is_written_once_and_over_nothing(made, tmp_path, monkeypatch):
    from glassformer import report

    monkeypatch.chdir(tmp_path)
    first = report.put(made, None, Path("lessons/small"))
    assert first == report.put(made, None, Path("lessons/small")) == Path("lessons/small.html")
    first.write_text("mine")
    assert report.put(made, None, Path("lessons/small")) == Path("lessons/small-2.html")
    assert first.read_text() == "mine"


def test_what_is_looked_at_is_inside_however_large_the_file_gets():
    from glassformer import report

    run = run_of("plus_last_even")
    [inside] = report.made([run], Wish(size=0.1, least=4, always=((7, 40, 123),))).runs
    assert inside.steps == [0, 7, 40, 123, 300]
    with pytest.raises(LimitError, match="too little"):
        report.made([run], Wish(size=0.1))


def test_a_text_says_nothing_that_a_browser_obeys():
    assert as_html.text("[a](https://x.y) <img src=x> ![b](c)") == "<p>a &lt;img src=x&gt; !b</p>"
    assert "style" not in as_html.text("| a |\n|--:|\n| 1 |")
    head = as_html.text("| | a |\n|---|---|\n| x | 1 |").split("</thead>")[0]
    assert re.sub(r"\s", "", head) == '<table><thead><tr><td></td><thclass="number">a</th></tr>'


def test_reading_leads_the_lab_and_the_reader_may_lead_it(browser, file):
    seen = opened(browser, file, "#v1&step=3&theme=dark")
    page = seen.page
    read_to(page, 0)  # opened by a link of one's own: it stays until the next look
    page.get_by_text("Yours now").wait_for()
    page.get_by_role("button", name="Back to the text's view").click()
    page.locator("p.step", has_text="step 40").wait_for()
    assert page.locator("section.ask input").first.input_value() == "10 + 10 6 +"
    page.locator(".force label[title='zero(mixed)']").wait_for()
    panels = page.locator(".panel h2").all_inner_texts()
    assert panels == ["Who looks at whom", "Weights"]
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"  # that is the reader's
    box = page.locator(".panel").first.bounding_box()
    assert 0 <= box["y"] < 500  # what is spoken of is in view
    page.get_by_text("Goes along with the text").wait_for()

    page.get_by_role("button", name="One kept step on").click()
    page.get_by_text("Yours now").wait_for()
    read_to(page, 1)
    page.locator("section.train").wait_for()
    page.locator("p.step", has_text="step 300").wait_for()
    assert page.locator(".force").count() == 0  # what a look does not name is as on a fresh page
    page.get_by_text("Goes along with the text").wait_for()
    page.get_by_role("button", name="Train", exact=True).last.click()  # and it can be trained here
    page.locator("section.train h2", has_text="300").wait_for()

    page.get_by_role("button", name="Leave the lab to me").click()
    read_to(page, 0)
    page.wait_for_timeout(150)
    assert page.locator("section.train").count() == 1  # nobody touched it
    page.locator(f"{LOOKS} button").first.click()
    page.locator("p.step", has_text="step 40").wait_for()
    page.evaluate("() => scrollTo(0, 0)")
    page.get_by_role("button", name="Leave the lab to me").click()
    page.locator("p.step", has_text="step 300").wait_for()  # above the first look: the model as it is
    assert seen.problems == []
    assert seen.outside() == []
    page.context.close()


def test_questions_are_met_with_reasons(browser, file):
    seen = opened(browser, file)
    page = seen.page
    number, choice, point = (page.locator(".question").nth(k) for k in range(3))
    typed, says = number.get_by_role("textbox"), number.locator(REPLY)
    assert says.get_attribute("role") == "status"
    for given, reply in (
        ("two", "That is not a number"), ("11 nats", "That is beside, not plus."), ("5", "Too large"),
        ("−1", "Too small"), ("2,05", "One and one."),
    ):  # fmt: skip
        typed.fill(given)
        typed.press("Enter")
        says.get_by_text(reply).wait_for()
    assert "Right." in says.inner_text()
    assert number.get_by_role("button").count() == 0  # it stays so

    choice.get_by_role("button", name="Check").click()
    choice.get_by_text("Choose one").wait_for()
    choice.get_by_role("radio", name="that").check()
    choice.get_by_role("button", name="Check").click()
    choice.get_by_text("That is another one.").wait_for()
    assert "It is this one." not in choice.inner_text()
    choice.get_by_role("button", name="Show the answer").click()
    choice.get_by_text("It is this one.").wait_for()
    assert choice.get_by_role("radio", name="this").is_checked()
    assert page.evaluate("() => document.activeElement.type") == "radio"

    cell = point.get_by_role("button", name="one left 1")
    cell.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    point.get_by_text("Not there.").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    point.locator(REPLY, has_text="Right.").get_by_text("There.", exact=True).wait_for()
    page.get_by_text("What to look for").click()
    page.get_by_text("another seed").wait_for()

    page.emulate_media(media="print")  # the text alone, and nothing that tells
    for what in (".lab", ".reply", ".lesson nav", "details.code"):
        assert not page.locator(what).first.is_visible(), what
    assert page.get_by_text("A first text").is_visible()
    assert page.evaluate("() => getComputedStyle(document.querySelector('.question')).breakInside") == "avoid"
    pdf = page.pdf(prefer_css_page_size=True)
    assert b"/MediaBox [0 0 594.9" in pdf or b"/MediaBox [0 0 595" in pdf  # A4
    assert seen.problems == []
    page.context.close()


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("contrast", 1024), ("dark", 320), ("light", 320)])
def test_axe_finds_nothing_in_any_theme_and_width(browser, file, theme, width):
    seen = opened(browser, file, f"#v1&theme={theme}", width)
    page = seen.page
    page.get_by_role("button", name="Show the answer").first.click()
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    assert found_by_axe(page) == []
    if width == 320:
        assert page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0
    if (theme, width) == ("light", 320):
        assert not page.locator("section.clock").is_visible()  # it lies behind the text
        see = page.get_by_role("button", name="See it in the model").first
        see.click()
        page.locator("p.step", has_text="step 40").wait_for()
        assert found_by_axe(page) == []
        assert page.locator("#lab").evaluate("each => each.scrollWidth - each.clientWidth") <= 0
        assert page.evaluate("() => document.activeElement.id") == "back-to-text"
        page.keyboard.press("Escape")
        page.locator("section.clock").wait_for(state="hidden")
        assert see.evaluate("each => each === document.activeElement")
    assert seen.problems == []
    assert seen.outside() == []
    page.context.close()


def test_keys_turn_the_steps_of_the_lesson(browser, file):
    seen = opened(browser, file, reduced_motion="reduce")
    page = seen.page
    for key, heading in (("n", "One and one"), ("n", "The model"), ("b", "One and one")):
        page.keyboard.press(key)
        page.locator("h2:focus", has_text=heading).wait_for()
        page.locator("nav [aria-current=step]").and_(page.get_by_label(heading)).wait_for()
    page.keyboard.press("Home")  # in the text it scrolls, and leaves the clock alone
    page.locator("nav [aria-current=step]").and_(page.get_by_label("Beginning")).wait_for()
    assert page.locator("p.step").inner_text().startswith("step 300")
    page.context.close()
    page = opened(browser, file, "#v1&view=projector", 1920, 1080, reduced_motion="reduce").page
    for _ in range(12):  # a remote has one key, and reaches the end with it
        page.keyboard.press("PageDown")
        page.wait_for_timeout(60)
    assert page.locator(f"{LOOKS}.current").get_attribute("data-look") == "1"
    assert page.locator("nav [aria-current=step]").get_attribute("aria-label").endswith("What many think")
    page.context.close()
