"""A made-up training of a model with a few dozen parameters: the same numbers at the same steps, every time."""

from pathlib import Path
from typing import Any

import numpy as np

from glassformer.experiment import Experiment, from_tables
from glassformer.record import Recorder

POINTS = (3, 6, 9)  # where the training can be taken up again; every step is kept, every second one logged


def experiment() -> Experiment:
    """Two features, no feed-forward, a window of four."""
    architecture = {"context": 4, "width": 2, "feed_forward": 0, "output_projection": False, "biases": []}
    return from_tables({"task": "plus_last_even", "architecture": architecture, "train": {"steps": 9}}, "small")


def weights(step: int, members: int = 1) -> dict[str, np.ndarray]:
    """The parameters at a step."""
    rng = np.random.default_rng(step)
    lead = () if members == 1 else (members,)
    shapes = experiment().architecture.shapes()
    return {name: rng.normal(size=(*lead, *shape)).astype(np.float32) for name, shape in shapes.items()}


def line(step: int, members: int = 1) -> dict[str, Any]:
    """What is logged at a step; the loss is not a number once."""
    loss = np.float32(np.nan) if step == 4 else np.float32(3 / (1 + step))
    values = loss if members == 1 else np.full(members, loss)
    return {"step": step, "validation_loss": values, "gradient": {"embedding": values * 2}}


def train(folder: Path, seeds: tuple[int, ...] = (7,), points: tuple[int, ...] = POINTS) -> list[str]:
    """Begin, or go on, and finish; what was mended on the way in."""
    if (folder / "run.json").exists():
        recorder, state, step = Recorder.resume(folder)
        assert state is None or state["here"] == step
    else:
        recorder, step = Recorder.create(folder, experiment(), seeds, {"versions": {"glassformer": "0"}}), 0
    with recorder:
        for before, point in zip((-1, *points), points, strict=False):
            if point > step:
                hand_over(recorder, before, point, len(seeds))
        recorder.finish("finished")
    return recorder.notices


def hand_over(recorder: Recorder, before: int, point: int, members: int = 1) -> None:
    """One safe point."""
    kept = list(range(before + 1, point + 1))
    life = [weights(step, members) for step in kept]
    stacks = {name: np.stack([at[name] for at in life]) for name in life[0]}
    lines = [line(step, members) for step in kept if step % 2 == 0]
    recorder.safe_point(point, kept, stacks, lines, {"here": np.int32(point), "moment": np.arange(point)})


def files(folder: Path) -> dict[str, bytes]:
    """Every file by name, without times."""
    import json

    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if "run.json" in found:
        found["run.json"] = json.dumps({**json.loads(found["run.json"]), "times": None}).encode()
    return found
