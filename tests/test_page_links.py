"""Links are data: for each value that the page does not know it shows one sentence and uses the default.

Links are also mutated with a seed and opened one after the other; GLASSFORMER_FUZZ=20 tries twenty times as many.
"""

import os
import random
import re
from urllib.parse import quote, unquote

import pytest

from browsing import browsing
from page_reports import report_of, visit
from small_runs import POPULATION
from test_fixtures import LINKS
from test_page_hostile import INJECTED, RAW, TAG

TIMES = int(os.environ.get("GLASSFORMER_FUZZ", "1"))
BEYOND = {  # one value for each field that looks like one of its own
    "run": "here-3", "member": "1", "step": "301", "mode": "fly", "input": "10 + blue", "position": "8", "block": "1",
    "head": "99", "neuron": "1000000000", "answer": "12", "tensor": "blocks.1.query", "point": "middle 1",
    "analysis": "timeline", "temperature": "1e999", "edits": "zero(mixed, head=1)", "off": "7",
    "weights": "weights.token[0, 0]=1e999", "cell": f"scores[{', '.join('0' * 400)}]", "toward": "logit 99 0",
    "ask": "loss:2", "b": "run:nobody", "along": "luck", "atlas": "map", "train": "seed:1e99", "panel": "lengths",
    "panels": "lengths", "hide": "everything", "keys": "on", "view": "cinema", "theme": "neon", "lang": "fr",
}  # fmt: skip
FOREIGN = [TAG, "__proto__", "\u202enoitisop\u2066", "x" * 500, "-7"]
REST = 300  # milliseconds in which the page writes its address


@pytest.fixture(scope="module")
def seen():
    with browsing() as browser:
        watched = visit(browser, report_of("plus_last_even", POPULATION))
        watched.dialogs = []
        watched.page.on("dialog", lambda dialog: (watched.dialogs.append(dialog.message), dialog.dismiss()))
        yield watched


def sentences(seen) -> list[str]:
    return [text.removesuffix("×").strip() for text in seen.page.locator("ul[role=status] li").all_inner_texts()]


def open_link(seen, fields: dict[str, str], expected: str = "#v1") -> list[str]:
    """The sentences for a link once the address is the expected one; nothing else may be wrong with the page."""
    link = "&".join(["#v1", *(f"{name}={quote(value, safe='')}" for name, value in fields.items())])
    seen.page.evaluate("link => { location.hash = link }", link)
    if unquote(link) == expected:
        seen.page.wait_for_timeout(REST)
    seen.page.wait_for_function("link => decodeURIComponent(location.hash) === link", arg=expected)
    assert (seen.problems, seen.dialogs, seen.page.evaluate(INJECTED)) == ([], [], 0), link
    return sentences(seen)


def groups(values: dict[str, str], many: int = 5) -> list[dict[str, str]]:
    """As many fields at a time as the page has sentences for."""
    pairs = list(values.items())
    return [dict(pairs[k : k + many]) for k in range(0, len(pairs), many)]


@pytest.mark.parametrize("value", [None, *FOREIGN], ids=["beyond", "tag", "prototype", "bidi", "long", "negative"])
def test_each_unknown_value_gets_one_sentence_and_the_default(seen, value):
    for fields in groups({name: own if value is None else value for name, own in BEYOND.items()}):
        found = open_link(seen, fields)
        assert sorted(each.split(" = “")[0] for each in found) == sorted(fields), fields
        for each in found:
            assert re.search(r" in the link is not used: .+\.$", each), each
            assert not set(RAW) & set(each)
        assert seen.page.locator("section.panel").count() == 4, fields  # as on a page that nobody has touched
        assert seen.page.get_by_role("button", name="Watch", pressed=True).count() == 1


def test_the_rest_of_the_link_and_of_its_lists_is_used(seen):
    fields = {
        "mode": "change", "step": "200", "panels": "output,lengths,attention", "hide": "speed,everything",
        "edits": "zoom(out); zero(out); mean(fed)", "off": "1", "weights": "token[0, 0]=2; token[0, 9]=1", "moon": "1",
    }  # fmt: skip
    expected = (
        "#v1&step=200&mode=change&edits=zero(out); mean(fed)&off=0&weights=weights.token[0, 0]=2"
        "&panels=output,attention&hide=speed&moon=1"
    )
    found = open_link(seen, fields, expected)
    assert [each.split(" in the link")[0] for each in found] == [
        "hide = “everything”", "The link has “moon”, which this page does not know; it is kept.",
        "panels = “lengths”", "edits = “zoom(out)”", "weights = “weights.token[0, 9]=1”",
    ]  # fmt: skip
    assert seen.page.locator("section.panel h2").all_inner_texts() == ["Every answer", "Who looks at whom"]
    rows = seen.page.locator("[aria-labelledby=change-title] li input")
    assert [row.is_checked() for row in rows.all()] == [False, True, True]


