"""Imports go one way: looking at a run never loads JAX, and nothing here runs code or talks to a network."""

import ast
import subprocess
import sys
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


def tree(module: str) -> ast.Module:
    """A file of the package, parsed."""
    path = PACKAGE / f"{module.replace('.', '/')}.py"
    path = path if path.exists() else PACKAGE / module.replace(".", "/") / "__init__.py"
    return ast.parse(path.read_text("utf-8"))


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


@pytest.mark.parametrize("module", WITHOUT_JAX)
def test_reading_needs_neither_jax_nor_matplotlib(module):
    assert reached(module) & HEAVY == set()


def test_the_walk_would_notice():
    assert "jax" in reached("model")
    assert {"jax", "optax"} <= reached("training")


@pytest.mark.parametrize("module", ANALYSES)
def test_an_analysis_knows_of_no_picture_and_no_command(module):
    """Not even inside a function. What it needs to be loaded is NumPy; JAX comes when something is computed with it."""
    asked = {alias.name for node in ast.walk(tree(module)) if isinstance(node, ast.Import) for alias in node.names}
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom):
            asked |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    above = ("figures", "films", "gallery", "report", "studies", "physics", "commands", "cli", "training")
    forbidden = ("matplotlib", "PIL", "typer", "rich", *(f"glassformer.{name}" for name in above))
    assert not {name for name in asked if any(name == each or name.startswith(f"{each}.") for each in forbidden)}
    assert reached(module) - set(sys.stdlib_module_names) <= {"numpy"}


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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a11_p2_nothing_runs_code_from_data_or_talks_to_a_network(path):
    """No pickle, eval, exec or allow_pickle, anywhere; of sockets, only the name of this machine."""
    calls = CALLS - LESSONS.get(path.relative_to(PACKAGE).as_posix(), set())
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert not {alias.name.partition(".")[0] for alias in node.names} & FORBIDDEN
        elif isinstance(node, ast.ImportFrom):
            assert str(node.module).partition(".")[0] not in FORBIDDEN | {"socket"}
        elif isinstance(node, ast.Call):
            assert not (isinstance(node.func, ast.Name) and node.func.id in calls), ast.unparse(node)
            assert "allow_pickle" not in {keyword.arg for keyword in node.keywords}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "socket":
            assert node.attr == "gethostname"
        elif isinstance(node, ast.Attribute):
            assert ast.unparse(node) not in ("np.load", "numpy.load", "jnp.load")
