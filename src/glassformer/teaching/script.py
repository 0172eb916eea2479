"""A lesson's file, read and not yet run: what it is about, and its cells.

A lesson is a script in jupytext's percent format. Cells of text, `# %% [markdown]`, hold no numbers: those are said by
the code that computed them. A text that begins with a heading, `# ## Title`, begins a beat.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from glassformer.errors import DamagedError, check_name

CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
TELLING = (  # calls whose words are shown, so that they are not shown as code
    "say", "show", "lab", "table", "work", "number", "choice", "point", "discuss", "expect",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A cell of a lesson: text in Markdown, or code."""

    kind: str  # head (what is about the lesson, and its imports), text or code
    source: str
    line: int  # of the file, counted from 1, at which the source begins

    @property
    def title(self) -> str | None:
        """The heading with which a text begins, if it does."""
        found = re.match(r"##? +(.+)", self.source) if self.kind == "text" else None
        return found[1].strip() if found else None


@dataclass(frozen=True)
class Script:
    """A lesson as it is written."""

    name: str
    title: str  # the first sentence of the file
    order: int
    minutes: int
    aims: tuple[str, ...]  # what one can do afterwards
    before: tuple[str, ...]  # the lessons to do first
    answers: tuple[str, ...]  # sections of the sources that have their place here, as in docs/sources.toml
    misconceptions: tuple[tuple[str, str], ...]  # what people believe, and what shows them otherwise
    plan: tuple[tuple[int, str], ...]  # minutes of 45, and what happens in them
    cells: tuple[Cell, ...]
    path: Path


def names() -> list[str]:
    """Every lesson, in the order of the course."""
    return [each.name for each in course()]


def course() -> list[Script]:
    """Every lesson, in the order of the course; none is run."""
    from glassformer import _discover, lessons

    return sorted((script(name) for name in _discover.names(lessons)), key=lambda each: (each.order, each.name))


@cache
def script(name: str) -> Script:
    """The lesson of this name."""
    from glassformer import _discover, lessons

    there = _discover.places(lessons)
    check_name(name, "lessons", there)
    path = Path(next(iter(lessons.__path__)), *there[name].split(".")[2:]).with_suffix(".py")
    return read(path)


def read(path: Path) -> Script:
    """A lesson's file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    given = dict(_constants(tree))
    title = (ast.get_docstring(tree) or "").partition("\n")[0]
    needed = ("ORDER", "MINUTES", "AIMS", "BEFORE", "ANSWERS", "MISCONCEPTIONS", "PLAN")
    for name in needed:
        if name not in given:
            raise DamagedError(f"{path.name} has no {name}; every lesson holds {', '.join(needed)}")
    order, minutes, *rest = (given[name] for name in needed)
    aims, before, answers, misconceptions, plan = (tuple(each) for each in rest)
    return Script(
        path.stem, title, order, minutes, aims, before, answers, misconceptions, plan, tuple(_cells(text)), path
    )  # fmt: skip


def _constants(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            try:
                yield node.targets[0].id, ast.literal_eval(node.value)
            except ValueError:  # a constant of the lesson's own that is computed
                continue


def _cells(text: str) -> Iterator[Cell]:
    """The head, and the cells behind the first mark."""
    marks = list(CELL.finditer(text))
    yield Cell("head", text[: marks[0].start() if marks else len(text)].rstrip(), 1)
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        source = text[mark.end() + 1 : after.start() if after else len(text)]
        line = text.count("\n", 0, mark.end() + 1) + 1
        if mark[1].strip() == "[markdown]":
            words = [re.sub(r"^# ?", "", each) for each in source.splitlines()]
            yield Cell("text", "\n".join(words).strip(), line)
        else:
            yield Cell("code", source.rstrip(), line)


def shown_code(source: str) -> str:
    """The part of a cell that computes: what only says, asks or expects is seen by its words instead.

    Names that begin with an underscore are for the telling, such as what a question draws: they are not shown either.
    Of a picture the call that draws it is shown.
    """
    kept = [each for node in ast.parse(source).body if (each := _drawn(node) or (None if _tells(node) else node))]
    parts = [_lines(each, source) for each in kept]
    apart = [isinstance(node, ast.FunctionDef | ast.ClassDef) for node in kept]
    gaps = ["\n" * (1 + (one or other)) for one, other in pairwise(apart)]
    return "".join(f"{part}{gap}" for part, gap in zip(parts, [*gaps, ""], strict=False))


def _drawn(node: ast.stmt) -> ast.Call | None:
    """The call that draws what is shown here."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "show" and call.args):
        return None
    return call.args[0] if isinstance(call.args[0], ast.Call) else None


def _lines(node: ast.stmt | ast.expr, source: str) -> str:
    """A piece of code as it is written, with its comments, moved to the left."""
    lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
    if isinstance(node, ast.stmt):
        return "\n".join(lines)
    first, *rest = (ast.get_source_segment(source, node) or "").splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join([first, *(line[margin:] for line in rest)])


def _tells(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return False
    if isinstance(node, ast.Assign):
        bound = [each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        return all(each.startswith("_") for each in bound)
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in TELLING
