"""Training in the page, as a reader does it: press, watch, pause, go back, continue, save, and open it in Python."""

import re
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
import pytest

import glassformer as gf
from browsing import browsing
from glassformer import report as reports
from glassformer.report import training_data
from page_reports import report_of, visit
from small_runs import run_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

LONG = 60_000  # milliseconds that a busy machine may take
STEPS = 400


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(browser) -> Path:  # noqa: ARG001 - without a browser no report is needed
    return report_of("plus_last_even")


class Desk:
    """Train mode of an open page."""

    def __init__(self, browser, report: Path, recipe: str = "", mode: str = "train", **context) -> None:
        self.seen = visit(
            browser, report, f"#v1&mode={mode}&train={recipe}" if recipe else f"#v1&mode={mode}", **context
        )
        self.page = self.seen.page
        self.page.set_default_timeout(LONG)
        self.box = self.page.locator("section.train")
        self.clock = self.page.get_by_role("slider", name="Step of the training").first

    def press(self, name: str) -> None:
        """A button of the box, by what it is called."""
        self.box.get_by_role("button", name=name, exact=True).click()

    def choose(self, name: str, value: str) -> None:
        """A field of the box; a list is chosen from, a number typed."""
        listed = self.box.get_by_role("combobox", name=name, exact=True)
        if listed.count():
            listed.select_option(value)
            return
        field = self.field(name)
        field.fill(value)
        field.press("Enter")

    def field(self, name: str) -> "Locator":
        return self.box.get_by_role("spinbutton", name=name, exact=True)

    def said(self, text: str) -> str:
        """The headline, once it says this."""
        found = self.box.locator("h2", has_text=re.compile(text))
        found.wait_for()
        return found.inner_text()

    @property
    def step(self) -> int:
        return int(self.clock.get_attribute("aria-valuenow"))

    def stands(self, step: int) -> None:
        self.page.locator("p.step", has_text=re.compile(rf"step {step:,} of".replace(",", "\\W?"))).wait_for()

    def losses(self) -> str:
        """The curve as it is drawn."""
        return self.page.locator("path.loss").first.get_attribute("d")

    def link(self) -> str:
        """The address, which follows once the page has come to rest."""
        self.page.wait_for_timeout(500)
        return self.page.evaluate("() => decodeURIComponent(location.hash)")

    def saved(self, folder: Path) -> gf.Run:
        """The run that is shown, saved, unpacked and opened by Python."""
        with self.page.expect_download() as waiting:
            self.box.get_by_role("button", name=re.compile("zip")).click()
        file = folder / waiting.value.suggested_filename
        waiting.value.save_as(file)
        with ZipFile(file) as packed:
            packed.extractall(folder)
        return gf.open(folder / file.stem)

    def close(self) -> None:
        assert self.seen.problems == []
        assert self.seen.outside() == []
        self.page.context.close()


def test_one_press_on_the_first_screen_and_it_learns(browser, report):
    desk = Desk(browser, report, mode="watch")
    page = desk.page
    page.get_by_role("button", name="Train it yourself").click()
    desk.said("Training|learnt")
    desk.said("learnt")
    assert all(each.evaluate("() => typeof onmessage") == "function" for each in page.workers)  # none of them fell over
    assert len(page.workers) >= 2  # one looks, one trains
    desk.stands(300)
    seed = desk.field("seed").input_value()
    shown = page.locator("header select").first
    assert shown.locator("option:checked").inner_text() == f"trained here, seed {seed}"
    assert f"train=seed:{seed},of:" in desk.link()
    loss = float(re.search(r"loss (\d\.\d+)", desk.clock.get_attribute("aria-valuetext"))[1])
    assert loss < 2.4  # an even guess pays 2.48
    assert page.locator("p.said").inner_text().startswith("It ")
    # the same press again takes another seed, and both runs stay
    desk.press("Train")
    page.locator("header select").first.locator("option", has_text="trained here").nth(1).wait_for(state="attached")
    assert desk.field("seed").input_value() != seed
    # what was trained survives a change of mode, and is shown like any run
    page.get_by_role("button", name="Watch", exact=True).click()
    shown.select_option(label=f"trained here, seed {seed}")
    desk.clock.focus()
    page.keyboard.press("Home")
    desk.stands(0)
    desk.close()


