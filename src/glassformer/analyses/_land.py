"""What the model says at every point of a plane, from the last attention onwards, and one input on its way over it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from glassformer.analyses import _applies, _clock, _counted, _decide
from glassformer.analyses._pairs import Pairs, at_position, paired, pairs, placed, shown
from glassformer.analyses._plane import DIRECTIONS, Plane
from glassformer.analyses._plane import plane as plane_of
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, listed, numbers, percent, result
from glassformer.analyses._verdicts import judged, read
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks import choose

GRID, FINE = 60, 300  # places along a side of the maps; and of borders, half as many on a slice of a wider model
QUICK = 4096  # width × neurons of a model that can be asked at very many points
MANY, TIMES = 500_000, 4  # probabilities between whose places borders are found less finely; places for one of them
SHARP, EACH = 96, 5  # cells along a side, and places along a side of each cell that a border crosses
FINER = 8  # places of sharp borders for one of the maps, where the model is not asked
DIGITS = 4  # that count, of what borders are drawn from
MOST_TOKENS, MOST_ANSWERS = 40, 5000
WINDOWS, MOST_ENDS = 48, 400  # of the validation part, to know where the points lie; positions of them that are kept
FEW = 5  # tokens that a title names one by one
CLEARLY = 0.5  # probability under which the likeliest token is no decision
MARGIN = 0.07
REACH = 0.3  # of the spread of the points: how far from an input's own point a slice bends to pass through it
SHAPES = (1.0, 1.6)  # width over height of a frame that takes the shape of its points
Frame = tuple[float, float, float, float]  # left, right, bottom, top
Borders = Literal["none", "smooth", "sharp"]


@dataclass(frozen=True)
class Regions:
    """Which token wins where in a frame on the plane; also as finely as its borders are drawn, if they are."""

    frame: Frame
    winner: Labelled  # (vertical, horizontal): id of the most probable token
    best: Labelled  # (vertical, horizontal): its probability
    words: tuple[str, ...]  # that can be answered
    groups: tuple[str, ...]  # of each of them
    asked: bool  # whether the model was asked on the fine grid too; else it lies in straight lines between the other
    fine_winner: Labelled | None = None  # (vertical, horizontal), all three
    fine_best: Labelled | None = None
    fine_lead: Labelled | None = None  # how far its logit is above the next one

    @property
    def undecided(self) -> float:
        """Share of the frame where no token has half of the probability."""
        return float((self.best.values < CLEARLY).mean())


@result
class Land(Result):
    """A plane of the stream, who wins on it, and where one input begins and ends."""

    regions: Regions
    area: Labelled  # (token,): share of what is drawn where it is the most probable
    won: Labelled  # (group,): the same of a token of each group
    undecided: float  # share of what is drawn where no token has half of the probability
    points: dict[str, Labelled]  # begin, end: (position, direction); value: (head, key_position, direction)
    near: dict[str, Labelled]  # as points, without direction: 1 on the plane, less the farther off it
    at_end: Labelled  # (position, token): the model's probabilities on this input
    under: Labelled  # (point, position): id of the token that wins on the map where the input begins and ends
    tokens: tuple[str, ...]  # of the input
    words: tuple[str, ...]  # that can be answered
    groups: tuple[str, ...]  # of each answer
    verdicts: tuple[str, ...]
    right: tuple[tuple[int, ...], ...]  # per position the ids that are right; empty: unconstrained
    plane: Plane
    reach: float  # how far from the input's points a slice has come half of the way back to its plane; 0: no slice
    frame: Frame

    @property
    def is_slice(self) -> bool:
        """Whether the model has more directions than are drawn."""
        return not self.plane.lossless

    @property
    def flat(self) -> str:
        """What is drawn, in a word."""
        return "slice" if self.is_slice else "plane"

    @property
    def judged(self) -> list[int]:
        """The positions with an answer to check."""
        return judged(self.verdicts)

    @property
    def broken(self) -> str:
        """The sentence about probabilities that are not numbers."""
        return "" if np.isfinite(self.at_end.values).all() else fate("the probabilities are not numbers", self.step)

    @property
    def ends(self) -> str:
        """Where the positions with an answer end, as a sentence."""
        places = self.judged
        guess = self.at_end.values.argmax(axis=-1)
        if not places:
            k = max(read(self.verdicts), key=lambda place: float(self.at_end.values[place].max()))
            surest, share = shown(self.words[int(guess[k])]), percent(float(self.at_end.values[k].max()))
            return f"the surest position, {self.name(k)}, ends where {surest} has {share}"
        told = [
            f"{self.name(k)} ends where {shown(self.words[int(guess[k])])} wins"
            for k in (places if len(places) <= 2 else places[-1:])
        ]
        if len(places) == 1:
            return f"{told[0]}, which is {self.verdicts[places[0]]}"
        right = sum(self.verdicts[k] == "right" for k in places)
        return f"{listed(told)}: {right} of {len(places)} answerable positions {'is' if right == 1 else 'are'} right"

    def name(self, position: int) -> str:
        """A position of the input, in words."""
        return f"{shown(self.tokens[position])} at position {position}"

    def label(self, position: int) -> str:
        """The same as drawn."""
        return at_position(self.tokens[position], position)

    def some(self, chosen: Sequence[int]) -> str:
        """These of all tokens, in words: by name where they are few, else how many of each group."""
        many = len(self.words)
        if len(chosen) == many:
            return f"each of the {many} tokens"
        own = {name: [k for k, group in enumerate(self.groups) if group == name] for name in dict.fromkeys(self.groups)}
        found = {name: [k for k in mine if k in chosen] for name, mine in own.items()}
        whole = [name for name, some in found.items() if some and len(some) == len(own[name]) > 1]
        if len(chosen) <= FEW and not whole:
            return f"only {listed([f'“{shown(self.words[k])}”' for k in chosen])}"
        told, last = list[str](), list[str]()
        for name, some in found.items():
            mine = own[name]
            if len(some) == len(mine) == 1:
                told.append(f"“{shown(self.words[some[0]])}”")
            elif some:
                every = "all" if all(found.values()) else "the"
                count = f"{every} {len(mine)}" if name in whole else f"{len(some)} of {len(mine)}"
                (last if name == "other" else told).append(f"{count} {name} tokens")  # "other" than those named before
        return ("" if all(found.values()) else "only ") + listed(told + last)


def few_answers(run: Run) -> str | None:
    """That there is room for who wins where."""
    many = run.architecture.answers
    if many > MOST_ANSWERS:
        return f"{many:,} tokens are too many to draw where each would be said"
    return _applies.choice(run)


# ---- asking the model ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ground:
    """A model that can be asked at any point of a plane through its stream; it never becomes part of a result.

    More than two features: the plane is a slice, and bends to pass `through` some points, so that what is said on it
    there is what the model says of them; `reach` away, it has gone half of the way back.
    """

    run: Run
    model: _decide.Model  # for streams that belong to no position
    plane: Plane
    origin: Array  # (feature,): the stream at the origin of the plane
    at: str = "middle"
    through: Array | None = None  # (point, 2): on the plane
    off: Array | None = None  # (point, feature): and how far beside it
    reach: float = 0.0

    @property
    def quick(self) -> bool:
        """Whether the model is small enough to be asked at very many points."""
        a = self.run.architecture
        return a.width * max(a.feed_forward, a.answers) <= QUICK

    def chances(self, where: Array) -> Array:
        """(..., 2) on the plane → (..., token): probabilities."""
        stream = (self.origin + where @ self.plane.basis.T + self._bend(where)).astype(np.float32)
        return self.model.answer(stream[..., None, :], self.at)[..., 0, :]

    def _bend(self, where: Array) -> Array:
        """(..., feature): how far the slice lies beside the plane; weights of its points fall with distance squared."""
        if self.through is None or self.off is None or not len(self.through):
            return np.zeros(len(self.origin))
        flat = np.reshape(where, (-1, 2))
        near = np.full((len(flat), len(self.through)), 1e-9)
        for axis in (0, 1):
            near += ((flat[:, axis, None] - self.through[:, axis]) / self.reach) ** 2
        weights = 1 / near
        found: Array = (weights / (1 + weights.sum(-1, keepdims=True))) @ self.off
        return found.reshape(*np.shape(where)[:-1], len(self.origin))

    def map(self, frame: Frame, grid: int) -> tuple[dict[str, Any], Array]:
        """The places of a grid of squares, so many along a vertical side, and (token, vertical, horizontal) there."""
        x0, x1, y0, y1 = frame
        x = np.linspace(x0, x1, round(grid * (x1 - x0) / (y1 - y0)))
        y = np.linspace(y0, y1, grid if self.plane.width > 1 else 1)
        return {"vertical": y, "horizontal": x}, np.moveaxis(self.chances(_spots(x, y)), -1, 0)

    def regions(
        self,
        frame: Frame,
        grid: int = GRID,
        borders: Borders = "smooth",
        mapped: tuple[dict[str, Any], Array] | None = None,
    ) -> Regions:
        """Who wins where in a frame; `mapped` is its map, if that is known already."""
        places, chances = mapped or self.map(frame, grid)
        a, group = self.run.architecture, _decide.group_of(self.run.task)
        found = Regions(
            frame,
            Labelled(chances.argmax(0).astype(np.int16), places, "token id"),
            Labelled(np.round(chances.max(0), 6), places, "probability"),
            tuple(self.run.task.vocabulary[: a.answers]),
            tuple(group[k] for k in range(a.answers)),
            self.quick,
        )
        if borders == "none" or self.plane.width < 2 or not np.isfinite(chances).all():
            return found
        fine = self._smooth(frame, chances) if borders == "smooth" else self._sharp(frame, chances)
        won, best, lead = (*fine, None, None)[:3]
        return replace(found, fine_winner=won, fine_best=best, fine_lead=lead)

    def _smooth(self, frame: Frame, chances: Array) -> tuple[Labelled, ...]:
        """Winner, its probability and its lead on a fine grid: differences of logits, so that borders are straight."""
        side = FINE if self.plane.lossless else FINE // 2
        ids, logs = np.arange(len(chances)), chances
        if self.quick:
            x, y = _sides(frame, side, side)
            logs = np.moveaxis(np.log(np.maximum(self.chances(_spots(x, y)), 1e-300)), -1, 0)
        else:
            ids = np.array(most_telling(chances))
            logs = _between(chances[ids], TIMES if chances[ids].size <= MANY else TIMES // 2)
            x, y = _sides(frame, logs.shape[2], logs.shape[1])
        second, first = np.partition(logs, -2, axis=0)[-2:]
        won, low, places = ids[logs.argmax(0)], first < np.log(CLEARLY), {"vertical": y, "horizontal": x}
        return (
            Labelled(won.astype(np.int16), places, "token id"),
            Labelled(_short(np.exp(first), _mixed(low), low), places, "probability"),
            Labelled(_short(first - second, _mixed(won)), places, "nats"),
        )

    def _sharp(self, frame: Frame, chances: Array) -> tuple[Labelled, ...]:
        """The winner on a very fine grid.

        The model is asked in the middle of every cell, and again at every place of the cells whose neighbours say
        something else: borders are as sharp as if it were asked everywhere, for a tenth of the questions.
        """
        if not self.quick:
            ids = np.array(most_telling(chances))
            won = ids[_between(chances[ids], FINER).astype(np.float32).argmax(0)]
            x, y = _sides(frame, won.shape[1], won.shape[0])
            return (Labelled(won.astype(np.int16), {"vertical": y, "horizontal": x}, "token id"),)
        coarse = self.chances(_spots(*_middles(frame, SHARP))).argmax(-1)
        mixed = _mixed(coarse)
        each = np.ones((EACH, EACH), dtype=int)
        won, (x, y) = np.kron(coarse, each), _middles(frame, SHARP * EACH)
        rows, columns = np.nonzero(np.kron(mixed, each))
        won[rows, columns] = self.chances(np.column_stack([x[columns], y[rows]])).argmax(-1)
        return (Labelled(won.astype(np.int16), {"vertical": y, "horizontal": x}, "token id"),)


def _spots(x: Array, y: Array) -> Array:
    return np.stack(np.meshgrid(x, y), -1)  # (vertical, horizontal, 2)


def _sides(frame: Frame, across: int, up: int) -> tuple[Array, Array]:
    return np.linspace(*frame[:2], across), np.linspace(*frame[2:], up)


def _middles(frame: Frame, side: int) -> tuple[Array, Array]:
    """The middles of so many cells along each side."""
    share, (x0, x1, y0, y1) = (np.arange(side) + 0.5) / side, frame
    return x0 + (x1 - x0) * share, y0 + (y1 - y0) * share


def _between(chances: Array, times: int) -> Array:
    """Logarithms of (token, vertical, horizontal) at so many times the places, in straight lines between the old."""
    values: Array = np.log(np.maximum(np.nan_to_num(chances), 1e-300))
    for axis in (1, 2):
        old = values.shape[axis]
        at = np.linspace(0, old - 1, (old - 1) * times + 1)
        low = np.minimum(at.astype(int), max(old - 2, 0))
        share = (at - low).reshape([-1 if k == axis else 1 for k in range(3)])
        values = values.take(low, axis) * (1 - share) + values.take(np.minimum(low + 1, old - 1), axis) * share
    return values


def coarse(chances: Array) -> Array:
    """Probabilities as exactly as a map of 256 colours shows them: it has thousands of places."""
    return np.round(chances, 4)


def _mixed(grid: Array) -> Array:
    """Where on a grid one of the eight neighbours is another."""
    ring, found = np.pad(grid, 1, mode="edge"), np.zeros(grid.shape, dtype=bool)
    for down in range(3):
        for right in range(3):
            found |= ring[down:, right:][: len(grid), : grid.shape[1]] != grid
    return found


def _short(values: Array, border: Array, low: Array | bool = False) -> Array:
    """Rounded: to a few digits that count at a border, which runs between them; to one elsewhere, as there are many.

    There what is `low` is rounded down and the rest up, so that each stays on its side.
    """
    digits = np.where(border, DIGITS, 1)
    scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.clip(values, 1e-12, 1e3))))
    many = values * scale
    return np.where(border, np.round(many), np.where(low, np.floor(many), np.ceil(many))) / scale


def most_telling(chances: Array) -> tuple[int, ...]:
    """The tokens that somewhere get likely, if there are too many to keep all of them."""
    if len(chances) <= MOST_TOKENS:
        return tuple(range(len(chances)))
    peak = np.nan_to_num(chances.reshape(len(chances), -1).max(1))
    return tuple(sorted(np.argsort(-peak, kind="stable")[:MOST_TOKENS].tolist()))


# ---- planes and frames -----------------------------------------------------------------------------------------------


def around(
    points: Iterable[Array], margin: float = MARGIN, shape: float | None = 1.0, shapes: tuple[float, float] = SHAPES
) -> Frame:
    """The smallest frame of this shape (None: of theirs, within `shapes`) around all points, with a margin."""
    flat = np.concatenate([np.reshape(each, (-1, 2)) for each in points])
    flat = flat[np.isfinite(flat).all(-1)]
    low, high = (flat.min(0), flat.max(0)) if len(flat) else (-np.ones(2), np.ones(2))
    wide, tall = (high - low) * (0.5 + margin)
    ratio = float(np.clip(wide / max(tall, 1e-9), *shapes)) if shape is None else shape
    up = max(float(wide) / ratio, float(tall), 1e-3)
    across, (x, y) = ratio * up, (low + high) / 2
    return float(x - across), float(x + across), float(y - up), float(y + up)


def over_life(
    run: Run, plane: Plane, steps: Iterable[int], *, sequence: str | None = None, member: int = 0,
    embedded: bool = False, shape: float | None = None,
) -> Frame:  # fmt: skip
    """One frame around this input before and after the last attention (`embedded`: around all pairs) at all steps."""
    found: list[Array] = []
    for step in steps:
        if embedded:
            found.append(pairs(run, step=step, member=member).at("embedded").reshape(-1, run.architecture.width))
        else:
            seen = run.trace(sequence, step=step, member=member)
            found += [_decide.entering(seen, run.architecture.blocks - 1, run.architecture), seen["middle"][-1]]
    return around([plane.points(np.concatenate(found))], 0.1, shape, (1.0, 1.5))


def ends_of_many(run: Run, step: int, member: int, at: str = "middle") -> Array:
    """(window, position, feature): where validation windows end, at the positions that are read."""
    seen = run.trace(_decide.examples(run, WINDOWS).windows[:, :-1], step=step, member=member)
    values = seen["middle"][:, -1] if at == "middle" else seen["final"]
    return values[:, _counted.read(run)]


def fitted(run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0) -> Plane:
    """The plane that a landscape has by itself at a step; films keep it for all steps."""
    seen = run.trace(sequence, step=step, member=member)
    many = ends_of_many(run, seen.step, member).reshape(-1, run.architecture.width)
    return plane_of(np.concatenate([many, seen["middle"][-1]]))


# ---- one input -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Laid:
    """What the analyses of a landscape are made from: the fields of `Land`, and what some of them add to it."""

    fields: dict[str, Any]
    ground: Ground
    places: dict[str, Any]  # of the map
    chances: Array  # (token, vertical, horizontal)
    every: Pairs
    full: dict[str, Array]  # the points of the fields, with all their features


def laid(
    run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0, at: str = "middle",
    features: tuple[int, int] | None = None, plane: Plane | None = None, frame: Frame | None = None, grid: int = GRID,
    shape: float | None = 1.0, borders: Borders = "smooth", through: tuple[str, ...] = ("begin", "end"),
    also: Mapping[str, Labelled] | None = None,
) -> Laid:  # fmt: skip
    """P(next token) over the plane of `middle` of the last block (`at="final"`: over what the read-out reads).

    Wider than two features, the plane is a slice: that of the two principal components of `middle` over validation
    windows, all other directions at their mean, bent to pass `through` these points; `also` are further points of the
    stream, (..., feature). Films pass one `plane` and one `frame` for all steps; `shape` is the frame's width over its
    height (None: by the points, the same at every size).
    """
    a = run.architecture
    seen = run.trace(sequence, step=step, member=member)
    if seen.tokens.ndim != 1:
        raise CallError("a landscape takes one input at a time")
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    after = _decide.AFTER_ATTENTION if at == "middle" else ("logits", "probabilities")
    model = _decide.model_anywhere(run, seen.step, member, after)
    many = ends_of_many(run, seen.step, member, at)
    cloud, end = many.reshape(-1, a.width), seen["middle"][-1] if at == "middle" else seen["final"]
    flat = plane or plane_of(np.concatenate([cloud, end]), features=features)
    every = pairs(run, step=seen.step, member=member)
    here = placed(tokens)
    full: dict[str, Array] = {"end": end}
    axes: dict[str, dict[str, Any]] = {"end": {"position": here}}
    if at == "middle":
        full["begin"], axes["begin"] = _decide.entering(seen, a.blocks - 1, a), axes["end"]
        full["embedded"] = every.at("embedded").reshape(-1, a.width)
        axes["embedded"] = {"pair": paired(every.tokens, every.context)}
        ends = [(w, p) for w in range(len(many)) for p in np.arange(a.context)[_counted.read(run)].tolist()]
        kept = choose(len(cloud), MOST_ENDS, np.array(ends)[:, 1])
        full["held_out"] = cloud[kept]
        axes["held_out"] = {"window": Axis(tuple(ends[k] for k in kept))}
    for name, each in (also or {}).items():
        full[name], axes[name] = each.values, {axis: at for axis, at in each.axes.items() if axis != "feature"}
    drawn = {name: flat.points(each) for name, each in full.items()}
    if at == "middle" and a.attention != "off":
        full["value"] = _decide.pushes(run, seen, member)[0]
        drawn["value"] = flat.zero + flat.directions(full["value"])
        axes["value"] = {"head": numbers(a.heads), "key_position": here}
    inside = ["end", "begin", *(also or {}), *(["embedded", "value"] if flat.lossless else [])]
    spots = flat.points(cloud)
    box = frame or around([spots, *(drawn[name] for name in inside if name in drawn)], shape=shape)
    spread = max(float(np.sqrt(((spots - spots.mean(0)) ** 2).sum(-1).mean())), 1e-9)
    want = _decide.asked(run, seen.tokens)
    held = [full[k][list(want.places)] if "position" in axes[k] else full[k] for k in through if k in full]
    ground = Ground(run, model, flat, flat.origin, at, *_bent(flat, held, spread))
    places, chances = ground.map(box, grid)
    regions = ground.regions(box, grid, borders, (places, chances))
    area = np.bincount(regions.winner.values.ravel(), minlength=a.answers) / regions.winner.values.size
    names = tuple(run.task.groups)
    ways = tuple(name for name in ("begin", "end") if name in drawn)
    fields = {
        "step": seen.step,
        "clock": _clock.text(run, seen.step, member),
        "regions": regions,
        "area": Labelled(area, {"token": regions.words}, "share"),
        "won": Labelled(
            np.array([area[[group == name for group in regions.groups]].sum() for name in names]), {"group": names},
            "share",
        ),
        "undecided": regions.undecided,
        "points": {name: Labelled(drawn[name], axes[name] | {"direction": DIRECTIONS}) for name in drawn},
        "near": {
            name: Labelled(1 / (1 + (_off(flat, full[name], name == "value") / spread) ** 2), axes[name], "share")
            for name in drawn
        },
        "at_end": Labelled(seen["probabilities"], {"position": here, "token": regions.words}, "probability"),
        "under": Labelled(
            np.stack([ground.chances(drawn[name]).argmax(-1) for name in ways]), {"point": ways, "position": here},
            "token id",
        ),
        "tokens": tokens,
        "words": regions.words,
        "groups": regions.groups,
        "verdicts": want.verdicts(seen["probabilities"].argmax(-1)),
        "right": want.right,
        "plane": flat,
        "reach": ground.reach,
        "frame": box,
    }  # fmt: skip
    return Laid(fields, ground, places, chances, every, full)


def _bent(flat: Plane, points: list[Array], spread: float) -> tuple[Array | None, Array | None, float]:
    """Where a slice is to pass, how far beside its plane, and how far from there it stays bent."""
    if flat.lossless or not points:
        return None, None, 0.0
    every = np.concatenate(points).astype(np.float64)
    every = every[np.isfinite(every).all(-1)]
    beside = every - flat.origin
    return flat.points(every), beside - (beside @ flat.basis) @ flat.basis.T, REACH * spread


def _off(flat: Plane, values: Array, directions: bool) -> Array:
    """How far points lie from the plane."""
    from_origin = values - (0 if directions else flat.origin)
    return np.linalg.norm(from_origin - (from_origin @ flat.basis) @ flat.basis.T, axis=-1)
