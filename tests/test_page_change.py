"""Change and compare, as a student would: cut, see, switch off, undo, drag, compare, and find it all again in the link.

Every number is held against Python's own edited model.
"""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import pytest

from browsing import browsing
from glassformer import reference
from glassformer.architecture import nest
from glassformer.report.training_data import arrays
from page_reports import report_of, visit
from small_runs import POPULATION, run_of

RULE = "plus_last_even"
TEXT = "4 9 + 4 10 7 +"
CUT = "zero(mixed, block=0, head=0)"
NEAR = 2e-5  # 1e-5, and what is lost in six printed digits
REST = 500  # milliseconds after which a page that nobody touches has come to rest, and its address with it


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(browser) -> Path:  # noqa: ARG001 - without a browser no report is needed
    return report_of(RULE, POPULATION)


@pytest.fixture
def opened(browser, report):
    """Opens a link in a new page; what any of them complained of fails the test."""
    pages = []

    def open_(**fields):
        seen = visit(browser, report, hash_of(**({"input": TEXT} | fields)))
        pages.append(seen)
        return seen.page

    yield open_
    for seen in pages:
        assert seen.problems == []
        seen.page.context.close()


def hash_of(**fields) -> str:
    return "&".join(["#v1", *(f"{name}={quote(str(value))}" for name, value in fields.items())])


def link_of(page) -> dict[str, str]:
    page.wait_for_timeout(REST)
    return dict(part.split("=", 1) for part in unquote(page.evaluate("() => location.hash")).split("&")[1:])


def chances(page, which: int = 0) -> dict[str, float]:
    """What the bars say comes next, in per cent; 1 % and less may stand for anything below it."""
    said = page.locator("figure svg[role=img]").nth(which).get_attribute("aria-label")
    return {part.split()[0]: float(part.split()[1].strip("<>%")) / 100 for part in said.split("; ")}


def same(shown: dict[str, float], truth) -> None:
    for token, chance in truth:
        assert abs(shown[token] - chance) <= 0.0101, (token, shown[token], chance)


def table(part, width: int) -> np.ndarray:
    """The last so many columns of a panel's table."""
    if not part.locator("table").count():
        part.get_by_role("button", name=re.compile("table and more")).click()
        part.get_by_role("button", name="table", exact=True).click()
    part.locator("tbody td").first.wait_for()
    return np.array([row.split("\t")[-width:] for row in part.locator("tbody tr").all_inner_texts()], float)


def alone(page):
    """The only panel that is shown."""
    return page.locator("section.panel")


def test_a_student_cuts_the_head_and_brings_it_back(opened):
    run = run_of(RULE)
    page = opened(mode="change")
    same(chances(page), run.ask(TEXT))
    button = page.get_by_role("button", name="cut the head")
    button.click()
    row = page.get_by_role("checkbox", name="zero · mixed · block 0 · head 0")
    row.wait_for()
    page.get_by_text(re.compile("untouched: ")).wait_for()
    same(chances(page), run.ask(TEXT, edits=CUT))
    assert link_of(page)["edits"] == CUT
    row.uncheck()
    page.get_by_text(re.compile("untouched: ")).wait_for(state="detached")
    same(chances(page), run.ask(TEXT))
    assert link_of(page) == {"input": TEXT, "mode": "change", "edits": CUT, "off": "0"}
    page.get_by_role("button", name="undo").click()
    assert "off" not in link_of(page)
    page.get_by_role("button", name="undo").click()
    assert "edits" not in link_of(page)
    assert page.get_by_role("checkbox", name=re.compile("zero")).count() == 0


def test_a_bad_edit_is_answered_at_its_field(opened):
    page = opened(mode="change")
    field = page.get_by_label("The change as it is written")
    for text, sentence in {
        "zero(mixd)": "nothing called 'mixd' in the points (did you mean mixed?)",
        "zero(mixed, head=3)": "zero(mixed, head=3): this model has no head 3; there is only 0",
        "scale(fed)": "scale needs a number after the point, as in scale(fed, 0.5)",
        'patch(out, from="4 9")': "its text has 2 tokens and this input 7; a patch needs as many",
        'patch(out, run="nowhere")': "there is no run nowhere in this file; there are: plus_last_even, population",
        "weights.token[40, 0]=1": "token[40, 0] is not a place of token, which is 12 × 2; places count from 0",
    }.items():
        field.fill(text)
        field.press("Enter")
        assert sentence in page.get_by_role("alert").inner_text()
        assert field.get_attribute("aria-invalid") == "true"
    assert page.get_by_role("alert").get_attribute("id") == field.get_attribute("aria-describedby")
    field.fill("scale(fed, 0.5)")
    field.press("Enter")
    page.get_by_role("checkbox", name="scale · fed · × 0.5").wait_for()
    assert page.get_by_role("alert").count() == 0
    assert page.get_by_label("The change as it is written").input_value() == "scale(fed, 0.5)"