def test_pause_one_step_and_a_clock_that_follows_or_stays(browser, report):
    desk = Desk(browser, report, f"seed:5,steps:{100 * STEPS}")
    page = desk.page
    desk.press("One step")
    desk.said("Paused at step 1$")
    desk.stands(1)
    desk.press("One step")
    desk.said("Paused at step 2$")
    desk.choose("speed", "100")
    page.locator("h1").click()
    page.keyboard.press("Space")  # does what the big button does
    page.wait_for_timeout(700)
    desk.press("Pause the training")
    desk.said("Paused at step")
    at = desk.step
    assert 2 < at < 2 + 100 * 3  # held back, on a machine however busy
    page.wait_for_timeout(300)
    assert desk.step == at
    desk.clock.focus()
    page.keyboard.press("Home")
    desk.stands(0)
    desk.choose("speed", "0")
    desk.press("Go on training")
    page.locator("section.train p", has_text="steps a second").wait_for()
    page.wait_for_timeout(400)
    assert desk.step == 0  # who looks back is left there
    assert int(desk.clock.get_attribute("aria-valuemax")) > at
    desk.clock.focus()
    page.keyboard.press("End")
    page.wait_for_timeout(400)
    assert desk.step > at  # and at the end the clock follows again
    desk.choose("rate", "0.002")
    desk.press("Stop here")
    desk.said("Stopped|learnt")
    assert re.search(r"then:0\.002@\d+", desk.link())
    desk.close()


def test_continued_with_another_rate_saved_and_opened_by_python(browser, report, tmp_path):
    desk = Desk(browser, report, f"seed:5,steps:{STEPS}")
    page = desk.page
    desk.press("Train")
    desk.said("learnt")
    first = desk.saved(tmp_path)
    assert (first.status, first.last_step, first.seeds) == ("finished", STEPS, [5])
    assert first.steps.tolist() == list(range(STEPS + 1))
    assert first.about["engine"] == "page"
    assert first.experiment.train.steps == STEPS
    desk.clock.focus()
    page.keyboard.press("Home")
    for _ in range(15):
        page.keyboard.press("Shift+ArrowRight")
    desk.stands(150)
    desk.choose("rate", "0.001")
    desk.press("Continue from step 150")
    desk.said("learnt")
    desk.stands(STEPS)
    second = desk.saved(tmp_path)
    assert second.steps[[0, -1]].tolist() == [150, STEPS]
    assert second.experiment.train.rate == 0.001
    parent = second.about["parent"]
    assert (parent["run"], parent["step"], parent["edits"]) == (first.name, 150, "")
    line = next(each for each in first.path.joinpath("index.jsonl").read_text().splitlines() if '"step": 150,' in each)
    assert parent["sha256"] in line
    for name, values in first.weights(150).items():
        np.testing.assert_array_equal(second.weights(150)[name], values)
    moved = {run: np.abs(run.weights(151)["token"] - run.weights(150)["token"]).max() for run in (first, second)}
    assert 0 < moved[second] < moved[first] / 5  # Adam steps by the rate, which was 0.03
    # what the page says is what Python computes from the saved weights
    said = page.locator("figure svg[role=img]").first.get_attribute("aria-label")
    shown = {part.split()[0]: float(part.split()[1].strip("<>%")) / 100 for part in said.split("; ")}
    for token, chance in second.ask(page.get_by_label("your input").input_value().rsplit(" ", 1)[0], step=STEPS):
        assert abs(shown[token] - chance) <= 0.01, token
    desk.close()


def test_an_edited_model_is_continued_and_says_so(browser, report, tmp_path):
    run, edit = run_of("plus_last_even"), "weights.token[3, 0]=1.5"
    desk = Desk(browser, report, "seed:5,steps:240&step=200&weights=weights.token%5B3%2C%200%5D%3D1.5")
    step = desk.step
    assert step < 240
    desk.press(f"Continue from step {step} with what was changed")
    desk.said("learnt")
    desk.stands(240)
    assert "&weights=" not in desk.link()  # the number is part of the new run, and free to move
    assert f"from:{step},set:" in desk.link()
    made = desk.saved(tmp_path)
    assert made.about["parent"] | {"sha256": ""} == {"run": run.name, "step": step, "edits": edit, "sha256": ""}
    edited = run.weights(step)["token"].copy()
    edited[3, 0] = 1.5
    np.testing.assert_array_equal(made.weights(step)["token"], edited)
    np.testing.assert_array_equal(made.weights(step)["read_out"], run.weights(step)["read_out"])
    assert made.weights(240)["token"][3, 0] != 1.5
    assert desk.page.locator("path.past").count() == 1  # the curve of the run it continues is there, too
    desk.close()


