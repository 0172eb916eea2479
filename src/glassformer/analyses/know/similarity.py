"""Which tokens are alike: the cosine of every two token vectors, their lengths, and the groups over the whole life."""

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, result
from glassformer.analyses._scale import Scale, spaced
from glassformer.analyses.know.embeddings import families, few, members, vectors
from glassformer.run import Run

ORDER = 20
ANSWERS = ("1.P3", "1.Q36", "1.Q45")
COST = "a"
EDITS = "weights"

MOST_STEPS = 80
WINDOWS = 64  # looked at for the groups whose tokens occur
FEW = 4  # numbers under which their order says nothing


@result
class Similarity(Result):
    """Cosines between token embeddings, sorted by group, and how they came about."""

    cosine: Labelled  # (token, other_token)
    length: Labelled  # (token,)
    by_group: Labelled  # (step, group): mean cosine of two tokens of this group; NaN where it has only one
    apart: Labelled  # (step,): mean cosine of a token of one main group with one of the other; NaN: there is only one
    between: Labelled  # (group, other_group): mean cosine at the step, each token with itself left out
    along: Labelled  # (value,): the numbers' embeddings along their main axis; none where fewer than four are numbers
    agreement: float  # rank correlation of that place with the number itself, 0 to 1; NaN without numbers
    neighbours: float  # share of numbers whose most similar other number is one more or one less
    neighbours_by_chance: float
    groups: dict[str, tuple[str, ...]]
    used: tuple[str, ...]  # the groups whose tokens occur
    main: tuple[str, ...]  # the two largest of those, which are spoken of
    left_out: int
    scale: Scale

    @property
    def title(self) -> str:
        """Whether tokens of one group point the same way, and where those of the other do."""
        if not np.isfinite(self.cosine.values).all():
            return fate("the embeddings are not numbers", self.step)
        (first, value), *more = self.told() or [("", np.nan)]
        if not first:
            return "There are no two tokens to compare"
        said = f"The mean cosine of {first} is {signed(value)}"
        return ", ".join([said, *(f"of {what} {signed(each)}" for what, each in more)])

    def told(self, step: int | None = None) -> list[tuple[str, float]]:
        """Which two tokens of the main groups, and their mean cosine at a step (None: that of the result)."""
        at = self.by_group.axes["step"].values.index(self.step if step is None else step)
        names = self.by_group.axes["group"].labels
        inside = [(_two(self, name), float(self.by_group.values[at, names.index(name)])) for name in self.main]
        alone = any(len(self.groups[name]) == 1 for name in self.main)
        both = " with ".join(_one(self, name) for name in self.main) if alone else "one of each"
        return [each for each in [*inside, (both, float(self.apart.values[at]))] if np.isfinite(each[1])]


def similarity(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> Similarity:
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
    used = _used(run, groups)
    main = tuple(sorted(sorted(used, key=lambda name: -len(groups[name]))[:2], key=list(groups).index))
    apart = [_mean_of(table, kin, *main) if len(main) == 2 else float("nan") for table in tables]
    own = [[_mean_of(table, kin, name, name) for name in groups] for table in tables]
    between = [[_mean_of(cosines(points), kin, name, other) for other in groups] for name in groups]
    numbers = [k for k, word in enumerate(words) if word.isdecimal()]
    value = np.array([int(words[k]) for k in numbers], dtype=int)
    along, agreement, near, chance = _in_order(points[numbers], value)
    return Similarity(
        **_clock.at_step(run, step, member),
        cosine=Labelled(cosines(points), {"token": words, "other_token": words}, "cosine"),
        length=Labelled(np.linalg.norm(points, axis=1), {"token": words}),
        by_group=Labelled(np.array(own), {"step": steps, "group": groups}, "cosine"),
        apart=Labelled(np.array(apart), {"step": steps}, "cosine"),
        between=Labelled(np.array(between), {"group": groups, "other_group": groups}, "cosine"),
        along=Labelled(along, {"argument": value[: len(along)]}),
        agreement=agreement,
        neighbours=near,
        neighbours_by_chance=chance,
        groups=groups,
        used=used,
        main=main,
        left_out=len(run.task.vocabulary) - len(ids),
        scale=spaced(run, axis, member),
    )


def _used(run: Run, groups: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The groups of which a token occurs in validation windows; of what never occurs, hardly anything is learnt."""
    there = np.unique(run.task.examples(run.architecture.context, "validation", WINDOWS).windows)
    words = {run.task.vocabulary[token] for token in there}
    return tuple(name for name, own in groups.items() if words & set(own)) or tuple(groups)


def cosines(points: Array) -> Array:
    """(token, token): 1 for the same direction, -1 for opposite ones, 0 where a vector has no length."""
    size = np.linalg.norm(points, axis=1)
    return points @ points.T / np.where((outer := np.outer(size, size)) > 0, outer, 1)


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


def _two(seen: Similarity, name: str) -> str:
    alone = [f"“{shown(words[0])}”" for words in seen.groups.values() if len(words) == 1]
    if name in ("", "other"):
        return f"two tokens other than {listed(alone)}" if alone else "two other tokens"
    return f"two {name} tokens"


def _one(seen: Similarity, name: str) -> str:
    """Of a group: its only token, or one of them."""
    own = seen.groups[name]
    return f"“{shown(own[0])}”" if len(own) == 1 else f"one {name or 'other'} token"


def signed(value: float) -> str:
    """0.15 or −0.15, with a true minus sign and none before zero."""
    text = f"{value:.2f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\u2212")
