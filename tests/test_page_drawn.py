"""The panels of the page as they are drawn: colours are those of the numbers, and every number leads to its card."""

import json
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from browsing import browsing, found_by_axe
from page_reports import report_of, visit
from small_runs import run_of

COLOURS = json.loads((Path(__file__).parents[1] / "frontend/src/page/colours.json").read_text(encoding="utf-8"))
PANELS = {
    "embedding": "Embedded", "query_key": "Who asks, who answers", "scores": "Scores", "attention": "Who looks at whom",
    "values": "What is fetched", "residual": "Moved to, and says", "stream": "The stream", "output": "Every answer",
    "landscape": "One answer over the plane", "feed_forward": "Feed-forward", "neurons": "Neurons",
    "weights": "Weights", "updates": "Gradients and updates", "thermodynamics": "How sure it is",
    "curves": "Training curves", "analyses": "Everything else",
}  # fmt: skip
PIXELS = "canvas => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]"
TEXT = "4 9 + 4 10 7 + 10"


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


def opened(browser, name: str, panels: str, **more):
    """A report with these panels, once the last of them stands."""
    link = "&".join(["#v1", f"panels={panels}", *(f"{key}={value}" for key, value in more.items())])
    seen = visit(browser, report_of(name), link)
    panel(seen.page, panels.split(",")[-1]).wait_for()
    return seen


def panel(page, name: str):
    return page.locator("section.panel").filter(has=page.get_by_role("heading", name=PANELS[name], exact=True))


def painted(values: np.ndarray, map_: str, low: float, high: float) -> np.ndarray:
    """(..., 3): the colours of numbers, from the stops that figures and page share."""
    stops = np.array([[int(stop[k : k + 2], 16) for k in (1, 3, 5)] for stop in COLOURS["maps"]["light"][map_]])
    at = np.clip(np.floor((values - low) / (high - low) * 255 + 0.5), 0, 255) / 255 * (len(stops) - 1)
    below = np.minimum(at.astype(int), len(stops) - 2)
    return stops[below] + (at - below)[..., None] * (stops[below + 1] - stops[below])


def test_colours_are_those_of_the_numbers(browser):
    run = run_of("plus_last_even")
    seen = opened(browser, "plus_last_even", "attention,weights", tensor="blocks.0.expand")
    trace = run.trace(TEXT)
    for name, values, map_, reach in (
        ("attention", trace["attention"][0, 0], "share", None),
        ("weights", run.weights(member=0)["blocks.0.expand"], "signed", "told"),
    ):
        here = panel(seen.page, name)
        pixels = np.array(here.locator("canvas.colours").evaluate(PIXELS)).reshape(*values.shape, 4)
        low, high = 0.0, 1.0
        if reach:
            high = float(here.locator(".scale").inner_text().split("\n")[-1])
            low = -high
        drawn = pixels[..., 3] == 255
        assert (drawn == (np.tri(len(values), dtype=bool) if name == "attention" else True)).all()
        apart = np.abs(pixels[..., :3] - painted(values, map_, low, high)).max(axis=-1)
        assert apart[drawn].max() <= (2 if name == "attention" else 6), name  # the scale is told to two digits
    seen.page.context.close()


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations"])
def test_every_number_leads_to_its_card_by_keyboard(browser, name):
    """And nobody complains: neither axe nor the console."""
    wanted = [each for each in PANELS if name == "plus_last_even" or each != "landscape"]
    seen = opened(browser, name, ",".join(wanted))
    page = seen.page
    assert found_by_axe(page) == []
    for each in wanted:
        widgets = panel(page, each).get_by_role("application")
        assert widgets.count() > 0 or each in ("curves", "analyses", "feed_forward"), each
        if not widgets.count():
            continue
        widgets.first.focus()
        for key in ("ArrowRight", "ArrowDown", "ArrowUp"):
            page.keyboard.press(key)
        said = panel(page, each).locator(".spoken").first.inner_text()
        assert any(letter.isdigit() for letter in said), (each, said)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "cell=" in url)
        page.keyboard.press("Escape")
        page.wait_for_url(lambda url: "cell=" not in url)
    assert seen.problems == []
    assert seen.outside() == []
    page.context.close()


def test_what_is_chosen_is_chosen_everywhere(browser):
    seen = opened(browser, "plus_last_even", "feed_forward,neurons,output,landscape,weights,updates")
    page = seen.page
    panel(page, "feed_forward").get_by_role("row").nth(2).get_by_role("button").first.click()
    neuron = panel(page, "feed_forward").get_by_role("row").nth(2).get_by_role("button").first.inner_text()
    page.wait_for_url(lambda url: f"neuron={neuron}" in url)
    assert panel(page, "neurons").get_by_label("neuron", exact=True).input_value() == neuron
    panel(page, "output").get_by_role("button", name="4", exact=True).click()
    assert panel(page, "landscape").locator("select").evaluate("each => each.selectedOptions[0].textContent") == "4"
    panel(page, "weights").get_by_role("radio", name="0.contract", exact=True).click()
    page.wait_for_url(lambda url: "tensor=blocks.0.contract" in unquote(url))
    row = panel(page, "updates").get_by_role("button", name="blocks.0.contract", exact=True)
    assert row.get_attribute("aria-pressed") == "true"
    assert seen.problems == []
    page.context.close()
