"""A run's page in a notebook: the frame holds exactly the page, opens where it was asked to, and is shut off."""

import html
import re
import sys
from pathlib import Path

import pytest

import glassformer as gf
import hand_wired
from browsing import Watched, browsing
from glassformer import frame
from glassformer.report import filling
from glassformer.report import link as links
from small_runs import run_of

RUN, TEXT = "plus_last_even", "10 + 10 6 +"
FRAME = re.compile(
    r'<iframe sandbox="([^"]*)" allow="([^"]*)" title="([^"]*)" style="([^"]*)" srcdoc="([^"]*)"></iframe>'
)
STUB = """<!doctype html><title>x</title><p>waits</p><script>
  const shown = document.querySelector("p");
  addEventListener("message", ({ data }) => { shown.textContent = data.link; });
  addEventListener("click", () => parent.postMessage({ glassformer: "link", link: "#v1&step=7" }, "*"));
  setTimeout(() => parent.postMessage({ glassformer: "link", link: "#v1" }, "*"), 300);
</script>"""


@pytest.fixture
def built(monkeypatch):
    """A page that is quickly filled."""
    page = f"<html><head>{filling.POLICY}{filling.TITLE}</head><body>{filling.DATA}</body></html>"
    monkeypatch.setattr(filling, "template", lambda: page)
    monkeypatch.setattr(filling, "further", list)
    monkeypatch.setattr(filling, "_second", bytes)


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


@pytest.mark.usefixtures("built")
def test_a_run_shows_itself_as_its_page_and_nothing_of_it_gets_out_of_the_frame(tmp_path):
    run = hand_wired.previous_token(tmp_path / "wired")
    shown = run._repr_html_()
    sandbox, _, title, style, inside = FRAME.search(shown).groups()
    assert set(sandbox.split()) == {"allow-scripts", "allow-downloads"}
    assert title == run.name
    assert "height:900px" in style
    assert html.unescape(inside) == run.page().html
    assert inside.isascii()  # so that the page around it cannot change it, whatever its encoding
    assert f"<th>experiment</th><td>{run.experiment.name}</td>" in shown.partition("<iframe")[0]
    assert shown.count("<script") == 0


@pytest.mark.usefixtures("built")
def test_a_page_opens_where_it_was_asked_to_and_is_saved_whole(tmp_path, monkeypatch):
    run, edit = hand_wired.previous_token(tmp_path / "wired"), "zero(mixed, head=0)"
    text = run.task.showcase[0]
    page = run.page(step=0, input=text, edits=edit, mode="change", height=400)
    assert links.fields(page.link) == {"step": "0", "mode": "change", "input": text, "edits": edit}
    assert run.edited(edit).page(step=0, input=text, mode="change").link == page.link
    assert run.page().link == ""
    assert "height:400px" in page._repr_html_()
    path = page.save(tmp_path / "x.html")
    assert path.read_text("utf-8") == page.html  # one step, so that a cell holds them all
    assert page.save(tmp_path / "x.html") == path
    with pytest.raises(gf.Error, match="is there already and is not this report"):
        run.page().save(tmp_path / "x.html")
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr("glassformer.terminal.show_page", opened.append)
    assert page.show() == Path("reports", f"{run.name}.html") == opened[0]
    assert opened[0].read_bytes() == path.read_bytes()


