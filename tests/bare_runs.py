"""Runs that lack a part, with the weights of a model nobody trained: for who asks what can be shown of them."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from glassformer.experiment import load
from glassformer.record import Recorder
from glassformer.run import Run

BARE = {
    "no attention": ("architecture.attention=off",),
    "mean attention": ("architecture.attention=mean",),
    "no feed-forward": ("architecture.feed_forward=0",),
    "nothing in its blocks": ("architecture.attention=off", "architecture.feed_forward=0"),
    "one feature": ("architecture.width=1", "architecture.head_width=1"),
    "tanh": ("architecture.activation=tanh",),
    "no positions": ("architecture.positions=none",),
    "rotary positions": ("architecture.positions=rotary",),
}


@cache
def bare_run(name: str) -> Run:
    """A run of plus_last_even at step 0 and nothing logged; `name` says what it lacks."""
    folder = Path(tempfile.mkdtemp(prefix="glassformer-bare-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    experiment = load("plus_last_even", BARE[name], steps=1)
    rng = np.random.default_rng(0)
    weights = {
        key: rng.normal(size=(1, *shape)).astype(np.float32) for key, shape in experiment.architecture.shapes().items()
    }
    with Recorder.create(folder / "run", experiment, [0]) as recorder:
        recorder.safe_point(0, [0], weights, [], {})
        recorder.finish("finished")
    return Run(folder / "run")
