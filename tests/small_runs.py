"""Small trained runs for the tests of what looks at them: trained once, then shared by all tests and processes."""

import os
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

import glassformer as gf
from glassformer.experiment import for_text, load
from glassformer.record import Recorder
from glassformer.run import Run
from glassformer.tasks.mary import LINES

POPULATION, NAN = "population", "nan"
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
    """Three kept steps, the last of which is not a number."""
    experiment = load("plus_last_even", steps=2)
    rng = np.random.default_rng(0)
    weights = {}
    for name, shape in experiment.architecture.shapes().items():
        weights[name] = rng.normal(size=(3, *shape)).astype(np.float32)
        weights[name][2] = np.nan
    names = ("train_loss", "validation_loss", "train_excess", "excess", "batch_loss")
    lines = [
        {"step": step, **dict.fromkeys(names, loss), "rule_error": 0.9, "rule_error_answerable": 0.9}
        for step, loss in enumerate((2.6, 9.0, float("nan")))
    ]
    with Recorder.create(path, experiment, [18]) as recorder:
        recorder.safe_point(2, [0, 1, 2], weights, lines, {})
        recorder.finish("diverged")
