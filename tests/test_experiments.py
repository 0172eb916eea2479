"""Every ready-made experiment trains and opens; and a new task is one new file, as the guide says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import glassformer
import glassformer.run
from command import call
from glassformer import experiment

FEW = ("--steps", 3, "--set", "train.judged=20")
GUIDE = Path(__file__).parents[1] / "docs/add-a-task.md"


@pytest.mark.parametrize("name", experiment.names())
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


def test_what_show_prints_trains_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(call("show", "plus_last_even").out, encoding="utf-8")
    for which in ("mine.toml", "plus_last_even"):
        assert call("train", which, *FEW, "--quiet").code == 0
    mine, theirs = (glassformer.run.open(f"runs/{name}-18") for name in ("mine", "plus_last_even"))
    for step in range(4):
        for one, other in zip(mine.weights(step).values(), theirs.weights(step).values(), strict=True):
            np.testing.assert_array_equal(one, other)
    assert mine.experiment.tables() == {**theirs.experiment.tables(), "name": "mine"}


def blocks(kind: str) -> list[tuple[str, str]]:
    """The files of the guide: each block of code with the path in backticks above it."""
    return re.findall(rf"^`([\w./]+)`\n```{kind}\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


USE = """
import numpy as np
from glassformer import tasks
from glassformer.run import open

task = tasks.find("after_five_comes_zero")()
rng = np.random.default_rng(0)
for _ in range(50):
    verdicts = task.verify(task.sample(rng, 30))
    assert False not in verdicts and True in verdicts
assert task.verify(task.encode("5 1"))[1] is False
run = open("runs/mine-18")
assert run.check() == []
assert task.floor(8) == run.experiment.floor == run.about["floor"]
"""


def test_a_new_task_is_one_new_file(tmp_path):
    """Nothing else is edited: the guide's file, laid into a copy of the package, is listed, trains and verifies."""
    package = tmp_path / "src/glassformer"
    shutil.copytree(Path(glassformer.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    ((path, code),) = blocks("python")
    (tmp_path / path).write_text(code, encoding="utf-8")
    ((_, settings),) = blocks("toml")
    (tmp_path / "mine.toml").write_text(settings, encoding="utf-8")

    def run(*words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    main = ("-c", "import glassformer, sys; from glassformer.cli import main; print(glassformer.__file__); main()")
    listed = run(*main, "list", "tasks")
    assert listed.startswith(str(package))
    assert re.search(r"after_five_comes_zero +After a 5 comes a 0; otherwise anything goes\.", listed)
    run(*main, "train", "mine.toml", *map(str, FEW))
    run("-c", USE)


def test_the_guides_experiment_is_found_by_its_name(tmp_path):
    ((path, settings),) = blocks("toml")
    assert path == "src/glassformer/experiments/after_five_comes_zero.toml"
    (tmp_path / "five.toml").write_text(settings.replace("after_five_comes_zero", "successor"), encoding="utf-8")
    assert experiment.load(tmp_path / "five.toml").train.steps == 3000  # every setting in it is known