def test_edited_numbers_are_pythons(opened, monkeypatch):
    run = run_of(RULE)
    monkeypatch.setattr("glassformer.run.find", lambda name: run_of(POPULATION))  # noqa: ARG005 - found by its folder
    page = opened(panel="attention")
    for edits, step in {
        CUT: 200,
        'patch(embedded, from="10 3 + 8 1 + 2", position=2-5); add(scores, 1.5, key_position=0)': 300,
        "patch(query, step=40); mean(value); set(attention, 0.25, query_position=5)": 40,
        'patch(key, run="population", member=2)': 300,
    }.items():
        page.evaluate("link => (location.hash = link)", hash_of(input=TEXT, panel="attention", edits=edits, step=step))
        page.get_by_role("group", name=f"{edits.count(';') + 1} change").wait_for()
        for off in (0, 1):
            if off:
                page.get_by_role("checkbox").first.uncheck()
            page.wait_for_timeout(REST)
            wanted = run.trace(TEXT, step=step, edits=edits.split("; ")[off:])["attention"][0, 0]
            assert np.abs(table(alone(page), len(wanted)) - wanted).max() < NEAR, (edits, off)


def test_scaling_by_one_and_patching_from_itself_change_nothing(opened):
    page = opened(panel="attention")
    plain = table(alone(page), 7)
    edits = f'scale(query, 1); patch(key, from="{TEXT}"); patch(embedded, step=300); scale(attention, 1)'
    page.evaluate("link => (location.hash = link)", hash_of(input=TEXT, panel="attention", edits=edits))
    page.get_by_role("group", name="4 changes in force").wait_for()
    page.wait_for_timeout(REST)
    np.testing.assert_array_equal(table(alone(page), 7), plain)


def judged(run, edits: str) -> tuple[float, float]:
    """Loss and rule error of an edited model on the windows that the report holds."""
    known = {name.removeprefix("validation."): value for name, value in arrays(run).items() if "validation." in name}
    windows = known["windows"]
    seen = run.trace(windows[:, :-1], edits=edits or None)["logits"].astype(float)
    costs = reference.log_softmax(seen)
    loss = -np.take_along_axis(costs, windows[:, 1:, None], axis=-1).mean()
    right = np.take_along_axis(known["allowed"], seen.argmax(-1)[..., None], axis=-1)[..., 0]
    return float(loss), float(1 - right[known["answerable"] == 1].mean())


def test_the_rule_error_stands_beside_the_untouched_one(opened):
    run, edits = run_of(RULE), "zero(attended); scale(fed, 1.5)"
    page = opened(mode="change", edits=edits)
    numbers = page.locator(".effect td.edited").first
    page.wait_for_timeout(REST)
    numbers.filter(has_text=re.compile(r"\d")).wait_for()
    shown = page.locator(".effect td").all_inner_texts()
    (loss, error), (loss_before, error_before) = judged(run, edits), judged(run, "")
    for text, wanted in ((shown[0], loss), (shown[1], loss_before)):
        assert abs(float(text) - wanted) <= 0.00051
    for text, wanted in ((shown[2], error), (shown[3], error_before)):
        assert abs(float(text.strip("<> %")) / 100 - wanted) <= 0.0051


def test_at_every_step_finds_where_the_edit_matters_most(opened):
    run = run_of(RULE)
    page = opened(mode="change", edits=CUT)
    page.get_by_role("button", name="chance of a right answer").click()
    jump = page.get_by_role("button", name=re.compile("largest difference"))
    jump.wait_for()
    both = [
        [dict(run.ask(TEXT, step=step, edits=edits))["10"] for edits in (CUT, None)] for step in map(int, run.steps)
    ]
    step = int(run.steps[np.abs(np.diff(both)).argmax()])
    jump.click()
    assert link_of(page)["step"] == str(step)
    assert link_of(page)["along"] == "chance"
    a, b = (f"{chance:.0%}".replace("%", " %") for chance in both[list(run.steps).index(step)])
    assert f"differ most at step {step}: {a} and {b}." in page.locator(".curve svg").get_attribute("aria-label")


