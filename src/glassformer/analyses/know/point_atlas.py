"""Every token at every position at one point inside the model, and how far the context moves it."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._attend import about_head
from glassformer.analyses._options import Block, Member, Option, Step
from glassformer.analyses._pairs import pairs, shown
from glassformer.analyses._plane import DIRECTIONS, Plane, plane
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, percent, result
from glassformer.analyses.know.embeddings import few, members, projection
from glassformer.errors import check_index, check_name, unknown
from glassformer.glossary import WHOLE
from glassformer.run import Run

ORDER = 40
ANSWERS = ("4.05", "4.r token–position space")
COST = "b"
APPLIES = (_applies.parts,)

EXACT = ("embedded", "query", "key", "value")
DEEPER = ("normed_1", "mixed", "attended", "middle", "normed_2", "fed", "out", "final")
POINTS = (*EXACT, *DEEPER)
HEADS = ("query", "key", "value", "mixed")
NAMES = {
    "embedded": "as embedded", "query": "as queries", "key": "as keys", "value": "as values",
    "attended": "in what attention adds", "middle": "after attention", "fed": "in what the feed-forward adds",
    "out": "after the feed-forward",
}  # fmt: skip
WINDOWS = 512
PLACES = 8192  # of long windows fewer are looked at


@result
class PointAtlas(Result):
    """Mean place of every pair at a point; where context counts, its spread over validation windows."""

    mean: Labelled  # (token, position, feature); NaN for pairs that do not occur
    drawn: Labelled  # (token, position, direction)
    count: Labelled  # (token, position): windows behind each mean; 0 everywhere for exact points
    spread: Labelled  # (token, position): root of the mean square distance from the pair's mean; NaN: seen too rarely
    ellipse: Labelled  # (token, position, direction, other_direction): covariance in the plane
    moved: Labelled  # (token,): root mean square distance by which context, or where exact position, moves a token
    plane: Plane
    groups: dict[str, tuple[str, ...]]
    task_groups: tuple[str, ...]  # all groups of the task, in its order
    point: str
    block: int
    head: int
    exact: bool
    windows: int
    settled: float  # share of the spread of all points that token and position settle
    by_token: float  # share that the token alone settles
    width: int
    blocks: int
    heads: int
    left_out: int  # tokens of the vocabulary that are not drawn

    @property
    def where(self) -> str:
        """The point, with its block and head."""
        block = f" of block {self.block}" if self.point not in WHOLE else ""
        return f"`{self.point}`{block}" + (f", head {self.head}" if self.point in HEADS else "")

    @property
    def title(self) -> str:
        """How much of a point's place is settled by token and position, and whom context moves most."""
        if not np.isfinite(self.mean.values if self.exact else self.mean.values[self.count.values > 0]).all():
            return fate(f"{self.where} is not a number", self.step)
        here = NAMES.get(self.point, f"at “{self.point}”")
        here += f" of block {self.block}" if self.point not in WHOLE and self.blocks > 1 else ""
        here += f", head {self.head}" if self.point in HEADS and self.heads > 1 else ""
        here = here[0].upper() + here[1:]
        if self.exact:
            said = (
                f"{here}, the token alone settles {percent(self.by_token)} of all pairs' spread, its position the rest"
            )
        else:
            most = int(np.nanargmax(self.moved.values))
            said = (
                f"{here}, token and position settle {percent(self.settled)} of where a point lies; context moves "
                f"“{shown(self.moved.axes['token'].labels[most])}” most, by {self.moved.values[most]:.2f} on average"
            )
        return said + projection({"": self.plane})


