"""What the guides add, dropped into a copy of the project, passes the whole contract the first time."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hand_wired
from browsing import browsing
from page_reports import visit

ROOT = Path(__file__).parent.parent
COMMAND = "from glassformer.cli import main; main()"
CONTRACT = "from hatch_build import npm; npm('run', 'test', '--', 'tests/panels.test.ts', 'tests/words.test.ts')"


def copied(guide, folder):
    """The project in a folder of its own, with the files of a guide in it."""
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    files = re.findall(r"^`(src/\S+\.(?:py|toml))`\n\n?```(?:python|toml)\n(.*?)```", text, flags=re.S | re.M)
    assert len(files) == 2
    for part in ("src", "tests", "docs", "changes"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "Makefile"):
        shutil.copy(ROOT / name, folder / name)
    for name, content in files:
        assert not (folder / name).exists()
        (folder / name).write_text(content, encoding="utf-8")
    return [name for name, _ in files]


def with_panel(guide, folder):
    """A copy of the project, the panel of a guide in it, and its words at the end of each language."""
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    files = dict(re.findall(r"^`(frontend/src/\S+)`\n\n?```\w+\n(.*?)```", text, flags=re.S | re.M))
    assert sorted(Path(name).suffix for name in files) == [".json", ".json", ".svelte"]
    without = shutil.ignore_patterns("__pycache__", "node_modules", "static")
    for part in ("src", "frontend"):
        shutil.copytree(ROOT / part, folder / part, ignore=without)
    (folder / "frontend" / "node_modules").symlink_to(ROOT / "frontend" / "node_modules")
    shutil.copy(ROOT / "hatch_build.py", folder)
    for name, content in files.items():
        path = folder / name
        if path.suffix == ".json":
            whole = path.read_text(encoding="utf-8").rstrip().removesuffix("}").rstrip()
            content = f"{whole},\n{content.rstrip().removesuffix(',')}\n}}\n"
        path.write_text(content, encoding="utf-8")


def run(folder, *words):
    """A command that sees the copy and not the project itself."""
    given = {**os.environ, "PYTHONPATH": f"{folder / 'src'}:{folder / 'tests'}", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *words], env=given, cwd=folder, capture_output=True, text=True, check=False)


def passes(folder, *words):
    done = run(folder, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *words)
    assert done.returncode == 0, done.stdout[-3000:]
    return int(re.search(r"(\d+) passed", done.stdout).group(1))


def clean(folder, files):
    """Style and types, as `make test` looks at them."""
    for words in (
        ("-m", "ruff", "check"),
        ("-m", "ruff", "format", "--check"),
        ("-m", "mypy", "--follow-imports=silent"),
    ):
        done = run(folder, *words, *(name for name in files if name.endswith(".py")))
        assert done.returncode == 0, done.stdout


def test_the_guide_s_figure_passes_the_whole_contract(tmp_path):
    files = copied("add-a-figure.md", tmp_path)
    clean(tmp_path, files)
    assert passes(tmp_path, "tests/test_figures.py", "-k", "token_lengths") >= 5
    checks = "entry or analyses_import or nothing_runs or same_section"
    assert passes(tmp_path, "tests/test_catalogue.py", "tests/test_layers.py", "-k", checks) >= 5
    made = hand_wired.previous_token(tmp_path / "run")
    command = ("-c", COMMAND)
    assert "token_lengths" in run(tmp_path, *command, "list", "figures").stdout
    words = ("figures", str(made.path), "token_lengths", "--out", "out", "--format", "svg,csv")
    assert run(tmp_path, *command, *words).returncode == 0
    (line,) = re.findall(r"^```\nglassformer (.*)\n```", (ROOT / "docs/add-a-figure.md").read_text("utf-8"), re.M)
    assert run(tmp_path, *command, *line.replace("RUN", str(made.path)).split()).returncode == 0
    assert [path.suffix for path in (tmp_path / "look").glob("*dark*.png")] == [".png"]
    svg = next((tmp_path / "out").glob("token_lengths*.svg")).read_text(encoding="utf-8")
    assert "has the longest embedding" in svg
    assert next((tmp_path / "out").glob("token_lengths*.csv")).read_text(encoding="utf-8").count("\n") == 13


def test_the_guide_s_task_and_experiment_pass_the_whole_contract(tmp_path):
    files = copied("add-a-task.md", tmp_path)
    clean(tmp_path, files)
    assert passes(tmp_path, "tests/test_tasks.py", "-k", "after_five_comes_zero") >= 5
    assert passes(tmp_path, "tests/test_experiments.py", "-k", "known_kind and after_five_comes_zero") == 1
    assert run(tmp_path, "-c", COMMAND, "train", "after_five_comes_zero", "--steps", "3", "--quiet").returncode == 0
    assert passes(tmp_path, "tests/test_docs.py", "-k", "no_file_names") == 1


def test_the_guide_s_panel_keeps_the_contract_is_built_and_draws_its_numbers(tmp_path):
    if not (ROOT / "frontend" / "node_modules").is_dir():
        pytest.skip("the packages of frontend/ are not installed; `make page` installs them")
    with_panel("add-a-panel.md", tmp_path)
    kept = run(tmp_path, "-c", CONTRACT)
    assert kept.returncode == 0, kept.stdout[-3000:] + kept.stderr
    built = run(tmp_path, "hatch_build.py")
    assert built.returncode == 0, built.stdout + built.stderr
    made = hand_wired.previous_token(tmp_path / "run")
    done = run(tmp_path, "-c", COMMAND, "report", str(made.path), "--out", "x.html")
    assert done.returncode == 0, done.stderr
    with browsing() as browser:
        seen = visit(browser, tmp_path / "x.html", "#v1&panel=lengths&position=2&lang=de")
        panel = seen.page.locator("section.panel", has_text="Wie lang es endet")
        words, length = made.trace().words, np.linalg.norm(made.trace()["final"], axis=-1)
        label = panel.get_by_role("application").get_attribute("aria-label")
        assert label == f"At the end {words[2]} at 2 is {length[2]:.2f} long."
        assert seen.problems == []
