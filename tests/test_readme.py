"""The README's example runs, and prints what the README says."""

import contextlib
import io
import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_the_example_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (expected,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    assert printed.getvalue() == expected
    for number in ("250", "2.485", "2.355", "2.175", "1.929", "1.838"):
        assert number in expected


def test_the_commands_of_the_tour_exist():
    from glassformer.app import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert set(re.findall(r"^glassformer (\w+)", README, re.MULTILINE)) <= known
