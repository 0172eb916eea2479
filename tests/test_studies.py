"""Studies: what a cell is, that its numbers are those of single runs, and that nothing is trained twice or lost."""

import ast
import csv
import io
import json
import os
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import product
from math import comb, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import glassformer as gf
import small_studies
import small_texts
from glassformer import _discover, studies, training
from glassformer import study as opened
from glassformer.analyses.trust.study_parts import study_parts
from glassformer.errors import CallError, MissingError
from glassformer.experiment import for_text, from_tables, load
from glassformer.studies import _executors, _measure, _run, _work
from glassformer.study import Cell, places, spread
from glassformer.tasks.five_operations import FiveOperations
from small_runs import run_of
from small_texts import noise

NAMES = studies.names()
TINY = ("architecture.width=2", "architecture.feed_forward=4", "train.judged=20")  # plus_last_even, smaller
SMALL = (
    "architecture.width=4",
    "architecture.heads=2",
    "architecture.head_width=2",
    "architecture.feed_forward=8",
    "train.judged=50",
    "train.log_every=2",
)  # fmt: skip  five operations, smaller


def tiny(name, out, *, settings=TINY, experiment="plus_last_even", seeds=2, steps=4, **more):
    last = list({each.partition("=")[0]: each for each in settings}.values())  # a setting is given once
    return studies.run(name, experiment, seeds=seeds, steps=steps, settings=last, out=out, workers=1, **more)


@pytest.fixture
def three_rates(monkeypatch):
    """The study of the rate with three cells: enough to lose one."""
    monkeypatch.setattr(studies.find("rate"), "FACTORS", (1, 10, 100))


@pytest.fixture
def two_rates(monkeypatch):
    """The same with two."""
    monkeypatch.setattr(studies.find("rate"), "FACTORS", (1, 10))


def asked(name, folder):
    """An experiment that a study can be asked of."""
    if name != "context":
        return "five_operations"
    (folder / "text.txt").write_text(small_texts.TEXT, encoding="utf-8")
    return for_text(folder / "text.txt", "words", None, small_texts.SETTINGS)


class Counted(_executors.Here):
    """An executor that remembers which cells it was given."""

    def __init__(self):
        self.cells = []

    def submit(self, fn, order):
        self.cells.append(order["cell"])
        return super().submit(fn, order)


# ---- what the files say ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_study_gives_cells_that_can_be_trained_and_a_sentence(name, tmp_path):
    file = studies.find(name)
    assert "\n" not in file.__doc__.strip()
    base = _run.shortened(load(asked(name, tmp_path)), 50)
    cells = getattr(file, name)(base)
    assert len({cell.file for cell in cells}) == len(cells), "two cells would share a file"
    for cell in cells:
        _run.changed(base, cell)
    study = small_studies.write(tmp_path / "study", name, asked(name, tmp_path))
    sentence = study.result["conclusion"]
    assert not sentence[0].islower()
    assert sentence.endswith(".")
    assert "nan" not in sentence
    assert getattr(file, "FIGURE", "study_cells") in _discover.names(gf.figures)


def test_a_conclusion_says_when_nothing_was_learnt_and_when_the_seeds_are_too_few(tmp_path, monkeypatch):
    few = small_studies.write(tmp_path / "few", "width", "five_operations", seeds=4).result["conclusion"]
    many = small_studies.write(tmp_path / "many", "width", "five_operations", seeds=5).result["conclusion"]
    assert few.endswith("With 4 seeds a cell, what sets the cells apart may be chance.")
    assert "chance" not in many
    assert "guess" not in many
    blind = load("five_operations").task.ladder(8)[1].nats
    for nats, learnt in ((0.95 * blind, True), (0.99 * blind, False)):
        monkeypatch.setattr(small_studies, "known", lambda *_, nats=nats: nats)
        said = small_studies.write(tmp_path / str(learnt), "width", "five_operations").result["conclusion"]
        assert said.startswith("In 50 steps no cell gets past “answer frequencies”") is not learnt