@pytest.mark.usefixtures("built")
def test_a_cell_holds_fewer_steps_than_a_file_and_always_the_one_asked_for(monkeypatch):
    run = run_of(RUN)
    monkeypatch.setattr(frame, "STEPS", 3)
    step = int(run.steps[len(run.steps) // 2])
    made = run.page(step=step)._made(frame.STEPS, frame.SIZE)
    assert len(made.runs[0].steps) == 3 < len(run.steps)
    assert step in made.runs[0].steps


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"step": 10**7}, "step 10000000 .* was not kept"),
        ({"mode": "wach"}, "did you mean watch"),
        ({"input": "4 banana"}, "banana"),
        ({"edits": "zero(nothing)"}, "nothing"),
        ({"height": 3}, "height = 3 is not a whole number between 200 and 10,000"),
        ({"member": 5}, "no member 5"),
        ({"hide": "everything"}, "everything"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(asked, said):
    with pytest.raises(gf.Error, match=said):
        run_of(RUN).page(**asked)


def test_without_the_built_page_the_summary_is_shown_and_why(monkeypatch):
    def missing():
        raise gf.Error("the page that a report is made of is not built <b>")

    monkeypatch.setattr(filling, "template", missing)
    shown = run_of(RUN)._repr_html_()
    assert "<td>plus_last_even</td>" in shown
    assert "is not built &lt;b&gt;" in shown
    assert "<iframe" not in shown


@pytest.mark.usefixtures("built")
def test_without_anywidget_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(gf.Error, match=r"needs anywidget; `pip install 'glassformer\[notebook\]'` brings it"):
        run_of(RUN).widget()


@pytest.mark.usefixtures("built")
def test_a_widget_s_link_and_its_fields_are_one():
    pytest.importorskip("anywidget", reason="no anywidget; `pip install anywidget` brings it")
    made = run_of(RUN).widget(input=TEXT)
    assert (made.step, made.input, made.edits) == (-1, TEXT, "")
    made.step = 300
    assert links.fields(made.link) == {"input": TEXT, "step": "300"}
    made.link = "#v1&step=5&edits=zero(mixed)&theme=dark"
    assert (made.step, made.input, made.edits) == (5, "", "zero(mixed)")
    made.step = -1
    assert links.fields(made.link) == {"edits": "zero(mixed)", "theme": "dark"}
    made.link = "#v1&step=nonsense"
    assert made.step == -1


@pytest.mark.parametrize("text", ["", TEXT, "ä → 50 %&=#", "a+b c"])
def test_a_link_is_read_as_it_was_written(text):
    assert links.fields(links.link(input=text, step=5)) == {"step": "5", **({"input": text} if text else {})}
    assert links.fields("#v0&step=5") == links.fields("") == {}


def test_in_a_browser_the_frame_opens_the_page_without_complaint_or_network(browser, tmp_path):
    step = int(run_of(RUN).steps[1])
    shown = run_of(RUN).page(step=step, input=TEXT)._repr_html_()
    (tmp_path / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{shown}", encoding="utf-8")
    watched = Watched(browser.new_page())
    watched.page.goto((tmp_path / "cell.html").as_uri())
    inside = watched.page.frame_locator("iframe")
    assert inside.get_by_role("slider").first.get_attribute("aria-valuetext").startswith(f"step {step},")
    assert inside.locator("section.ask input").first.input_value() == TEXT
    assert watched.problems == []
    assert watched.outside() == []
    watched.page.close()


def test_in_a_browser_the_widget_s_link_goes_both_ways(browser):
    """A stand-in for the page, and for the model of a notebook; a link asked for before the page was there is kept."""
    source = (Path(gf.__file__).parent / "web" / "widget.js").read_text("utf-8")
    page = browser.new_page()
    page.set_content("<main></main>")
    page.evaluate(
        """([source, stub]) => {
          const held = { page: stub, link: "", height: 300, title: "x", sandbox: "allow-scripts" };
          const heard = [];
          window.saved = [];
          window.ask = (link) => { held.link = link; heard.forEach((each) => each()); };
          const model = {
            get: (name) => held[name], set: (name, value) => { held[name] = value; }, off: () => {},
            on: (_, each) => heard.push(each), save_changes: () => saved.push(held.link),
          };
          const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
          const el = document.querySelector("main");
          return import(address).then((made) => { made.default.render({ model, el }); });
        }""",
        [source, STUB],
    )
    page.evaluate("ask('#v1&step=1')")
    inside = page.frame_locator("iframe")
    inside.get_by_text("#v1&step=1", exact=True).wait_for()
    page.evaluate("ask('#v1&step=2')")
    inside.get_by_text("#v1&step=2", exact=True).wait_for()
    assert page.evaluate("saved") == []
    inside.locator("p").click()
    page.wait_for_function("saved.length")
    assert page.evaluate("saved") == ["#v1&step=7"]
    page.close()