def test_many_sentences_are_counted_and_can_be_closed(seen):
    found = open_link(seen, {"edits": ";".join(f"zoom{k}(out)" for k in range(200))})
    assert found[5:] == ["and 195 more"]
    assert all(f"zoom{k}(out)" in found[k] for k in range(5))
    seen.page.locator("ul[role=status] button").last.click()
    assert len(sentences(seen)) == 5
    kept = {"lang": "de", **{f"field{k}": "1" for k in range(7)}}  # a newer page's fields
    found = open_link(seen, kept, "&".join(["#v1", *("=".join(each) for each in kept.items())]))
    assert found[5:] == ["und 2 weitere"]


def test_a_page_that_opens_with_unknown_values_is_as_one_that_is_led_to_them(seen):
    page, file = seen.page, report_of("plus_last_even", POPULATION)
    for fields in groups(BEYOND):
        page.goto("about:blank")
        page.goto(file.as_uri() + "#v1&" + "&".join(f"{name}={quote(value)}" for name, value in fields.items()))
        page.locator("section.panel").nth(3).wait_for()
        page.wait_for_function("() => location.hash === '#v1'")
        assert sorted(each.split(" = “")[0] for each in sentences(seen)) == sorted(fields)
    assert (seen.problems, seen.dialogs) == ([], [])


def test_a_link_is_checked_against_the_run_that_it_names(seen):
    """Of the other run, members and steps are other ones; it is opened first."""
    of, b = f"#v1&run={POPULATION}&member=", f"#v1&mode=compare&b=run:{POPULATION}"
    assert open_link(seen, {"run": POPULATION, "member": "2", "step": "60"}, f"{of}2&step=60") == []
    assert seen.page.locator("p.step").inner_text().startswith("step 60")
    found = open_link(seen, {"run": POPULATION, "member": "1", "step": "200"}, f"{of}1")
    assert found == ["step = “200” in the link is not used: it is not a whole number from 0 to 60."]
    assert open_link(seen, {"step": "200"}, "#v1&step=200") == []
    assert open_link(seen, {"mode": "compare", "b": f"run:{POPULATION},member:2"}, f"{b},member:2") == []
    found = open_link(seen, {"mode": "compare", "b": f"run:{POPULATION},member:3"}, b)
    assert found == ["b = “member:3” in the link is not used: it is not a whole number from 0 to 2."]


def test_a_name_that_every_object_has_is_not_a_run(seen):
    """Typed this time: a link with it is refused before."""
    open_link(seen, {"mode": "change"}, "#v1&mode=change")
    seen.page.locator("#change-text").fill('patch(out, run="__proto__")')
    seen.page.get_by_role("button", name="Add", exact=True).click()
    assert "there is no run __proto__ in this file" in seen.page.locator("#change-problem").inner_text()
    assert seen.problems == []


def mutated(draw: random.Random) -> str:
    """A link of earlier versions after a few accidents."""
    links = [each["link"] for each in LINKS]
    values = [field.partition("=")[2] for link in links for field in link.split("&")[1:]]
    values += [quote(each) for each in FOREIGN]
    link = draw.choice(links)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(link) + 1)
        link = draw.choice([
            f"{link}&{draw.choice(list(BEYOND))}={draw.choice(values)}",  # a value of another field
            link[:at] + draw.choice("09-=,;:()[]%&\"' .aeE\u202e") + link[at + 1 :],  # another character
            link[:at] + link[max(0, at - draw.randrange(30)) :],  # a piece twice
            link[:at],  # cut off
        ])  # fmt: skip
    return link if link.startswith("#v1") else "#v1&" + link


def test_mutated_links_leave_a_page_that_works(seen):
    draw = random.Random(11)
    page = seen.page
    for turn in range(60 * TIMES):
        link = mutated(draw)
        page.evaluate("link => { location.hash = link }", link)
        page.wait_for_timeout(60 if turn % 5 else REST)  # most are followed by the next before they have come to rest
        assert (seen.problems, seen.dialogs, page.evaluate(INJECTED)) == ([], [], 0), link
        page.locator("section.clock").wait_for()
        assert page.locator("p.failed").count() == 0, link
    open_link(seen, {"lang": "en"}, "#v1&lang=en")
    page.get_by_label("your input").fill("10 + 10 6 +")
    page.get_by_role("radio", name="+ at 4").wait_for()
    assert sentences(seen) == []
