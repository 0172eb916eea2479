"""An experiment of every kind of task trains and opens; the others have settings, data and a model that fit."""

import os
import tomllib
from pathlib import Path

import numpy as np
import pytest

import glassformer
import glassformer.run
from command import call
from glassformer import experiment, model, reference, tasks
from glassformer.architecture import Architecture, nest
from glassformer.tasks import Task
from small_runs import MODULAR, STEPS

FEW = ("--steps", 3, "--set", "train.judged=20")


def kind(task: str) -> type[Task]:
    """What tasks have in common that differ in their data alone: rules, questions, texts; else the task itself."""
    found = tasks.find(task)
    above = found.__mro__[1]
    return found if above is Task else above


TASKS = {name: tomllib.loads(experiment.text(name))["task"] for name in experiment.names()}
FIRST = {task: name for name, task in reversed(TASKS.items())}  # an experiment of every task
BY_MANY = {kind(TASKS[name]) for name in (*STEPS, MODULAR)}  # trained by many tests
TRAINED = {kind(task): name for task, name in FIRST.items() if kind(task) not in BY_MANY}.values()


@pytest.mark.parametrize("name", [name for name in TASKS if name not in {*TRAINED, *STEPS, MODULAR}])
def test_an_experiment_of_a_known_kind_has_data_and_a_model_that_answers(name, tmp_path):
    """The way from data to weights on disk is that of another experiment of its kind, which is trained."""
    extra = [str(word) for word in _extra(name, tmp_path) if word != "--set" and "blocks" not in str(word)]
    mine, first = experiment.load(name, extra), experiment.load(FIRST[TASKS[name]], extra)
    assert mine.name == first.name or {**mine.tables(), "name": first.name} != first.tables()
    drawn = mine.task.data(mine.architecture.context).train.tokens
    assert 0 <= drawn.min() <= drawn.max() < mine.architecture.vocabulary
    params = model.init(mine.architecture, np.random.default_rng(mine.train.seed))
    assert mine.architecture.parameters == sum(array.size for array in params.values())
    windows = mine.task.examples(mine.architecture.context, "validation", 4).windows
    logits, _ = reference.forward(nest(params), windows[:, :-1], mine.architecture)
    assert np.isfinite(logits).all()
    assert logits.shape[-1] == mine.architecture.answers > windows[:, -1].max()


@pytest.mark.parametrize("name", TRAINED)
def test_a_ready_made_experiment_trains_and_opens(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("train", name, *FEW, *_extra(name, tmp_path), "--json")
    assert answer.code == 0, answer.err
    run = glassformer.run.open(answer.json["run"])
    assert (run.experiment.name, run.status, run.steps.tolist()) == (name, "finished", [0, 1, 2, 3])
    assert run.check() == []
    assert np.isfinite(run.metrics["validation_loss"]).all()
    assert call("ask", run.path, run.task.showcase[0], "--top", 2).code == 0
    assert run.architecture.parameters == sum(array.size for array in run.weights(3).values())


def _extra(name: str, folder: Path) -> list[object]:
    """What a text experiment needs: its text, and a batch that a test can afford."""
    if name.startswith("shakespeare"):
        if not os.environ.get("GLASSFORMER_DATA"):
            pytest.skip("needs tinyshakespeare.txt: let GLASSFORMER_DATA name its folder")
        return ["--set", "train.batch=2", "--set", "architecture.blocks=1", "--set", "train.keep_bytes=999999999"]
    if name == "own_table":
        rows = "".join(f"{a}+{b},{a + b}\n" for a in range(9) for b in range(9))
        (folder / "mine.csv").write_text(f"question,answer\n{rows}")
        return ["--set", f"data.file={folder / 'mine.csv'}"]
    if name == "own_text":
        (folder / "mine.txt").write_text("one potato two potato three potato four\n" * 200)
        return ["--set", f"data.file={folder / 'mine.txt'}", "--set", "data.tokenizer=words"]
    return []


def test_scores_are_divided_by_the_root_of_the_head_width_except_where_a_source_does_otherwise():
    """The program of one source (the rhyme) divides by the root of the whole width; its own settings keep that."""
    standard = Architecture.__dataclass_fields__["score_scale"].default
    assert standard == "head"
    given = {name: tomllib.loads(experiment.text(name))["architecture"].get("score_scale", standard) for name in TASKS}
    assert {name for name, scale in given.items() if scale != "head"} == {"mary_as_published"}


def test_what_show_prints_trains_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(call("show", "plus_last_even").out, encoding="utf-8")
    for which in ("mine.toml", "plus_last_even"):
        assert call("train", which, *FEW, "--quiet").code == 0
    mine, theirs = (glassformer.run.find(name) for name in ("mine", "plus_last_even"))
    for step in range(4):
        for one, other in zip(mine.weights(step).values(), theirs.weights(step).values(), strict=True):
            np.testing.assert_array_equal(one, other)
    assert mine.experiment.tables() == {**theirs.experiment.tables(), "name": "mine"}