def test_the_ablated_models_lack_exactly_the_part_named():
    base = load("five_operations")
    cells = {cell.name: cell for cell in studies.find("ablation").ablation(base)}
    model = {name: _run.changed(base, cell).architecture for name, cell in cells.items()}
    assert model["full model"] == base.architecture
    assert model["without block 2"].blocks == 1
    assert model["without attention"].attention == "off"
    assert model["mean in place of attention"].attention == "mean"
    assert model["without feed-forward"].feed_forward == 0
    assert model["without residuals"].residual is False
    assert model["without norm"].norm == "none"
    assert model["without positions"].positions == "none"
    assert len(cells) == 8
    assert cells["without attention"].bound == pytest.approx(0.1684)
    assert cells["without positions"].bound == pytest.approx(0.658)
    changes = [sum(a != b for a, b in zip(vars(each).items(), vars(base.architecture).items(), strict=True))
               for each in model.values()]  # fmt: skip
    assert changes == [0, 1, 1, 1, 1, 1, 1, 1], "a cell changes one thing"


def test_an_ablation_tells_which_kinds_of_question_suffer(tmp_path, monkeypatch):
    """By hand: without positions the operations of place fall to their bound, those of size do not."""
    from glassformer.studies import ablation

    bounds = ablation.unordered(load("five_operations"))
    assert bounds == pytest.approx({"First": 0.43, "Second": 0.43, "Last": 0.43, "Max": 1.0, "Min": 1.0})
    rung = next(r for r in load("five_operations").task.ladder(8) if r.name == "operation and digits without order")
    assert np.mean(list(bounds.values())) == pytest.approx(rung.accuracy)
    monkeypatch.setattr(small_studies, "known", lambda unit, *_: 0.99 if unit == "share" else 0.01)
    study = small_studies.write(tmp_path / "study", "ablation", "five_operations")
    path = next((tmp_path / "study" / "cells").glob("without_positions*"))
    cell = json.loads(path.read_text("utf-8"))
    cell["measured"] |= {"accuracy": [0.6] * 4, "accuracy_First": [0.40, 0.41, 0.42, 0.43],
                         "accuracy_Second": [0.3] * 4, "accuracy_Last": [0.2] * 4}  # fmt: skip
    path.write_bytes(opened.text(cell))
    said = ablation.conclude(opened.open(study.path))
    assert (
        "By kind of question: without positions First (41.5 %), Second (30.0 %) and Last (20.0 %) suffer, "
        "Max (99.0 %) and Min (99.0 %) not." in said
    )
    assert "65.8 % without positions (First 43.0 %, Second 43.0 %, Last 43.0 %, Max 100.0 %, Min 100.0 %)" in said


def test_an_ablation_measures_each_kind_as_it_was_logged(tmp_path):
    run = run_of("five_operations")
    found = studies.find("ablation").measure(run)
    assert set(found) == {f"accuracy_{kind}" for kind in run.task.kinds}
    for name, values in found.items():
        assert values[0] == run.metrics[f"accuracy_by_kind.{name.removeprefix('accuracy_')}"][-1]
    assert studies.find("ablation").metrics(load("plus_last_even")) == {}, "a rule logs no kinds"
    study = small_studies.write(tmp_path / "study", "ablation", "plus_last_even")
    assert "kind" not in study.result["conclusion"]


def test_a_further_switch_is_one_more_cell(tmp_path):
    cells = studies.find("ablation").ablation(load("five_operations"), ["architecture.causal=true"])
    assert cells[-1].name == "architecture.causal=true"
    with pytest.raises(CallError, match="not of the form"):
        studies.find("ablation").ablation(load("five_operations"), ["causal"])
    with pytest.raises(CallError, match="takes no --without"):
        tiny("rate", tmp_path / "s", without=["architecture.causal=true"])
    with pytest.raises(MissingError, match="residuals"):
        tiny("ablation", tmp_path / "s", without=["architecture.residuals=false"])
    assert not (tmp_path / "s").exists(), "a wrong call leaves nothing behind"


@pytest.mark.parametrize("name", ["split", "transfer", "arguments", "heads"])
def test_a_question_that_makes_no_sense_is_refused_with_the_reason(name, tmp_path):
    settings = (*TINY, "architecture.width=1") if name == "heads" else TINY
    with pytest.raises(CallError, match=f"study {name} cannot be asked of plus_last_even: "):
        tiny(name, tmp_path / "s", settings=settings)


