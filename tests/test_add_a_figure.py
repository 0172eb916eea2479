"""Adding a figure is two new files: the ones in the guide, dropped into a copy of the package, list and draw."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import hand_wired

ROOT = Path(__file__).parent.parent


def test_the_guide_s_figure_lists_and_draws(tmp_path):
    guide = (ROOT / "docs" / "add-a-figure.md").read_text(encoding="utf-8")
    files = re.findall(r"^`(src/\S+\.py)`\n\n```python\n(.*?)```", guide, flags=re.S | re.M)
    assert len(files) == 2
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = hand_wired.previous_token(tmp_path / "run")
    command = [sys.executable, "-c", "from glassformer.cli import main; main()"]
    surroundings = {"PYTHONPATH": str(tmp_path / "src"), "PATH": "", "HOME": str(tmp_path)}

    def call(*words):
        return subprocess.run(
            [*command, *words], env=surroundings, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert "token_lengths" in call("list", "figures").stdout
    drawn = call("figures", str(run.path), "token_lengths", "--out", str(tmp_path / "out"), "--format", "svg")
    assert drawn.returncode == 0, drawn.stderr
    svg = next((tmp_path / "out").glob("token_lengths*.svg")).read_text(encoding="utf-8")
    assert "has the longest embedding" in svg
    assert next((tmp_path / "out").glob("token_lengths*.csv")).read_text(encoding="utf-8").count("\n") > 8
