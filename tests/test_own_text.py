"""A text of one's own: a model and a training of its size, a sample at the end, a run that needs the file no more."""

import json
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

from command import call, contents
from glassformer import analyses, films, sizing, training
from glassformer.errors import CallError
from glassformer.experiment import Experiment, for_text, from_tables, load
from glassformer.experiment import text as toml
from glassformer.run import open as open_run
from small_texts import SETTINGS, noise
from test_cli import refused

RHYME = "the cat sat on the mat, and that was that; a rat ran at the cat.\n"
SMALL = (*SETTINGS[:-1], "train.steps=60", "train.log_every=20")
QUICK = tuple(word for setting in SMALL for word in ("--set", setting))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text(path: Path, letters: int) -> Path:
    path.write_text((RHYME * (1 + letters // len(RHYME)))[:letters], encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("letters", "context", "width", "steps", "tokenizer"),
    [
        (300, 16, 64, 300, "characters"),
        (700, 32, 64, 300, "characters"),
        (19_999, 32, 64, 300, "characters"),
        (20_000, 64, 64, 800, "characters"),
        (100_000, 64, 96, 1200, "characters"),
        (200_000, 64, 128, 2000, "byte_bpe"),
    ],
)
def test_a_text_gets_a_model_of_its_size(here, letters, context, width, steps, tokenizer):
    found = for_text(text(here / "mine.txt", letters), None, 300 if tokenizer == "byte_bpe" else None)
    a, train = found.architecture, found.train
    assert (a.context, a.width, train.steps, found.task.tokenizer) == (context, width, steps, tokenizer)
    assert found.changed in ((), ("data.entries",))  # what was chosen for it is no change of its recipe
    assert found.task.data(a.context).validation.windows.sum() >= 2
    by_name = load("own_text", [f"data.file={here / 'mine.txt'}", *(["data.entries=300"] if found.changed else [])])
    assert by_name.tables() == {**found.tables(), "name": "own_text"}
    if letters < 200_000:
        assert f"width {width} ({a.parameters:,} parameters) that see {context} tokens, {steps} steps" in sizing.told(
            found
        ).replace(",200 steps", "200 steps")


def test_the_long_recipe_is_the_one_that_is_shown(here):
    found = for_text(text(here / "mine.txt", 200_000), "characters", None)
    recipe = load(found, ["data.tokenizer=characters"]).tables()
    for table, values in tomllib.loads(toml("own_text")).items():
        if table in ("architecture", "train"):
            assert {name: recipe[table][name] for name in values} == values


def test_a_setting_that_is_given_is_never_chosen(here):
    path = text(here / "mine.txt", 5000)
    found = for_text(path, "words", 40, ["architecture.width=32", "train.rate=0.5", "architecture.context=8"], steps=7)
    a, train = found.architecture, found.train
    assert (a.width, a.context, train.rate, train.steps, train.batch) == (32, 8, 0.5, 7, 16)
    assert (found.task.tokenizer, found.task.entries) == ("words", 40)
    again = from_tables(json.loads(json.dumps(found.tables())), found.name)  # as a run keeps it
    assert again == found
    # 5000 characters are 1200 words: enough for a context of 32, and 500 of them for one of 16
    assert for_text(path, "words", None).architecture.context == 32
    assert for_text(text(path, 2000), "words", None).architecture.context == 16


def test_a_training_says_what_was_chosen_and_ends_with_a_sample(here):
    text(here / "mine.txt", 900)
    answer = call("train", "--text", "mine.txt", *QUICK)
    assert answer.code == 0
    assert "mine.txt: 900 characters" in answer.err
    assert "sized to the text: 2 blocks of width 8 " in answer.err
    lines = answer.out.splitlines()
    sample = lines[lines.index("it writes:") + 1 :]
    written = "".join(
        line.removeprefix("  ") for line in sample[: next(k for k, each in enumerate(sample) if each[0] != " ")]
    )
    assert 100 <= len(written) <= 160
    assert set(written) <= set(RHYME)


def stopped(path: Path, experiment: Experiment) -> None:
    """Stopped at the first safe point."""
    assert training.begin(experiment, out=path, stop=lambda: True).interrupted


def test_a_text_run_goes_on_with_the_text_it_keeps(here, monkeypatch):
    monkeypatch.setattr("glassformer.plan.SAFE_WORK", 1.0)  # every stretch ends at a safe point
    path = text(here / "mine.txt", 900)
    experiment = for_text(Path("mine.txt"), None, None, SMALL)
    whole = training.begin(experiment, out="whole").run
    stopped(here / "runs/gone", experiment)
    shutil.copytree("runs/gone", "runs/other")
    path.unlink()
    assert call("train", "--resume", "--out", "runs/gone", "--quiet") == (0, "runs/gone\n", "")
    refused(call("train", "--text", "my.txt", "--resume", "--out", "runs/other"), "a run of mine, not of my")
    refused(call("train", "--text", "mine.txt", "--resume", *QUICK, "--seed", 3), "no interrupted run of mine")
    path.write_text("other " * 300, encoding="utf-8")
    answer = call("train", "--text", "mine.txt", "--resume", *QUICK, "--quiet")
    assert answer[:2] == (0, "runs/other\n")
    assert answer.err == (
        "notice: mine.txt has changed since the run was begun; the run goes on with the copy in runs/other/text.txt\n"
    )
    for name in ("gone", "other"):
        assert open_run(here / "runs" / name).status == "finished"
        assert contents(here / "runs" / name) == contents(whole.path)


def test_a_table_run_goes_on_with_the_table_it_keeps(here, monkeypatch):
    monkeypatch.setattr("glassformer.plan.SAFE_WORK", 1.0)
    rows = [f"{a}+{b},{a + b}" for a in range(6) for b in range(6)]
    (here / "sums.csv").write_text("\n".join(["question,answer", *rows]), encoding="utf-8")
    settings = ("data.file=sums.csv", "architecture.width=8", "architecture.heads=1", "train.steps=40")
    whole = training.begin(load("own_table", settings), out="whole").run
    stopped(here / "runs/one", load("own_table", settings))
    (here / "sums.csv").unlink()
    answer = call("train", "own_table", *(word for each in settings for word in ("--set", each)), "--resume", "--quiet")
    assert answer[:2] == (0, "runs/one\n")
    assert "sums.csv cannot be read now; the run goes on with the copy in runs/one/text.txt" in answer.err
    assert contents(here / "runs/one") == contents(whole.path)


def test_resume_without_a_name_goes_on_with_the_newest(here, monkeypatch):
    refused(call("train", "--resume"), "no interrupted run at all in runs")
    refused(call("train", "--resume", "--out", "nowhere"), "no interrupted run at all in nowhere")
    monkeypatch.setattr("glassformer.plan.SAFE_WORK", 1.0)
    stopped(here / "runs/one", load("plus_last_even", ["train.judged=50", "train.keep_bytes=0"], steps=300))
    assert call("train", "--resume", "--quiet", "--steps", 300) == (0, "runs/one\n", "")
    refused(call("train", "--resume", "--quiet", "--steps", 200), "no interrupted run with these settings in runs")


def test_a_text_of_one_letter_has_nothing_to_learn(here):
    (here / "one.txt").write_text("a" * 600, encoding="utf-8")
    found = for_text(Path("one.txt"), None, None)
    said = found.task.expectations(found.architecture, found.train)
    assert "nothing to learn" in said[1]
    assert not any("should beat" in sentence for sentence in said)
    assert np.isclose(found.floor, 0)
    run = noise(here / "run", for_text(Path("one.txt"), None, None, SETTINGS))
    for name in ("attribution", "landscape", "loss_surface", "probes", "reachable", "residual", "temperature"):
        with pytest.raises(CallError, match="one token to answer with, so there is nothing to choose"):
            getattr(analyses, name)(run)
    ((frame, _),) = films.film_attention(run).shots([0], 480)  # the strip of a loss that has nowhere to go
    assert frame.size
