"""`glassformer study` as a person meets it: table, files, exit codes, JSON, going on, a sentence for what is wrong."""

import json
import signal
import time
from contextlib import suppress

import numpy as np
import pytest

from command import call, start
from glassformer import studies
from glassformer import study as opened
from glassformer.commands.study import interruptible
from glassformer.studies import _work
from glassformer.studies._run import Watch

QUICK = ("--seeds", 2, "--steps", 4, "--workers", 1, "--set", "train.judged=20", "--set", "architecture.feed_forward=4")


@pytest.fixture
def two_rates(monkeypatch):
    monkeypatch.setattr(studies.find("rate"), "FACTORS", (1, 10))


@pytest.mark.usefixtures("two_rates")
def test_a_study_prints_its_table_and_leaves_its_files(tmp_path):
    answer = call("study", "rate", "plus_last_even", *QUICK, "--out", tmp_path / "study")
    assert answer.code == 0, answer.err
    study = opened.open(tmp_path / "study")
    for row in study.rows():
        assert row.cell.name in answer.out
        assert f"{study.spread(row, 'excess').median:.4f}" in answer.out
    assert study.result["conclusion"] in answer.out
    assert "low and high are the smallest and the largest of 2 seeds" in answer.out
    drawn = [f"study_rates.{kind}" for kind in ("svg", "png", "json")]
    for file in ("study.json", "result.json", "table.csv", *drawn):
        assert (study.path / file).stat().st_size > 0, file
    assert answer.err.count("[") == 2, "a line per cell"
    again = call("study", "rate", "plus_last_even", *QUICK, "--out", tmp_path / "study", "--json")
    result = json.loads(again.out.splitlines()[-1])
    assert (result["study"], result["experiment"], result["seeds"]) == ("rate", "plus_last_even", 2)
    assert result["seconds"] == round(study.seconds, 1)
    for said, row in zip(result["rows"], study.rows(), strict=True):
        assert said["cell"] == row.cell.name
        for metric in study.metrics:
            assert set(said[metric]) == {"median", "low", "high"}
            middle = study.spread(row, metric).median
            assert said[metric]["median"] == (pytest.approx(middle) if np.isfinite(middle) else None)
        assert said["excess"]["low"] == pytest.approx(np.min(row.measured["excess"]))
    assert said["steps_to_98"]["median"] is None, "never, for it was trained a moment only"
    assert "NaN" not in again.out
    assert again.err == ""


@pytest.mark.usefixtures("two_rates")
def test_a_failed_cell_ends_with_exit_code_1_and_its_sentence(tmp_path, monkeypatch):
    train, asked = _work.train, []

    def broken(order):
        asked.append(order["cell"])
        if len(asked) == 1:
            raise ValueError("no such luck")
        return train(order)

    monkeypatch.setattr(_work, "train", broken)
    answer = call("study", "rate", "plus_last_even", *QUICK, "--out", tmp_path / "study", "--json")
    assert answer.code == 1
    assert f"the cell {asked[0]!r} failed: ValueError: no such luck" in answer.err
    assert json.loads(answer.out)["failed"] == {asked[0]: "ValueError: no such luck"}
    assert [row["cell"] for row in json.loads(answer.out)["rows"]] == asked[1:]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("ablatoin",), "did you mean ablation"),
        (("ablation", "plus_last_evn"), "did you mean plus_last_even"),
        (("split", "plus_last_even"), "cannot be asked of plus_last_even"),
        (("seeds", "plus_last_even", "--seeds", "0"), "seeds = 0 is not possible"),
        (("seeds", "plus_last_even", "--workers", "0"), "workers = 0 train nothing"),
        (("seeds", "plus_last_even", "--set", "train.rat=1"), "did you mean rate"),
        (("seeds", "plus_last_even", "--workers", "2", "--scheduler", "x"), "leave one of them out"),
        (("rate", "plus_last_even", "--without", "architecture.causal=true"), "takes no --without"),
    ],
)
def test_a_wrong_call_is_one_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("study", *words)
    assert answer.code == 2
    assert sentence in answer.err
    assert answer.err.count("\n") == 1
    assert not list((tmp_path / "studies").rglob("cells/*.json")) if (tmp_path / "studies").exists() else True


def test_ctrl_c_stops_and_the_same_command_goes_on(tmp_path):
    words = ("study", "blocks", "plus_last_even", "--seeds", 2, "--steps", 400, "--workers", 2, "--out", "study",
             "--set", "train.judged=20", "--set", "architecture.feed_forward=4")  # fmt: skip
    process = start(*words, folder=tmp_path)
    until = time.monotonic() + 240
    while not list((tmp_path / "study" / "cells").glob("*.json")):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    study = opened.open(tmp_path / "study")
    if study.missing:  # else it was faster than the signal
        assert process.returncode == 1
        assert "the same command goes on" in err
        assert "Traceback" not in err
        assert out == ""
    done = {path.name: path.read_bytes() for path in (study.path / "cells").iterdir()}
    again = start(*words, folder=tmp_path)
    out, err = again.communicate(timeout=500)
    assert again.returncode == 0, err
    assert "4 blocks" in out
    for name, content in done.items():
        assert (study.path / "cells" / name).read_bytes() == content


def test_a_request_to_end_that_python_dropped_is_heeded_at_the_next_sign_of_progress():
    watch, before = Watch(), signal.getsignal(signal.SIGTERM)
    with interruptible(watch):
        watch.progress({})  # nobody has asked
        with suppress(KeyboardInterrupt):  # as in a finaliser, where an exception goes nowhere
            signal.raise_signal(signal.SIGTERM)
        for tell in (watch.progress, watch.done):
            with pytest.raises(KeyboardInterrupt):
                tell()
    assert signal.getsignal(signal.SIGTERM) is before


def test_it_is_listed():
    answer = call("list", "studies")
    assert answer.out.split("\n")[0].split()[0] == "ablation"
    assert len(answer.out.strip().split("\n")) == len(studies.names())
