"""What the pages say is what the code has: words, links, tables, the form of decisions and change notes."""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import glassformer
from glassformer import architecture, catalogue, experiment, glossary, model, reference
from making import changelog

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    path
    for folder in ("", "benchmarks", "changes", "docs", "docs/decisions")
    for path in sorted((ROOT / folder).glob("*.md"))
]
DECISIONS = [path for path in sorted((DOCS / "decisions").glob("*.md")) if path.name != "README.md"]
PARTS = ("Question", "Choice", "Instead of", "Price", "Reopen if")


def named(path):
    return path.relative_to(ROOT).as_posix()


@cache
def read(path: Path) -> str:
    return path.read_text("utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading."""
    lines = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_the_glossary_lists_the_points_in_order_with_their_axes():
    table = rows((DOCS / "glossary.md").read_text("utf-8"), "Points of the forward pass")
    assert [row[0].strip("`") for row in table] == list(glossary.POINTS)
    for name, axes, meaning, *_ in table:
        assert tuple(axes.split(", ")) == glossary.axes(name.strip("`"))
        assert meaning


def test_the_glossary_names_the_points_as_transformerlens_does():
    table = rows((DOCS / "glossary.md").read_text("utf-8"), "Points of the forward pass")
    theirs = {row[0].strip("`"): re.findall(r"`([^`]*hook_[^`]*)`", row[3]) for row in table}
    assert {point: names[0] for point, names in theirs.items() if names} == glossary.LENS
    rotary = {name: point for point, names in theirs.items() for name in names[1:]}
    assert rotary == glossary.ROTARY


def test_the_glossary_lists_the_axes():
    table = rows((DOCS / "glossary.md").read_text("utf-8"), "Axes")
    assert {axis.strip("`"): kind for axis, kind, _ in table} == glossary.AXES
    assert all(meaning for *_, meaning in table)
    assert all(glossary.kind(axis) for name in glossary.POINTS for axis in glossary.axes(name))


@pytest.mark.parametrize("heading", ["With a known floor", "Texts and tables"])
def test_the_experiments_are_listed_with_their_numbers(heading):
    table = rows((DOCS / "experiments.md").read_text("utf-8"), heading)
    titles = catalogue.pieces("experiments")
    for name, title, parameters, floor in table:
        assert title == titles[name.strip("`")]
        if floor == "of your data" or (heading == "Texts and tables" and not os.environ.get("GLASSFORMER_DATA")):
            continue
        made = experiment.load(name.strip("`"))
        assert parameters == f"{made.architecture.parameters:,}"
        assert floor == f"{made.floor:.3f}"
        assert made.task.exact is (heading == "With a known floor")


def test_the_experiments_listed_are_there():
    """A new experiment need not wait for its line: `glassformer list experiments` has them all."""
    text = (DOCS / "experiments.md").read_text("utf-8")
    headings = ("With a known floor", "Texts and tables")
    listed = [row[0].strip("`") for heading in headings for row in rows(text, heading)]
    assert len(listed) == len(set(listed)) > 20
    assert set(listed) <= set(experiment.names())


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 210


def test_every_published_variant_has_our_settings_beside_it():
    names = experiment.names()
    assert {name.removesuffix("_as_published") for name in names} <= set(names)


def decision_faults(text: str, name: str, index: str) -> Iterator[str]:
    """What is wrong with the page of a decision."""
    title, _, date, *_ = [*text.splitlines(), "", "", ""]
    if not title.startswith("# "):
        yield "the first line is not a title"
    if not re.fullmatch(r"\d{4}-\d\d-\d\d · (in force|replaced by \[.+\]\(.+\.md\))", date):
        yield "the third line is not a date and a status"
    parts = tuple(re.findall(r"^\*\*(.+?):\*\* \S", text, re.MULTILINE))
    if parts != PARTS:
        yield f"its parts are {', '.join(parts)}"
    if f"[{title.removeprefix('# ')}]({name})" not in index:
        yield "docs/decisions/README.md does not list it under its title"


def test_decisions_have_all_their_parts():
    index = read(DOCS / "decisions/README.md")
    assert DECISIONS
    faults = [
        f"{named(path)}: {fault}" for path in DECISIONS for fault in decision_faults(read(path), path.name, index)
    ]
    assert not faults, "\n".join(faults)


def test_change_notes_are_named_by_slug_and_kind():
    """Right after a release there are none; `.gitkeep` keeps the folder."""
    for path in {*(ROOT / "changes").iterdir()} - {ROOT / "changes/.gitkeep"}:
        assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", path.name), path.name
        assert len(path.read_text("utf-8").strip().splitlines()) == 1


def test_the_changelog_tells_of_this_version_and_of_each_note_once():
    """Twice gathered is once told: a version that has its section gets what is new, and keeps its day."""
    log = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## {glassformer.__version__} · " in log
    told = [line for line in log.splitlines() if line.startswith("- ")]
    assert len(told) == len(set(told)) > 60
    first = changelog.gathered("", {"b.fixed.md": "Mended.\n", "a.added.md": "New.\n"}, "1.0.0", "2030-01-01")
    second = changelog.gathered(first, {"c.added.md": "Newer.", "b.fixed.md": "Mended."}, "1.0.0", "2031-12-31")
    third = changelog.gathered(second, {"d.removed.md": "Gone."}, "1.1.0", "2032-02-02")
    wanted = f"""{changelog.HEAD}
## 1.1.0 · 2032-02-02

### Removed

- Gone.

## 1.0.0 · 2030-01-01

### Added

- New.
- Newer.

### Fixed

- Mended.
"""
    assert third == wanted


def links(text: str) -> list[str]:
    """The targets of the links in a page that lead to files."""
    without_code = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", without_code) if "://" not in target]


def test_links_lead_to_files_that_exist():
    found = [(path, target) for path in PAGES for target in links(read(path))]
    assert len(found) > 100
    faults = [
        f"{named(path)}: {target}" for path, target in found if not (path.parent / target.partition("#")[0]).exists()
    ]
    assert not faults, "\n".join(faults)


SOURCES = [path for folder in ("src", "tests", "benchmarks") for path in sorted((ROOT / folder).rglob("*"))
           if path.suffix in (".py", ".toml", ".c")]  # fmt: skip
PRIVATE = re.compile(r"(?<![\w.])/(home|Users|root|work|mnt|private)/\w")


def test_no_file_names_a_folder_of_one_persons_machine():
    paths = [*PAGES, *SOURCES, ROOT / "Makefile", ROOT / "pyproject.toml"]
    assert len(SOURCES) > 300
    faults = [f"{named(path)}: {match.group()}" for path in paths for match in PRIVATE.finditer(read(path))]
    assert not faults, "\n".join(faults)


def test_files_named_in_the_pages_exist():
    """`tests/…`, `src/…` and `docs/…` in backticks, but for those that a reader is asked to write."""
    for path in PAGES:
        for name in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]+)`", path.read_text("utf-8")):
            if not re.search(r"NAME|SLUG|after_five_comes_zero|token_lengths|my_paper|first_guess", name):
                assert (ROOT / name).exists(), f"{named(path)} names {name}"


def test_the_contributing_guide_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()) <= 60


def test_versions_agree():
    assert f'version = "{glassformer.__version__}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_every_point_of_a_full_model_is_in_the_glossary():
    """The trace of a model with every part, block for block, is exactly the list."""
    full = architecture.Architecture(vocabulary=5, context=4, width=4, heads=2, norm="layer", final_norm=True)
    params = architecture.nest(model.init(full, np.random.default_rng(0)))
    _, trace = reference.forward(params, np.array([0, 1, 2]), full)
    assert sorted(trace) == sorted(glossary.POINTS)
    for name, value in trace.items():
        assert value.ndim == len(glossary.axes(name))
