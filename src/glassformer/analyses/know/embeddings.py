"""What the model starts from: the vector of every token, of every position, and of every token at every position."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, numbers, percent, result
from glassformer.architecture import sinusoids
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.05", "4.06", "3.§3.1", "1.P3")
COST = "b"

PARTS = ("groups", "within groups", "position")
MAINLY = 0.8  # share of a part's variance that one feature must hold to be spoken of
MOST_TOKENS = 40  # drawn; beyond, the most frequent ones and those of the input


@result
class Embeddings(Result):
    """The tables and their planes. Where positions are not added to the stream, `position` and its plane are absent."""

    tables: dict[str, Labelled]  # token: (token, feature); position: (position, feature)
    summed: Labelled  # (feature, token, position)
    drawn: dict[
        str, Labelled
    ]  # coordinates: token (token, axis), position (position, axis), sum (token, position, axis)
    planes: dict[str, Plane]
    groups: dict[str, tuple[str, ...]]  # the drawn tokens of each group
    within: float  # mean distance of two tokens of one group
    between: float  # mean distance of two tokens of different groups
    position_share: float  # of the variance of the sum over all pairs; exact, for a sum the two parts add up
    spread: Labelled  # (part, feature): variance of the sum over all pairs; the parts add up to it
    left_out: int  # tokens of the vocabulary that are not drawn
    width: int

    @property
    def features(self) -> list[int]:
        """The features in the order of their spread over all pairs, the widest first; up to two keep their order."""
        if self.width <= 2:
            return list(range(self.width))
        spread = np.nan_to_num(self.summed.values.reshape(self.width, -1).var(axis=1))
        return [int(k) for k in np.argsort(-spread, kind="stable")]


def embeddings(run: Run, *, step: int = -1, member: int = 0, planes: dict[str, Plane] | None = None) -> Embeddings:
    """The embeddings at a kept step, exactly, with a plane for tokens, positions and sums; films give `planes`."""
    step, ids = _clock.resolve(run, step), few(run)
    token, position = vectors(run, step, member)
    token = token[ids]
    words = tuple(run.task.vocabulary[k] for k in ids)
    features = numbers(token.shape[1])
    places = numbers(run.architecture.context)
    table = np.zeros((len(places), token.shape[1])) if position is None else position
    both = token[:, None] + table  # (token, position, feature)
    if planes is None:
        planes = {"token": plane(token), "sum": plane(both)}
        planes |= {} if position is None else {"position": plane(position)}
    tables = {"token": Labelled(token, {"token": words, "feature": features})}
    axes = ("across", "up")
    drawn = {"token": Labelled(planes["token"].points(token, _fan(len(ids))), {"token": words, "axis": axes})}
    if position is not None:
        tables["position"] = Labelled(position, {"position": places, "feature": features})
        at = planes["position"].points(position, _fan(len(places)))
        drawn["position"] = Labelled(at, {"position": places, "axis": axes})
    at = planes["sum"].points(both, np.broadcast_to(_fan(len(places)), both.shape[:2]))
    drawn["sum"] = Labelled(at, {"token": words, "position": places, "axis": axes})
    group = families(run, ids)
    within, between = distances(token, [group.get(word, "") for word in words])
    total = float(both.reshape(-1, both.shape[-1]).var(axis=0).sum())
    return Embeddings(
        step=step,
        clock=_clock.text(run, step, member),
        tables=tables,
        summed=Labelled(np.moveaxis(both, -1, 0), {"feature": features, "token": words, "position": places}),
        drawn=drawn,
        planes=planes,
        groups=members(run, ids),
        within=within,
        between=between,
        position_share=float(table.var(axis=0).sum()) / total if total > 0 else 0.0,
        spread=Labelled(
            np.stack([*_between_and_within(token, [group.get(word, "") for word in words]), table.var(axis=0)]),
            {"part": PARTS, "feature": features},
            "variance",
        ),
        left_out=len(run.task.vocabulary) - len(ids),
        width=token.shape[1],
    )


def vectors(run: Run, step: int, member: int) -> tuple[Array, Array | None]:
    """(token, feature) and (position, feature); None where positions are not added to the stream."""
    weights, a = run.weights(step, member), run.architecture
    token = weights["token"].astype(np.float64)
    if a.positions == "learned":
        return token, weights["position"].astype(np.float64)
    return token, sinusoids(a.context, a.width) if a.positions == "sinusoidal" else None


def few(run: Run, also: Sequence[int] = ()) -> list[int]:
    """The tokens to draw: all, or the most frequent of the training text and those of the input, in their order."""
    many = len(run.task.vocabulary)
    if many <= MOST_TOKENS:
        return list(range(many))
    counts = np.bincount(run.task.data(run.architecture.context).train.tokens, minlength=many)
    return sorted({*np.argsort(-counts, kind="stable")[:MOST_TOKENS].tolist(), *map(int, also)})


def families(run: Run, ids: Sequence[int]) -> dict[str, str]:
    """Token → its group, for these tokens."""
    of = {int(token): group for group, tokens in run.task.groups.items() for token in tokens}
    return {run.task.vocabulary[k]: of.get(k, "") for k in ids}


def members(run: Run, ids: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Group → its tokens among these, in the task's order; groups without any are left out."""
    group = families(run, ids)
    order = dict.fromkeys([*run.task.groups, *group.values()])
    return {name: own for name in order if (own := tuple(token for token, its in group.items() if its == name))}


