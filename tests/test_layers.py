"""Imports go one way: looking at a run never loads JAX, and nothing here runs code or talks to a network."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import glassformer
import small_life

PACKAGE = Path(glassformer.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = tuple(path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".") for path in FILES)
ANALYSES = tuple(name.removesuffix(".__init__") for name in MODULES if name.startswith("analyses."))
WITHOUT_JAX = (
    "__init__", "_discover", "architecture", "canonical", "catalogue", "cli", "counted", "errors", "experiment",
    "folder", "generation", "given", "glossary", "lock", "notebook", "plain", "record", "reference", "run", "score",
    "session", "settings", "storage", "study", "summary", "tensors", "trace", "words",
    *(name for name in MODULES if name.startswith(("tasks.", "commands.", "report.", "claims."))),
)  # fmt: skip
HEAVY = {"jax", "jaxlib", "optax", "matplotlib"}


def parse(path: Path) -> ast.Module:
    """A file, parsed anew each time: hundreds of trees kept in memory slow down the garbage collector."""
    return ast.parse(path.read_text("utf-8"))


def tree(module: str) -> ast.Module:
    """A file of the package, parsed."""
    path = PACKAGE / f"{module.replace('.', '/')}.py"
    return parse(path if path.exists() else PACKAGE / module.replace(".", "/") / "__init__.py")


@cache
def imports(module: str) -> frozenset[str]:
    """What a file of the package imports when it is loaded; what a function imports comes later, if ever."""
    found: set[str] = set()
    waiting: list[ast.AST] = [tree(module)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports by relative name"
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return frozenset(found)


def reached(module: str) -> set[str]:
    """Every module outside the package that loading this one brings in, by its top name."""
    modules = {*MODULES, *(name.removesuffix(".__init__") for name in MODULES)}
    seen, waiting, outside = set(), [module], set()
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        for name in imports(here):
            inner = name.removeprefix("glassformer.")
            if inner in modules and name != inner:
                waiting.append(inner)
            elif not name.startswith("glassformer"):
                outside.add(name.partition(".")[0])
    return outside


def test_reading_needs_neither_jax_nor_matplotlib():
    faults = [f"{module}: loads {name}" for module in WITHOUT_JAX for name in sorted(reached(module) & HEAVY)]
    assert not faults, "\n".join(faults)


def test_the_walk_would_notice():
    assert "jax" in reached("model")
    assert {"jax", "optax"} <= reached("training")


ABOVE = ("figures", "films", "gallery", "report", "studies", "physics", "commands", "cli", "training")
DRAWING = ("matplotlib", "PIL", "typer", "rich", *(f"glassformer.{name}" for name in ABOVE))


def all_imports(module: ast.Module) -> set[str]:
    """Every module that a file imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_analyses_import_nothing_that_draws_and_no_command():
    """Not even inside a function. Loading an analysis needs only NumPy; JAX is imported when it computes something."""
    assert ANALYSES
    faults = []
    for module in ANALYSES:
        for name in sorted(all_imports(tree(module))):
            if any(name == each or name.startswith(f"{each}.") for each in DRAWING):
                faults.append(f"{module}: imports {name}")
        for name in sorted(reached(module) - set(sys.stdlib_module_names) - {"numpy"}):
            faults.append(f"{module}: loading it loads {name}")
    assert not faults, "\n".join(faults)


def test_the_reference_pass_is_numpy_and_nothing_else():
    assert reached("reference") - set(sys.stdlib_module_names) == {"numpy"}


def loaded(code: str, *given: str) -> set[str]:
    """The modules in a fresh process after some code."""
    code = f"import sys\n{code}\nprint('loaded', *{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines()[-1].split())


HELP = """
from glassformer.cli import main
sys.argv = ["glassformer", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.mark.parametrize("words", [("--help",), ("train", "--help"), ("list",), ("show", "mary")], ids=" ".join)
def test_help_and_lists_load_neither_jax_nor_numpy(words):
    extra = {"numpy"} if words[0] != "show" else set()  # an experiment's file is found beside the reader of settings
    assert loaded(HELP, *words) & (HEAVY | extra) == set()


def test_loading_every_analysis_loads_no_jax():
    every = "\n".join(f"import glassformer.{name}" for name in ANALYSES)
    assert loaded(every) & (HEAVY | {"scipy", "xarray", "pandas", "typer"}) == set()


def test_looking_at_a_run_loads_no_jax(tmp_path):
    small_life.train(tmp_path / "run")
    assert loaded("import glassformer") & (HEAVY | {"numpy", "typer"}) == set()
    look = """
import glassformer as gf
run = gf.open(sys.argv[1])
run.weights(0), run.metrics, run.check(), run.ask("1 2 +"), run.trace("1 2 +")["attention"], run.digest(), repr(run)
"""
    assert loaded(look, str(tmp_path / "run")) & (HEAVY | {"xarray", "pandas", "typer"}) == set()
    assert loaded(HELP, "ask", str(tmp_path / "run"), "1 2 +") & HEAVY == set()
    assert loaded(HELP, "check", str(tmp_path / "run")) & HEAVY == set()


FORBIDDEN = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "socketserver", "http", "urllib",
             "requests", "ftplib", "smtplib", "asyncio", "ssl"}  # fmt: skip
CALLS = {"eval", "exec", "compile", "__import__"}
LESSONS = {"teaching/running.py": {"exec", "compile"}}  # a lesson is a script of this package, run cell by cell


def unsafe_parts(module: ast.Module, calls: set[str]) -> Iterator[str]:
    """Everything in a file that unpickles, runs code from data or uses a network."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (f"import {name}" for alias in node.names if (name := alias.name).partition(".")[0] in FORBIDDEN)
        elif isinstance(node, ast.ImportFrom):
            if str(node.module).partition(".")[0] in FORBIDDEN | {"socket"}:
                yield f"from {node.module} import …"
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in calls:
                yield ast.unparse(node)
            if "allow_pickle" in {keyword.arg for keyword in node.keywords}:
                yield ast.unparse(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "socket":
            if node.attr != "gethostname":
                yield f"socket.{node.attr}"
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.load", "numpy.load", "jnp.load"):
            yield ast.unparse(node)


def test_a11_p2_nothing_runs_code_from_data_or_talks_to_a_network():
    """No pickle, eval, exec or allow_pickle anywhere. The only use of sockets is the name of this machine."""
    assert len(FILES) > 200
    faults = []
    for path in FILES:
        name = path.relative_to(PACKAGE).as_posix()
        faults += [f"{name}: {part}" for part in unsafe_parts(parse(path), CALLS - LESSONS.get(name, set()))]
    assert not faults, "\n".join(faults)
