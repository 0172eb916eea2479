"""The arrays of a physics result as files: every series as labelled text, all of them together as one NPZ."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glassformer import storage
from glassformer.canonical import Array
from glassformer.physics.models.boltzmann_memory import Memory
from glassformer.physics.models.one_layer import MATRICES, MEASURES, Life

MOST_IN_TEXT = 20_000  # numbers; larger arrays are in the NPZ alone
Series = tuple[str, Array, Sequence[str]]  # unit, values, names of the axes


def series(seen: Life | Memory) -> dict[str, Series]:
    """Name → unit, values, axes."""
    both: dict[str, Series] = {
        "entropy": ("nats", seen.entropy, ("temperature", "step")),
        "loss": ("nats", seen.loss, ("temperature", "step")),
        "mean_entropy": ("nats", seen.mean_entropy, ("temperature",)),
        "probabilities": ("chance", seen.probabilities, ("temperature", "step", "token")),
    }
    if isinstance(seen, Memory):
        return both | {
            "logits": ("", seen.logits, ("temperature", "step", "token")),
            "memory": ("", seen.memory, ("temperature", "step", "feature")),
            "tape": ("token", seen.tape, ("temperature", "step")),
            "table": ("random number", seen.table, ("step",)),
            "first_weights": ("", seen.first, ("token", "feature")),
            "last_weights": ("", seen.last, ("temperature", "token", "feature")),
        }
    return both | {
        "logits": ("", seen.logits, ("step", "token")),
        "trained": ("chance", seen.trained, ("step", "token")),
        "training_entropy": ("nats", seen.training_entropy, ("step",)),
        "training_loss": ("nats", seen.training_loss, ("step",)),
        "p_target": ("chance", seen.p_target, ("step",)),
        "p_max": ("chance", seen.p_max, ("step",)),
        "kl": ("nats", seen.kl, ("step after",)),
        "kl_same_window": ("nats", seen.alike, ("step after",)),
        "attention": ("share", seen.attention, ("step", "position")),
        "mean_attention": ("share", seen.mean_attention, ("position",)),
        "tokens": ("token", seen.tokens, ("step",)),
        "cosines": ("cosine", seen.cosines, ("step", "matrix")),
        "moved": ("share", seen.moved, ("matrix",)),
        "anatomy": ("", seen.anatomy, ("step", "measure")),
    }


def save(seen: Life | Memory, folder: Path) -> list[Path]:
    """`arrays.npz`, and `arrays/NAME.txt` for whatever is short enough to read; `np.loadtxt` reads each of them."""
    storage.make_folder(folder / "arrays")
    found, labels = series(seen), _labels(seen)
    packed = io.BytesIO()
    every: dict[str, Any] = {name: values for name, (_, values, _) in found.items()}
    np.savez(packed, steps=seen.steps, temperatures=seen.temperatures, **every)
    files = [folder / "arrays.npz"]
    storage.replace(files[0], packed.getvalue())
    for name, (unit, values, axes) in found.items():
        if values.size <= MOST_IN_TEXT:
            files.append(folder / "arrays" / f"{name}.txt")
            storage.replace(files[-1], _text(name, unit, values, axes, labels).encode())
    return files


def _labels(seen: Life | Memory) -> dict[str, Sequence[object]]:
    n = seen.settings.tokens
    return {
        "step": seen.steps.tolist(),
        "step after": seen.steps[1:].tolist(),
        "temperature": [float(f"{each:.10g}") for each in seen.temperatures],
        "token": range(n),
        "feature": range(n),
        "position": range(seen.attention.shape[1] if isinstance(seen, Life) else 0),
        "matrix": MATRICES,
        "measure": MEASURES,
    }


def _text(name: str, unit: str, values: Array, axes: Sequence[str], labels: Mapping[str, Sequence[object]]) -> str:
    """Comment lines that say what the rows and columns are, then nothing but numbers."""
    said = [f"{name}{f' ({unit})' if unit else ''} by {', '.join(axes)}"]
    if values.ndim == 1:
        plain = axes[0] != "matrix"
        said.append(f"columns: {axes[0]}, {name}" if plain else f"rows: matrix = {' '.join(MATRICES)}")
        table = np.column_stack([np.asarray(labels[axes[0]], dtype=float), values]) if plain else values[:, None]
    else:
        for word, axis in zip(("blocks of rows", "rows")[2 - (values.ndim - 1) :], axes[:-1], strict=True):
            said.append(f"{word}: {axis} = {' '.join(map(str, labels[axis]))}")
        said.append(f"columns: {axes[-1]} = {' '.join(map(str, labels[axes[-1]]))}")
        table = values.reshape(-1, values.shape[-1])
    out = io.StringIO()
    np.savetxt(out, table, fmt="%d" if table.dtype.kind == "i" else "%.12g", header="\n".join(said))
    return out.getvalue()
