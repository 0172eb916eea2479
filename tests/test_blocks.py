"""Every fenced block of every page is run by a test, or is of a kind that cannot be: what was printed, a file to write.

A block without a language is a list of commands; one called `text` shows output or a folder. A new page needs no entry
here: its commands and its Python are run as they stand, in a folder with one small run.
"""

import re
import shlex
import webbrowser
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import glassformer as gf
from command import call

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for folder, way in ((ROOT, "*.md"), (ROOT / "docs", "**/*.md"))
    for path in folder.glob(way)
)  # fmt: skip
ELSEWHERE = {  # blocks that another test runs, by page and kind: they need more than a small run
    ("README.md", ""): "test_readme.py",
    ("README.md", "python"): "test_readme.py",
    ("docs/ablate-patch-steer.md", "python"): "test_pages.py",
    ("docs/add-a-claim.md", ""): "test_claims.py",
    ("docs/add-a-figure.md", ""): "test_guides.py",
    ("docs/lessons.md", ""): "test_lessons.py",
}
CANNOT = {  # (page, how the block begins) → why nobody runs it
    ("docs/studies.md", "dask scheduler"): "three terminals on several machines; test_study_cluster.py has its own",
}
PLACES = {"docs/run-format.md": "runs/plus_last_even-18"}  # where a page is read, if not beside the runs
# More words for these commands, if not given.
QUICKER = {"train": ("--steps", "60"), "physics": ("--steps", "12", "--format", "csv")}
FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)\n((?:.*\n)*?)\1\2[ ]*$", re.MULTILINE)


class Block(NamedTuple):
    """One fenced block."""

    page: str
    kind: str
    text: str
    file: str  # the name on the line before it, if it is a file to write

    @property
    def way(self) -> str:
        """What becomes of it: shown, written, elsewhere, cannot, here, or nothing."""
        if self.kind == "text":
            return "shown"
        if self.file:
            return "written"
        if (self.page, self.kind) in ELSEWHERE:
            return "elsewhere"
        if any(self.page == page and self.text.startswith(begin) for page, begin in CANNOT):
            return "cannot"
        return "here" if self.kind in ("", "sh", "python") else ""


@cache
def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    text = (ROOT / page).read_text("utf-8")
    found = []
    for fence in FENCE.finditer(text):
        before = text[: fence.start()].rstrip("\n").rpartition("\n")[2]
        file = re.fullmatch(r"`([\w./-]+\.\w+)`", before)
        found.append(Block(page, fence[3].strip(), fence[4], file[1] if file else ""))
    return found


def block_faults(page: str, tests: Mapping[str, str]) -> Iterator[str]:
    """Which blocks of a page are run by no test; `tests` are the texts of the test files."""
    name = page.rpartition("/")[2]
    for block in blocks(page):
        if not block.way:
            yield f"no test runs the block of the kind {block.kind!r}:\n{block.text}"
        if block.way == "elsewhere" and name not in tests.get(ELSEWHERE[page, block.kind], ""):
            yield f"{ELSEWHERE[page, block.kind]} does not name the page"
        if block.way == "written" and not any(f'{name}"' in text for text in tests.values()):
            yield f"no test writes {block.file}"
    if (ROOT / page).read_text("utf-8").count("\n```") != 2 * len(blocks(page)):
        yield "a fence is not closed"


def test_every_block_is_run_by_a_test_or_is_of_a_kind_that_cannot_be():
    tests = {path.name: path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")}
    del tests["test_blocks.py"]  # it names every page
    faults = [f"{page}: {fault}" for page in PAGES for fault in block_faults(page, tests)]
    assert not faults, "\n".join(faults)


def test_the_lists_name_blocks_that_are_there():
    there = [block for page in PAGES for block in blocks(page)]
    assert len(there) > 40
    assert {(block.page, block.kind) for block in there if block.way == "elsewhere"} == set(ELSEWHERE)
    for page, begin in CANNOT:
        assert sum(block.page == page and block.text.startswith(begin) for block in there) == 1


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with one small run, every step of which is kept."""
    folder = tmp_path_factory.mktemp("pages")
    gf.train("plus_last_even", seed=18, steps=60, out=folder / "runs/plus_last_even-18", progress=False)
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if any(block.way == "here" for block in blocks(page))])
def test_the_blocks_of_a_page_run_as_they_stand(page, trained, monkeypatch):
    """In order, commands quicker than printed where they train or draw much; RUN is the run that is there."""
    monkeypatch.chdir(trained / PLACES.get(page, ""))
    monkeypatch.setattr(webbrowser, "open", lambda *_: True)
    names = {"run": gf.open(trained / "runs/plus_last_even-18"), "gf": gf}
    for block in blocks(page):
        if block.file and "/" not in block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        if block.way != "here":
            continue
        if block.kind == "python":
            exec(compile(block.text, page, "exec"), names)  # noqa: S102
            continue
        for line in block.text.splitlines():
            words = shlex.split(line.replace("RUN", "plus_last_even"), comments=True)
            assert words[0] == "glassformer", f"{page}: {line}"
            more = QUICKER.get(words[1], ())
            ended = call(*words[1:], *(more if more and more[0] not in words else ()))
            assert ended.code == 0, f"{line}\n{ended.out}{ended.err}"
