"""A source that nobody wrote, in a copy of the package: claims whose dependencies are known."""

import importlib.util
import shutil
import sys
from functools import _lru_cache_wrapper
from pathlib import Path
from types import ModuleType

import glassformer
from glassformer.claims import _digest, _sources

PACKAGE = Path(glassformer.__file__).parent
NAME = "glassformer.claims.made_up"
CALLS: list[str] = []  # what was measured, each time
FILE = '''"""A source that nobody wrote."""

from glassformer.claims._claim import Found, claim, over_seeds, trained
from glassformer.claims._made_up_helper import half
import made_up_claims

SOURCE, TITLE = 9, "Made up"
LIMIT = 3.0
OTHER = 4.0
MARY = trained("mary", seeds=3, steps=4, settings=["train.batch=2"])


def third(number: float) -> float:
    return number / LIMIT


@claim("S9-01", "a third of three is one", place="9.1", how="A", stated={"third": 1}, tolerance=0.01)
def a_third() -> Found:
    made_up_claims.CALLS.append("S9-01")
    return Found({"third": third(3)})


@claim("S9-02", "half of six is two", place="9.2", how="A", stated={"half": 2}, experiment="mary", figure="loss")
def a_half() -> Found:
    made_up_claims.CALLS.append("S9-02")
    return Found({"half": half(6)}, idea=half(6) < 6, truth=f"half of six is {half(6):g}")


@claim("S9-03", "the loss falls", place="9.3", how="R, S", needs=[MARY], slow=True, figure="loss", step=2)
def falls(run) -> Found:
    from glassformer import analyses

    made_up_claims.CALLS.append("S9-03")
    drawn = analyses.loss(run)
    losses = run.metrics["validation_loss"][-1]
    return Found({"loss": over_seeds(losses)}, holds=bool((losses < 100).all()) and drawn is not None)


@claim("S9-04", "nothing is known", place="9.4", how="A", not_checkable="nobody says of what")
def nothing() -> Found:
    made_up_claims.CALLS.append("S9-04")
    from glassformer.experiment import load

    return Found({"parameters": load("lucky7").architecture.parameters})
'''
HELPER = '''"""Half of it."""

PARTS = 2
UNUSED = 1


def half(number: float) -> float:
    return number / PARTS
'''


def copied(folder: Path) -> Path:
    """A copy of the package with that source in it."""
    skip = shutil.ignore_patterns("__pycache__", "static", "web")
    root = Path(shutil.copytree(PACKAGE, folder / "glassformer", ignore=skip))
    (root / "claims" / "made_up.py").write_text(FILE)
    (root / "claims" / "_made_up_helper.py").write_text(HELPER)
    return root


def loaded(root: Path, *files: str) -> ModuleType:
    """The claims of that source, or of other files of the copy: the last one named."""
    for name in files or ("_made_up_helper", "made_up"):
        spec = importlib.util.spec_from_file_location(f"glassformer.claims.{name}", root / "claims" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = made
        spec.loader.exec_module(made)
    return made


def forget() -> None:
    """Read every source anew."""
    _digest._known.clear()
    for each in vars(_digest).values():
        if isinstance(each, _lru_cache_wrapper):
            each.cache_clear()


def instead(monkeypatch, folder: Path) -> tuple[Path, list]:
    """Only this source, with its digests read from the copy; the copy, and its claims."""
    root = copied(folder)
    monkeypatch.setattr(_digest, "ROOT", root)
    made = loaded(root)
    claims = [each for each in vars(made).values() if type(each).__name__ == "Claim"]
    monkeypatch.setattr(_sources, "sources", lambda: (_sources.Source(9, "made_up", "Made up", tuple(claims)),))
    forget()
    CALLS.clear()
    return root, claims
