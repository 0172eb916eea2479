"""What surrounds a command is a person's own: closed outputs, settings of other libraries, pipes in place of files."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from command import call, contents
from glassformer import app, corpora, streams, study
from glassformer.analyses.path import timeline
from glassformer.engine import _devices
from glassformer.errors import Error
from glassformer.experiment import load
from glassformer.training import begin
from small_runs import run_of


@pytest.mark.skipif(os.name == "nt", reason="a shell closes files by their number")
def test_a_closed_output_leads_nowhere(tmp_path: Path) -> None:
    """`2>&-`: bars and sentences are written to nothing, and no file of ours gets the number of an output."""
    told = tmp_path / "told"
    program = (
        "import os, sys; from glassformer import streams; streams.cover();"
        "print('lost', file=sys.stderr); print('lost'); sys.stderr.isatty();"
        f"file = open({str(told)!r}, 'w'); file.write(str(file.fileno())); file.close();"
        "os.write(1, b'lost'); os.write(2, b'lost')"
    )
    code = subprocess.run(["sh", "-c", '"$0" -c "$1" >&- 2>&- <&-', sys.executable, program], check=False).returncode
    assert (code, int(told.read_text()) > 2) == (0, True)


def test_a_training_computes_in_32_bits_whatever_jax_is_told_elsewhere(tmp_path: Path) -> None:
    """Researchers set jax_enable_x64 for their own work; an experiment has one result."""
    small = load("plus_last_even", ["train.judged=20"], steps=3)
    usual = begin(small, out=tmp_path / "usual").run
    with jax.enable_x64(True):
        here = begin(small, out=tmp_path / "here").run
    assert contents(here.path) == contents(usual.path)


def test_a_device_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise AssertionError  # as JAX does for JAX_PLATFORMS=cuda without one

    monkeypatch.setattr(jax, "devices", none)
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    with pytest.raises(Error, match=r"no device .* JAX_PLATFORMS is 'cuda'; cpu is there always"):
        _devices(1)


def test_what_nobody_foresaw_is_one_sentence_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variable that conftest sets for all tests, it is what Python makes of it."""

    def broken(**_: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr(app, "app", broken)
    with pytest.raises(KeyError, match="surprise"):
        call("list")
    monkeypatch.delenv(streams.TRACEBACK)
    answer = call("list")
    assert answer.code == 1
    assert answer.err.startswith("glassformer: KeyError: 'surprise'\n")
    assert "Traceback" not in answer.err


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    typed = (("train", "--text", pipe), ("train", "own_table", "--set", f"data.file={pipe}"), ("show", pipe))
    for words in (*typed, ("show", "/dev/zero")):
        answer = call(*words)
        assert answer.code == 2, words
        assert "is a pipe or a device" in answer.err
    assert not corpora.is_stream(tmp_path)


def test_a_loss_too_large_for_a_step_down_does_not_hold_up_the_timeline() -> None:
    """1e300 less a little is 1e300: the search for where it has fallen must go on all the same."""
    found = timeline._plateaus(run_of("plus_last_even"), np.arange(0.0, 50.0, 10.0), np.full(5, 1e300))
    assert len(found.values) <= 5


def test_files_of_a_study_hold_no_mark_that_turns_the_writing() -> None:
    assert study.text({"cell": "\u202egnp"}).startswith(b'{\n "cell": "\\u202egnp",\n "sha256": "')