def distances(points: Array, group: Sequence[str]) -> tuple[float, float]:
    """Mean distance of two tokens of one group, and of two groups; NaN where there are no such two."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    same = np.array(group)[:, None] == np.array(group)[None]
    upper = np.triu(np.ones_like(same), 1).astype(bool)
    one, two = apart[same & upper], apart[~same & upper]
    return (float(one.mean()) if len(one) else np.nan), (float(two.mean()) if len(two) else np.nan)


def _between_and_within(points: Array, group: Sequence[str]) -> tuple[Array, Array]:
    """(feature,) twice: the variance of points (token, feature) that lies between the groups, and within them."""
    centre = np.stack([points[[each == name for each in group]].mean(axis=0) for name in group])
    return centre.var(axis=0), ((points - centre) ** 2).mean(axis=0)


def features_that_tell(seen: Embeddings) -> str:
    """Which single feature tells groups, tokens of a group and positions apart; empty where none does so mainly."""
    total = seen.spread.values.sum(axis=1)  # (part,)
    found: dict[int, list[str]] = {}
    for part, whole, row in zip(PARTS, total, seen.spread.values, strict=True):
        if seen.width < 2 or not whole > 1e-9 * total.sum():
            continue
        feature, share = int(row.argmax()), float(row.max() / whole)
        if share >= MAINLY and (what := _told_by(seen, part, feature)):
            found.setdefault(feature, []).append(f"{what} ({percent(share)})")
    return "; ".join(f"feature {feature} {' and '.join(said)}" for feature, said in found.items())


def _told_by(seen: Embeddings, part: str, feature: int) -> str:
    """What a feature does that holds most of a part's variance."""
    names = [name or "other" for name in seen.groups]
    if part == "position":
        return "carries the position"
    if part == "groups":
        return f"tells {listed(names) if len(names) <= 4 else 'the groups'} apart"
    rows = list(seen.tables["token"].axes["token"].labels)
    table = seen.tables["token"].values[:, feature]
    own = {name: table[[rows.index(word) for word in words]] for name, words in seen.groups.items()}
    inner = {name or "other": float(((values - values.mean()) ** 2).sum()) for name, values in own.items()}
    most = max(inner, key=lambda name: inner[name])
    whose = f"{most} tokens" if inner[most] >= MAINLY * sum(inner.values()) else "tokens of one group"
    return f"tells {whose} apart"


def projection(planes: dict[str, Plane]) -> str:
    """What the title must add where a plane loses more than it should."""
    lost = [each.kept for each in planes.values() if each.is_projection]
    if len(lost) > 1:
        return f" (projections, ≥ {percent(min(lost))} kept)"
    return f" (projection, {percent(lost[0])} kept)" if lost else ""


def _fan(many: int) -> Array:
    return np.linspace(0, 1, many)


def say(seen: Embeddings) -> Words:
    """How far apart the groups lie, and how much of the sum is position."""
    flat = "the two features themselves" if seen.width == 2 else "the one feature, fanned out" if seen.width == 1 else (
        "the two largest principal components of the points drawn, with their shares of the variance on the axes"
    )  # fmt: skip
    caption = (
        "Heat maps: one row per token or position, one column per feature, red above zero and blue below (one scale "
        "for all); the sum adds the vector of the position to that of the token, so its maps hold every token at every "
        f"position. Planes: {flat}; the cross is the point with all features 0. Marker shapes are the token groups "
        f"({', '.join(f'{name}: {_some(words)}' for name, words in seen.groups.items())}). Where they are not too "
        "many, thin lines join one token's positions in order. Distances are exact and counted in all features. If "
        "groups meant nothing to the model, tokens of one group would lie as far apart as tokens of two."
    )
    if seen.left_out:
        caption += f" {seen.left_out} rarer tokens are left out."
    if not np.isfinite(seen.tables["token"].values).all():
        title = f"At step {seen.step} the embeddings are not numbers: the training has diverged"
    else:
        apart = _apart(seen)
        share = f"position accounts for {percent(seen.position_share)} of the spread of token + position"
        share = share if "position" in seen.tables else "no position is added"
        title = f"{apart}; {share}" if apart else share
        if told := features_that_tell(seen):
            caption += (
                f" {title[0].upper()}{title[1:]}. The percentages of the title are shares of the variance of each kind."
            )
            title = told
        title = title[0].upper() + title[1:] + projection(seen.planes)
    return Words(title, caption, f"Heat maps and planes of token, position and summed embeddings. {title}.")


def _apart(seen: Embeddings) -> str:
    """How far tokens of one group and of two lie apart; where all but one token are alike, how far that one lies."""
    odd_ones = [words[0] for words in seen.groups.values() if len(words) == 1]
    if len(seen.groups) == 2 and len(odd_ones) == 1 and np.isfinite([seen.within, seen.between]).all():
        return (
            f"“{shown(odd_ones[0])}” lies {seen.between:.2f} from the other tokens, which lie {seen.within:.2f} apart"
        )
    names = f" ({', '.join(name or 'other' for name in seen.groups)})" if 1 < len(seen.groups) <= 4 else ""
    near = f"tokens of the same group{names} lie {seen.within:.2f} apart" if np.isfinite(seen.within) else ""
    far = (
        f"of different groups {seen.between:.2f}"
        if near
        else f"tokens of different groups lie {seen.between:.2f} apart"
    )
    return ", ".join(part for part in (near, far if np.isfinite(seen.between) else "") if part)


def _some(words: Sequence[str]) -> str:
    return " ".join(words) if len(words) <= 12 else f"{' '.join(words[:10])} … {words[-1]}"
