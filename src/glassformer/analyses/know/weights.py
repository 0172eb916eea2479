"""Every number the model has learned, tensor by tensor, in the order of the computation."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, thousands, result
from glassformer.run import Run

ORDER = 90
ANSWERS = ("3.§3.1", "1.P1")
COST = "b"

FEW = 1000  # parameters up to which every number is drawn
MOST_SIDE = 64  # cells along an axis of a larger tensor; beyond, neighbours share one
QUANTILES = ("0", "0.05", "0.25", "0.5", "0.75", "0.95", "1")
SIDES = {
    "token": ("token", "feature"), "position": ("position", "feature"), "output": ("head_feature", "feature"),
    "expand": ("feature", "neuron"), "contract": ("neuron", "feature"), "read_out": ("feature", "token"),
}  # fmt: skip


@result
class Weights(Result):
    """All tensors; vectors have one row. In those of large models neighbours share a cell; `whole` says where not."""

    tensors: dict[str, Labelled]
    quantiles: Labelled  # (tensor, quantile) of all its values, not of the cells
    typical: Labelled  # (tensor,): root of the mean square
    whole: dict[str, bool]
    shapes: dict[str, tuple[int, ...]]
    parameters: int


def weights(run: Run, *, step: int = -1, member: int = 0) -> Weights:
    """Every tensor at a kept step, whole up to 64 cells along an axis (and in models up to 1 000 parameters)."""
    step = _clock.resolve(run, step)
    found = {name: values.astype(np.float64) for name, values in run.weights(step, member).items()}
    total = sum(values.size for values in found.values())
    tensors, whole = {}, {}
    for name, values in found.items():
        table = values[None] if values.ndim == 1 else values
        small = table if total <= FEW else binned(table)
        whole[name] = small.shape == table.shape
        tensors[name] = Labelled(small, _axes(run, name, table.shape, small.shape))
    levels = [float(level) for level in QUANTILES]
    spread = np.array([np.quantile(values, levels) for values in found.values()])
    names = tuple(found)
    return Weights(
        step=step,
        clock=_clock.text(run, step, member),
        tensors=tensors,
        quantiles=Labelled(spread, {"tensor": names, "quantile": QUANTILES}),
        typical=Labelled(np.array([np.sqrt((v * v).mean()) for v in found.values()]), {"tensor": names}),
        whole=whole,
        shapes={name: values.shape for name, values in found.items()},
        parameters=total,
    )


def binned(table: Array) -> Array:
    """At most 64 × 64 cells, each the root mean square of equally many neighbours, with the sign of their sum.

    A mean would shrink the more, the more neighbours there are, and look like zero beside what is drawn whole.
    """
    if max(table.shape) <= MOST_SIDE:
        return table
    sums, squares = _reduced(table), _reduced(table * table) / _reduced(np.ones_like(table))
    return np.sign(sums) * np.sqrt(squares)


def _reduced(table: Array) -> Array:
    """Sums over neighbours, at most 64 × 64 of them."""
    for axis in (0, 1):
        many = table.shape[axis]
        table = np.add.reduceat(table, np.arange(0, many, -(-many // MOST_SIDE)), axis=axis)
    return table


def _axes(run: Run, name: str, shape: tuple[int, ...], drawn: tuple[int, ...]) -> dict[str, tuple[str, ...]]:
    leaf = name.rpartition(".")[2]
    sides = SIDES.get(leaf.removesuffix("_bias"), ("feature", "head_feature"))
    if leaf.startswith("norm"):
        sides = ("", "feature")
    if leaf.endswith("_bias") or leaf.startswith("norm"):
        sides = ("bias" if leaf.endswith("_bias") else "scale", sides[1])
    labels = []
    for side, size, cells in zip(sides, shape, drawn, strict=True):
        words = (
            tuple(run.task.vocabulary[:size])
            if side == "token" and size == cells
            else ("",)
            if side in ("bias", "scale")
            else numbers(size)
        )
        labels.append(words if len(words) == cells else words[:: -(-size // MOST_SIDE)])
    return dict(zip(sides, labels, strict=True))


def say(seen: Weights) -> Words:
    """Which tensor has the largest numbers, and how many numbers there are."""
    names, sizes = seen.typical.axes["tensor"].labels, seen.typical.values
    caption = (
        f"All {thousands(seen.parameters)} parameters in {len(names)} tensors, in the order of the computation (line "
        "by line, small ones one below the other); a matrix maps its rows to its columns, a "
        "vector is one row. Red is above zero, blue below, one scale for all. "
    )
    if not all(seen.whole.values()):
        caption += f"Tensors with more than {MOST_SIDE} cells along an axis are binned: each cell is the "
        caption += "root mean square of some neighbours, with the sign of their sum. "
    caption += (
        "Where they are drawn, bars show how the values of each tensor are spread: thin the whole range, thicker 5 to "
        "95 %, thickest the middle half. All numbers are exact; a large number is not yet an important one."
    )
    if not np.isfinite(sizes).all():
        bad = [name for name, size in zip(names, sizes, strict=True) if not np.isfinite(size)]
        title = f"At step {seen.step} {len(bad)} of {len(names)} tensors are not numbers: the training has diverged"
    else:
        top = int(np.argmax(sizes))
        low = int(np.argmin(sizes))
        alone = not any(name.startswith("blocks.1.") for name in names)
        largest, smallest = (spoken(names[k]).removesuffix(" (block 0)" if alone else "") for k in (top, low))
        title = (
            f"Of {thousands(seen.parameters)} parameters, those in “{largest}” are largest (typical size "
            f"{sizes[top]:.2f}), those in “{smallest}” smallest ({sizes[low]:.2f})"
        )
    return Words(title, caption, f"Heat maps of every tensor of the model. {title}.")


def spoken(name: str) -> str:
    """`blocks.0.expand_bias` → expand bias (block 0)."""
    if name.startswith("blocks."):
        _, block, leaf = name.split(".")
        return f"{leaf.replace('_', ' ')} (block {block})"
    return name.replace("_", " ")
