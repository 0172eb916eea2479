"""Whatever a report carries or a link says is text: nothing of it runs, no dialog opens, no policy is broken."""

import csv
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from browsing import browsing
from glassformer import report
from glassformer.experiment import load
from page_reports import visit
from small_texts import noise

TAG = "</script><img/src=x/onerror=alert(1)>"
TOKENS = [
    TAG, "{{7*7}}", "\"'`&amp;", "\u202eturned\u2066", "\U0001f680", "\x1b[31mred", "javascript:alert(1)",
    "<svg/onload=alert(1)>", "<!--", "]]>", "__proto__", "${alert(1)}", '"onload="alert(1)',
]  # fmt: skip
RUN = "<img src=x onerror=alert(1)>{{7*7}}\"'\u2028\u202e\U0001f680\x1b[31m"
PANELS = (
    "embedding,query_key,attention,residual,scores,values,stream,feed_forward,neurons,output,landscape,weights,updates,"
    "thermodynamics,curves,analyses"
)
LINKS = [
    f"input={quote(TAG)} {quote(TAG)}&mode=change&edits={quote(TAG)}&weights={quote(TAG)}&off={quote(TAG)}",
    f"input={quote('<img src=x onerror=alert(1)>')}&cell={quote(TAG)}&toward={quote(TAG)}",
    f"cell=logits[0, 0]&toward={quote(TAG)}&lang={quote(TAG)}&theme={quote(TAG)}&view={quote(TAG)}&hide={quote(TAG)}",
    f"mode=compare&b=run:{quote(TAG)},input:{quote(TAG)}&along={quote(TAG)}&atlas={quote(TAG)}",
    f"mode=predict&ask={quote(TAG)}&panels={quote(TAG)},{PANELS}&tensor={quote(TAG)}&point={quote(TAG)}",
    f"mode=train&train={quote(TAG)}&analysis={quote(TAG)}&panel={quote(TAG)}",
    f"run={quote(TAG)}&{quote(TAG)}={quote(TAG)}&__proto__=1&constructor=1&step=1e9&member=99&block=99&position=99",
    "%E0%A4%A&input=%&" + "x" * 5000,
]
BROKEN = "addEventListener('securitypolicyviolation', e => console.error('refused: ' + e.violatedDirective + e.sample))"
INJECTED = (
    "() => document.querySelectorAll('img, iframe, object, embed, [onload], [onerror], a[href^=javascript]').length"
)
RAW = "\x1b\u202e\u2066"


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    table = folder / "table.csv"
    with table.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("question", "answer"), *((f"{a} {b}", a) for a in TOKENS for b in TOKENS)])
    small = ("architecture.width=4", "architecture.heads=2", "architecture.feed_forward=4")
    run = noise(folder / RUN, load("own_table", (f"data.file={table}", "data.tokens=words", *small), steps=2))
    path = folder / "report.html"
    path.write_text(report.made([run]).html, encoding="utf-8")
    return path


def test_hostile_tokens_names_and_links_are_shown_as_text(file):
    with browsing() as browser:
        seen = visit(browser, file)
        page, dialogs = seen.page, []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.add_init_script(BROKEN)
        page.reload()
        page.get_by_role("radio").first.wait_for()
        assert page.locator("select.runs option").inner_text().startswith("<img src=x onerror=alert(1)>{{7*7}}")
        chips = page.get_by_role("radio").all_inner_texts()
        assert any(token in chip for chip in chips for token in TOKENS)
        assert not set(RAW) & set("".join(page.locator("section.ask figure, section.panel").all_inner_texts()))
        for mode in ("watch", "predict", "change", "train", "compare"):
            page.evaluate("link => { location.hash = link }", f"#v1&mode={mode}&panels={PANELS}")
            page.get_by_role("button", name=mode, exact=False, pressed=True).wait_for()
            page.wait_for_timeout(150)
            assert page.evaluate(INJECTED) == 0
        shown = page.locator("body").inner_text()
        assert TAG in shown
        assert "{{7*7}}" in shown
        for link in LINKS:
            page.evaluate("link => { location.hash = link }", f"#v1&{link}")
            page.wait_for_timeout(150)
            page.locator("section.clock").wait_for()
            assert page.evaluate(INJECTED) == 0
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}#v1&{LINKS[0]}")  # the same from the start, when nothing was seen before
        page.locator("section.clock").wait_for()
        assert TAG in page.get_by_label("your input").input_value()
        assert dialogs == []
        assert seen.problems == []
        assert {urlsplit(url).scheme for url in seen.asked} <= {"file", "blob", "about"}
        page.evaluate("tag => document.body.insertAdjacentHTML('beforeend', tag)", "<img src=x onerror=alert(1)>")
        page.wait_for_timeout(150)
        assert any(
            "refused: script-src" in each for each in seen.problems
        )  # had a tag come through, this would be seen
        assert dialogs == []
        page.context.close()
