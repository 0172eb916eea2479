"""Do seeds find the same thing? Embeddings turned onto each other, heads and neurons paired by what they do."""

from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from glassformer.analyses import _applies, _clock, _judged, _match
from glassformer.analyses._options import Frames, Pace, Shown, Step
from glassformer.analyses._plane import DIRECTIONS, Plane, plane
from glassformer.analyses._reel import Reel, extent, frames_of, strip
from glassformer.analyses._result import Array, Axis, Labelled, Result, listed, lost, numbers, result, thousands
from glassformer.run import Run

ORDER = 30
ANSWERS = ("1.Q40",)
COST = "b"
EDITS = "weights"
APPLIES = (_applies.population,)
NEEDS = "population"

RANDOM = 200  # pairs of random embeddings
ROUNDS = 20  # of turning all members onto their mean
WORK = 1.5e11  # operations, roughly, of comparing heads and neurons; all pairs of 64 seeds of a small model take 5e9
GLANCE = 25  # steps of a film looked at for its limits
QUANTILES = {"statistic": ("5 %", "50 %", "95 %")}


@result
class SeedsAligned(Result):
    """Embeddings after centring and the best rotation, reflection and scale; distances before any plane is drawn."""

    points: Labelled  # (member, token, direction): in the drawn plane
    mean: Labelled  # (token, direction)
    spread: Labelled  # (token, statistic): half axes of the ellipse of one standard deviation, and its angle in degrees
    distance: Labelled  # (member, other_member): 0 the same shape, 1 nothing in common; in clustered order
    median: float  # distance of two members that are numbers; NaN where there are not two
    random: Labelled  # (statistic,): of the same distance between random embeddings of this size
    matched: dict[str, Labelled]  # heads, neurons: (member, other_member): 1 - agreement of the best pairing, or NaN
    by_chance: dict[str, Labelled]  # heads, neurons: (statistic,): the same if each seed saw other inputs
    groups: dict[str, tuple[int, ...]]
    plane: Plane
    width: int
    members: int
    diverged: int  # members that are no numbers, and are left out
    inputs: int  # on which heads and neurons were compared
    heads: int  # of each block

    @property
    def alike(self) -> list[str]:
        """The kinds of parts whose median distance is below chance."""
        return [kind for kind, each in self.matched.items() if middle(pairs(each)) < self.by_chance[kind].values[0]]

    @property
    def pairs_compared(self) -> tuple[int, int]:
        """Pairs of seeds whose heads and neurons were compared, and all pairs of seeds that did not diverge."""
        known = next((np.isfinite(each.values) for each in self.matched.values()), np.zeros((0, 0), bool))
        seeds = int(known.trace())
        return int(np.triu(known, 1).sum()), seeds * (seeds - 1) // 2

    @property
    def title(self) -> str:
        """Closer than random, or not; and what of the parts."""
        said = self.title_of()
        if np.isfinite(self.median):
            if self.matched and np.isfinite([self.by_chance[kind].values[0] for kind in self.matched]).all():
                others = [kind for kind in self.matched if kind not in self.alike]
                agree = [f"{listed(self.alike)} agree more than by chance"] if self.alike else []
                agree += [f"{listed(others)} agree no more than by chance"] if others else []
                said += f"; {', '.join(agree)}"
                some, whole = self.pairs_compared
                said += f" ({thousands(some)} of {thousands(whole)} pairs of seeds compared)" if some < whole else ""
            said += f"; {self._lost}" if self.diverged else ""
        return said

    def title_of(self, when: str = "At") -> str:
        """The same of the embeddings alone, at the step or by it."""
        when = f"{when} step {thousands(self.step or 0)}"
        if not np.isfinite(self.median):
            return f"{when} {self._lost}, and there are no two to be aligned"
        word = "closer than chance" if self.median < self.random.values[0] else "no closer than random ones"
        what = "a projection of aligned embeddings: " if self.plane.is_projection else ""
        return (
            f"{when}, {what}the embeddings of two seeds are {word}: median distance {self.median:.2f}, random "
            f"{self.random.values[1]:.2f}"
        )

    @property
    def _lost(self) -> str:
        return lost(f"{self.diverged} of the {self.members} seeds", self.diverged)


