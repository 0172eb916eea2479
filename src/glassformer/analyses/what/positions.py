"""How the model tells places apart: the embedding of every position, and how alike they are."""

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Member, Step
from glassformer.analyses._plane import DIRECTIONS, Plane, plane
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, numbers, percent, result
from glassformer.architecture import sinusoids
from glassformer.run import Run

ORDER = 100
ANSWERS = ("4.05", "2.§5.4", "1.P1")
COST = "a"
EDITS = "weights"

NEARLY = 0.97  # cosine from which a direction is called a feature


def applies(run: Run) -> str | None:
    """That positions are added to the tokens."""
    kind = run.architecture.positions
    return (
        None if kind in ("learned", "sinusoidal") else f"this model adds no position embedding (positions = {kind!r})"
    )


@result
class Positions(Result):
    """The position embeddings, their cosines, and where they lie in a plane."""

    embedding: Labelled  # (position, feature)
    cosine: Labelled  # (position, other_position)
    points: Labelled  # (position, direction)
    plane: Plane
    kind: str  # learned or sinusoidal
    swapped: int  # pairs out of order along the main direction
    misplaced: tuple[int, ...]  # the fewest positions without which the others are in order
    pairs: int
    main: float  # share of the variance along the main direction
    feature: int  # the feature that is that direction, or nearly; -1: none is
    near: float  # mean distance of neighbours over mean distance of all pairs

    @property
    def title(self) -> str:
        """Whether the positions stand in order."""
        if not np.isfinite(self.embedding.values).all():
            return fate("the position embeddings are not numbers", self.step)
        count = len(self.points.values)
        line = "their main direction" if self.feature < 0 else f"feature {self.feature}"
        line += f", which holds {percent(self.main)} of their variance"
        if not np.isfinite(self.main):
            title = f"All {count} positions have the same embedding: the model cannot tell them apart by it"
        elif self.swapped == 0:
            title = f"The {count} positions stand in order along {line}"
        elif len(self.misplaced) <= count // 4:
            title = f"But for {listed([*map(str, self.misplaced)])}, the {count} positions stand in order along {line}"
        else:
            pairs = f"{self.swapped} of {self.pairs} pairs are swapped"
            title = f"The {count} positions do not stand in order along {line}: {pairs}"
        return f"{title} (the plane is a projection)" if self.plane.is_projection else title


def positions(run: Run, *, step: Step = -1, member: Member = 0) -> Positions:
    """The position embeddings at a kept step, compared with each other."""
    a = run.architecture
    step = _clock.resolve(run, step)
    table = run.weights(step, member)["position"] if a.positions == "learned" else sinusoids(a.context, a.width)
    table = np.asarray(table, dtype=np.float64)
    size = np.linalg.norm(table, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = table @ table.T / np.outer(size, size)
    flat, places = plane(table), numbers(a.context)
    count = len(table)
    first, second = np.triu_indices(count, 1)
    far = np.linalg.norm(table[first] - table[second], axis=1)
    steps = np.linalg.norm(np.diff(table, axis=0), axis=1)
    along, main, feature = _main(table)
    back = int((along[first] > along[second]).sum())
    return Positions(
        **_clock.at_step(run, step, member),
        embedding=Labelled(table, {"position": places, "feature": numbers(a.width)}, "value"),
        cosine=Labelled(cosine, {"position": places, "other_position": places}, "cosine"),
        points=Labelled(
            flat.points(table, spread=np.linspace(0, 1, count)), {"position": places, "direction": DIRECTIONS}
        ),
        plane=flat,
        kind=a.positions,
        swapped=min(back, len(first) - back),
        misplaced=_misplaced(-along if 2 * back > len(first) else along),
        pairs=len(first),
        main=main,
        feature=feature,
        near=float(steps.mean() / far.mean()) if count > 1 and far.mean() > 0 else float("nan"),
    )


def _main(table: Array) -> tuple[Array, float, int]:
    """The coordinate of each position along the direction of largest variance, the share of that variance, its feature.

    Where the direction is nearly one feature, that feature is taken; else it is none, -1.
    """
    moved = table - table.mean(axis=0)
    if not np.isfinite(moved).all() or not np.abs(moved).max() > 0:
        return np.zeros(len(table)), float("nan"), -1
    left, sizes, directions = np.linalg.svd(moved, full_matrices=False)
    feature = int(np.abs(directions[0]).argmax())
    if abs(directions[0, feature]) >= NEARLY:
        return moved[:, feature], float((moved[:, feature] ** 2).sum() / (moved**2).sum()), feature
    return left[:, 0] * sizes[0], float(sizes[0] ** 2 / (sizes**2).sum()), -1


def _misplaced(along: Array) -> tuple[int, ...]:
    """The positions outside the longest rising part of a line of numbers."""
    if not len(along) or not np.isfinite(along).all():
        return ()
    best: list[list[int]] = []  # the longest rising part that ends at each position
    for place, value in enumerate(along):
        before = [best[k] for k in range(place) if along[k] < value]
        best.append([*max(before, key=len, default=[]), place])
    kept = max(best, key=len)
    return tuple(place for place in range(len(along)) if place not in kept)