def test_a_link_trains_the_same_again_elsewhere(browser, report):
    recipe = "seed:7,rate:0.05,steps:120,schedule:constant,then:0.01@60"
    desk = Desk(browser, report, recipe)
    desk.press("Train")
    desk.said("in 120 steps|learnt")
    link, drawn = desk.link(), desk.losses()
    assert "run=here-1" in link
    assert "then:0.01@60" in link
    desk.close()
    page = visit(browser, report, link).page
    page.get_by_role("button", name="Train it again").click()
    page.locator("section.train h2", has_text=re.compile("in 120 steps|learnt")).wait_for()
    page.locator(f'path.loss[d="{drawn}"]').first.wait_for()
    page.context.close()


def test_a_huge_rate_diverges_and_a_wrong_one_is_refused(browser, report):
    desk = Desk(browser, report, "seed:5,steps:200,optimiser:sgd,schedule:constant")
    page = desk.page
    desk.choose("rate", "0")
    assert "rate = 0 must be a number from" in desk.box.get_by_role("alert").inner_text()
    assert desk.field("rate").get_attribute("aria-invalid") == "true"
    desk.choose("rate", "900")
    desk.press("Train")
    at = int(desk.said("Diverged at step").split()[-1])
    assert 0 < at < 200
    assert page.locator("p.said").inner_text().startswith("The training has diverged")
    assert desk.box.get_by_role(
        "button", name="Continue from"
    ).is_disabled()  # from what is not a number nothing is learnt
    desk.clock.focus()
    page.keyboard.press("Home")
    desk.stands(0)
    page.locator("p.loss", has_text=re.compile(r"loss 2\.\d")).wait_for()  # what came before is there
    desk.close()


def test_many_seeds_are_counted_and_each_can_be_opened(browser, report):
    desk = Desk(browser, report, "seed:3,steps:60")
    page = desk.page
    desk.choose("number of seeds", "4")
    desk.press("Train 4 seeds")
    counted = desk.box.locator(".seeds p", has_text="of 4 learnt it")
    counted.wait_for()
    seeds = desk.box.locator(".seeds li button")
    names = [each.get_attribute("aria-label") for each in seeds.all()]
    assert [name.split(":")[0] for name in names] == ["seed 3", "seed 4", "seed 5", "seed 6"]
    assert counted.inner_text() == f"{sum('learnt by' in name for name in names)} of 4 learnt it"
    seeds.nth(2).click()
    page.locator("header select").first.locator("option:checked", has_text="trained here, seed 5").wait_for(
        state="attached"
    )
    desk.stands(60)
    desk.press("remove it")
    page.locator("header select").first.locator("option", has_text="seed 5").wait_for(state="detached")
    assert seeds.count() == 3
    desk.close()


def test_without_workers_it_trains_between_frames(browser, report):
    context = browser.new_context(offline=True)
    context.add_init_script("delete globalThis.Worker")
    page = context.new_page()
    page.goto(report.as_uri() + "#v1&mode=train&train=seed:5,steps:100")
    page.locator("section.train").get_by_role("button", name="Train", exact=True).click()
    page.locator("section.train h2", has_text="learnt").wait_for(timeout=LONG)
    page.locator("p.step", has_text="step 100 of").wait_for()
    assert page.workers == []
    context.close()


def test_what_cannot_be_trained_says_why(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(training_data, "MOST_WORK", 0)
    file = tmp_path / "large.html"
    file.write_text(reports.page_of(run_of("plus_last_even")), encoding="utf-8")
    page = visit(browser, file, "#v1&mode=train").page
    assert "One step of this model would take the page seconds" in page.locator("section.train").inner_text()
    page.get_by_role("button", name="Watch", exact=True).click()
    page.locator("section.train").wait_for(state="detached")
    assert page.get_by_role("button", name="Train it yourself").count() == 0
    page.context.close()