def seeds_aligned(run: Run, *, step: Step = -1, fit: int | None = None) -> SeedsAligned:
    """Align at a step, or with the turns found at another (`fit`), as films do so that nothing moves but the model."""
    now = _clock.resolve(run, step)
    found, turns, to = _fitted(run, now if fit is None else _clock.resolve(run, fit))
    if fit is not None and _clock.resolve(run, fit) != now:
        shapes = _shapes(run, now)
        found = np.array([scale * shape @ turn for shape, (turn, scale) in zip(shapes, turns, strict=True)])
    points = to.points(found)
    there = _finite(points)
    mean = points[there].mean(axis=0) if there.any() else np.full(points.shape[1:], np.nan)
    gaps = distances(_shapes(run, now))
    order = clustered(gaps)
    sides = {"member": _members(run, order), "other_member": _members(run, order)}
    distance = Labelled(gaps[np.ix_(order, order)], sides, "distance")
    words = tuple(run.task.vocabulary)
    matched, by_chance = _paired(run, now) if fit is None else ({}, {})
    return SeedsAligned(
        held_out=_judged.held_out(run),
        step=now,
        clock=f"{run.members} seeds · step {thousands(now)} of {thousands(_clock.total(run))}",
        points=Labelled(points, {"member": _members(run), "token": words, "direction": DIRECTIONS}),
        mean=Labelled(mean, {"token": words, "direction": DIRECTIONS}),
        spread=Labelled(_ellipses(points[there]), {"token": words, "statistic": ("long", "short", "angle")}),
        distance=distance,
        median=middle(pairs(distance)),
        random=Labelled(_random(len(words), run.architecture.width), QUANTILES, "distance"),
        matched=matched,
        by_chance=by_chance,
        groups={name: tuple(tokens) for name, tokens in run.task.groups.items()},
        plane=to,
        width=run.architecture.width,
        members=run.members,
        diverged=int((~there).sum()),
        inputs=len(_match.inputs(run)),
        heads=run.architecture.heads,
    )


def _members(run: Run, order: list[int] | None = None) -> Axis:
    """The members, in this order, named by their seeds."""
    places = numbers(run.members) if order is None else tuple(order)
    return Axis(places, tuple(str(run.seeds[k]) for k in places))


def _paired(run: Run, step: int) -> tuple[dict[str, Labelled], dict[str, Labelled]]:
    """How unlike the heads and the neurons of two seeds are, paired as fits best; and by chance."""
    kinds = {"heads": (_match.looks, _match.unlike_heads)} if run.architecture.attention != "off" else {}
    if run.architecture.feed_forward:
        kinds["neurons"] = (_match.fires, _match.unlike_neurons)
    sides = {"member": _members(run), "other_member": _members(run)}
    matched, by_chance, many = {}, {}, len(_match.inputs(run))
    every = {kind: [parts(run, step, k) for k in range(run.members)] for kind, (parts, _) in kinds.items()}
    there = [k for k in range(run.members) if all(np.isfinite(each[k]).all() for each in every.values())]
    two = balanced_pairs(there, int(WORK / max(sum(_match.cost(each[0]) for each in every.values()), 1)))
    for kind, (_, unlike) in kinds.items():
        each = every[kind]
        found = np.full((run.members, run.members), np.nan)
        found[there, there] = 0
        for i, j in two:
            found[i, j] = found[j, i] = unlike(each[i], each[j])
        other = [unlike(each[i], _match.elsewhere(each[j], 1 + i, many)) for i, j in two]
        matched[kind] = Labelled(found, sides, "distance")
        chance = np.quantile(other, [0.05, 0.5, 0.95]) if len(other) else np.full(3, np.nan)
        by_chance[kind] = Labelled(chance, QUANTILES, "distance")
    return matched, by_chance


