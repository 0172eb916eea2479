"""What the model starts from: the vector of every token, of every position, and of every token at every position."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Frames, Member, Option, Pace, Shown, Step
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import DIRECTIONS, Plane, plane
from glassformer.analyses._reel import Reel, extent, frames_of, glance, strip
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, numbers, percent, result
from glassformer.architecture import sinusoids
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.05", "4.06", "3.§3.1", "1.P3", "4.D1")
COST = "b"
EDITS = "weights"

PARTS = ("groups", "within groups", "position")
MAINLY = 0.8  # share of a part's variance that one feature must hold to be spoken of
MOST_TOKENS = 40  # drawn; beyond, the most frequent ones and those of the input
GLANCE = 60  # steps of a film looked at for the limits: enough that nothing leaves the panel on its way
Layout = Literal["both", "scatter"]


@dataclass(frozen=True)
class Telling:
    """A feature that holds most of the variance of a part, what it does by that, and the share it holds."""

    feature: int
    what: str
    share: float


@result
class Embeddings(Result):
    """The tables and their planes. Where positions are not added to the stream, `position` and its plane are absent."""

    tables: dict[str, Labelled]  # token: (token, feature); position: (position, feature)
    summed: Labelled  # (feature, token, position)
    drawn: dict[str, Labelled]  # in the planes: token (token, direction), position, sum (token, position, direction)
    planes: dict[str, Plane]
    groups: dict[str, tuple[str, ...]]  # the drawn tokens of each group
    task_groups: tuple[str, ...]  # all groups of the task, in its order
    within: float  # mean distance of two tokens of one group
    between: float  # mean distance of two tokens of different groups
    position_share: float  # of the variance of the sum over all pairs; exact, for a sum the two parts add up
    spread: Labelled  # (part, feature): variance of the sum over all pairs; the parts add up to it
    telling: tuple[Telling, ...]  # the single features that mainly tell groups, tokens of a group or positions apart
    left_out: int  # tokens of the vocabulary that are not drawn
    width: int
    layout: Layout  # with the tables, or the planes alone

    @property
    def kinds(self) -> tuple[str, ...]:
        """What there is to draw: tokens, and where positions are added, those and the sums."""
        return ("token", "position", "sum") if "position" in self.tables else ("token",)

    @property
    def features(self) -> list[int]:
        """The features in the order of their spread over all pairs, the widest first; up to two keep their order."""
        if self.width <= 2:
            return list(range(self.width))
        spread = np.nan_to_num(self.summed.values.reshape(self.width, -1).var(axis=1))
        return [int(k) for k in np.argsort(-spread, kind="stable")]

    @property
    def title(self) -> str:
        """What single features tell apart; where none does, how far the groups lie apart, and the share of position."""
        if not np.isfinite(self.tables["token"].values).all():
            return fate("the embeddings are not numbers", self.step)
        said = features_that_tell(self) or self.spacing
        return said[0].upper() + said[1:] + projection({kind: self.planes[kind] for kind in self.kinds})

    @property
    def spacing(self) -> str:
        """How far the groups lie apart, and how much of the sum is position."""
        share = f"position accounts for {percent(self.position_share)} of the spread of token + position"
        return "; ".join(filter(None, (_apart(self), share if "position" in self.tables else "no position is added")))


def embeddings(
    run: Run,
    *,
    layout: Annotated[Layout, Option("the tables above their planes, or the planes alone, larger")] = "both",
    step: Step = -1,
    member: Member = 0,
) -> Embeddings:
    """The embeddings at a kept step, exactly, with a plane for tokens, positions and sums."""
    if layout not in get_args(Layout):
        raise CallError(f"layout = {layout!r} is neither 'both' nor 'scatter'")
    return of_tokens(run, few(run), layout, _clock.resolve(run, step), member)


def of_tokens(run: Run, ids: Sequence[int], layout: Layout, step: int, member: int) -> Embeddings:
    """The embeddings of these tokens."""
    token, position = vectors(run, step, member)
    token = token[ids]
    words = tuple(run.task.vocabulary[k] for k in ids)
    features = numbers(token.shape[1])
    places = numbers(run.architecture.context)
    table = np.zeros((len(places), token.shape[1])) if position is None else position
    both = token[:, None] + table  # (token, position, feature)
    planes = {"token": plane(token), "sum": plane(both)} | ({} if position is None else {"position": plane(position)})
    tables = {"token": Labelled(token, {"token": words, "feature": features})}
    if position is not None:
        tables["position"] = Labelled(position, {"position": places, "feature": features})
    kin = [families(run, ids)[word] for word in words]
    within, between = distances(token, kin)
    total = float(both.reshape(-1, both.shape[-1]).var(axis=0).sum())
    spread = np.stack([*_between_and_within(token, kin), table.var(axis=0)])
    return Embeddings(
        **_clock.at_step(run, step, member),
        tables=tables,
        summed=Labelled(np.moveaxis(both, -1, 0), {"feature": features, "token": words, "position": places}),
        drawn=_drawn(run, ids, token, position, planes),
        planes=planes,
        groups=members(run, ids),
        task_groups=tuple(run.task.groups),
        within=within,
        between=between,
        position_share=float(table.var(axis=0).sum()) / total if total > 0 else 0.0,
        spread=Labelled(spread, {"part": PARTS, "feature": features}, "variance"),
        telling=_telling(token, kin, spread, list(members(run, ids))),
        left_out=len(run.task.vocabulary) - len(ids),
        width=token.shape[1],
        layout=layout,
    )


def _drawn(
    run: Run, ids: Sequence[int], token: Array, position: Array | None, planes: Mapping[str, Plane]
) -> dict[str, Labelled]:
    """Where these tokens (token, feature), the positions and their sums lie in the planes."""
    words, places = [run.task.vocabulary[k] for k in ids], numbers(run.architecture.context)
    fan = np.linspace(0, 1, len(places))
    at = planes["token"].points(token, np.linspace(0, 1, len(ids)))
    drawn = {"token": Labelled(at, {"token": words, "direction": DIRECTIONS})}
    if position is not None:
        at = planes["position"].points(position, fan)
        drawn["position"] = Labelled(at, {"position": places, "direction": DIRECTIONS})
    both = token[:, None] + (np.zeros((len(places), 1)) if position is None else position)
    at = planes["sum"].points(both, np.broadcast_to(fan, both.shape[:2]))
    return drawn | {"sum": Labelled(at, {"token": words, "position": places, "direction": DIRECTIONS})}


def vectors(run: Run, step: int, member: int) -> tuple[Array, Array | None]:
    """(token, feature) and (position, feature); None where positions are not added to the stream."""
    weights, a = run.weights(step, member), run.architecture
    token = weights["token"].astype(np.float64)
    if a.positions == "learned":
        return token, weights["position"].astype(np.float64)
    return token, sinusoids(a.context, a.width) if a.positions == "sinusoidal" else None


def few(run: Run, also: Sequence[int] = (), most: int = MOST_TOKENS) -> list[int]:
    """The tokens to draw: all, or the most frequent of the training text and those of the input, in their order."""
    many = len(run.task.vocabulary)
    if many <= most:
        return list(range(many))
    counts = np.bincount(run.task.data(run.architecture.context).train.tokens, minlength=many)
    return sorted({*np.argsort(-counts, kind="stable")[:most].tolist(), *map(int, also)})


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


def _telling(token: Array, kin: Sequence[str], spread: Array, groups: Sequence[str]) -> tuple[Telling, ...]:
    """Which single features tell groups, tokens of a group and positions apart."""
    total = spread.sum(axis=1)  # (part,)
    found = []
    for part, whole, row in zip(PARTS, total, spread, strict=True):
        if len(row) < 2 or not whole > 1e-9 * total.sum():
            continue
        feature, share = int(row.argmax()), float(row.max() / whole)
        if share >= MAINLY:
            found.append(Telling(feature, _told_by(part, token[:, feature], np.array(kin), groups), share))
    return tuple(found)


def _told_by(part: str, values: Array, kin: Array, groups: Sequence[str]) -> str:
    """What a feature with these values (token,) does that holds most of a part's variance."""
    names = [name or "other" for name in groups]
    if part == "position":
        return "carries the position"
    if part == "groups":
        return f"tells {listed(names) if len(names) <= 4 else 'the groups'} apart"
    own = {name: values[kin == group] for name, group in zip(names, groups, strict=True)}
    inner = {name: float(((each - each.mean()) ** 2).sum()) for name, each in own.items()}
    most = max(inner, key=lambda name: inner[name])
    whose = f"{most} tokens" if inner[most] >= MAINLY * sum(inner.values()) else "tokens of one group"
    return f"tells {whose} apart"


