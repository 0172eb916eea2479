"""Small runs on texts of our own, with random weights: made in a moment, for what looks at texts."""

from pathlib import Path

import numpy as np

from glassformer.experiment import Experiment, for_text
from glassformer.record import Recorder
from glassformer.run import Run
from glassformer.tasks.mary import LINES

TEXT = "".join(f"{line}, naïve € {k}\n" for k, line in enumerate(LINES * 4))
SETTINGS = (
    "architecture.context=8",
    "architecture.width=8",
    "architecture.heads=2",
    "architecture.feed_forward=16",
    "architecture.embedding_init=1.0",
    "train.judged=40",
    "train.steps=2",
)


def random_run(folder: Path, tokenizer: str, *, not_a_number: bool = False, changes: tuple[str, ...] = ()) -> Run:
    """A run of two kept steps whose weights are noise; the second may be no numbers at all."""
    folder.mkdir(exist_ok=True)
    path = folder / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    entries = {"bpe": 120, "byte_bpe": 300}.get(tokenizer)
    return noise(folder / "run", for_text(path, tokenizer, entries, once(*SETTINGS, *changes)), not_a_number)


def once(*settings: str) -> list[str]:
    """Each setting once, as it was given last."""
    return list({each.partition("=")[0]: each for each in settings}.values())


def noise(path: Path, experiment: Experiment, not_a_number: bool = False) -> Run:
    """A run of an experiment that nobody trained."""
    rng = np.random.default_rng(7)
    shapes = experiment.architecture.shapes()
    weights = {name: rng.normal(0, 0.5, (2, *shape)).astype(np.float32) for name, shape in shapes.items()}
    if not_a_number:
        weights = {name: np.stack([value[0], np.full_like(value[1], np.nan)]) for name, value in weights.items()}
    with Recorder.create(path, experiment, [7]) as recorder:
        recorder.safe_point(2, [0, 2], weights, [], {})
        recorder.finish()
    return Run(path)
