"""What attention can reach: one position held, and every push that could be added to it."""

from typing import Any

import numpy as np

from glassformer.analyses import _applies, _clock, _decide, _land
from glassformer.analyses._land import Frame, Ground, Regions, around, fitted
from glassformer.analyses._options import Member, Position, Sequence, Step
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import DIRECTIONS, Plane
from glassformer.analyses._result import Array, Axis, Labelled, Result, capital, fate, listed, numbers, percent, result
from glassformer.run import Run

ORDER = 60
ANSWERS = ("4.r frozen",)
COST = "c"
APPLIES = (_applies.plane, _applies.attention, _land.few_answers)


MOST_CHANCES, COARSE = 2_000_000, 41  # probabilities held; places along each side at the least
GRID = 60
FEW = 4  # tokens that a title names one by one
MAPS, LIKELY = 4, 0.01  # where fewer tokens can be reached, others of at least this probability have a map, too


@result
class Reachable(Result):
    """P(token) over all pushes to one held position, the pushes of the values in view and what they can add up to."""

    probabilities: Labelled  # (token, vertical, horizontal): of those in `shown_tokens`
    regions: Regions
    values: Labelled  # (head, key_position, direction): pushes of the values in view
    weights: Labelled  # (head, key_position): the attention they get
    push: Labelled  # (direction,): what attention does add
    corners: Labelled  # (rank, direction): of the hull of all that attention could add
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
    shown_tokens: tuple[int, ...]  # the right ones, the one that is said, those in reach: the order to look at them

    @property
    def title(self) -> str:
        """What the held position says, and what attention could have made it say."""
        if not np.isfinite(self.said.values).all():
            return fate("the probabilities are not numbers", self.step)
        best = int(self.said.values.argmax())
        could = [k for k in np.argsort(-self.reachable.values, kind="stable") if self.reachable.values[k] > 0]
        every = len(could) == len(self.words)
        few = f"{len(could)} of {len(self.words)} tokens"
        few = listed([shown(self.words[k]) for k in could]) if 0 < len(could) <= FEW else few
        says = f"{shown(self.words[best])} ({percent(float(self.said.values[best]))})"
        last = "the last block's attention" if self.blocks > 1 else "attention"
        told = f"{capital(last)} makes {self.name} say {says}"
        if int(self.unmoved.values.argmax()) == best:
            told = f"With or without {last}, {self.name} says {says}"
        if not could:
            return f"{told}; the values in view leave it hardly any choice"
        if not self.plane.lossless:
            return f"{told}; on this slice its values could only make it say {few}"
        which = f"make it say any of {len(could)} tokens" if every else f"only make it say {few}"
        return f"{told}; the values in view could {which}"

    @property
    def name(self) -> str:
        """The position in words."""
        return f"{shown(self.tokens[self.position])} at position {self.position}"


def reachable(
    run: Run, *, sequence: Sequence = None, position: Position = None, step: Step = -1, member: Member = 0
) -> Reachable:  # fmt: skip
    """Hold a position (the last that can be answered when None) and see what each possible push would make it say.

    Attention weights are shares, so one head can only reach the hull of the values in view, several the sums of theirs.
    """
    a = run.architecture
    seen = run.trace(sequence, step=step, member=member)
    model, block = _decide.model_anywhere(run, seen.step, member), a.blocks - 1
    want = _decide.asked(run, seen.tokens)
    place = _decide.place(want, position)
    held = _decide.entering(seen, block, a)[place] * (1 if a.residual else 0)
    view = range(place + 1) if a.causal else range(len(seen.tokens))
    pushes, always = _decide.pushes(run, seen, member)
    pushes = pushes[:, list(view)]  # (head, key_position, feature)
    flat = fitted(run, sequence=sequence, step=step, member=member)
    drawn = flat.directions(pushes)
    push = flat.directions(seen["attended"][block][place])
    corners = _decide.hull(_sums(drawn) + flat.directions(always))
    box = around([corners, drawn, push, np.zeros(2)], 0.08)
    fine = int(np.clip(np.sqrt(MOST_CHANCES / a.answers), COARSE, GRID))
    # off the plane, the held position keeps what attention does add there
    rest = held + (seen["attended"][block][place] - push @ flat.basis.T if not flat.lossless else 0)
    ground = Ground(run, model, flat, rest)
    ticks, chances = ground.map(box, fine)
    regions = ground.regions(box, fine, mapped=(ticks, chances))
    within = _decide.inside(np.stack(np.meshgrid(ticks["horizontal"], ticks["vertical"]), -1), corners)
    reach = np.bincount(chances.argmax(0)[within], minlength=len(chances)) / max(int(within.sum()), 1)
    tokens, words = tuple(run.task.vocabulary[token] for token in seen.tokens), regions.words
    keys: dict[str, Any] = {"head": numbers(a.heads), "key_position": Axis(tuple(view), tuple(tokens[k] for k in view))}
    directions: dict[str, Any] = {"direction": DIRECTIONS}
    unmoved = model.answer(held[None])[0]
    said = seen["probabilities"][place]
    kept = _picked(said, reach, want.right[place])
    return Reachable(
        **_clock.at_step(run, seen.step, member),
        probabilities=Labelled(_land.coarse(chances[kept]), {"token": [words[k] for k in kept]} | ticks, "probability"),
        regions=regions,
        values=Labelled(drawn, keys | directions),
        weights=Labelled(seen["attention"][block][:, place, list(view)], keys, "share"),
        push=Labelled(push, directions),
        corners=Labelled(corners, {"rank": numbers(len(corners)), "direction": DIRECTIONS}),
        reachable=Labelled(reach, {"token": words}, "share"),
        said=Labelled(said, {"token": words}, "probability"),
        unmoved=Labelled(unmoved, {"token": words}, "probability"),
        tokens=tokens,
        words=words,
        groups=regions.groups,
        position=place,
        verdict=want.verdicts(seen["probabilities"].argmax(-1))[place],
        right=want.right[place],
        plane=flat,
        blocks=a.blocks,
        frame=box,
        shown_tokens=tuple(kept),
    )


def _sums(drawn: Array) -> Array:
    """(n, 2): the corners of all sums of one point from each head's hull."""
    total = np.zeros((1, 2))
    for head in drawn:
        if not np.isfinite(head).all():
            return np.zeros((0, 2))
        total = _decide.hull((total[:, None] + _decide.hull(head)[None]).reshape(-1, 2))
    return total


def _picked(said: Array, reach: Array, right: tuple[int, ...]) -> list[int]:
    """The right tokens, the winner, then the others that attention can reach, those with most of the hull first.

    Where these are few, the likeliest of the others: what the push changes among them.
    """
    best = int(np.nan_to_num(said).argmax())
    likely = [int(k) for k in np.argsort(-np.nan_to_num(said), kind="stable") if said[k] >= LIKELY]
    others = [int(k) for k in np.argsort(-reach, kind="stable") if reach[k] > 0]
    found = list(dict.fromkeys([*(right if len(right) <= 2 else ()), best, *others]))
    return list(dict.fromkeys([*found, *likely[:MAPS]]))[: max(MAPS, len(found))]