def balanced_pairs(members: list[int], most: int) -> list[tuple[int, int]]:
    """All pairs of members, or about `most` of them, in which every member takes part equally often, at least twice."""
    every = list(combinations(members, 2))
    most = max(most, len(members))
    if len(every) <= most:
        return every
    ring, gaps = [*members, *members], range(1, most // len(members) + 1)
    return [(one, ring[place + gap]) for gap in gaps for place, one in enumerate(members)]


@lru_cache(maxsize=8)
def _fitted(run: Run, step: int) -> tuple[Array, list[tuple[Array, float]], Plane]:
    found, turns = align(_shapes(run, step))
    there = _finite(found)
    return found, turns, plane(found[there] if there.any() else np.zeros((1, found.shape[-1])))


def _finite(shapes: Array) -> Array:
    """(member,): which of the members consist of numbers."""
    return np.array([bool(np.isfinite(shape).all()) for shape in shapes], dtype=bool)


def _shapes(run: Run, step: int) -> Array:
    """(member, token, feature): centred; a shift common to all tokens can move into the positions unseen."""
    token = run.weights(step)["token"].astype(np.float64)
    return token - token.mean(axis=1, keepdims=True)


def procrustes(moving: Array, fixed: Array) -> tuple[Array, float]:
    """The orthogonal matrix and the scale that bring `moving` (point, feature) closest to `fixed`."""
    left, sizes, right = np.linalg.svd(moving.T @ fixed)
    power = float((moving**2).sum())
    return left @ right, float(sizes.sum()) / power if power > 0 else 1.0


def align(shapes: Array) -> tuple[Array, list[tuple[Array, float]]]:
    """All shapes (member, point, feature) turned and scaled onto their common mean of unit size; the turns too.

    Shapes that are no numbers are left as they are, and do not enter the mean.
    """
    there = _finite(shapes)
    if not there.all():
        found, turns = shapes.copy(), [(np.eye(shapes.shape[-1]), 1.0)] * len(shapes)
        if there.any():
            found[there], some = align(shapes[there])
            for k, turn in zip(np.flatnonzero(there), some, strict=True):
                turns[k] = turn
        return found, turns
    sizes = np.sqrt((shapes**2).sum(axis=(1, 2), keepdims=True))
    unit = shapes / np.maximum(sizes, 1e-300)
    gap = distances(shapes)
    mean = unit[int(gap.sum(axis=1).argmin())]  # begin with the member that is closest to all others
    for _ in range(ROUNDS):
        turned = np.array([shape @ procrustes(shape, mean)[0] for shape in unit])
        new = turned.mean(axis=0)
        new = new / max(float(np.sqrt((new**2).sum())), 1e-300)
        if np.abs(new - mean).max() < 1e-12:
            break
        mean = new
    turns = [procrustes(shape, mean) for shape in shapes]
    found = np.array([scale * shape @ turn for shape, (turn, scale) in zip(shapes, turns, strict=True)])
    return found, turns


def distances(shapes: Array) -> Array:
    """(member, member): √(1 − c²), c the correlation of two shapes after the best turn; the same both ways."""
    many = len(shapes)
    found = np.zeros((many, many))
    sizes = np.sqrt((shapes**2).sum(axis=(1, 2)))
    for i in range(many):
        for j in range(i + 1, many):
            cross = shapes[i].T @ shapes[j]
            if not np.isfinite(cross).all():
                found[i, j] = found[j, i] = np.nan
                continue
            alike = np.linalg.svd(cross, compute_uv=False).sum() / max(float(sizes[i] * sizes[j]), 1e-300)
            found[i, j] = found[j, i] = np.sqrt(max(0.0, 1 - alike**2))
    return found


def clustered(distance: Array) -> list[int]:
    """An order that puts close members side by side: again and again the two closest clusters are joined."""
    groups = [[k] for k in range(len(distance))]
    gap = np.nan_to_num(distance, nan=2.0)
    while len(groups) > 1:
        pairs = [
            (float(gap[np.ix_(a, b)].mean()), i, j) for i, a in enumerate(groups) for j, b in enumerate(groups) if i < j
        ]
        _, i, j = min(pairs)
        groups[i] = groups[i] + groups[j]
        del groups[j]
    return groups[0]


@lru_cache(maxsize=8)
def _random(points: int, width: int) -> Array:
    """5 %, 50 % and 95 % quantiles of the distance between normal random shapes of this size."""
    rng = np.random.default_rng(0)
    shapes = rng.standard_normal((RANDOM, 2, points, width))
    shapes -= shapes.mean(axis=2, keepdims=True)
    return np.quantile([distances(pair)[0, 1] for pair in shapes], [0.05, 0.5, 0.95])


def _ellipses(points: Array) -> Array:
    """(token, [long, short, angle]): one standard deviation over members."""
    found = np.full((points.shape[1], 3), np.nan)
    for token in range(points.shape[1] if len(points) > 1 else 0):
        values, vectors = np.linalg.eigh(np.cov(points[:, token].T))
        long, short = np.sqrt(np.maximum(values[::-1], 0))
        found[token] = [long, short, np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))]
    return found


def pairs(table: Labelled) -> Array:
    """(pair,): of a table (member, other_member), what is said of every two different members, each pair once."""
    return table.values[np.triu_indices(len(table.values), 1)]


def middle(values: Array) -> float:
    """The median of those that are numbers; NaN where none is."""
    some = values[np.isfinite(values)]
    return float(np.median(some)) if len(some) else float("nan")


def reel(run: Run, *, frames: Frames = 200, pace: Pace = "even", steps: Shown = None) -> Reel:
    """Token embeddings of all seeds, each turned, mirrored and scaled as fits best at the last step."""
    last = seeds_aligned(run)

    def at(step: int) -> SeedsAligned:
        return replace(seeds_aligned(run, step=step, fit=last.step), clock=_told(run, step))

    some = [at(step).points.values for step in _clock.kept(run, GLANCE)]
    still = {"last": last, "extent": extent({"token": some})}
    return Reel(last.title_of("By"), frames_of(run, frames, pace, steps), at, strip(run, None), still)


def _told(run: Run, step: int) -> str:
    """The clock of all seeds: the median of their losses, on which the mark of the strip stands."""
    losses = run.metrics.get("validation_loss")
    text = f"{run.members} seeds · step {thousands(step)} of {thousands(_clock.total(run))}"
    if losses is None or not len(losses):
        return text
    value, exact = _clock.between(run.metrics["step"], np.nanmedian(losses, axis=1), step)
    return f"{text} · median loss {'' if exact else '≈ '}{value:.2f}"
