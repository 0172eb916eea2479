"""What a claim depends on, as one sha256: while that stays the same, its result need not be computed again.

It is read from the source, nothing is run: the claim's function with the functions and constants of claims/ that it
uses, the files of the package that these import, what is trained first with the code that trains, and the statement.
Comments and docstrings change nothing, and neither does a figure, a command or the page.
"""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from glassformer import NAMES, _discover
from glassformer.claims._claim import Claim, Need

PACKAGE = "glassformer"
ROOT = Path(str(resources.files(PACKAGE)))
CLAIMS = f"{PACKAGE}.claims"
FORM = f"{CLAIMS}._claim"  # its classes are the form of what is found, and decide nothing
NAMED = tuple(f"{PACKAGE}.{folder}" for folder in ("analyses", "physics", "studies"))
TRAINING, STUDIES = f"{PACKAGE}.training", f"{PACKAGE}.studies._run"
INSIDE = tuple(
    f"{PACKAGE}.{folder}." for folder in ("analyses", "studies", "tasks")
)  # their functions import what they need
SHOWING = {
    f"{PACKAGE}.{name}" for name in ("errors", "frame", "glance", "lock", "notebook", "plain", "report", "words")
}
SAID = r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|' + r"'''(?:\\.|[^\\])*?'''|'(?:\\.|[^'\\\n])*'"
COMMENTS = re.compile(rf"({SAID})|[ \t]*#[^\n]*", re.DOTALL)
DOCSTRINGS = re.compile(r'(\A|:[ \t]*\n)\s*"""(?:\\.|[^\\])*?"""[ \t]*(?=\n|\Z)', re.DOTALL)
Node = ast.stmt
_known: dict[Callable[..., Any], str] = {}  # digests that were made in this process


def digest(claim: Claim) -> str:
    """All that the result of a claim depends on, as 64 hexadecimal digits."""
    if claim.measure not in _known:
        _known[claim.measure] = _sum(parts(claim))
    return _known[claim.measure]


def parts(claim: Claim) -> dict[str, str]:
    """What a claim depends on, by name: the text of a function, the sha256 of a file, what is stated."""
    found = {
        "statement": claim.statement,
        "stated": json.dumps(dict(claim.stated), sort_keys=True),
        "tolerance": repr(claim.tolerance),
        "never": f"{claim.never} {claim.reason}",
    }
    files: set[str] = set()
    for number, need in enumerate(claim.needs):
        found[f"need {number}"] = trained(need)
    _follow([(claim.measure.__module__, claim.measure.__name__)], found, files)
    _follow([(FORM, "verdict")], found, set())
    return found | {name: _file(name) for name in sorted(files)}


@cache
def trained(need: Need) -> str:
    """What a training depends on: its experiment, its task, the code that trains; of a study, its own."""
    found: dict[str, str] = {"need": repr(need)}
    files = {*_closure(TRAINING), *_experiment(need.experiment, found)}
    if need.kind == "study":
        files |= _closure(STUDIES) | _closure(f"{PACKAGE}.studies.{need.study}") | _closure(f"{PACKAGE}.studies._work")
    return _sum(found | {name: _file(name) for name in sorted(files)})


def code(text: str) -> str:
    """A source text without comments, docstrings and empty lines."""
    bare = COMMENTS.sub(lambda found: found[1] or "", text)
    bare = DOCSTRINGS.sub(lambda found: found[1], bare)
    return "\n".join(line.rstrip() for line in bare.splitlines() if line.strip())


def _sum(found: dict[str, str]) -> str:
    return sha256(json.dumps(found, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _follow(todo: list[tuple[str, str]], found: dict[str, str], files: set[str]) -> None:
    """The functions and constants of claims/ that are used, by name, and the files of the package they ask for."""
    seen = set()
    while todo:
        at = todo.pop()
        if at in seen or at[1] not in _defined(at[0]) or (at[0] == FORM and at[1][0].isupper()):
            continue
        seen.add(at)
        piece = _piece(*at)
        found[".".join(at)] = piece.text
        files |= piece.files
        for word in piece.words:
            files |= _experiment(word, found)
        todo += piece.names


@dataclass(frozen=True)
class _Piece:
    """A function, a class or a constant of a file in claims/."""

    text: str
    names: tuple[tuple[str, str], ...]  # of such files, that it uses
    files: frozenset[str]  # of the rest of the package, that it asks for
    words: frozenset[str]  # the texts in it: one of them may name an experiment


@cache
def _piece(module: str, name: str) -> _Piece:
    node, bound = _defined(module)[name], _given(module)
    bound = bound | _bound(ast.walk(node))
    names: list[tuple[str, str]] = []
    files: set[str] = set()
    for first, *rest in _chains(node):
        names.append((module, first))
        there = ".".join([bound[first], *rest]) if first in bound else ""
        if there.startswith(f"{CLAIMS}."):
            file, _, what = there.removeprefix(f"{CLAIMS}.").partition(".")
            names.append((f"{CLAIMS}.{file}", what.partition(".")[0]))
        elif there:
            files |= _whole(there)
    lines = _text(module).splitlines()[node.lineno - 1 : node.end_lineno]
    inside = [node.args, *node.body] if isinstance(node, ast.FunctionDef) else [node]  # not what stands above a claim
    constants = (each.value for part in inside for each in ast.walk(part) if isinstance(each, ast.Constant))
    words = frozenset(each for each in constants if isinstance(each, str) and each.isidentifier())
    return _Piece(code("\n".join(lines)), tuple(dict.fromkeys(names)), frozenset(files), words)


@cache
def _given(module: str) -> dict[str, str]:
    """The names that the imports of a file give."""
    return _bound(_top(_tree(module)))


def _experiment(name: str, found: dict[str, str]) -> set[str]:
    """The files of a ready-made experiment's task; its table goes to what was found. None if there is no such name."""
    path = ROOT / "experiments" / f"{name}.toml"
    if not path.is_file():
        return set()
    found[f"experiments/{name}"] = json.dumps(tables := tomllib.loads(path.read_text("utf-8")), sort_keys=True)
    return set(_closure(f"{PACKAGE}.tasks.{tables['task']}"))


# ---- files of the package ------------------------------------------------------------------------------------------


def _whole(dotted: str) -> frozenset[str]:
    """The files behind a dotted name; all of a folder of analyses where they are not used by their names."""
    module = _module(dotted)
    if module is None:
        return frozenset()
    pieces = _pieces(module).values() if module == dotted else ()
    return _closure(module).union(*map(_closure, pieces))


@cache
def _closure(module: str) -> frozenset[str]:
    """A file and all that loading it loads from the package."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        here = waiting.pop()
        if here not in seen and here not in SHOWING:
            seen.add(here)
            waiting += _imports(here)
    return frozenset(seen)


@cache
def _imports(module: str) -> frozenset[str]:
    """The files of the package that a file imports when it is loaded."""
    bound = _bound(ast.walk(_tree(module))) if module.startswith(INSIDE) else _given(module)
    return frozenset(found for dotted in bound.values() if (found := _module(dotted)))


@cache
def _module(dotted: str) -> str | None:
    """The file of the package that a dotted name means, or lies in; None: of another package, or the package itself."""
    first, *rest = dotted.split(".")
    if first != PACKAGE:
        return None
    here = PACKAGE
    for number, word in enumerate(rest):
        pieces = _pieces(here)
        if word in pieces and (number == len(rest) - 1 or _path(f"{here}.{word}") is None):  # not the room of its name
            return pieces[word]
        if here == PACKAGE and word in NAMES and _path(f"{here}.{word}") is None:
            return f"{PACKAGE}.{NAMES[word]}"
        if _path(f"{here}.{word}") is None:
            break
        here = f"{here}.{word}"
    return None if here == PACKAGE else here


def _pieces(module: str) -> Mapping[str, str]:
    """Of a folder whose pieces are known by their names alone, these and their files."""
    return _discover.places(import_module(module)) if module in NAMED else {}


@cache
def _path(module: str) -> Path | None:
    place = ROOT.joinpath(*module.split(".")[1:])
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


@cache
def _text(module: str) -> str:
    path = _path(module)
    assert path is not None, module
    return path.read_text("utf-8")


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_text(module))


@cache
def _file(module: str) -> str:
    return sha256(code(_text(module)).encode()).hexdigest()


# ---- what a piece of code names ------------------------------------------------------------------------------------


@cache
def _defined(module: str) -> dict[str, Node]:
    """The functions, classes and constants of a file, by name."""
    found: dict[str, Node] = {}
    for node in _tree(module).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets: Sequence[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            found |= dict.fromkeys(names, node)
    return found


def _top(tree: ast.Module) -> Iterator[ast.AST]:
    """What runs when a file is loaded: not what is inside a function, and not what only types need."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _bound(nodes: Iterator[ast.AST]) -> dict[str, str]:
    """The names that import statements give, and what each of them means."""
    found = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else (
                    alias.name.partition(".")[0])  # fmt: skip
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _chains(node: ast.AST) -> Iterator[list[str]]:
    """Every name that is used, with the attributes behind it: `gf.analyses.loss` as three words."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.FunctionDef) and child in node.decorator_list and _is_claim(child):
            continue
        words: list[str] = []
        inner = child
        while isinstance(inner, ast.Attribute):
            words, inner = [inner.attr, *words], inner.value
        if isinstance(inner, ast.Name):
            yield [inner.id, *words]
        else:
            yield from _chains(child)


def _is_claim(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "claim"
