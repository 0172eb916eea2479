"""What is asked at each position and what is said there, and the model from its last attention onwards."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from glassformer import reference
from glassformer.analyses import _counted, _operands
from glassformer.analyses._fitting import fitting
from glassformer.analyses._result import Array, Axis
from glassformer.analyses._verdicts import NONE
from glassformer.architecture import Architecture, nest
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks import Examples, Task

Params = Mapping[str, Any]
WORK, LEAST = 1e8, 8  # products of one pass over all windows, as far as possible; windows at the least


@dataclass(frozen=True)
class Asked:
    """What a task wants at each position of one input."""

    places: tuple[int, ...]  # the positions at which an answer is read
    allowed: Array  # (position, answer): what the verifier accepts; False where nothing is read
    constrained: Array  # (position,)
    answerable: Array  # (position,): and what is in view settles it
    source: tuple[int, ...]  # for each position, the one that holds the answer; -1: none, or itself

    @property
    def right(self) -> tuple[tuple[int, ...], ...]:
        """The ids that are right at each position; none where nothing is asked or what is in view settles nothing."""
        settled = self.constrained & self.answerable
        return tuple(
            tuple(np.flatnonzero(each).tolist()) if sure else ()
            for each, sure in zip(self.allowed, settled, strict=True)
        )

    def verdicts(self, guess: Array) -> tuple[str, ...]:
        """The verdict of the answer at each position."""
        return tuple(
            NONE if place not in self.places
            else "unconstrained" if not self.constrained[place]
            else "not_in_view" if not self.answerable[place]
            else "right" if self.allowed[place, int(guess[place])]
            else "wrong"
            for place in range(len(self.allowed))
        )  # fmt: skip


def asked(run: Run, ids: Array) -> Asked:
    """What the task wants after each token of an input, or at the one place where its answer is read."""
    ids, answers = np.asarray(ids), run.architecture.answers
    allowed = np.asarray(run.task.allowed(ids))[:, :answers]
    constrained, answerable = np.asarray(run.task.constrained(ids)), np.asarray(run.task.answerable(ids))
    found = [int(place) for place in run.task.source_position(ids)][: len(ids)]
    if run.task.answers == "next":
        source = tuple(place if place != query else -1 for query, place in enumerate(found))
        return Asked(tuple(range(len(ids))), allowed, constrained, answerable, source)
    place = _counted.place(run, ids)
    here = np.arange(len(ids)) == place
    source = tuple(found[-1] if k == place and found[-1] != k else -1 for k in range(len(ids)))
    return Asked((place,), here[:, None] & allowed[-1], here & constrained[-1], here & answerable[-1], source)


def points(found: Iterable[tuple[str, int | None]], blocks: int, words: Mapping[str, str]) -> Axis:
    """Named points, each with its block if there are several: `middle, block 1`, called `after attention 1`."""
    pairs = [(name, block if blocks > 1 else None) for name, block in found]
    return Axis(
        tuple(name if block is None else f"{name}, block {block}" for name, block in pairs),
        tuple(f"{words.get(name, name)}{'' if block is None else f' {block}'}" for name, block in pairs),
    )


def place(want: Asked, position: int | None) -> int:
    """A position to look at: the one asked for, or the last that can be answered, or the last that is read."""
    if position is not None:
        if position not in want.places:
            raise CallError(
                f"position = {position} is not one at which an answer is read: {want.places[0]} to {want.places[-1]}"
            )
        return position
    looked_up = [k for k in want.places if want.answerable[k] and want.source[k] >= 0]
    settled = [k for k in want.places if want.answerable[k]]
    return (looked_up or settled or list(want.places))[-1]


def params(run: Run, step: int, member: int, precise: bool = False) -> Params:
    """The weights at a kept step, nested by block; in double precision on request."""
    flat = run.weights(step, member)
    return nest({name: array.astype(np.float64) for name, array in flat.items()} if precise else flat)


def read_out(w: Params, final: Array, a: Architecture) -> Array:
    """`final` (..., feature) → logits (..., answer)."""
    logits: Array = final @ w["token"].T if a.tied_embedding else final @ w["read_out"]
    return logits + w["read_out_bias"] if "read_out" in a.biases else logits


def from_stream(w: Params, x: Array, a: Architecture) -> Array:
    """The stream after the last block, (..., feature) → logits."""
    return read_out(w, reference.normalise(x, w, "norm", a) if a.final_norm else x, a)


def fed(block: Params, middle: Array, a: Architecture) -> Array:
    """`middle` of a block, (..., feature) → the stream that leaves it; exact, for each position goes on alone."""
    x = np.asarray(middle)
    if a.norm_place == "post" and a.attention != "off":
        x = reference.normalise(x, block, "norm_1", a)
    if a.feed_forward:
        read = reference.normalise(x, block, "norm_2", a) if a.norm_place == "pre" else x
        added = reference.linear(
            reference.ACTIVATION[a.activation](reference.linear(read, block, "expand")), block, "contract"
        )
        x = x + added if a.residual else added
        if a.norm_place == "post":
            x = reference.normalise(x, block, "norm_2", a)
    return x


def onward(w: Params, middle: Array, a: Architecture) -> Array:
    """`middle` of the last block, (..., feature) → logits."""
    return from_stream(w, fed(w["blocks"][-1], middle, a), a)


def entering(seen: Mapping[str, Array], block: int, a: Architecture) -> Array:
    """(position, feature): the stream that a block reads and adds to."""
    point, of = _operands.entering(block, a)
    found: Array = seen[point] if of is None else seen[point][of]
    return found


def after(w: Params, block: int, head: int, values: Array, a: Architecture) -> Array:
    """A head's values or mixes, (..., feature of the head) → what they add to the stream, (..., feature)."""
    part = slice(head * a.per_head, (head + 1) * a.per_head)
    if a.output_projection:
        found: Array = values @ w["blocks"][block]["output"][part]
        return found
    found = np.zeros((*np.shape(values)[:-1], a.width), np.asarray(values).dtype)
    found[..., part] = values
    return found


