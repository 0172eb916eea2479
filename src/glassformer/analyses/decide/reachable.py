"""What attention can reach: one position held, and every push that could be added to it."""

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from glassformer import reference
from glassformer.analyses import _decide
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._plane import Plane
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, numbers, percent, result
from glassformer.analyses.decide.landscape import Frame, Landscape, landscape, quick
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 60
ANSWERS = ("4.r frozen",)
COST = "c"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    if run.architecture.width == 1:
        return "a model with one feature has a line and no plane of pushes"
    return "this model has no attention" if run.architecture.attention == "off" else None


MOST_CHANCES, COARSE = 2_000_000, 41  # probabilities held; places along each side at the least
GRID = 60


@result
class Frozen(Result):
    """P(token) over all pushes to one held position, the pushes of the values in view and what they can add up to."""

    probabilities: Labelled  # (token, y, x)
    regions: Labelled  # (y, x): id of the token that wins
    best: Labelled  # (y, x): its probability
    values: Labelled  # (head, key_position, axis): pushes of the values in view
    weights: Labelled  # (head, key_position): the attention they get
    push: Labelled  # (axis,): what attention does add
    corners: Labelled  # (corner, axis): of the hull of all that attention could add
    reachable: Labelled  # (token,): share of the hull in which the token wins
    said: Labelled  # (token,): probabilities with the actual push
    unmoved: Labelled  # (token,): probabilities without any
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    groups: tuple[str, ...]
    position: int
    verdict: str
    right: tuple[int, ...]
    plane: Plane
    blocks: int
    frame: Frame
    land: Landscape = field(repr=False)


def reachable(
    run: Run, *, sequence: str | None = None, position: int | None = None, step: int = -1, member: int = 0
) -> Frozen:  # fmt: skip
    """Hold a position (the last that can be answered when None) and see what each possible push would make it say.

    Attention weights are shares, so one head can only reach the hull of the values in view, several the sums of theirs.
    """
    a = run.architecture
    if a.attention == "off":
        raise CallError("this model has no attention")
    land = landscape(run, sequence=sequence, step=step, member=member, grid=2)
    seen = run.trace(sequence, step=step, member=member)
    w, block = _decide.params(run, seen.step, member), a.blocks - 1
    want = _decide.asked(run, seen.tokens)
    place = _decide.place(want, position)
    held = _decide.entering(seen, block, a)[place] * (1 if a.residual else 0)
    bias = w["blocks"][block].get("output_bias", 0)
    view = range(place + 1) if a.causal else range(len(seen.tokens))
    pushes = _decide.pushes(w, seen, block, a)[:, list(view)]  # (head, key_position, feature)
    flat = land.plane
    drawn = flat.directions(pushes)
    push = flat.directions(seen["attended"][block][place])
    corners = _decide.hull(_sums(drawn) + flat.directions(np.zeros(a.width) + bias))
    box = _around(np.concatenate([corners, drawn.reshape(-1, 2), push[None], np.zeros((1, 2))]))
    fine = int(np.clip(np.sqrt(MOST_CHANCES / a.answers), COARSE, GRID))
    x, y = np.linspace(box[0], box[1], fine), np.linspace(box[2], box[3], fine)
    spots = np.stack(np.meshgrid(x, y), -1)
    # off the plane, the held position keeps what attention does add there
    rest = held + (seen["attended"][block][place] - push @ flat.basis.T if not flat.lossless else 0)

    def chances_at(where: Array) -> Array:
        stream = (rest + where @ flat.basis.T).astype(np.float32)
        found: Array = reference.softmax(_decide.onward(w, stream, a).astype(np.float64))
        return found

    def said_at(where: Array) -> Array:
        found: Array = np.log(np.maximum(chances_at(where), 1e-300))
        return found

    chances = np.moveaxis(chances_at(spots), -1, 0)
    winner = chances.argmax(0)
    within = _decide.inside(spots, corners)
    reach = np.bincount(winner[within], minlength=len(chances)) / max(int(within.sum()), 1)
    ticks = {"y": tuple(f"{v:.4g}" for v in y), "x": tuple(f"{v:.4g}" for v in x)}
    words, axis = tuple(run.task.vocabulary[: a.answers]), {"axis": ("x", "y")}
    keys = {"head": numbers(a.heads), "key_position": tuple(placed(land.tokens)[k] for k in view)}
    group = _decide.group_of(run.task)
    unmoved = reference.softmax(_decide.onward(w, held, a).astype(np.float64))
    return Frozen(
        step=seen.step,
        clock=land.clock,
        probabilities=Labelled(chances, {"token": words} | ticks, "probability"),
        regions=Labelled(winner, ticks, "token id"),
        best=Labelled(chances.max(0), ticks, "probability"),
        values=Labelled(drawn, keys | axis),
        weights=Labelled(seen["attention"][block][:, place, list(view)], keys, "share"),
        push=Labelled(push, axis),
        corners=Labelled(corners, {"corner": numbers(len(corners))} | axis),
        reachable=Labelled(reach, {"token": words}, "share"),
        said=Labelled(seen["probabilities"][place], {"token": words}, "probability"),
        unmoved=Labelled(unmoved, {"token": words}, "probability"),
        tokens=land.tokens,
        words=words,
        groups=tuple(group[k] for k in range(a.answers)),
        position=place,
        verdict=land.verdicts[place],
        right=land.right[place],
        plane=flat,
        blocks=a.blocks,
        frame=box,
        land=dataclasses.replace(land, said_at=said_at if quick(run) else None),
    )


