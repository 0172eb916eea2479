"""Every number the model has learned, tensor by tensor, in the order of the computation."""

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Frames, Member, Pace, Shown, Step
from glassformer.analyses._reel import Reel, frames_of, glance, strip
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, result, thousands
from glassformer.run import Run

ORDER = 90
ANSWERS = ("3.§3.1", "1.P1", "1.P7")
COST = "b"
EDITS = "weights"

FEW = 1000  # parameters up to which every number is drawn
MOST_SIDE = 64  # cells along an axis of a larger tensor; beyond, neighbours share one
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
SIDES = {
    "token": ("token", "feature"), "position": ("position", "feature"), "output": ("head_feature", "feature"),
    "expand": ("feature", "neuron"), "contract": ("neuron", "feature"), "read_out": ("feature", "token"),
}  # fmt: skip
GLANCE = 24  # steps of a film looked at for the limits of the colours


@result
class Weights(Result):
    """All tensors. In those of large models neighbours share a cell, named by the first; `whole` says where not."""

    tensors: dict[str, Labelled]
    quantiles: Labelled  # (tensor, share): the value under which this share lies, of all its values, not of the cells
    typical: Labelled  # (tensor,): root of the mean square
    overall: float  # root of the mean square of all parameters
    whole: dict[str, bool]
    shapes: dict[str, tuple[int, ...]]
    parameters: int

    @property
    def title(self) -> str:
        """Which tensor has the largest numbers, and how many numbers there are."""
        names, sizes = self.typical.axes["tensor"].labels, self.typical.values
        if bad := int((~np.isfinite(sizes)).sum()):
            return fate(f"{bad} of {len(names)} tensors are not numbers", self.step)
        norms = [name.rpartition(".")[2].startswith("norm") for name in names]  # they start at 1 and 0, not near 0
        aside = ", norms aside," if any(norms) else ","
        sizes = sizes[~np.array(norms)]
        names = tuple(name for name, norm in zip(names, norms, strict=True) if not norm)
        top, low = int(np.argmax(sizes)), int(np.argmin(sizes))
        alone = not any(name.startswith("blocks.1.") for name in names)
        largest, smallest = (spoken(names[k]).removesuffix(" (block 0)" if alone else "") for k in (top, low))
        return (
            f"Of {thousands(self.parameters)} parameters{aside} those in “{largest}” are largest (typical size "
            f"{sizes[top]:.2f}), those in “{smallest}” smallest ({sizes[low]:.2f})"
        )


def weights(run: Run, *, step: Step = -1, member: Member = 0) -> Weights:
    """Every tensor at a kept step, whole up to 64 cells along an axis (and in models up to 1 000 parameters)."""
    step = _clock.resolve(run, step)
    found = {name: values.astype(np.float64) for name, values in run.weights(step, member).items()}
    total = sum(values.size for values in found.values())
    cells = {name: values if total <= FEW else binned(values) for name, values in found.items()}
    whole = {name: small.shape == found[name].shape for name, small in cells.items()}
    squares = {name: float((values * values).mean()) for name, values in found.items()}
    return Weights(
        **_clock.at_step(run, step, member),
        tensors={name: Labelled(cells[name], _axes(run, name, found[name].shape, whole[name])) for name in found},
        quantiles=Labelled(
            np.array([np.quantile(values, QUANTILES) for values in found.values()]),
            {"tensor": found, "share": QUANTILES},
        ),
        typical=Labelled(np.sqrt(list(squares.values())), {"tensor": found}),
        overall=float(np.sqrt(sum(found[name].size * square for name, square in squares.items()) / total)),
        whole=whole,
        shapes={name: values.shape for name, values in found.items()},
        parameters=total,
    )


def binned(table: Array) -> Array:
    """At most 64 cells along an axis, each the root mean square of equally many neighbours, with the sign of their sum.

    A mean would shrink the more, the more neighbours there are, and look like zero beside what is drawn whole.
    """
    if max(table.shape) <= MOST_SIDE:
        return table
    sums, squares = _reduced(table), _reduced(table * table) / _reduced(np.ones_like(table))
    return np.sign(sums) * np.sqrt(squares)


def _reduced(table: Array) -> Array:
    """Sums over neighbours, at most 64 along each axis."""
    for axis, many in enumerate(table.shape):
        table = np.add.reduceat(table, np.arange(0, many, _together(many)), axis=axis)
    return table


def _together(many: int) -> int:
    """How many neighbours share a cell."""
    return -(-many // MOST_SIDE)


def _axes(run: Run, name: str, shape: tuple[int, ...], whole: bool) -> dict[str, tuple[int | str, ...]]:
    """The sides of a tensor and what stands along each; a bias or a scale has the last side only."""
    leaf = name.rpartition(".")[2]
    sides = SIDES.get(leaf.removesuffix("_bias"), ("feature", "feature" if leaf.startswith("norm") else "head_feature"))
    places = {
        side: tuple(run.task.vocabulary[:size]) if side == "token" else numbers(size)
        for side, size in zip(sides[-len(shape) :], shape, strict=True)
    }
    return {side: each if whole else each[:: _together(len(each))] for side, each in places.items()}


def spoken(name: str) -> str:
    """`blocks.0.expand_bias` → expand bias (block 0)."""
    if name.startswith("blocks."):
        _, block, leaf = name.split(".")
        return f"{leaf.replace('_', ' ')} (block {block})"
    return name.replace("_", " ")


@result
class Largest(Result):
    """How far the values of each tensor go in a film."""

    reach: Labelled  # (tensor,): the largest, without its sign; NaN where there are no numbers


def reel(run: Run, *, member: Member = 0, frames: Frames = 200, pace: Pace = "even", steps: Shown = None) -> Reel:
    """Every tensor over life, and how far each goes."""

    def at(step: int) -> Weights:
        return weights(run, step=step, member=member)

    first, last = at(int(run.steps[0])), at(-1)
    every = frames_of(run, frames, pace, steps, member)
    largest = dict.fromkeys(last.tensors, np.nan)
    for seen in (first, last, *map(at, glance(every, GLANCE))):
        for name, tensor in seen.tensors.items():
            known = np.abs(tensor.values[np.isfinite(tensor.values)])
            largest[name] = np.fmax(largest[name], known.max() if known.size else np.nan)
    still = {"last": last, "largest": Largest(reach=Labelled(np.array([*largest.values()]), {"tensor": largest}))}
    return Reel(_grown(first, last), every, at, strip(run, member), still)


def _grown(first: Weights, last: Weights) -> str:
    """How the typical size of all weights has changed."""
    many = f"{thousands(last.parameters)} weights"
    if not np.isfinite([first.overall, last.overall]).all():
        return fate(f"some of the {many} are not numbers", last.step)
    grows = "grows" if last.overall >= first.overall else "shrinks"
    begin, end = (f"{each.overall:.2f} at step {thousands(each.step or 0)}" for each in (first, last))
    return f"The typical size of the {many} {grows} from {begin} to {end}"