def features_that_tell(seen: Embeddings) -> str:
    """The telling features in words; empty where there are none."""
    found: dict[int, list[str]] = {}
    for each in seen.telling:
        found.setdefault(each.feature, []).append(f"{each.what} ({percent(each.share)})")
    return "; ".join(f"feature {feature} {' and '.join(said)}" for feature, said in found.items())


def projection(planes: dict[str, Plane]) -> str:
    """What the title must add where a plane loses more than it should."""
    lost = [each.kept for each in planes.values() if each.is_projection]
    if len(lost) > 1:
        return f" (projections, ≥ {percent(min(lost))} kept)"
    return f" (projection, {percent(lost[0])} kept)" if lost else ""


def _apart(seen: Embeddings) -> str:
    """How far tokens of one group and of two lie apart; where all but one token are alike, how far that one lies."""
    odd_ones = [words[0] for words in seen.groups.values() if len(words) == 1]
    if len(seen.groups) == 2 and len(odd_ones) == 1 and np.isfinite([seen.within, seen.between]).all():
        return (
            f"“{shown(odd_ones[0])}” lies {seen.between:.2f} from the other tokens, which lie {seen.within:.2f} apart"
        )
    names = f" ({', '.join(name or 'other' for name in seen.groups)})" if 1 < len(seen.groups) <= 4 else ""
    near = f"tokens of the same group{names} lie {seen.within:.2f} apart" if np.isfinite(seen.within) else ""
    between = f"{seen.between:.2f}"
    far = f"of different groups {between}" if near else f"tokens of different groups lie {between} apart"
    return ", ".join(part for part in (near, far if np.isfinite(seen.between) else "") if part)


@result
class Moved(Result):
    """Places in the planes of a film."""

    drawn: dict[str, Labelled]  # as in Embeddings


def reel(run: Run, *, member: Member = 0, frames: Frames = 200, pace: Pace = "even", steps: Shown = None) -> Reel:
    """Token, position and summed embeddings moving through training, in the planes of the last step."""
    from glassformer.analyses.path.embedding_paths import embedding_paths  # which stands on this file

    last, ids = embeddings(run, member=member), few(run)
    every = frames_of(run, frames, pace, steps, member)

    def at(step: int) -> Moved:
        token, position = vectors(run, step, member)
        drawn = _drawn(run, ids, token[ids], position, last.planes)
        return Moved(step=step, clock=_clock.text(run, step, member), drawn=drawn)

    some = [at(step) for step in glance(every, GLANCE)]
    points = {kind: [each.drawn[kind].values for each in some] for kind in last.drawn}
    title = embedding_paths(run, member=member).title
    return Reel(title, every, at, strip(run, member), {"last": last, "extent": extent(points)})
