"""Models whose meaning is known because it was put there: run folders of one step, for testing what looks at them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from glassformer import reference
from glassformer.architecture import nest
from glassformer.experiment import from_tables
from glassformer.record import Recorder
from glassformer.run import Run
from glassformer.tasks import find

BIASES = {
    "query_bias": "attention",
    "output_bias": "projection",
    "expand_bias": "feed_forward",
    "norm_1_bias": "norm",
}


def write_run(
    folder: Path,
    *,
    token: ArrayLike,
    blocks: Sequence[Mapping[str, ArrayLike]],
    position: ArrayLike | None = None,
    read_out: ArrayLike | None = None,
    read_out_bias: ArrayLike | None = None,
    task: str = "plus_last_even",
    lines: Sequence[Mapping[str, Any]] = (),
    **architecture: Any,
) -> Run:
    """A run with these weights at step 0. Sizes follow from the arrays; without a read-out, every token is as likely.

    Anything the arrays do not tell (heads, activation, context without positions) is an architecture setting.
    """
    token = np.asarray(token)
    if token.shape[0] != len(find(task).vocabulary):
        raise ValueError(f"{task} has {len(find(task).vocabulary)} tokens, the embedding {token.shape[0]}")
    flat: dict[str, np.ndarray] = {"token": token}
    if position is not None:
        flat["position"] = np.asarray(position)
    for place, block in enumerate(blocks):
        flat |= {f"blocks.{place}.{name}": np.asarray(value) for name, value in block.items()}
    settings = {**_settings(token, position, blocks), **architecture}
    flat["read_out"] = np.zeros((token.shape[1], token.shape[0])) if read_out is None else np.asarray(read_out)
    if read_out_bias is not None:
        flat["read_out_bias"] = np.asarray(read_out_bias)
        settings["biases"] = [*settings["biases"], "read_out"]
    tables = {"task": task, "architecture": settings, "train": {"steps": 1}}
    experiment = from_tables(tables, "hand_wired")
    weights = {name: array.astype(np.float32)[None] for name, array in flat.items()}
    with Recorder.create(folder, experiment, [0]) as recorder:
        recorder.safe_point(0, [0], weights, lines, {})
        recorder.finish("finished")
    return Run(folder)


def _settings(
    token: np.ndarray, position: ArrayLike | None, blocks: Sequence[Mapping[str, ArrayLike]]
) -> dict[str, Any]:
    first = blocks[0]
    settings: dict[str, Any] = {
        "width": token.shape[1],
        "blocks": len(blocks),
        "positions": "none" if position is None else "learned",
        "attention": "on" if "query" in first else "mean" if "value" in first else "off",
        "output_projection": "output" in first,
        "feed_forward": np.shape(first["expand"])[1] if "expand" in first else 0,
        "biases": [kind for name, kind in BIASES.items() if name in first],
    }
    if position is not None:
        settings["context"] = np.shape(position)[0]
    if "value" in first:
        settings["head_width"] = np.shape(first["value"])[1]
    return settings


def previous_token(folder: Path, length: int = 8) -> Run:
    """Every position looks at the one before it; the first, having none, at itself."""
    here = np.eye(length)  # positions are one-hot; key j answers to query j + 1
    block = {"query": here, "key": 100 * np.eye(length, k=1), "value": here}
    return write_run(folder, token=np.zeros((12, length)), position=here, blocks=[block])


def logits_after(run: Run, middle: np.ndarray, step: int = 0) -> np.ndarray:
    """`middle` of the last block, (..., feature) → logits, by whole passes into which it is put."""
    last, flat = run.architecture.blocks - 1, middle.reshape(-1, 1, run.architecture.width)
    put = {"middle": lambda value, block: flat.astype(np.float32) if block == last else value}
    tokens = np.zeros((len(flat), 1), np.int64)
    logits, _ = reference.forward(nest(run.weights(step, 0)), tokens, run.architecture, put)
    return logits.reshape(*middle.shape[:-1], -1)