def point_atlas(
    run: Run,
    *,
    point: Annotated[str, Option("the point of the forward pass looked at", choices=POINTS)] = "middle",
    block: Block = 0,
    head: Annotated[int, Option("the head looked at, where a point has heads", least=0)] = 0,
    step: Step = -1,
    member: Member = 0,
) -> PointAtlas:
    """All pairs at `point`: exact for embedded, query, key and value of block 0, else means over validation windows."""
    step, ids = _clock.resolve(run, step), few(run)
    check_name(point, "the points", POINTS)
    check_index("block", block, run.architecture.blocks)
    exact = not run.edits and (point == "embedded" or (point in EXACT and block == 0))  # edits let anything enter
    windows = np.zeros((0, run.architecture.context), dtype=np.int64)
    if exact:
        mean = pairs(run, step=step, member=member).at(point, head)[ids].astype(np.float64)
        flat = plane(mean)
        count, square, shape = np.zeros(mean.shape[:2]), np.zeros(mean.shape[:2]), np.zeros((*mean.shape[:2], 2, 2))
        settled, by_token = _shares(mean, np.ones(mean.shape[:2]), 0.0)
    else:
        context, many = run.architecture.context, len(ids)
        most = int(np.clip(PLACES // context, 8, WINDOWS))
        windows = run.task.examples(context, "validation", most).windows[:, :context].astype(np.int64)
        values = _values(run, windows, point, block, head, step, member)  # (window, position, feature)
        place = np.full(len(run.task.vocabulary), many)  # tokens that are not drawn share one row, which is dropped
        place[ids] = np.arange(many)
        rows = place[windows]
        mean, count, square = (each[:many] for each in _means(values, rows, many + 1))
        _, by_token = _shares(mean, count, float(np.nansum(square * count)))
        if _judged.held_out(run):  # a sample: once is not enough to tell how far context moves a pair
            square = np.where(count > 1, square * count / np.maximum(count - 1, 1), np.nan)
        flat = plane(mean)
        shape = _covariances(flat.points(values), rows, many + 1)[:many]
        settled = _settled(values[rows < many], count, square)
    words = tuple(run.task.vocabulary[k] for k in ids)
    pair = {"token": words, "position": numbers(run.architecture.context)}
    fan = np.broadcast_to(np.linspace(0, 1, run.architecture.context), mean.shape[:2])
    return PointAtlas(
        **about_head(run, head, step, member),
        mean=Labelled(mean, pair | {"feature": numbers(mean.shape[-1])}),
        drawn=Labelled(flat.points(mean, fan), pair | {"direction": DIRECTIONS}),
        count=Labelled(count, pair, "windows"),
        spread=Labelled(np.sqrt(square), pair),
        ellipse=Labelled(shape, pair | {"direction": DIRECTIONS, "other_direction": DIRECTIONS}),
        moved=Labelled(_moved(mean, count, square, exact), {"token": words}),
        plane=flat,
        groups=members(run, ids),
        task_groups=tuple(run.task.groups),
        point=point,
        block=block,
        exact=exact,
        windows=len(windows),
        settled=settled,
        by_token=by_token,
        width=mean.shape[-1],
        left_out=len(run.task.vocabulary) - len(ids),
    )


def _values(run: Run, windows: Array, point: str, block: int, head: int, step: int, member: int) -> Array:
    seen = run.trace(windows, step=step, member=member)
    if point not in seen:
        raise unknown(point, "the points of this model", [name for name in POINTS if name in seen])
    values = seen[point] if point in WHOLE else seen[point][:, block]
    if point in HEADS:
        check_index("head", head, values.shape[1])
        values = values[:, head]
    return values.astype(np.float64)


def _means(values: Array, windows: Array, many: int) -> tuple[Array, Array, Array]:
    """Mean (token, position, feature), count, and mean square distance from the mean, per pair; NaN where none."""
    length, width = values.shape[1:]
    at = (windows * length + np.arange(length)).ravel()
    flat = values.reshape(-1, width)
    count = np.bincount(at, minlength=many * length).astype(np.float64)
    there = np.where(count > 0, count, np.nan)
    mean = np.stack([np.bincount(at, flat[:, k], many * length) for k in range(width)], axis=1) / there[:, None]
    square = np.bincount(at, ((flat - mean[at]) ** 2).sum(axis=1), many * length) / there
    return mean.reshape(many, length, width), count.reshape(many, length), square.reshape(many, length)


def _covariances(points: Array, windows: Array, many: int) -> Array:
    """(token, position, 2, 2)."""
    mean, count, _ = _means(points, windows, many)
    length = points.shape[1]
    off = points - mean[windows, np.arange(length)]
    at = (windows * length + np.arange(length)).ravel()
    there = np.where(count > 0, count, np.nan).ravel()
    entries = [
        np.bincount(at, (off[..., a] * off[..., b]).ravel(), many * length) / there for a in (0, 1) for b in (0, 1)
    ]
    return np.stack(entries, axis=-1).reshape(many, length, 2, 2)


def _moved(mean: Array, count: Array, square: Array, exact: bool) -> Array:
    """(token,): how far a token's points lie from its mean at each position; where exact, from that over positions."""
    if exact:
        return np.sqrt(((mean - mean.mean(axis=1, keepdims=True)) ** 2).sum(axis=-1).mean(axis=1))
    total = np.where(np.isfinite(square), count, 0).sum(axis=1)
    found: Array = np.sqrt((np.nan_to_num(square, nan=0.0) * count).sum(axis=1) / np.where(total > 0, total, np.nan))
    return np.where(np.isfinite(square).any(axis=1), found, np.nan)


def _settled(points: Array, count: Array, square: Array) -> float:
    """The share of the spread of all points (place, feature) that is left when that within pairs is taken away.

    `square` (token, position): how far context moves a pair, NaN where that is not known.
    """
    weight, whole = np.where(np.isfinite(square), count, 0.0), float(points.var(axis=0).sum())
    inside = float((np.nan_to_num(square) * weight).sum()) / max(float(weight.sum()), 1.0)
    return float(np.clip(1 - inside / whole, 0.0, 1.0)) if whole > 0 else 1.0


def _shares(mean: Array, weight: Array, within: float) -> tuple[float, float]:
    """Share of the variance that pairs settle, and that tokens alone settle, weighted by how often they occur."""
    some = (weight > 0) & np.isfinite(mean).all(axis=-1)
    w = np.where(some, weight, 0.0)
    safe = np.where(some[..., None], mean, 0.0)
    centre = (safe * w[..., None]).sum(axis=(0, 1)) / max(w.sum(), 1e-300)
    of_pairs = float((w * ((safe - centre) ** 2).sum(axis=-1)).sum())
    sums = w.sum(axis=1)
    tokens = (safe * w[..., None]).sum(axis=1) / np.where(sums > 0, sums, 1)[:, None]
    of_tokens = float((sums * ((tokens - centre) ** 2).sum(axis=-1)).sum())
    total = of_pairs + within
    return (of_pairs / total, of_tokens / total) if total > 0 else (1.0, 1.0)