def test_digits_kept_apart_are_asked_only_where_they_can_be(tmp_path):
    """Other tasks have a split as well, by other things."""
    (tmp_path / "mine.csv").write_text("question,answer\n" + "".join(f"{k}+1,{k + 1}\n" for k in range(12)))
    (tmp_path / "mine.txt").write_text("one potato two potato three potato four\n" * 200)
    others = [load("sort"), load("modular_addition"), load("own_table", [f"data.file={tmp_path / 'mine.csv'}"]),
              for_text(tmp_path / "mine.txt", "words", None)]  # fmt: skip
    needs = studies.find("split").needs
    for each in others:
        assert f"task {each.task_name} " in (needs(each) or ""), each.task_name
    assert needs(load("five_operations")) is None


def test_settings_change_an_experiment_too(tmp_path):
    given = load("plus_last_even", TINY)
    found = tiny("seeds", tmp_path / "s", experiment=given, settings=["train.rate=0.25"])
    assert found.experiment.train.rate == 0.25
    assert found.experiment.architecture == given.architecture


@pytest.mark.parametrize("name", NAMES)
def test_a_conclusion_from_what_diverged_holds_no_number(name, tmp_path, monkeypatch):
    """Once the last cell alone, once all of them."""
    known = small_studies.known
    for folder, least in (("one", 2), ("all", 0)):
        monkeypatch.setattr(small_studies, "known", lambda unit, higher, k, s, least=least: (
            nan if k >= least and unit != "seconds" else known(unit, higher, k, s)))  # fmt: skip
        said = small_studies.write(tmp_path / folder, name, asked(name, tmp_path)).result["conclusion"]
        assert not re.search(r"\bnan\b|\binf\b", said), said


