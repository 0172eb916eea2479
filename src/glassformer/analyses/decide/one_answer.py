"""One answer, step by step: what a position asks, where it looks, how far that moves it, and what it says then."""

from dataclasses import dataclass, field

import numpy as np

from glassformer.analyses import _clock, _counted
from glassformer.analyses._pairs import drawn, placed, shown
from glassformer.analyses._plane import Plane
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, result
from glassformer.analyses._sought import sought
from glassformer.analyses.attend.attention import named
from glassformer.analyses.decide.landscape import Frame, Landscape, ends_of_many
from glassformer.analyses.decide.residual import residual
from glassformer.analyses.attend.scoring import scoring, spoken
from glassformer.run import Run

ORDER = 5
ANSWERS = ("new",)
COST = "b"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return not_asking(run) or ("a model with one feature has no plane" if run.architecture.width == 1 else None)


LEAST_GRID = 4  # of the plane on which the points are first found


@result
class OneAnswer(Result):
    """The last block's attention at one position of one input, from its scores to its answer."""

    scores: Labelled  # (key_position,): query times key, scaled; only what may be seen
    shares: Labelled  # (key_position,): of the attention
    without: Labelled  # (token,): probabilities if this attention added nothing
    answer: Labelled  # (token,): the model's probabilities
    points: Labelled  # (point, axis): before, what attention adds, after
    tokens: tuple[str, ...]
    place: int  # the position that answers
    source: int  # the position it must look at; -1: the rule names none
    copied: bool
    right: tuple[int, ...]  # ids of the right answers; empty: anything goes
    verdict: str
    block: int
    head: int
    blocks: int
    heads: int
    divided: int  # scores are divided by its root
    plane: Plane
    land: Landscape = field(repr=False)


def one_answer(
    run: Run, *, sequence: str | None = None, head: int | None = None, step: int = -1, member: int = 0
) -> OneAnswer:
    """Follow the last position that has something to look up (else the last that answers) through the last block.

    `head` as in `scoring`.
    """
    a = run.architecture
    asked = scoring(run, sequence=sequence, block=a.blocks - 1, head=head, step=step, member=member)
    last = _counted.place(run, run.tokens(sequence))
    place = spoken(asked) if max(asked.source) >= 0 else last
    moved = residual(run, sequence=sequence, step=step, member=member, grid=LEAST_GRID)
    stages = np.stack([moved.before.values[place] * a.residual, moved.middle.values[place]])
    plane = moved.plane
    if not plane.lossless:
        plane = _through(stages, ends_of_many(run, _clock.resolve(run, step), member)) or plane
    way = plane.points(stages)
    path = np.stack([way[0], plane.zero + plane.directions(moved.attended.values[place]), way[1]])
    moved = residual(run, sequence=sequence, step=step, member=member, plane=plane, frame=_around(way))
    seen = slice(0, place + 1) if a.causal else slice(None)
    keys = {"key_position": placed(asked.tokens)[seen]}
    words = {"token": moved.words}
    return OneAnswer(
        step=asked.step,
        clock=asked.clock,
        scores=Labelled(asked.scores.values[place, seen], keys, "score"),
        shares=Labelled(asked.attention.values[place, seen], keys, "share"),
        without=Labelled(moved.first.values[place], words, "probability"),
        answer=Labelled(moved.last.values[place], words, "probability"),
        points=Labelled(path, {"point": ("before", "attended", "after"), "axis": ("x", "y")}),
        tokens=asked.tokens,
        place=place,
        source=asked.source[place],
        copied=asked.copied,
        right=moved.right[place],
        verdict=moved.verdicts[place],
        block=asked.block,
        head=asked.head,
        blocks=asked.blocks,
        heads=asked.heads,
        divided=a.per_head if a.score_scale == "head" else a.width,
        plane=moved.plane,
        land=moved.land,
    )


def _through(stages: Array, cloud: Array) -> Plane | None:
    """The plane through two points that holds most of a cloud (n, feature), so that the map is exact at both."""
    begin, end = stages.astype(np.float64)
    ahead = end - begin
    length = float(np.linalg.norm(ahead))
    if not (0 < length < np.inf and np.isfinite(cloud).all()):
        return None
    ahead /= length
    around = cloud - cloud.mean(0)
    rest = around - np.outer(around @ ahead, ahead)
    across = np.linalg.svd(rest, full_matrices=False)[2][0]
    across -= (across @ ahead) * ahead
    if not np.linalg.norm(across) > 1e-6:
        return None
    basis = np.column_stack([ahead, across / np.linalg.norm(across)])
    shares = ((around @ basis) ** 2).sum(0) / max(float((around**2).sum()), 1e-300)
    beside = begin - basis @ (basis.T @ begin)
    return Plane(beside, basis, ("along attention's push", "across it"), tuple(map(float, shares)))


def _around(points: Array) -> Frame | None:
    """A square that holds the way from one point to the other with as much room again on every side."""
    if not np.isfinite(points).all():
        return None
    x, y = points.mean(axis=0).tolist()
    half = 1.5 * float(np.abs(points[1] - points[0]).max()) or 1.0
    return (x - half, x + half, y - half, y + half)


def say(seen: OneAnswer) -> Words:
    """From the highest score to the answer, in one sentence."""
    names = drawn(placed(seen.tokens))
    me, best = names[seen.place], int(np.argmax(seen.shares.values))
    where = f" in {named(seen.block, seen.head, seen.blocks)}" if seen.blocks * seen.heads > 1 else ""
    looks = f"{me} looks at {names[best]} ({percent(float(seen.shares.values[best]))}{where})"
    was, now = (int(each.values.argmax()) for each in (seen.without, seen.answer))
    old, said = (shown(seen.answer.axes["token"].labels[k]) for k in (was, now))
    chance = percent(float(seen.answer.values[now]))
    that = "that" if seen.blocks * seen.heads == 1 else "the block's attention"
    if not np.isfinite(seen.answer.values).all():
        title = f"At step {seen.step} the answer is not a number: the training has diverged"
    elif was == now:
        title = f"{looks}; with or without {that} it answers {said} ({chance})"
    else:
        title = f"{looks}, and {that} turns its answer from {old} to {said} ({chance})"
    if seen.verdict in ("right", "wrong"):
        title += ", which is " + seen.verdict
    text = " ".join(map(shown, seen.tokens))
    caption = (
        f"The input {text}, followed at {me}{where}. 1: the score of each position in view, the query of {me} times "
        "its "
        f"key, divided by √{seen.divided}. 2: the softmax of the scores"
        + (f"; framed is {sought(seen.copied)}. " if seen.source >= 0 else ". ")
        + "3: the values, mixed by these shares, push the point from ○ to ●"
        + (" (the push of all heads)" if seen.heads > 1 else "")
        + "; the map tells which token is likeliest where, after the feed-forward. "
        + ("" if seen.plane.lossless else "It is the plane through ○ and ●: exact at both and a slice elsewhere. ")
        + "4: the probabilities without this attention (pale) and with it (dark). Exact numbers. A position that "
        "decided "
        "without looking would have equal bars in 4."
    )
    return Words(title, caption, f"Bars of scores and shares, an arrow on a plane, bars of probabilities. {title}.")
