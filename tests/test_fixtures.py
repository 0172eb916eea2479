"""What version 0.2.0 made opens in this version, and holds the numbers that 0.2.0 found in it."""

import base64
import csv
import gzip
import json
import re
import shutil
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors

import glassformer as gf
from browsing import browsing
from fingerprint import differences, fingerprint
from glassformer import report
from glassformer.analyses.trust import claims
from glassformer.report.payload import Wish
from page_reports import visit
from snapshot import FIXTURES

EXPECTED = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
LINKS = json.loads((FIXTURES / "links.json").read_text("utf-8"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of one's own with a copy of the runs, the page's run unpacked among them."""
    shutil.copytree(FIXTURES / "runs", tmp_path / "runs")
    with ZipFile(FIXTURES / "page.zip") as packed:
        packed.extractall(tmp_path / "unpacked")
    (run,) = (tmp_path / "unpacked").iterdir()
    run.rename(tmp_path / "runs" / "page")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def task_class():
    """The class in after_three.py."""
    spec = spec_from_file_location("after_three", FIXTURES / "after_three.py")
    sys.modules["after_three"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.AfterThree


def test_a_run_of_each_kind_is_there():
    assert set(EXPECTED) == {
        "rule", "questions", "text", "population", "diverged", "modular", "unfinished", "own_task", "page",
    }  # fmt: skip


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_run_opens_with_its_numbers(name):
    run, expected = gf.open(Path("runs") / name, task=task_class() if name == "own_task" else None), EXPECTED[name]
    assert run.check() == []
    assert (run.status, run.seeds, run.parameters) == (expected["status"], expected["seeds"], expected["parameters"])
    assert run.digest() == expected["digest"]
    assert run.steps.tolist() == expected["steps"]
    assert run.metrics["step"].tolist() == expected["logged"]
    losses = np.ravel(run.metrics["validation_loss"])[-3:]
    np.testing.assert_allclose(losses, [float(each) for each in expected["validation_loss"]], rtol=1e-6)
    weights = run.weights(run.steps[-1])
    assert list(weights) == list(expected["weights"])
    for parameter, total in expected["weights"].items():
        np.testing.assert_allclose(np.sum(weights[parameter]), float(total), rtol=1e-5, atol=1e-5, err_msg=parameter)
    if "asked" in expected:
        answers = run.ask(expected["asked"])[:3]
        assert [token for token, _ in answers] == [token for token, _ in expected["answers"]]
        probabilities = [probability for _, probability in expected["answers"]]
        np.testing.assert_allclose([probability for _, probability in answers], probabilities, rtol=1e-4)
        attention = np.asarray(run.trace(expected["asked"])["attention"])[-1, -1, -1]
        np.testing.assert_allclose(attention, expected["attention"], rtol=1e-3, atol=1e-6)


def test_an_unfinished_run_is_finished_as_if_it_had_never_stopped(folder):
    """The first part was computed on another machine, so the end agrees with an uninterrupted run to rounding only."""
    before = gf.open(folder / "runs" / "unfinished")
    early = {step: before.weights(step) for step in before.steps.tolist()}
    run = gf.resume(folder / "runs" / "unfinished", progress=False)
    assert (run.status, run.last_step) == ("finished", 2000)
    for step, weights in early.items():
        for name, array in run.weights(step).items():
            np.testing.assert_array_equal(array, weights[name])
    settings = ("train.keep_bytes=20000", "train.log_every=100")
    whole = gf.train("plus_last_even", steps=2000, settings=settings, out=folder / "whole", progress=False)
    assert run.steps.tolist() == whole.steps.tolist()
    np.testing.assert_allclose(run.metrics["validation_loss"], whole.metrics["validation_loss"], atol=0.01)


def test_a_study_opens_with_its_numbers():
    """Its table is the one that 0.2.0 wrote; the medians over seeds are computed here from the cells' files."""
    study = gf.catalogue.opened(FIXTURES / "study")
    assert study.result == json.loads((FIXTURES / "study/result.json").read_text("utf-8"))
    table = (FIXTURES / "study/table.csv").read_bytes()
    assert study.csv() == table
    rows = list(csv.DictReader(table.decode().splitlines()))
    for path in (FIXTURES / "study/cells").iterdir():
        cell = json.loads(path.read_text("utf-8"))
        for metric, values in cell["measured"].items():
            late = [np.inf if value == "NaN" else float(value) for value in values]  # NaN: not within these steps
            found = {row["median"] for row in rows if (row["cell"], row["metric"]) == (cell["cell"], metric)}
            medians = [np.nan_to_num(float(each), nan=np.inf, posinf=np.inf) for each in found]
            assert medians == [pytest.approx(np.median(late), rel=1e-6)]


def test_a_record_of_claims_is_read(monkeypatch):
    """Deviations computed here from the record's own numbers."""
    monkeypatch.setattr(claims, "RECORD", str(FIXTURES / "claims.json"))
    rows = json.loads((FIXTURES / "claims.json").read_text("utf-8"))["claims"]
    found = gf.analyses.claims()
    measured = dict(zip(found.measured.axes["question"].values, found.measured.values, strict=True))
    assert measured["S1-01 parameters"] == 102_036
    stated = {f"{row['id']} {name.replace('_', ' ')}": said for row in rows for name, said in row["stated"].items()}
    for question, (deviation, *_) in zip(measured, found.deviation.values, strict=True):
        assert deviation == pytest.approx((measured[question] - stated[question]) / abs(stated[question]))
    assert found.verdicts == {"reproduced": 2, "corrected": 3, "refuted": 2, "not settled": 1}


# ---- the report and its links ----------------------------------------------------------------------------------------


@cache
def blocks(html: str) -> dict[str, bytes]:
    """The data inside a report, by name."""
    found = re.findall(r'<script type="text/plain" data-block="([^"]*)">([A-Za-z0-9+/=]*)</script>', html)
    return {name: gzip.decompress(base64.b64decode(data)) for name, data in found}


@cache
def old_report() -> str:
    return gzip.decompress((FIXTURES / "report.html.gz").read_bytes()).decode()


@cache
def new_report() -> str:
    return report.made([gf.open(FIXTURES / "runs/rule")], Wish(steps=12)).html


def test_a_report_holds_the_weights_of_its_run():
    run, weights = gf.open(FIXTURES / "runs/rule"), load_tensors(blocks(old_report())["rule/weights"])
    steps = json.loads(blocks(old_report())["rule/info"])["steps"]
    assert len(steps) == 12
    for name, stack in weights.items():
        np.testing.assert_array_equal(stack, np.stack([run.weights(step)[name] for step in steps]).reshape(stack.shape))


@pytest.mark.parametrize("block", ["index", "rule/info", "rule/metrics"])
def test_a_report_of_today_says_what_the_old_one_says(block):
    """Apart from its sentences, which have changed."""
    old, new = (json.loads(blocks(html)[block]) for html in (old_report(), new_report()))
    if block == "rule/info":
        assert new["task"].pop("held_out") is True
        for each in (old, new):
            each["events"] = [(event["step"], event["kind"]) for event in each["events"]]
            assert each.pop("sentences")
    assert differences(fingerprint(old), fingerprint(new)) == []


def test_a_report_of_today_trains_on_the_data_of_the_old_one():
    """The windows on which it is evaluated have another order, so that any first few of them represent all."""
    old, new = (load_tensors(blocks(html)["rule/data"]) for html in (old_report(), new_report()))
    assert old.keys() == new.keys()
    for each in (old, new):
        for part in ("fit", "validation"):
            order = np.lexsort(each[f"{part}.windows"].T)
            each |= {
                name: each[name][order] for name in each if name.startswith(part) and len(each[name]) == len(order)
            }
    for name, array in old.items():
        np.testing.assert_allclose(new[name], array, rtol=1e-6, err_msg=name)


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


@pytest.mark.parametrize("age", ["old", "new"])
def test_a_report_opens_and_answers_as_python_does(browser, tmp_path, age):
    file = tmp_path / "report.html"
    file.write_text(old_report() if age == "old" else new_report(), encoding="utf-8")
    seen = visit(browser, file, "#v1&input=10%20%2B%2010%206%20%2B")
    (token, probability), *_ = gf.open(FIXTURES / "runs/rule").ask("10 + 10 6 +")
    shown = seen.page.get_by_role("main").inner_text()
    assert re.search(rf"\b{token}\b\s+{100 * probability:.0f}\s*%", shown), shown[:3000]
    assert (seen.problems, seen.outside()) == ([], [])
    seen.page.context.close()


# What some links name and the run does not have: a second head, an analysis, a kind of question, a part of an edit.
ABSENT = {("head", 1), ("analysis", "timeline"), ("ask", "loss:2"), ("off", "1")} | {
    ("edits", "zero(attended); scale(fed, by=0.5)"),
}


def test_every_link_still_opens(browser, tmp_path):
    """The page shows the linked state without an error, and its address still says so; absent values are reported."""
    file = tmp_path / "report.html"
    file.write_text(new_report(), encoding="utf-8")
    seen = visit(browser, file)
    notes = seen.page.locator("ul[role=status]")
    for each in LINKS:
        seen.page.evaluate("link => { location.hash = link }", each["link"])
        seen.page.locator("section.clock").wait_for()
        for name, value in each["fields"].items():
            absent = (name, value) in ABSENT
            says = "([field, absent]) => unescape(location.hash).includes(field) !== absent"
            seen.page.wait_for_function(says, arg=[f"&{name}={value}", absent])
            if absent and name != "off":  # an edit that is left out is not off, either
                assert f"{name} = “" in notes.inner_text()
    assert (seen.problems, seen.outside()) == ([], [])
    seen.page.context.close()
