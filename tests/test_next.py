"""The first hour at the command line: names of runs, what comes next, the version, and what Tab offers."""

import os
import shlex
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import glassformer
from command import QUICK, call
from glassformer import changed
from glassformer.commands import _complete, _next
from glassformer.errors import CallError, MissingError
from glassformer.experiment import for_text, load, names
from glassformer.gallery import page
from glassformer.run import open as open_run
from small_runs import POPULATION, TEXT, run_of


@pytest.mark.parametrize(
    ("assignments", "name", "told"),
    [
        ([], "", ""),
        (["train.seed=5"], "", ""),
        (["train.rate=3e-2", "architecture.heads=1"], "", ""),  # as it is already
        (["train.rate=1e-3"], "-rate_0.001", "train.rate = 0.001"),
        (["train.clip=1", "architecture.biases=['norm']"], "-biases_norm-clip_1",
         "architecture.biases = norm, train.clip = 1"),
        (["architecture.biases=[]", "architecture.causal=true"], "-biases_none", "architecture.biases = none"),
    ],
)  # fmt: skip
def test_a_run_is_called_after_the_settings_that_were_changed(assignments, name, told):
    found = load("plus_last_even", assignments)
    assert changed.run_name(found) == f"plus_last_even-{found.train.seed}{name}"
    assert changed.run_name(found, 16) == f"plus_last_even-{found.train.seed}x16{name}"
    assert changed.told(found) == (f"changed settings: {told}" if told else "")


def test_no_ready_made_experiment_is_told_as_changed():
    for name in names():
        with suppress(MissingError, CallError):  # those that need a file
            assert load(name).changed == ()


def test_changes_add_up_and_the_name_stays_one_that_every_system_takes():
    found = load(load("plus_last_even", ["train.rate=1e-3"]), ["data.plus=0.5"], steps=7)
    assert set(found.changed) == {"train.rate", "data.plus", "train.steps"}
    every = {"batch": 9, "rate": 1e-3, "decay": 0.1, "warmup": 3, "clip": 1.5, "optimiser": "adam", "schedule": "step"}
    every |= {"momentum": 0.5, "patience": 7}
    many = load("plus_last_even", [f"train.{name}={value}" for name, value in every.items()])
    name = changed.run_name(many)
    assert len(name) < len("plus_last_even-18") + changed.LONGEST + len("-and_9_more") + 1
    assert name.endswith("_more")
    assert sum(f"-{each}_" in name for each in every) + int(name.split("_")[-2]) == len(every)


def test_a_file_in_a_setting_leaves_its_name_and_nothing_that_could_be_a_path(tmp_path):
    odd = tmp_path / "my: ta*ble?.csv"
    odd.write_text("question,answer\n" + "\n".join(f"{k},{k % 3}" for k in range(40)))
    found = load("own_table", [f"data.file='{odd}'"])
    assert changed.run_name(found) == "own_table-18-file_my__ta_ble_.csv"
    text = tmp_path / "mine.txt"
    text.write_text("to be or not to be\n" * 40)
    assert changed.run_name(for_text(text, None, None)) == "mine-18"
    assert changed.run_name(for_text(text, "byte_bpe", None)) == "mine-18-tokenizer_byte_bpe"


def test_what_was_changed_is_kept_with_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("train", "plus_last_even", "--steps", 3, *QUICK)
    (path,) = Path("runs").iterdir()
    run = open_run(path)
    assert run.experiment.changed == ("train.steps", "train.judged")
    assert "changed settings: train.steps = 3, train.judged = 50" in answer.out
    assert "changed settings: train.steps = 3, train.judged = 50" in call("check").out
    assert "<p>Changed settings: train.steps = 3, train.judged = 50.</p>" in page(run, [], Path("figures"))
    assert "3; kept: 4, step 0 among them" in run._repr_html_()
    (path / "run.json").write_text((path / "run.json").read_text().replace("train.judged", "train.jud\\u001b"))
    assert open_run(path).experiment.changed == ("train.steps",), "only what is a setting is believed"


def test_a_text_worth_asking_ends_where_the_rule_speaks():
    run = run_of("plus_last_even")
    assert _next.telling(run) == "4 9 + 4 10 7 +"
    assert _next.telling(run_of("five_operations")) == "Max(5,3,9)"


@pytest.mark.parametrize(
    ("name", "verbs"),
    [("plus_last_even", "ask report figures film"), ("five_operations", "ask report figures film"),
     (POPULATION, "ask report figures film"), (TEXT, "generate report figures score")],
)  # fmt: skip
def test_the_next_commands_are_those_of_this_run(name, verbs):
    run = run_of(name)
    told = [words for words, _ in _next.commands(run)]
    assert " ".join(words[0] for words in told) == verbs
    assert {words[1] for words in told} == {str(run.path)}
    answer = call(*told[0])
    assert (answer.code, run.name in answer.err) == (0, True)


def test_a_ready_made_question_leads_to_a_study():
    run = open_run(run_of("five_operations").path)
    run.experiment = replace(run.experiment, changed=())  # as if trained for all its steps
    assert _next.commands(run)[-1][0] == ["study", "ablation", "five_operations"]


def test_the_next_commands_can_be_pasted(tmp_path, monkeypatch, capsys):
    """Spaces, quotes and leading dashes survive the shell; in runs/ the name is enough."""
    monkeypatch.chdir(tmp_path)
    run = run_of("plus_last_even")
    odd = tmp_path / "my 'run'"
    odd.symlink_to(run.path)
    _next.say(open_run(odd))
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "next:"
    for line in lines:
        assert shlex.split(line)[:3:2] == ["glassformer", str(odd)]
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/mine").symlink_to(run.path)
    _next.say(open_run(Path("runs/mine")), "figures", "report")
    assert [shlex.split(line)[:3] for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["glassformer", "ask", "mine"], ["glassformer", "film", "mine"],
    ]  # fmt: skip
    assert _next._text("--- a line\nanother") == ["--", "--- a line"]
    assert _next._text("\x1b[31m") == _next._text(" \n") == []


def test_the_version_and_the_module():
    assert call("--version") == (0, f"glassformer {glassformer.__version__}\n", "")
    module = subprocess.run([sys.executable, "-m", "glassformer", "--version"], capture_output=True, text=True)
    assert (module.returncode, module.stdout) == (0, f"glassformer {glassformer.__version__}\n")


def test_tab_offers_runs_experiments_and_pieces(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("plus-1", "plus-2", "mary-1", "no run"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / ("run.json" if name != "no run" else "notes")).write_text("")
    (tmp_path / "mine.toml").write_text("")
    assert _complete.runs("plus") == ["plus-1", "plus-2"]
    assert _complete.runs("") == ["mary-1", "plus-1", "plus-2"]
    assert set(_complete.experiments("")) == {*names(), "mine.toml"}
    assert _complete.pieces("films")("emb") == ["embeddings"]
    assert _complete.studies("ra") == ["rate"]
    monkeypatch.chdir("/")
    assert _complete.runs("") == []


def test_the_shell_is_answered(tmp_path):
    """As bash asks, in a process of its own: one name a line, and nothing else."""
    (tmp_path / "runs/plus-1").mkdir(parents=True)
    (tmp_path / "runs/plus-1/run.json").write_text("")
    asking = {"COMP_WORDS": "glassformer ask pl", "COMP_CWORD": "2", "_GLASSFORMER_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv[0] = 'glassformer'; from glassformer.cli import main; main()"
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=os.environ | asking, capture_output=True,
                            text=True)  # fmt: skip
    assert (answer.stdout, answer.stderr) == ("plus-1\n", "")
