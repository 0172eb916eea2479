"""A page that is a session: its code runs as it stands, and prints what the page says.

Another processor may round otherwise, and a training carries that on: words must be the same, numbers near.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NUMBER = re.compile(r"\d+\.\d*|\d+%")  # a decimal or a share; whole numbers are words
BLOCKS = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)


def session(page):
    """(code, what it printed, what the page says it prints) for each block of code."""
    blocks = BLOCKS.findall((DOCS / page).read_text("utf-8"))
    names = {}
    for k, (kind, code) in enumerate(blocks):
        if kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, f"{page}, block {k}", "exec"), names)  # noqa: S102
            after = blocks[k + 1] if k + 1 < len(blocks) else ("", "")
            yield code, printed.getvalue(), after[1] if after[0] == "text" else ""


def _trained(page):
    """Train what the page trains as a reader's machine does: the tests' own compiler settings round otherwise."""
    calls = re.findall(r"gf\.train\(.*\)", (DOCS / page).read_text("utf-8"))
    assert calls
    plain = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    code = "\n".join(["import glassformer as gf", *calls])
    subprocess.run([sys.executable, "-c", code], env=plain, check=True)


@pytest.mark.parametrize("page", ["ablate-patch-steer.md"])
def test_a_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _trained(page)
    seen = list(session(page))
    assert len(seen) > 5
    for code, printed, said in seen:
        assert NUMBER.sub("#", printed) == NUMBER.sub("#", said), code
        for mine, theirs in zip(NUMBER.findall(printed), NUMBER.findall(said), strict=True):
            most = 10 if mine.endswith("%") else 0.1
            assert abs(float(mine.rstrip("%")) - float(theirs.rstrip("%"))) <= most, code