def test_an_embedding_is_moved_by_pointer_and_by_keyboard(opened):
    run = run_of(RULE)
    page = opened(mode="change")
    plane = page.locator("[aria-labelledby=panel-embedding-a] .points")
    plane.focus()
    for key in ("End", "ArrowLeft"):  # the last word of the vocabulary but one: 10
        page.keyboard.press(key)
    box = page.locator("[aria-labelledby=panel-embedding-a] circle.cursor").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y - 20, steps=3)
    page.mouse.move(x + 60, y - 45, steps=3)
    page.mouse.up()
    page.get_by_role("checkbox", name=re.compile("token 10 · feature 0 = ")).wait_for()
    moved = [float(value) for value in re.findall(r"(-?[\d.]+)[,\]]", link_of(page)["weights"].partition("=")[2])]
    before = run.weights()["token"][10]
    scale = (moved[0] - before[0]) / 60  # features in a pixel
    assert scale > 0
    assert abs((moved[1] - before[1]) / 45 - scale) < 0.02 * scale
    page.get_by_role("button", name="undo").click()  # the whole drag is one change
    assert "weights" not in link_of(page)
    page.get_by_label("Kind of change").select_option("move")
    page.locator(".sentence").get_by_label("token").select_option("10")
    page.get_by_role("spinbutton", name="feature 0").fill("1.25")
    page.keyboard.press("Tab")
    page.get_by_role("spinbutton", name="feature 1").fill("-2")
    page.keyboard.press("Tab")
    assert link_of(page)["weights"] == "weights.token[10]=[1.25, -2]"
    weights = {name: array.copy() for name, array in run.weights().items()}
    weights["token"][10] = 1.25, -2
    logits, _ = reference.forward(nest(weights), run.tokens(TEXT), run.architecture)
    wanted = np.exp(reference.log_softmax(logits[-1]))
    same(chances(page), zip(run.task.vocabulary, wanted, strict=True))


def test_what_is_copied_gives_the_same_numbers_elsewhere(opened):
    run, cut = run_of(RULE), "scale · fed · × 0.5"
    page = opened(mode="change", edits="scale(fed, 0.5)", weights="weights.token[10]=[1.25, -2]", step=200)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    def copied(name: str) -> str:
        page.get_by_role("button", name=name, exact=True).click()
        return page.evaluate("() => navigator.clipboard.readText()")

    assert copied(f"Copy as Python: {cut}") == f'run.trace("{TEXT}", step=200, edits="scale(fed, 0.5)")'
    assert copied(f"Copy as --edit of the command line: {cut}") == "--edit 'scale(fed, 0.5)'"
    lines = copied("Copy as Python: All 2 together")
    script = f"import glassformer as gf\nrun = gf.open({str(run.path)!r})\n{lines}\nprint(*trace['probabilities'][-1])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    same(chances(page), zip(run.task.vocabulary, map(float, told.split()), strict=True))


def test_two_steps_are_compared_swapped_and_found_again(opened):
    run = run_of(RULE)
    page = opened(mode="compare", b="step:40", step=200, along="apart")
    page.locator("[aria-labelledby=panel-attention-difference]").wait_for()
    same(chances(page), run.ask(TEXT, step=200))
    same(chances(page, 1), run.ask(TEXT, step=40))
    a, b = (run.trace(TEXT, step=step)["attention"][0, 0] for step in (200, 40))
    shown = table(page.locator("[aria-labelledby=panel-attention-difference]"), len(a))
    assert np.abs(shown - (a - b)).max() < NEAR
    page.get_by_role("button", name="swap A and B").click()
    link = link_of(page)
    assert (link["step"], link["b"]) == ("40", "step:200")
    same(chances(page), run.ask(TEXT, step=40))
    page.get_by_label("one clock for both").check()
    away = int(link_of(page)["b"].removeprefix("back:"))
    steps = list(run.steps)
    assert away == steps.index(40) - steps.index(200)
    page.get_by_role("button", name=re.compile("largest difference")).wait_for()
    again = opened(**link_of(page))
    again.locator("[aria-labelledby=panel-attention-difference]").wait_for()
    same(chances(again), run.ask(TEXT, step=40))
    same(chances(again, 1), run.ask(TEXT, step=200))
    assert link_of(again) == link_of(page)


def test_runs_members_and_inputs_are_compared(opened):
    population = run_of(POPULATION)
    page = opened(run="population", mode="compare", b="member:2", step=60)
    page.locator("[aria-labelledby=panel-attention-difference]").wait_for()
    same(chances(page, 1), population.ask(TEXT, step=60, member=2))
    page.get_by_role("button", name=re.compile(r"Open member 1 \(seed")).click()
    page.wait_for_timeout(REST)
    same(chances(page), population.ask(TEXT, step=60, member=1))
    page.get_by_role("button", name="the run").click()
    page.get_by_label("B is run").wait_for()
    page.wait_for_timeout(REST)
    same(chances(page, 1), run_of(RULE).ask(TEXT, step=300))  # A is at its last step, and so is B
    page.get_by_role("button", name="the input").click()
    page.get_by_label("B's input").fill("4 9 + 2")
    page.get_by_text("A and B have different shapes").wait_for()
    same(chances(page, 1), population.ask("4 9 + 2", step=60, member=1))
    page.get_by_label("B's input").fill("4 blue")
    assert "'blue'" in page.get_by_role("alert").inner_text()
    assert link_of(page)["b"] == "input:4 blue"