@pytest.mark.parametrize("many", [4, 8, 16])
def test_windows_of_every_length_are_judged_on_the_same_tokens(many, tmp_path):
    """Each once, in windows side by side; and the price is that of the plain forward pass."""
    from glassformer.studies import context

    short = small_texts.random_run(tmp_path, "words", changes=(f"architecture.context={many}",))
    stream, (begin, end) = short.task.stream, short.task.bounds(many)["validation"]
    half = np.arange((begin + end + many) // 2, end + many)
    assert_array_equal(context.predicted(short), half)
    assert half[0] == context.predicted(small_texts.random_run(tmp_path / "8", "words"))[0]
    windows, counts = context.beside(short)
    assert_array_equal(windows[:, 1:][counts], stream[half])
    assert_array_equal(windows[:, 0], stream[half[0] - 1 :: many][: len(windows)])

    def price(before, token):
        return -np.log(short.trace([before])["probabilities"][0, -1, token])

    side = [price(row[: place + 1], row[place + 1]) for row, kept in zip(windows, counts, strict=True)
            for place in np.flatnonzero(kept)]  # fmt: skip
    full = [price(stream[at - many : at], stream[at]) for at in half]
    measured = context.measure(short)
    assert_allclose(measured["loss_same"], np.mean(side), rtol=1e-4)
    assert_allclose(measured["gain_view"], np.mean(side) - np.mean(full), atol=1e-4)


def test_the_smallest_weights_are_cut_and_stay_cut(tmp_path):
    from glassformer.studies import pruning

    run = gf.train("successor", steps=300, settings=("train.judged=50",), out=tmp_path / "run")
    trained = run.weights()
    kept = pruning.mask(trained, 0.5)
    matrices = [name for name in trained if trained[name].ndim > 1]
    sizes = np.concatenate([abs(trained[name]).ravel() for name in matrices])
    stays = np.concatenate([kept[name].ravel() for name in matrices]).astype(bool)
    assert abs(stays.mean() - 0.5) < 0.01
    assert sizes[~stays].max() <= sizes[stays].min()
    assert all(kept[name].all() for name in trained if name not in matrices)

    found = pruning.measure_at(run, 0.5)
    assert found["loss_again"][0] < 0.95 * found["loss_cut"][0]
    cut = {name: trained[name] * kept[name] for name in trained}
    (again,) = pruning.trained_again(run, [cut], [kept])
    assert all((again[name][kept[name] == 0] == 0).all() for name in again)
    assert any((again[name] != cut[name]).any() for name in again)

    seen = run.task.examples(10, "validation", pruning.MOST)
    chances = run.trace(seen.windows[:, :-1])["probabilities"]
    right, loss = pruning.judged(run, trained)
    assert_allclose(right, (chances.argmax(-1) == seen.windows[:, 1:]).mean(), atol=1e-6)  # one token can follow
    assert_allclose(loss, -np.log(np.take_along_axis(chances, seen.windows[:, 1:, None], -1)).mean(), rtol=1e-4)


def test_a_diverged_model_answers_nothing(tmp_path):
    """However many questions it is asked, of whatever length."""
    from glassformer.studies import arguments

    run = noise(tmp_path / "run", load("five_operations", SMALL), not_a_number=True)
    assert all(np.isnan(values).all() for values in arguments.measure(run).values())
    sound = noise(tmp_path / "sound", run.experiment)
    assert all(np.isfinite(values).all() for values in arguments.measure(sound).values())


def test_an_unknown_study_is_answered_with_the_nearest():
    with pytest.raises(MissingError, match="did you mean ablation"):
        studies.run("ablatoin")


# ---- median and interval ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", range(1, 14))
def test_the_interval_holds_the_median_as_often_as_it_says(many):
    """Each seed lies above or below the true median with equal chance: all 2^n cases, counted."""
    low, high, surely = places(many)
    cases = np.array(list(product([0, 1], repeat=many))).sum(axis=1)  # how many lie below
    held = (cases >= low + 1) & (many - cases >= many - high)
    assert surely == pytest.approx(held.mean() if many > 1 else 0.0)
    narrower = 1 - 2 * sum(comb(many, k) for k in range(low + 2)) / 2**many
    assert narrower < 0.95, "a narrower pair would do as well"
    assert (low, high) == (0, many - 1) or surely >= 0.95


def test_a_seed_without_a_number_counts_as_the_worst():
    assert spread(np.array([1.0, 2, nan]), higher=False).median == 2
    assert np.isnan(spread(np.array([1.0, 2, nan]), higher=False).high)
    assert np.isnan(spread(np.array([1.0, nan, nan]), higher=False).median)
    assert spread(np.array([0.2, 0.4, nan, 0.6]), higher=True).median == pytest.approx(0.3)
    assert np.isnan(spread(np.array([0.2, 0.4, nan]), higher=True).low)
    assert spread(np.array([3.0]), higher=True).low == 3


def test_the_table_and_the_csv_hold_the_numbers_of_every_seed(tmp_path):
    study = small_studies.write(tmp_path / "study", "ablation", "five_operations")
    rows = list(csv.DictReader(io.StringIO((study.path / "table.csv").read_text("utf-8"))))
    assert len(rows) == 8 * 4 * len(study.metrics)
    for k, cell in enumerate(study.cells):
        mine = [float(r["value"]) for r in rows if r["cell"] == cell.name and r["metric"] == "accuracy"]
        assert_allclose(mine, [nan if k == 4 and s % 2 else 1 - 0.1 * k - 0.01 * s for s in range(4)])
        middle, low = (None, None) if k == 4 else (0.985 - 0.1 * k, 0.97 - 0.1 * k)  # two of four seeds diverged
        table = study.table()[k]
        assert table["accuracy"] == pytest.approx({"median": middle, "low": low, "high": 1 - 0.1 * k}, nan_ok=True)
    assert study.table()[4]["diverged"] == 2
    assert study.table()[4]["excess"]["median"] is None


def test_the_figure_sorts_by_harm_and_marks_what_the_seeds_tell_apart(tmp_path):
    study = small_studies.write(tmp_path / "study", "ablation", "five_operations")
    seen = study_parts(study)
    middle = seen.spreads["accuracy"].values[:, 0]
    assert_array_equal(middle, [*sorted(middle[:-1], reverse=True), nan])  # half of its seeds diverged
    assert seen.values["accuracy"].axes["cell"].values[0] == "full model"
    assert set(seen.harmed) == {cell.name for cell in study.cells[1:]}
    assert np.isfinite(seen.bounds.values).sum() == 2


# ---- training --------------------------------------------------------------------------------------------------------


def test_members_trained_together_are_the_single_runs(tmp_path):
    study = tiny("seeds", tmp_path / "study", seeds=3, steps=12, settings=(*TINY, "train.log_every=3"))
    row = study.rows()[0]
    for k, seed in enumerate(row.seeds):
        single = training.begin(from_tables({**study.experiment.tables(), "train": {
            **study.experiment.tables()["train"], "seed": seed}}, "one"), out=tmp_path / str(seed)).run  # fmt: skip
        assert_allclose(row.curves["validation_loss"][:, k], single.metrics["validation_loss"], rtol=1e-5)
        assert_allclose(row.measured["excess"][k], single.metrics["excess"][-1], rtol=1e-4, atol=1e-6)
        assert row.measured["rule_error"][k] == pytest.approx(single.metrics["rule_error"][-1], abs=1e-6)


def test_steps_to_a_goal_are_the_first_logged_ones(tmp_path):
    run = gf.train("plus_last_even", seeds=2, steps=6, settings=[*TINY, "train.log_every=2"], out=tmp_path / "run")
    right = np.array([[0.1, 0.2], [0.96, 0.3], [0.5, 0.94], [1.0, 0.9]])
    assert_array_equal(_measure.steps_to(run, right, 0.95), [2, nan])
    assert_array_equal(_measure.steps_to(run, right, 1.0), [6, nan])


@pytest.mark.usefixtures("three_rates")
def test_a_study_goes_on_where_it_stopped_and_repeats_nothing(tmp_path):
    first = Counted()
    folder = tmp_path / "study"
    study = tiny("rate", folder, executor=first)
    assert first.cells == [cell.name for cell in study.cells]
    lost = [study.cells[0].name, study.cells[2].name]
    assert len(first.cells) == 3
    before = study.table()
    for cell in study.cells:
        if cell.name in lost:
            (folder / "cells" / f"{cell.file}.json").unlink()
    stamps = {path.name: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}
    second = Counted()
    again = tiny("rate", folder, executor=second)
    assert second.cells == lost
    assert stamps.items() <= {path.name: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}.items()
    without = [{k: v for k, v in row.items() if k != "seconds"} for row in before]
    assert str([{k: v for k, v in row.items() if k != "seconds"} for row in again.table()]) == str(without)
    third = Counted()
    assert tiny("rate", folder, executor=third).seconds == again.seconds
    assert third.cells == []


def test_other_settings_are_refused_in_a_named_folder_and_get_their_own_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert tiny("seeds", None).path.name == "seeds-plus_last_even"
    assert tiny("seeds", None, steps=5).path.name == "seeds-plus_last_even-2"
    assert tiny("seeds", None).path.name == "seeds-plus_last_even"
    with pytest.raises(CallError, match=r"train\.steps = 4, not 6"):
        tiny("seeds", "studies/seeds-plus_last_even", steps=6)
    with pytest.raises(CallError, match="seeds = 2, not 3"):
        tiny("seeds", "studies/seeds-plus_last_even", seeds=3)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(CallError, match="holds no study"):
        tiny("seeds", tmp_path / "full")


@pytest.mark.usefixtures("three_rates")
def test_a_failed_cell_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    train, bad = _work.train, f"rate {10 * load('plus_last_even').train.rate:g}"

    def broken(order):
        if order["cell"] == bad:
            raise CallError("this one cannot be")
        return train(order)

    monkeypatch.setattr(_work, "train", broken)
    told = []
    study = tiny("rate", tmp_path / "study", watch=_run.Watch(failed=lambda cell, why: told.append((cell.name, why))))
    assert told == [(bad, "this one cannot be")]
    assert study.failed == {bad: "this one cannot be"}
    assert len(study.rows()) == len(study.cells) - 1
    assert study.result["complete"] is False
    monkeypatch.setattr(_work, "train", train)
    again = tiny("rate", tmp_path / "study")
    assert again.failed == {}
    assert again.result["complete"] is True


def test_divergence_is_a_result(tmp_path):
    settings = (*TINY, "train.optimiser=sgd", "train.rate=1e30")
    study = tiny("seeds", tmp_path / "study", settings=settings, steps=30)
    row = study.rows()[0]
    assert len(row.diverged) == 2
    assert row.status == "diverged"
    assert study.table()[0]["excess"]["median"] is None
    assert study.result["complete"] is True
    assert "2 diverged" in study.result["conclusion"]


def test_the_search_has_seeds_of_its_own_and_its_best_rate_is_the_row(tmp_path, monkeypatch):
    file = studies.find("optimiser")
    monkeypatch.setattr(file, "GRID", {"sgd": (1e-4, 0.1), "adam": (1e-6, 0.01)})
    study = tiny("optimiser", tmp_path / "study", steps=40)
    assert [row.cell.name for row in study.rows()] == ["SGD at 0.1", "Adam at 0.01"]
    searched, rows = study.rows("search"), study.rows()
    assert len(searched) == 4
    assert not {seed for row in searched for seed in row.seeds} & {seed for row in rows for seed in row.seeds}
    for row in rows:
        rivals = [each for each in searched if each.cell.settings[0] == row.cell.settings[0]]
        best = min(rivals, key=lambda each: study.spread(each, "excess").median)
        assert best.cell.x == row.cell.x
    assert "edge of its grid" in study.result["conclusion"]


@pytest.mark.usefixtures("two_rates")
def test_any_executor_gives_the_same_study(tmp_path):
    here = tiny("rate", tmp_path / "here")
    with ThreadPoolExecutor(2) as pool:
        other = tiny("rate", tmp_path / "other", executor=pool)
    for a, b in zip(here.rows(), other.rows(), strict=True):
        assert a.cell == b.cell
        assert_array_equal(a.curves["excess"], b.curves["excess"])
    assert (here.path / "runs" / here.cells[0].file / "run.json").is_file(), "runs of this machine are kept"
    assert not (other.path / "runs").exists(), "an executor may be anywhere, so its workers keep theirs to themselves"


@pytest.mark.usefixtures("two_rates")
def test_processes_give_the_same_study_and_one_that_dies_is_replaced(tmp_path):
    here = tiny("rate", tmp_path / "here")
    pool = _executors.Processes(2, lambda message: seen.append(message))
    seen: list[dict] = []
    with pool:
        study = tiny("rate", tmp_path / "there", executor=pool)
        victim = pool.children[0]
        victim.kill()
        victim.join()
        answer = pool.submit(_double, 21)
        more = pool.submit(_double, 4)
        assert (answer.result(timeout=120), more.result(timeout=120)) == (42, 8)
        refused = pool.submit(_refuse)
        assert "cannot be" in str(refused.exception(timeout=120))
    assert all(not child.is_alive() for child in pool.children.values())
    for a, b in zip(here.rows(), study.rows(), strict=True):
        assert_allclose(a.curves["excess"], b.curves["excess"], rtol=1e-4, atol=1e-6)
    assert {message["cell"] for message in seen} == {cell.name for cell in study.cells}


def _double(number):
    return 2 * number


def _refuse():
    raise CallError("it cannot be")


# ---- studies with numbers of their own -------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "insides", "depth"), [("nested", 1, 2), ("nested_two", 2, 2), ("nested_deep", 2, 3)])
def test_nested_questions_have_the_answer_that_python_gives_them(kind, insides, depth):
    from glassformer.studies import arguments

    tokens, answers = arguments.nested(kind)
    task = FiveOperations()
    functions = {"First": lambda *d: d[0], "Second": lambda *d: d[1], "Last": lambda *d: d[2], "Max": max, "Min": min}
    texts = [task.decode(row) for row in tokens]
    assert len(set(texts)) > 1900, "hardly any question twice"
    places = Counter()
    for text, answer in list(zip(texts, answers, strict=True))[:300]:
        assert text.count("(") == 1 + insides
        assert _depth(text) == depth
        assert _evaluated(text, functions) == answer - 2
        outer = ast.parse(text, mode="eval").body
        places[tuple(isinstance(each, ast.Call) for each in outer.args)] += 1
    assert len(places) == 3, "the inner ones stand at every place"
    assert sum(next(iter(places))) == (2 if kind == "nested_two" else 1)


def _depth(text):
    levels = np.cumsum([(each == "(") - (each == ")") for each in text])
    return levels.max()


def _evaluated(text, functions):
    node = ast.parse(text, mode="eval").body

    def value(each):
        return functions[each.func.id](*map(value, each.args)) if isinstance(each, ast.Call) else each.value

    return value(node)


def test_lengths_are_tested_on_questions_that_were_not_trained_on(tmp_path):
    from glassformer.studies import arguments

    small = [each for each in SMALL if not each.startswith(("train.judged", "train.rate"))]
    settings = [*small, "train.judged=1000", "train.rate=0.05"]  # every new question is behind the logged accuracy
    run = gf.train("five_operations", steps=30, settings=settings, out=tmp_path / "run")
    tokens, _ = arguments._asked(run, 3)
    trained = {tuple(row[:-1]) for row in run.task.examples(8, "train", 5000).windows}
    assert len(tokens) == 1000
    assert not {tuple(row) for row in tokens} & trained
    measured = arguments.measure(run)
    assert measured["accuracy_3"][0] == pytest.approx(run.metrics["accuracy"][-1], abs=1e-3)
    assert measured["accuracy_3"][0] > 0.05, "or it would be the accuracy of anything"
    assert [len(arguments._asked(run, n)[0]) for n in (2, 4)] == [500, 2000]


def test_transfer_measures_the_rest_and_what_luck_gives(tmp_path):
    from glassformer.studies import transfer

    settings = [*SMALL, 'data.operations=["First"]']
    run = gf.train("five_operations", steps=2, settings=settings, out=tmp_path / "run")
    found = transfer.measure(run)
    # First coincides with Second and Last on 10 % of triples, with Max and Min on 38.5 %.
    assert found["coincidence"][0] == pytest.approx((0.1 + 0.1 + 0.385 + 0.385) / 4)
    kinds = {kind: run.metrics[f"accuracy_by_kind.{kind}"][-1] for kind in run.task.kinds}
    assert found["accuracy_trained"][0] == pytest.approx(kinds["First"])
    assert found["accuracy_rest"][0] == pytest.approx(np.mean([kinds[k] for k in ("Second", "Last", "Max", "Min")]))


@pytest.mark.parametrize("name", ["transfer"])
def test_the_studies_of_the_five_operations_run(name, tmp_path, monkeypatch):
    file = import_module(f"glassformer.studies.{name}")
    whole = getattr(file, name)
    monkeypatch.setattr(file, name, lambda base: [whole(base)[0], whole(base)[-1]])
    study = tiny(name, tmp_path / "study", experiment="five_operations", settings=SMALL)
    assert len(study.rows()) == 2
    for metric in study.metrics:
        assert all(len(row.measured[metric]) == 2 for row in study.rows()), metric
    json.dumps(study.result)


def test_the_default_number_of_steps_is_a_budget_of_work():
    assert _run.shortened(load("plus_last_even"), None).train.steps == 20_000
    five = _run.shortened(load("five_operations"), None).train
    assert five.steps == 2_500
    assert _run.shortened(load("five_operations"), 70).train.steps == 70


def test_a_cell_is_named_safely_as_a_file():
    assert Cell(name="Rate 0.003, with ../ and /").file == "rate_0.003_with_.._and"
    assert os.sep not in Cell(name="architecture.causal=true").file


def test_a_cells_file_name_is_allowed_on_every_file_system():
    names = ("aux", "CON", "nul.5", "com1", "rate 0.1", "a.", "console")
    assert [Cell(name=name).file for name in names] == [
        "aux_", "con_", "nul.5_", "com1_", "rate_0.1", "a", "console",
    ]  # fmt: skip


def test_cells_that_would_share_a_file_are_refused(monkeypatch):
    study = _run.find("rate")
    monkeypatch.setattr(study, "rate", lambda _: [Cell(name="one A"), Cell(name="One_a")])
    with pytest.raises(CallError, match="'one A' and 'One_a' would share one file"):
        _run._plan(study, "rate", _run.shortened(load("plus_last_even"), 3), 1, ())