def pushes(w: Params, seen: Mapping[str, Array], block: int, a: Architecture) -> Array:
    """(head, key_position, feature): what each position would add to the stream if a head looked at nothing else."""
    return np.stack([after(w, block, head, seen["value"][block, head], a) for head in range(a.heads)])


@lru_cache(maxsize=16)
def examples(run: Run, most: int) -> Examples:
    """Validation windows, always the same. Kept by run: tasks of equal settings may have different texts."""
    return run.task.examples(run.architecture.context, "validation", fitting(run, most))


def affordable(run: Run, most: int) -> int:
    """How many windows to look at: `most` for small models, fewer for large ones, so that a pass stays cheap."""
    return fitting(run, int(np.clip(WORK / (run.parameters * run.architecture.context), LEAST, most)))


def group_of(task: Task) -> dict[int, str]:
    """The family of each token."""
    return {int(token): name for name, members in task.groups.items() for token in members}


def hull(points: Array) -> Array:
    """(corner, 2): the corners of the smallest convex shape around points (n, 2), counter-clockwise."""
    flat = sorted({(float(x), float(y)) for x, y in np.reshape(points, (-1, 2))})
    if len(flat) < 3:
        return np.array(flat).reshape(-1, 2)

    def half(run: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for x, y in run:
            while len(kept) > 1 and (
                (kept[-1][0] - kept[-2][0]) * (y - kept[-2][1]) - (kept[-1][1] - kept[-2][1]) * (x - kept[-2][0]) <= 0
            ):
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    return np.array(half(flat) + half(flat[::-1]))


def inside(points: Array, corners: Array) -> Array:
    """(...,): whether points (..., 2) lie in a convex shape with counter-clockwise corners, its edge included."""
    if len(corners) < 3:
        return np.zeros(np.shape(points)[:-1], bool)
    edge = np.roll(corners, -1, axis=0) - corners
    to = points[..., None, :] - corners
    return np.asarray((edge[:, 0] * to[..., 1] - edge[:, 1] * to[..., 0] >= -1e-9).all(-1))