def _sums(drawn: Array) -> Array:
    """(n, 2): the corners of all sums of one point from each head's hull."""
    total = np.zeros((1, 2))
    for head in drawn:
        if not np.isfinite(head).all():
            return np.zeros((0, 2))
        total = _decide.hull((total[:, None] + _decide.hull(head)[None]).reshape(-1, 2))
    return total


def _around(points: Array) -> Frame:
    flat = points[np.isfinite(points).all(-1)]
    low, high = flat.min(0), flat.max(0)
    half, centre = max(float((high - low).max()) * 0.58, 1e-3), (low + high) / 2
    return float(centre[0] - half), float(centre[0] + half), float(centre[1] - half), float(centre[1] + half)


def say(seen: Frozen) -> Words:
    """What the held position says, and what attention could have made it say."""
    token = f"{shown(seen.tokens[seen.position])} at position {seen.position}"
    plain = "slice" if not seen.plane.lossless else "plane"
    if not np.isfinite(seen.said.values).all():
        title = f"At step {seen.step} the probabilities are not numbers: the training has diverged"
    else:
        best = int(seen.said.values.argmax())
        could = [k for k in np.argsort(-seen.reachable.values, kind="stable") if seen.reachable.values[k] > 0]
        few = (
            listed([shown(seen.words[k]) for k in could])
            if 0 < len(could) <= 4
            else f"{len(could)} of {len(seen.words)} tokens"
        )
        says = f"{shown(seen.words[best])} ({percent(float(seen.said.values[best]))})"
        last = "the last block's attention" if seen.blocks > 1 else "attention"
        title = (
            f"{last[0].upper()}{last[1:]} makes {token} say {says}; "
            if int(seen.unmoved.values.argmax()) != best
            else f"With or without {last}, {token} says {says}; "
        )
        title += (
            "the values in view leave it hardly any choice" if not could
            else f"the values in view could make it say any of {len(could)} tokens"
            if plain == "plane" and len(could) == len(seen.words)
            else f"the values in view could only make it say {few}" if plain == "plane"
            else f"on this slice its values could only make it say {few}"
        )  # fmt: skip
    caption = (
        f"The input {' '.join(map(shown, seen.tokens))} with {token} held still; the {plain} is what attention "
        f"{'of the last block ' if seen.blocks > 1 else ''}may add to it, + is adding nothing. Left: the likeliest "
        "token "
        "after each push, hatched where it has less than half; triangles are the pushes of the values in view, the "
        "arrow is the actual push. Attention's weights are shares, so it cannot leave the outlined "
        f"hull{' (of the sums of one push from each head)' if len(seen.values.values) > 1 else ''}. Right: maps of "
        "single "
        "tokens and the probability each does get, after the right and the actual one those that win most of the hull. "
        + (
            "" if plain == "plane"
            else "All directions off the slice are kept as in this input; the outline is the hull's shadow. "
        )
        + "If the hull did not reach the region of the right token, no attention pattern could give the right answer."
    )  # fmt: skip
    return Words(title, caption, f"Maps of what a push to one position would make it say. {title}.")
