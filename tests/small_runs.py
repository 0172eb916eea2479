"""Small trained runs for the tests of what looks at them: trained once, then shared by all tests and processes."""

import os
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import glassformer as gf
from command import COMMAND
from glassformer.errors import DivergedError
from glassformer.experiment import for_text
from glassformer.run import Run
from glassformer.tasks.mary import LINES

POPULATION, NAN, FIRST = "population", "nan", "first"
STEPS = {"plus_last_even": 300, "lucky7": 60, "step_back": 60, "even_abs_diff": 60, "five_operations": 12}
RUNS = tuple(STEPS)
TEXT, MODULAR = "text", "modular_addition"
SMALL = ("architecture.width=16", "architecture.heads=2", "architecture.feed_forward=16", "train.judged=60")


@cache
def run_of(name: str) -> Run:
    """The run of this name, made on first use; nobody writes to it afterwards."""
    user = getattr(os, "getuid", lambda: 0)()
    folder = Path(tempfile.gettempdir()) / f"glassformer-tests-{user}-{_stamp()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / name
    if not path.exists():
        made = Path(tempfile.mkdtemp(dir=folder)) / name
        _make(name, made)
        with suppress(OSError):  # another process was faster
            made.rename(path)
    return gf.open(path)


@cache
def _stamp() -> str:
    """Of everything that a training depends on."""
    source = Path(gf.__file__).parent
    skipped = ("cli", "gallery", "catalogue", "summary", "run", "reference", "generation", "score")
    files = [path for path in source.glob("*.py") if path.stem not in skipped]
    files += [*source.glob("tasks/*.py"), *source.glob("experiments/*.toml"), Path(__file__)]
    return sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()[:12]


def _make(name: str, path: Path) -> None:
    if name == POPULATION:
        gf.train("plus_last_even", seeds=3, steps=60, out=path)
    elif name == FIRST:  # as a reader's machine trains it, for all its steps
        words = ("train", "plus_last_even", "--seed", "18", "--out", str(path), "--quiet")
        subprocess.run([*COMMAND, *words], env={**os.environ, "XLA_FLAGS": ""}, check=True)
    elif name == NAN:
        _diverged(path)
    elif name == TEXT:
        text = path.parent / "text.txt"
        text.write_text("".join(f"{line}, and so on: {k}\n" for k, line in enumerate(LINES * 4)), encoding="utf-8")
        gf.train(
            for_text(text, "bpe", 90, (*SMALL, "architecture.context=10", "train.steps=8", "train.batch=8")), out=path
        )
    elif name == MODULAR:
        gf.train(name, settings=(*SMALL, "train.steps=6", "train.batch=64"), out=path)
    else:
        gf.train(name, steps=STEPS[name], out=path)


def _diverged(path: Path) -> None:
    """Seven kept steps of a training that goes wrong as trainings do: a huge loss, then none, then no weights."""
    settings = ("train.optimiser=sgd", "train.rate=30", "train.log_every=1")
    with suppress(DivergedError):
        gf.train("plus_last_even", steps=12, settings=settings, out=path)
