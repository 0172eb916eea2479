"""What is asked at each position and what is said there, and the model from its last attention onwards."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from glassformer import editing, reference
from glassformer.analyses import _counted, _operands
from glassformer.analyses._fitting import fitting
from glassformer.analyses._result import Array, Axis
from glassformer.analyses._verdicts import NONE
from glassformer.architecture import Architecture, nest
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks import Examples, Task
from glassformer.trace import Trace

Params = Mapping[str, Any]
AFTER_ATTENTION = ("normed_1", "normed_2", "hidden_in", "hidden", "fed", "out", "final", "logits", "probabilities")
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


@dataclass(frozen=True)
class Model:
    """The model of a run at one saved step, with the run's edits as they act on inputs shaped like `tokens`."""

    run: Run
    step: int
    member: int
    w: Params
    changes: Mapping[str, editing.Change]

    def see(self, point: str, value: Array, block: int | None = None) -> Array:
        """A value as the edited model passes it on: (..., position, feature), or as the point has it."""
        return self.changes[point](value, block) if point in self.changes else value

    def forward(
        self, tokens: Array, more: Mapping[str, editing.Change] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        """Logits and trace of some input, with `more` changes after the edits."""
        changes = editing.compiled(self.run, tokens, self.step, self.member, more)
        with np.errstate(over="ignore", invalid="ignore"):  # a diverged model is looked at like any other
            return reference.forward(self.w, tokens, self.run.architecture, changes)

    def feed(self, block: int, middle: Array) -> Array:
        """`middle` of a block, (..., position, feature) → the stream that leaves it."""
        return reference.feed(middle, self.w["blocks"][block], self.run.architecture, self.see, block)

    def finish(self, x: Array) -> Array:
        """The stream after the last block, (..., position, feature) → `final`."""
        a = self.run.architecture
        return self.see("final", reference.normalise(x, self.w, "norm", a) if a.final_norm else x)

    def read_out(self, final: Array) -> Array:
        """`final`, (..., position, feature) → logits."""
        return reference.read_out(final, self.w, self.run.architecture, self.see)

    def answer(self, x: Array, at: str = "middle") -> Array:
        """Probabilities, in double precision, from `middle` of the last block, from what leaves it, or from `final`."""
        x = self.feed(self.run.architecture.blocks - 1, x) if at == "middle" else x
        logits = self.read_out(x if at == "final" else self.finish(x))
        return self.see("probabilities", reference.softmax(logits.astype(np.float64)))

    def through(self, point: str, value: Array, block: int | None = None) -> Array:
        """What the edits of a point leave of one of several summands of its value; what they add belongs to none."""
        if point not in self.changes:
            return value
        return self.see(point, value, block) - self.see(point, np.zeros_like(value), block)


def model(run: Run, tokens: Array, step: int, member: int, precise: bool = False) -> Model:
    """The model of a run at a saved step, for inputs shaped like these; in double precision on request."""
    flat = run.unedited.weights(step, member)
    w = nest({name: array.astype(np.float64) for name, array in flat.items()} if precise else flat)
    return Model(run, step, member, w, editing.compiled(run, tokens, step, member))


def model_anywhere(
    run: Run, step: int, member: int, points: Collection[str] = AFTER_ATTENTION, block: int | None = None
) -> Model:
    """The model at these points of a block (None: the last), for values that belong to no position: (..., 1, feature).

    Refuses edits of the points that do not do the same at every position.
    """
    block = run.architecture.blocks - 1 if block is None else block
    before = "normed_1" if run.architecture.norm_place == "pre" else ""  # it comes before attention there
    acting = [edit for edit in run.edits if edit.point in points and edit.point != before]
    acting = [edit for edit in acting if block in dict(edit.at).get("block", (block,))]
    for edit in acting:
        if edit.verb in ("mean", "patch") or any(axis.endswith("position") for axis, _ in edit.at):
            raise CallError(f"{edit} differs from position to position, and this shows what holds at every position")
    return model(run.unedited.edited(acting), np.zeros(1, np.int64), step, member)


def neuron_inputs(model: Model, block: int) -> tuple[Array, Array]:
    """Without norms: what each neuron multiplies `middle` by, (feature, neuron), and adds, (neuron,)."""
    w, width = model.w["blocks"][block], model.run.architecture.width
    if not {"normed_2", "hidden_in"} & model.changes.keys():
        return w["expand"].astype(np.float64), w.get("expand_bias", np.zeros(w["expand"].shape[1])).astype(np.float64)

    def read(x: Array) -> Array:
        x = model.see("normed_2", x, block) if model.run.architecture.norm_place == "pre" else x
        return model.see("hidden_in", reference.linear(x, w, "expand"), block)[:, 0].astype(np.float64)

    (bias,), matrix = read(np.zeros((1, 1, width))), read(np.eye(width)[:, None])
    return matrix - bias, bias


def entering(seen: Mapping[str, Array], block: int, a: Architecture) -> Array:
    """(position, feature): the stream that a block reads and adds to."""
    point, of = _operands.entering(block, a)
    return seen[point] if of is None else seen[point][of]


def after(w: Params, block: int, head: int, values: Array, a: Architecture) -> Array:
    """A head's values or mixes, (..., feature of the head) → what they add to the stream, (..., feature)."""
    part = slice(head * a.per_head, (head + 1) * a.per_head)
    if a.output_projection:
        return values @ w["blocks"][block]["output"][part]
    found = np.zeros((*np.shape(values)[:-1], a.width), np.asarray(values).dtype)
    found[..., part] = values
    return found


def pushes(run: Run, seen: Trace, member: int) -> tuple[Array, Array]:
    """What attention of the last block can add: by key alone, (head, key_position, feature), and always, (feature,)."""
    a, block = run.architecture, run.architecture.blocks - 1
    here = model_anywhere(run, seen.step, member, ("mixed", "attended"))
    found = []
    for head in range(a.heads):
        alone = np.zeros((seen["value"].shape[-2], a.heads, 1, a.per_head), seen["value"].dtype)
        alone[:, head, 0] = seen["value"][block, head]  # (key_position, head, position, feature)
        mixed = here.through("mixed", alone, block)[:, head, 0]
        found.append(here.through("attended", after(here.w, block, head, mixed, a)[:, None], block)[:, 0])
    nothing = here.see("mixed", np.zeros((a.heads, 1, a.per_head), seen["value"].dtype), block)
    added = sum(after(here.w, block, head, nothing[head], a) for head in range(a.heads))
    return np.stack(found), here.see("attended", added + here.w["blocks"][block].get("output_bias", 0), block)[0]


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
