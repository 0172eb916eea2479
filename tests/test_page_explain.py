"""The card of a number: by keyboard from attention down to a token and back, with the numbers that Python has."""

import re
from pathlib import Path

import numpy as np
import pytest

from browsing import browsing, found_by_axe
from glassformer.analyses._operands import written
from glassformer.analyses.decide.operands import operands
from page_reports import report_of, visit
from small_runs import NAN, POPULATION, run_of

DIGITS = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")
BACK = ("scores", "query", "normed_1", "embedded", "token_embedding", "token")  # from attention, one operand each


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(browser) -> Path:  # noqa: ARG001 - without a browser no report is needed
    return report_of("plus_last_even")


def number(text: str) -> tuple[float, float]:
    """A printed number, and one unit of its last digit."""
    form = re.fullmatch(r"([−]?)(\d+)(?:\.(\d+))?(?:·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text.strip())
    assert form, text
    power = int((form[4] or "0").translate(DIGITS)) - len(form[3] or "")
    return (-1 if form[1] else 1) * int(form[2] + (form[3] or "")) * 10.0**power, 10.0**power


def opened(browser, report: Path, cell: str, more: str = "", **options):
    seen = visit(browser, report, f"#v1&cell={cell}{more}", **options)
    seen.page.locator(".explaining p.value, .explaining [role=alert]").first.wait_for()
    return seen


def terms(page) -> tuple[list[float], float, float]:
    """The printed terms of how a number is made, what they are printed to sum to, and the unit of the last digit."""
    aspect = page.locator(".explaining .aspect").first
    table, folded = aspect.locator("table.terms"), aspect.locator("button.all[aria-expanded=false]")
    if folded.count():
        folded.click()
    rows = [number(text) for text in table.locator("tbody td.adds").all_inner_texts()]
    total, unit = number(table.locator("tfoot td.adds").inner_text())
    return [value for value, _ in rows], total, unit


def test_a_walk_by_keyboard_from_attention_to_a_token_and_back(browser, report):
    seen = visit(browser, report)
    page = seen.page
    run = run_of("plus_last_even")
    panel = page.locator("section.panel", has=page.get_by_role("heading", name="Who looks at whom"))
    cells, spoken = panel.locator(".cells"), panel.locator("p.spoken")
    cells.focus()
    for key in ("End", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    said = spoken.inner_text()
    page.keyboard.press("Enter")
    card = page.get_by_role("region", name=re.compile("share of its attention"))
    card.wait_for()
    page.wait_for_url("**cell=attention%5B0*")
    way = []
    for point in BACK:
        page.locator(".explaining h2:focus").wait_for()  # a new card is where the keyboard goes on
        way.append(page.locator(".explaining h2").get_attribute("aria-label"))
        to = page.locator(".explaining .aspect").first.locator(f"button.factor[data-name='{point}']").first
        for _ in range(30):
            page.keyboard.press("Tab")
            if to.evaluate("element => element === document.activeElement"):
                break
        page.keyboard.press("Enter")
        page.locator(f".explaining[data-name='{point}']").wait_for()
    tokens = run.trace().tokens
    position = int(page.locator(".explaining h2").inner_text().rsplit(" ", 1)[1])
    assert f"number {tokens[position]} of the vocabulary" in page.locator(".explaining p.value").inner_text()
    assert page.locator(".explaining p.value > b").inner_text() == run.task.vocabulary[tokens[position]]
    for label in reversed(way):
        page.keyboard.press("Backspace")
        page.locator(f".explaining h2[aria-label='{label}']").wait_for()
    page.keyboard.press("Escape")
    card.wait_for(state="detached")
    assert cells.evaluate("element => element === document.activeElement")
    assert spoken.inner_text() == said
    assert seen.problems == []
    page.context.close()


@pytest.mark.parametrize(
    ("name", "member", "points"),
    [
        ("plus_last_even", 0, None),
        (POPULATION, 2, ("query", "final")),
        ("five_operations", 0, ("embedded", "normed_1", "attention", "attended", "hidden", "logits")),
    ],
)
def test_cards_have_the_numbers_of_python(browser, name, member, points):
    """Of every kind of operation: the printed terms are those of `operands`, and sum to the printed value."""
    run = run_of(name)
    page = opened(browser, report_of(name), "token[0]").page
    trace = run.trace(member=member)
    rng = np.random.default_rng(5)
    for point in points or trace:
        index = tuple(int(rng.integers(0, size)) for size in trace[point].shape)
        if point == "attention" and run.architecture.causal:
            index = (*index[:2], max(index[2:]), min(index[2:]))
        found = operands(run, value=written(point, index), member=member)
        page.evaluate(f"() => void (location.hash = '#v1&member={member}&cell={point}[{', '.join(map(str, index))}]')")
        page.locator(f".explaining[data-name='{point}'][data-index='{','.join(map(str, index))}']").wait_for()
        value, unit = number(page.locator(".explaining p.value > b").inner_text())
        assert abs(value - found.value) <= 0.51 * unit + 1e-6 * abs(value), point
        adding = [term.contribution for term in found.terms if term.contribution is not None]
        if found.operation == "softmax":
            shown, total, unit = terms(page)
            assert abs(sum(shown) - total) < 0.1 * unit
            own, _ = number(page.locator(".explaining tr.itself td.adds").inner_text())
            assert abs(own / total - found.value) < 2 * unit / total
        elif adding:
            shown, total, unit = terms(page)
            assert abs(sum(shown) - total) < 0.1 * unit, point
            assert abs(total - found.value) <= 0.51 * unit + 1e-6 * abs(total)
            assert len(shown) == len(adding)
            assert max(abs(one - each) for one, each in zip(shown, adding, strict=True)) <= 1.01 * unit, point
    page.context.close()


def test_the_gradient_is_what_a_small_change_does(browser, report):
    """The card's gradient of the loss against Python's own losses, with one score pushed up and down."""
    run = run_of("plus_last_even")
    page = opened(browser, report, "scores[0, 0, 2, 1]").page
    part = page.locator(".explaining .aspect").nth(1)
    gradient, unit = number(part.locator("tfoot td.adds").inner_text())
    shown = [number(text)[0] for text in part.locator("tbody td.adds").all_inner_texts()]
    assert abs(sum(shown) - gradient) < 0.1 * unit

    def loss(push: float) -> float:
        where = "block=0, head=0, query_position=2, key_position=1"
        trace = run.trace(edits=f"add(scores, {push}, {where})")
        chances, tokens = trace["probabilities"].astype(np.float64), trace.tokens
        places = range(run.task.skip, len(tokens) - 1)
        return -float(np.mean([np.log(chances[k, tokens[k + 1]]) for k in places]))

    slope = (loss(0.05) - loss(-0.05)) / 0.1
    assert "own next tokens" in part.inner_text()
    assert abs(gradient - slope) < 2 * unit + 0.02 * abs(slope)
    page.context.close()


def test_a_cell_that_a_shorter_input_lacks_is_answered_with_a_sentence(browser, report):
    seen = opened(browser, report, "scores[0, 0, 7, 1]", "&toward=logit 7 1")
    seen.page.get_by_label("your input").fill("4 9 +")
    problem = seen.page.locator(".explaining [role=alert]")
    problem.wait_for()
    assert problem.inner_text() == "query_position = '7' of scores is not between 0 and 2"
    seen.page.get_by_role("button", name="Close the explanation").click()
    seen.page.locator(".explaining").wait_for(state="detached")
    assert seen.problems == []
    seen.page.context.close()


def test_an_edit_is_told_and_what_was_stands_beside(browser, report):
    run = run_of("plus_last_even")
    page = opened(browser, report, "scores[0, 0, 3, 1]", "&edits=scale(scores, 0.5)").page
    card = page.locator(".explaining")
    card.locator(".edited").wait_for()
    true = float(run.trace()["scores"][0, 0, 3, 1])
    value, unit = number(card.locator("p.value > b").inner_text())
    assert abs(value - true / 2) <= 0.51 * unit + 1e-6
    assert "scale(scores, 0.5)" in card.locator(".edited").inner_text()
    untouched, unit = number(card.locator(".untouched").inner_text().removeprefix("untouched "))
    assert abs(untouched - true) <= 0.51 * unit + 1e-6
    total, unit = number(card.locator(".aspect").first.locator("tfoot td.adds").inner_text())
    assert abs(total - true) <= 0.51 * unit + 1e-6  # the terms give what was computed, before the edit
    page.context.close()


def test_what_is_not_a_number_is_said(browser):
    page = opened(browser, report_of(NAN), "logits[2, 1]").page
    assert page.locator(".explaining p.value").inner_text() == "not a number"
    assert "diverged" in page.locator(".explaining").inner_text()
    page.context.close()


@pytest.mark.parametrize(
    ("width", "theme", "lang"), [(1440, "light", "en"), (1024, "dark", "de"), (320, "contrast", "en")]
)
def test_the_card_leaves_the_panels_in_view_and_axe_content(browser, report, width, theme, lang):
    seen = opened(browser, report, "blocks.0.query[1, 0]", f"&theme={theme}&lang={lang}", width=width)
    page = seen.page
    card, panels = page.locator(".explaining").bounding_box(), page.locator("main").bounding_box()
    if width >= 1100:
        assert card["x"] >= panels["x"] + panels["width"] - 1
    else:
        assert card["height"] < 0.7 * 900
    page.locator(".explaining [role=slider]").wait_for()
    assert page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0
    assert found_by_axe(page) == []
    assert seen.problems == []
    page.context.close()
