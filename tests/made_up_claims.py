"""A source that nobody wrote: claims whose results are known."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from glassformer.claims import _sources

NAME = "glassformer.claims.made_up"
CALLS: list[str] = []  # what was measured, each time
FILE = '''"""A source that nobody wrote."""

from glassformer.claims._claim import Found, claim, over_seeds, trained
import made_up_claims

SOURCE, TITLE = 9, "Made up"
MARY = trained("mary", seeds=3, steps=4, settings=["train.batch=2"])


@claim("S9-01", "a third of three is one", place="9.1", how="A", stated={"third": 1}, tolerance=0.01)
def a_third() -> Found:
    made_up_claims.CALLS.append("S9-01")
    return Found({"third": 3 / 3})


@claim("S9-02", "half of six is two", place="9.2", how="A", stated={"half": 2}, experiment="mary", figure="loss")
def a_half() -> Found:
    made_up_claims.CALLS.append("S9-02")
    return Found({"half": 6 / 2}, idea=True, truth="half of six is 3")


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


def load(path: Path) -> ModuleType:
    """A file of claims, as if it were in the folder of the package."""
    spec = importlib.util.spec_from_file_location(f"glassformer.claims.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def instead(monkeypatch, folder: Path) -> list:
    """Only this source; its claims."""
    path = folder / "made_up.py"
    path.write_text(FILE)
    claims = [each for each in vars(load(path)).values() if type(each).__name__ == "Claim"]
    monkeypatch.setattr(_sources, "sources", lambda: (_sources.Source(9, "made_up", "Made up", tuple(claims)),))
    CALLS.clear()
    return claims
