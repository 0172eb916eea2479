"""Which tokens are alike: the cosine of every two token vectors, their lengths, and the groups over the whole life."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, percent, thousands
from glassformer.analyses.embeddings import families, few, members, vectors
from glassformer.run import Run

MOST_STEPS = 80
KINDS = ("one group", "two groups")
HARDLY = 0.1  # a cosine so near 0 that two vectors have next to nothing in common
FEW = 4  # numbers under which their order says nothing


@dataclass(frozen=True, kw_only=True)
class Similarity(Result):
    """Cosines between token embeddings, sorted by group, and how they came about."""

    cosine: Labelled  # (token, other)
    length: Labelled  # (token,)
    over_life: Labelled  # (step, pair): mean cosine of two tokens of one group, of two groups
    by_group: Labelled  # (step, group): mean cosine of two tokens of this group; NaN where it has only one
    between: Labelled  # (group, other_group): mean cosine at the step, each token with itself left out
    axis: Labelled  # (number,): the numbers' embeddings along their main axis; none where fewer than four are numbers
    agreement: float  # rank correlation of that place with the number itself, 0 to 1; NaN without numbers
    neighbours: float  # share of numbers whose most similar other number is one more or one less
    neighbours_by_chance: float
    groups: dict[str, tuple[str, ...]]
    left_out: int


def similarity(run: Run, *, step: int = -1, member: int = 0) -> Similarity:
    """Cosines and lengths at a kept step, and the means within and between groups at up to 80 kept steps."""
    step, ids = _clock.resolve(run, step), few(run)
    group = families(run, ids)
    groups = members(run, ids)
    words = [word for tokens in groups.values() for word in tokens]
    order = [ids[[run.task.vocabulary[k] for k in ids].index(word)] for word in words]
    kin = np.array([group[word] for word in words])
    points = vectors(run, step, member)[0][order]
    steps = sorted({*_clock.looks(run, MOST_STEPS, member), step})
    tables = [cosines(vectors(run, at, member)[0][order]) for at in steps]
    life = np.array([_means(table, kin) for table in tables])
    own = [[_mean_of(table, kin, name, name) for name in groups] for table in tables]
    between = [[_mean_of(cosines(points), kin, name, other) for other in groups] for name in groups]
    numbers = [k for k, word in enumerate(words) if word.isdecimal()]
    along, agreement, near, chance = _in_order(points[numbers], np.array([int(words[k]) for k in numbers]))
    return Similarity(
        step=step,
        clock=_clock.text(run, step, member),
        cosine=Labelled(cosines(points), {"token": tuple(words), "other": tuple(words)}, "cosine"),
        length=Labelled(np.linalg.norm(points, axis=1), {"token": tuple(words)}),
        over_life=Labelled(life, {"step": tuple(map(str, steps)), "pair": KINDS}, "cosine"),
        by_group=Labelled(np.array(own), {"step": tuple(map(str, steps)), "group": tuple(groups)}, "cosine"),
        between=Labelled(np.array(between), {"group": tuple(groups), "other_group": tuple(groups)}, "cosine"),
        axis=Labelled(along, {"number": tuple(words[k] for k in numbers[: len(along)])}),
        agreement=agreement,
        neighbours=near,
        neighbours_by_chance=chance,
        groups=groups,
        left_out=len(run.task.vocabulary) - len(ids),
    )


def cosines(points: Array) -> Array:
    """(token, token): 1 for the same direction, -1 for opposite ones, 0 where a vector has no length."""
    size = np.linalg.norm(points, axis=1)
    found: Array = points @ points.T / np.where((outer := np.outer(size, size)) > 0, outer, 1)
    return found


def _mean_of(cosine: Array, kin: Array, name: str, other: str) -> float:
    """The mean cosine of a token of one group with one of another, none with itself."""
    pairs = (kin[:, None] == name) & (kin[None] == other) & ~np.eye(len(kin), dtype=bool)
    return float(cosine[pairs].mean()) if pairs.any() else float("nan")


def _in_order(points: Array, value: Array) -> tuple[Array, float, float, float]:
    """Places along the main axis of the numbers, its rank agreement with the numbers, and who is next to whom."""
    if len(value) < FEW or not np.isfinite(points).all():
        return np.zeros(0), float("nan"), float("nan"), float("nan")
    centred = (points - points.mean(0)).astype(np.float64)
    along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    ranks = [np.argsort(np.argsort(each, kind="stable"), kind="stable") for each in (along, value)]
    agreement = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    along = along if agreement >= 0 else -along  # the sign of an axis means nothing
    alike = cosines(points)
    np.fill_diagonal(alike, -2)
    near = np.abs(value[alike.argmax(1)] - value) == 1
    apart = np.abs(value[:, None] - value[None]) == 1
    return along, abs(agreement), float(near.mean()), float(apart.sum() / (len(value) * (len(value) - 1)))


def _means(cosine: Array, kin: Array) -> tuple[float, float]:
    upper, same = np.triu(np.ones(cosine.shape, bool), 1), kin[:, None] == kin[None]
    one, two = cosine[upper & same], cosine[upper & ~same]
    return (float(one.mean()) if len(one) else np.nan), (float(two.mean()) if len(two) else np.nan)


def say(seen: Similarity) -> Words:
    """Whether tokens of one group point the same way."""
    steps = [int(step) for step in seen.over_life.axes["step"]]
    assert seen.step is not None
    now, first = seen.over_life.values[steps.index(seen.step)], seen.over_life.values[0]
    caption = (
        "Left: cosine of the angle between every two token vectors, red for the same direction (1), blue for opposite "
        "ones (−1), white for a right angle; tokens are sorted by group "
        f"({', '.join(f'{name}: {len(words)}' for name, words in seen.groups.items())}), frames hold the groups. Bars: "
        "the length of each vector. Bottom right: mean cosine of two tokens of one group and of two groups at "
        f"{len(steps)} kept steps, each token with itself left out. All numbers are exact. A random embedding has both "
        "means near 0; if groups did not matter, the two lines would run together."
    )
    if np.isfinite(seen.agreement):
        caption += (
            f" The numbers lie along their main axis in an order whose rank correlation with their value is "
            f"{seen.agreement:.2f} (1: sorted; ten numbers in random order exceed 0.63 one time in twenty); for "
            f"{percent(seen.neighbours)} of them the most similar other number is one more or one less (by chance "
            f"{percent(seen.neighbours_by_chance)})."
        )
    if seen.left_out:
        caption += f" {seen.left_out} rarer tokens are left out."
    if not np.isfinite(seen.cosine.values).all():
        title = f"At step {seen.step} the embeddings are not numbers: the training has diverged"
    elif (told := _extremes(seen, steps.index(seen.step))) and np.isfinite(now).all() and told[0][1] > now[1]:
        (most, alike), (least, unlike) = told
        name = most or "other"
        how = "hardly" if abs(unlike) < HARDLY else "less" if unlike > 0 else "not at all"
        title = (
            f"{name[0].upper()}{name[1:]} tokens are most alike (mean cosine {_sign(alike)}), {least or 'other'} ones "
            f"{how} ({_sign(unlike)}), tokens of two groups {_sign(now[1])}"
        )
    elif np.isfinite(now).all():
        one = [name for name, words in seen.groups.items() if len(words) > 1]
        alone = [f"“{shown(words[0])}”" for words in seen.groups.values() if len(words) == 1]
        which = "two tokens of one group" if len(one) != 1 else (
            f"two tokens other than {listed(alone)}" if one[0] in ("", "other") and alone else f"two {one[0]} tokens"
        )  # fmt: skip
        title = f"The mean cosine of {which} is {_sign(now[0])}, of tokens of two groups {_sign(now[1])}"
        if seen.step != steps[0]:
            title += f" (step {thousands(steps[0])}: {_sign(first[0])} and {_sign(first[1])})"
    else:
        k = 0 if np.isfinite(now[0]) else 1
        title = f"The mean cosine of two tokens of {KINDS[k]} is {_sign(now[k])}"
    return Words(
        title, caption, f"Table of cosines between token embeddings, lengths, and means over the life. {title}."
    )


def _extremes(seen: Similarity, at: int) -> tuple[tuple[str, float], tuple[str, float]] | None:
    """The groups whose tokens are most and least alike, where there are two to compare."""
    known = [
        (name, float(x)) for name, x in zip(seen.by_group.axes["group"], seen.by_group.values[at], strict=True)
        if np.isfinite(x)
    ]  # fmt: skip
    if len(known) < 2:
        return None
    return max(known, key=lambda each: each[1]), min(known, key=lambda each: each[1])


def _sign(value: float) -> str:
    text = f"{value:.2f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\u2212")
