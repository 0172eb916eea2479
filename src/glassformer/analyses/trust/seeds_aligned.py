"""Do seeds find the same thing? Embeddings turned onto each other, heads and neurons paired by what they do."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from glassformer.analyses import _applies, _clock, _match
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, percent, thousands, result
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 30
ANSWERS = ("1.Q40",)
COST = "b"
APPLIES = (_applies.population,)
NEEDS = "population"


RANDOM = 200  # pairs of random embeddings
ROUNDS = 20  # of turning all members onto their mean
MOST_PAIRS = 66  # of seeds whose heads and neurons are paired: all of twelve seeds
QUANTILES = {"quantile": ("5 %", "50 %", "95 %")}


@result
class Aligned(Result):
    """Embeddings after centring and the best rotation, reflection and scale; distances before any plane is drawn."""

    points: Labelled  # (member, token, axis): in the drawn plane
    mean: Labelled  # (token, axis)
    spread: Labelled  # (token, number): half axes of the ellipse of one standard deviation, and its angle in degrees
    distance: Labelled  # (member, other): 0 the same shape, 1 nothing in common; in clustered order
    random: Labelled  # (quantile,): of the same distance between random embeddings of this size
    matched: dict[str, Labelled]  # heads, neurons: (pair,): 1 - agreement of two seeds after the best pairing
    by_chance: dict[str, Labelled]  # heads, neurons: (quantile,): the same if each seed saw other inputs
    groups: dict[str, tuple[int, ...]]
    plane: Plane
    width: int
    members: int
    diverged: int  # members that are no numbers, and are left out
    inputs: int  # on which heads and neurons were compared
    heads: int  # of each block


def seeds_aligned(run: Run, *, step: int = -1, fit: int | None = None) -> Aligned:
    """Align at a step, or with the turns found at another (`fit`), as films do so that nothing moves but the model."""
    if run.members < 2:
        raise CallError("this run has one member; aligning seeds needs several (`--seeds 8`)")
    now = _clock.resolve(run, step)
    found, turns, to = _fitted(run, now if fit is None else _clock.resolve(run, fit))
    if fit is not None and _clock.resolve(run, fit) != now:
        shapes = _shapes(run, now)
        found = np.array([scale * shape @ turn for shape, (turn, scale) in zip(shapes, turns, strict=True)])
    points = to.points(found)
    there = _finite(points)
    mean = points[there].mean(axis=0) if there.any() else np.full(points.shape[1:], np.nan)
    distance = distances(_shapes(run, now))
    order = clustered(distance)
    words, members = tuple(run.task.vocabulary), tuple(map(str, run.seeds))
    sorted_members = tuple(members[k] for k in order)
    axis = {"axis": ("x", "y")}
    matched, by_chance = _paired(run, now) if fit is None else ({}, {})
    return Aligned(
        step=now,
        clock=f"{run.members} seeds · step {thousands(now)} of {thousands(_clock.total(run))}",
        points=Labelled(points, {"member": members, "token": words} | axis),
        mean=Labelled(mean, {"token": words} | axis),
        spread=Labelled(_ellipses(points[there]), {"token": words, "number": ("long", "short", "angle")}),
        distance=Labelled(
            distance[np.ix_(order, order)], {"member": sorted_members, "other": sorted_members}, "distance"
        ),
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


def _paired(run: Run, step: int) -> tuple[dict[str, Labelled], dict[str, Labelled]]:
    """How unlike the heads and the neurons of every two seeds are, paired as fits best; and by chance."""
    kinds = {"heads": (_match.looks, _match.unlike_heads)} if run.architecture.attention != "off" else {}
    if run.architecture.feed_forward:
        kinds["neurons"] = (_match.fires, _match.unlike_neurons)
    pairs = list(combinations(range(run.members), 2))[:MOST_PAIRS]
    names = tuple(f"{run.seeds[i]} and {run.seeds[j]}" for i, j in pairs)
    matched, by_chance, many = {}, {}, len(_match.inputs(run))
    for kind, (parts, unlike) in kinds.items():
        each = [parts(run, step, member) for member in range(run.members)]
        there = [bool(np.isfinite(part).all()) for part in each]
        found = np.array([unlike(each[i], each[j]) if there[i] and there[j] else np.nan for i, j in pairs])
        other = [unlike(each[i], _match.elsewhere(each[j], 1 + i, many)) for i, j in pairs if there[i] and there[j]]
        matched[kind] = Labelled(found, {"pair": names}, "distance")
        chance = np.quantile(other, [0.05, 0.5, 0.95]) if len(other) else np.full(3, np.nan)
        by_chance[kind] = Labelled(chance, QUANTILES, "distance")
    return matched, by_chance


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
    found: Array = token - token.mean(axis=1, keepdims=True)
    return found


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
    found: Array = np.quantile([distances(pair)[0, 1] for pair in shapes], [0.05, 0.5, 0.95])
    return found


def _ellipses(points: Array) -> Array:
    """(token, [long, short, angle]): one standard deviation over members."""
    found = np.full((points.shape[1], 3), np.nan)
    for token in range(points.shape[1] if len(points) > 1 else 0):
        values, vectors = np.linalg.eigh(np.cov(points[:, token].T))
        long, short = np.sqrt(np.maximum(values[::-1], 0))
        found[token] = [long, short, np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))]
    return found


def median(seen: Aligned) -> float:
    """The median distance between two different members that are numbers; NaN where there are not two."""
    return _middle(seen.distance.values[np.triu_indices(seen.members, 1)])


def _middle(values: Array) -> float:
    some = values[np.isfinite(values)]
    return float(np.median(some)) if len(some) else float("nan")


def _parts_told(seen: Aligned) -> str:
    """How heads and neurons were paired, and what that found."""
    told = []
    if "heads" in seen.matched:
        one = (
            "the one head of each block" if seen.heads == 1 else f"the {seen.heads} heads of each block, in any order,"
        )
        told.append(f"{one} by the share of attention on the same places")
    if "neurons" in seen.matched:
        told.append("neurons, in any order, by the correlation of their activations")
    if not told:
        return ""
    found = [
        f"{kind}: median {_middle(each.values):.2f}, by chance {seen.by_chance[kind].values[1]:.2f}"
        for kind, each in seen.matched.items()
        if np.isfinite(seen.by_chance[kind].values).all()
    ]
    pairing = "there is only one head to a block, so heads need no pairing; " if seen.heads == 1 else ""
    return (
        f"Two seeds’ parts are compared on {seen.inputs} held-out inputs: {listed(told)}, paired so that they agree "
        f"best ({pairing}1 minus the mean agreement is drawn); grey is what the same pairing finds when the two seeds "
        f"are shown different inputs. {'; '.join(found)}{'. ' if found else ''}"
    )


def say(seen: Aligned) -> Words:
    """Closer than random, or not."""
    shown = percent(seen.plane.kept)
    caption = (
        f"Left: token embeddings of all {seen.members} seeds, centred, then rotated, mirrored and scaled onto "
        "their common mean; small marks are single seeds (shape by token group), labels stand at the mean, ellipses "
        "show one standard deviation. "
        + ("" if seen.plane.lossless else f"All {seen.width} features are aligned, {shown} of the variance is drawn. ")
        + "Right: distance of every seed from every other after the best turn, 0 the same shape, 1 nothing in "
        "common, similar seeds side by side. Below: all those distances (the diamond is their median) against those "
        f"of random embeddings of the same size (grey: the middle 90 % of {RANDOM} pairs, dashed: their median), "
        "which alignment also makes look alike. "
        + _parts_told(seen)
        + "If the seeds’ distances were not below the grey, agreement would be an effect of the alignment."
    )
    middle, (low, half, _) = median(seen), seen.random.values
    step = thousands(seen.step or 0)
    lost = f"{seen.diverged} of the {seen.members} seeds {'has' if seen.diverged == 1 else 'have'} diverged"
    if not np.isfinite(middle):
        title = f"At step {step} {lost}, and there are no two to be aligned"
    else:
        word = "closer than chance" if middle < low else "no closer than random ones"
        what = "a projection of aligned embeddings: " if seen.plane.is_projection else ""
        title = f"At step {step}, {what}the embeddings of two seeds are {word}"
        title += f": median distance {middle:.2f}, random {half:.2f}"
        better = [k for k, each in seen.matched.items() if _middle(each.values) < seen.by_chance[k].values[0]]
        if seen.matched and np.isfinite([seen.by_chance[k].values[0] for k in seen.matched]).all():
            title += f"; {listed(better)} agree too" if better else "; heads and neurons agree no more than by chance"
        title += f"; {lost}" if seen.diverged else ""
    return Words(
        title, caption, f"Aligned embeddings of {seen.members} seeds, distances, and a random baseline. {title}."
    )
