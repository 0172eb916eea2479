"""Inside one update: how the batch's gradient, momentum, scaling and decay make every parameter's change."""

from dataclasses import replace
from itertools import product
from typing import Annotated

import numpy as np

from glassformer.analyses import _clock, _named
from glassformer.analyses._life import tensors
from glassformer.analyses._options import Member, Option
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import DIRECTIONS, Plane, plane
from glassformer.analyses._reel import MOST_FRAMES, Reel, strip
from glassformer.analyses._replay import Move, moves
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, percent, result, shared, thousands
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 70
ANSWERS = ("1.P2", "1.P8")
COST = "d"
EDITS = "training"

SAID = {
    "gradient": "rate × gradient", "clipping": "clipping", "momentum": "momentum carried over",
    "scaling": "÷ √ second moment", "decay": "weight decay", "rounding": "rounding",
}  # fmt: skip
UPDATES = 50  # that the film shows
PHASES = ("each example pulls", "each example pulls", "their sum", "the optimiser's step")  # its frames of one update
PULL, SUM = 0.25, 0.5  # of the path's extent: how long the strongest pull of an update is drawn, and their sum, at most


@result
class OneUpdate(Result):
    """One update of all parameters, split into parts that sum to it, and its gradient into the batch's examples."""

    change: Labelled  # (part, parameter): the parts, then `rounding`; their sum over parts is the true change
    true: Labelled  # (parameter,): weights after minus weights before
    waterfall: Labelled  # (part,): the column of one weight
    pulls: Labelled  # (batch,): what each example's gradient times the rate does to that weight
    share: Labelled  # (batch,): share of the whole gradient, along the gradient; sums to 1
    by_tensor: Labelled  # (tensor, part): root of the mean square of each part, then `change` and `weights`
    sequences: tuple[str, ...]  # the batch, written out
    weight: str  # the one drawn, `token[11,0]`
    called: str  # the same in words
    weight_before: float
    moved: float  # how far it moves
    times: float  # that over what rate × gradient alone would do; NaN where that is nothing
    from_now: float  # share of that weight's change that this batch's gradient caused; the rest was carried over
    optimiser: str
    rate: float
    difference: float  # largest difference, over all parameters, between the sum of the parts and the true change
    replayed: float  # largest difference between replayed and kept weights after the update; NaN: not kept
    agreement: float  # length of the gradient over the sum of its examples' lengths: 1 if all pull the same way

    @property
    def title(self) -> str:
        """How far the weight moved, and what the optimiser made of the gradient."""
        to = f"to step {thousands(max(self.step or 0, 1))}"
        if not np.isfinite([*self.waterfall.values, *self.share.values]).all() or np.isinf(self.replayed):
            return fate(f"the update {to} is not a number, or leads to none")
        if np.isnan(self.times):
            why = "the rate is 0" if not self.rate else "the gradient is 0"
            return f"In the update {to} {why}: {self.called} moves by {_signed(self.moved)}"
        now = f"; {percent(self.from_now)} of that stems from this batch" if 0 <= self.from_now <= 1 else ""
        return (
            f"In the update {to}, {self.called} moves by {_signed(self.moved)}, {_times(self.times)} what rate × "
            f"gradient alone would do{now}"
        )


@shared
def one_update(
    run: Run,
    *,
    step: Annotated[int, Option("the step it leads to; -1 is one where the loss falls fastest", least=-1)] = -1,
    weight: Annotated[str | None, Option("the weight drawn, such as token[11,0]; none: the most pulled")] = None,
    member: Member = 0,
) -> OneUpdate:
    """The update that led to `step` (to step 1, if 0 is asked for); `weight` as `token[11,0]`: the one drawn.

    Without a step, it is one in the middle of the steepest fall of the loss, as the last update of a fading rate would
    show nothing; without `weight`, the one with the largest gradient. The training is replayed from its beginning.
    """
    age = steepest(run, member) if step == -1 else _clock.resolve(run, step)
    last = max(age, 1)
    (move,) = moves(run, last, last, member)
    names = parameter_names(run)
    true = move.after - move.before
    whole = move.gradients.sum(axis=0)
    place = _at(run, weight) if weight else int(np.argmax(np.nan_to_num(np.abs(whole), nan=-1)))
    parts = split(move, run)
    summed = sum(parts.values())
    rounding = true - summed
    table = np.stack([*parts.values(), rounding])
    square = float(whole @ whole)
    lengths = np.linalg.norm(move.gradients, axis=1)
    kept = _kept(run, last, member)
    axes = {"part": (*parts, "rounding"), "parameter": names}
    examples = {"batch": numbers(len(move.windows))}
    plain, moved = float(table[0, place]), float(table[:, place].sum())
    return OneUpdate(
        **_clock.at_step(run, age, member),
        change=Labelled(table, axes),
        true=Labelled(true, {"parameter": names}),
        waterfall=Labelled(table[:, place], {"part": axes["part"]}),
        pulls=Labelled(-move.rate * move.gradients[:, place], examples),
        share=Labelled(move.gradients @ whole / square if square else np.zeros(len(move.windows)), examples),
        by_tensor=_by_tensor(run, parts, true, move.before),
        sequences=tuple(_written(run, window) for window in move.windows),
        weight=names[place],
        called=_named.named(run, names[place]),
        weight_before=float(move.before[place]),
        moved=moved,
        times=abs(moved / plain) if plain else float("nan"),
        from_now=_from_now(move, run, place),
        optimiser=run.experiment.train.optimiser,
        rate=move.rate,
        difference=float(np.max(np.abs(rounding))),
        replayed=_apart(move.after, kept),
        agreement=float(np.sqrt(square) / max(lengths.sum(), 1e-300)),
    )


def steepest(run: Run, member: int = 0) -> int:
    """The kept step nearest to the middle of the logged interval in which the held-out loss fell most, per step."""
    losses, steps = _clock.metric(run, "validation_loss", member), run.metrics["step"]
    if losses is None or len(losses) < 2:
        return _clock.resolve(run)
    falls = -np.diff(losses) / np.diff(steps)
    if not (np.isfinite(falls) & (falls > 0)).any():
        return _clock.resolve(run)
    k = int(np.argmax(np.where(np.isfinite(falls), falls, -np.inf)))
    return _clock.nearest(run, int(steps[k] + steps[k + 1]) // 2)


def _apart(after: Array, kept: Array | None) -> float:
    """How far the replay is from what was kept: infinitely, where that is not a number; NaN where nothing was kept."""
    if kept is None:
        return float("nan")
    return float(np.max(np.abs(after - kept))) if np.isfinite(kept).all() else float("inf")


def split(move: Move, run: Run) -> dict[str, Array]:
    """Each parameter's change as a sum, in the order in which the optimiser makes it; parts it lacks are left out.

    gradient: minus the rate times this batch's gradient, all that plain descent would do · clipping: what shortening
    the gradient takes away · momentum: what the running mean of past gradients adds · scaling: what dividing by the
    root of the second moment adds · decay: the pull towards zero.
    """
    train = run.experiment.train
    gradient = move.gradients.sum(axis=0)
    parts = {"gradient": -move.rate * gradient}
    if train.clip is not None:
        size = float(np.linalg.norm(gradient))
        clipped = gradient if size < train.clip else gradient / size * train.clip
        parts["clipping"] = -move.rate * (clipped - gradient)
        gradient = clipped
    if train.optimiser == "momentum":
        parts["momentum"] = -move.rate * (move.first - gradient)
    if train.optimiser in ("adam", "adamw"):
        mean, root = move.first / move.early[0], np.sqrt(move.second / move.early[1]) + train.epsilon
        parts["momentum"] = -move.rate * (mean - gradient)
        parts["scaling"] = -move.rate * (mean / root - mean)
    if train.optimiser == "adamw" and train.decay > 0:
        parts["decay"] = -move.rate * train.decay * _decays(run) * move.before
    return parts


def _decays(run: Run) -> Array:
    """(parameter,): 1 for every number that decays."""
    every = run.experiment.train.decay_on == "all"
    shapes = run.architecture.shapes().values()
    return np.concatenate([np.full(int(np.prod(shape)), float(every or len(shape) > 1)) for shape in shapes])


def _from_now(move: Move, run: Run, place: int) -> float:
    """The share of one weight's move (decay apart) that this batch's gradient caused; NaN where it did not move."""
    train = run.experiment.train
    if train.optimiser not in ("momentum", "adam", "adamw"):
        return 1.0
    keep = train.momentum if train.optimiser == "momentum" else train.beta_1
    total = move.first[place]
    return float(1 - keep * move.first_before[place] / total) if total else float("nan")


def _by_tensor(run: Run, parts: dict[str, Array], true: Array, before: Array) -> Labelled:
    shapes = run.architecture.shapes()
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])[:-1]
    columns = {**parts, "change": true, "weights": before}
    sizes = [[float(np.sqrt(np.mean(v**2))) for v in np.split(column, ends)] for column in columns.values()]
    return Labelled(np.array(sizes).T, {"tensor": tuple(shapes), "part": tuple(columns)})


def parameter_names(run: Run) -> tuple[str, ...]:
    """`token[0,0]`, `token[0,1]`, …: every parameter, in the order of the computation."""
    return tuple(
        f"{name}[{','.join(map(str, place))}]"
        for name, shape in run.architecture.shapes().items()
        for place in product(*map(range, shape))
    )


def _at(run: Run, weight: str) -> int:
    """The place of a weight among all parameters."""
    name, within = _named.place(run, weight)
    return int(tensors(run)[name].start) + within


def _kept(run: Run, step: int, member: int) -> Array | None:
    """The weights of a step as they were kept."""
    if step not in run.steps:
        return None
    return np.concatenate([value.ravel() for value in run.weights(step, member).values()]).astype(np.float64)


def _written(run: Run, window: Array) -> str:
    """A window in words: what goes in → what is asked, for tasks with one answer."""
    if run.task.answers == "one":
        return f"{run.task.decode(window[:-1])} → {run.task.vocabulary[int(window[-1])]}"
    return run.task.decode(window)


def _times(ratio: float) -> str:
    """3.1 times, 95 times, 78 000 times."""
    return f"{ratio:.2g} times" if ratio < 100 else f"{thousands(round(float(f'{ratio:.2g}')))} times"


def _signed(value: float) -> str:
    return f"{value:+.2g}".replace("-", "\u2212")


# ---- one embedding, over some steps (the film) ----------------------------------------------------------------------


@result
class Pull(Result):
    """One update of one token's embedding: each example's pull, and the step that the optimiser made of them."""

    pulls: Labelled  # (batch, feature): minus the gradient of each example's share of the loss
    before: Labelled  # (feature,)
    change: Labelled  # (feature,)
    sequences: tuple[str, ...]
    rate: float
    number: int  # which of the updates, counted from 0
    scale: float = 1.0  # how many times longer than in truth its pulls are drawn, so that they can be seen
    phase: int = 0  # how far the film is in this update: a place in `PHASES`


@result
class Walk(Result):
    """The way of one token's embedding over some updates, and the plane in which it is drawn."""

    way: Labelled  # (step, feature): before the first update and after each
    plane: Plane  # of the way and all pulls
    drawn: Labelled  # (step, direction): the way in that plane
    corners: Labelled  # (statistic, direction): of all that is drawn there
    token: str
    batch: int  # examples of each update
    strongest: float  # length of the strongest pull of one example
    length: float  # of the way, in all features
    distance: float  # from its begin to its end

    @property
    def title(self) -> str:
        """How far it goes, and how far it gets."""
        steps = np.array(self.way.axes["step"].values)
        return (
            f"In updates {thousands(int(steps[1]))} to {thousands(int(steps[-1]))} the embedding of "
            f"“{shown(self.token)}” walks {self.length:.2g} and gets {self.distance:.2g} away"
        )


@shared
def pulls(run: Run, token: int, begin: int, end: int, member: int = 0) -> tuple[Pull, ...]:
    """The updates that lead to steps `begin` … `end`, as one token's embedding feels them."""
    width = run.architecture.width
    mine = slice(token * width, (token + 1) * width)  # the embedding comes first
    feature = {"feature": numbers(width)}
    return tuple(
        Pull(
            step=move.step,
            clock=_clock.at(run, move.step, member),
            pulls=Labelled(-move.gradients[:, mine], {"batch": numbers(len(move.windows)), **feature}),
            before=Labelled(move.before[mine], feature),
            change=Labelled((move.after - move.before)[mine], feature),
            sequences=tuple(_written(run, window) for window in move.windows),
            rate=move.rate,
            number=number,
        )
        for number, move in enumerate(moves(run, begin, end, member))
    )


def reel(
    run: Run,
    *,
    step: Annotated[int, Option("the first update; -1: so that the loss falls fastest amid them", least=-1)] = -1,
    token: Annotated[str | None, Option("whose embedding; none: the one that moves furthest")] = None,
    member: Member = 0,
    frames: Annotated[int, Option("how many frames, four for each update", least=2, most=MOST_FRAMES)] = 200,
) -> Reel:
    """Fifty updates of one token's embedding, four frames each; begins at `step`, or where the loss falls fastest."""
    if not 2 <= frames <= MOST_FRAMES:
        raise CallError(f"frames = {frames} is not between 2 and {MOST_FRAMES:,}")
    last = _clock.resolve(run)
    begin = steepest(run, member) - UPDATES // 2 if step == -1 else _clock.resolve(run, step)
    begin = max(1, min(begin, last - UPDATES + 1))
    end = max(min(begin + UPDATES - 1, last), 1)
    if token is not None and token not in run.task.vocabulary:
        raise CallError(f"token = {token!r} is not one of: {' '.join(run.task.vocabulary)}")
    row = restless(run, begin - 1, end, member) if token is None else run.task.vocabulary.index(token)
    some = pulls(run, row, begin, end, member)[: max(1, frames // len(PHASES))]
    way = np.array([*(each.before.values for each in some), some[-1].before.values + some[-1].change.values])
    extent = float(np.linalg.norm(np.ptp(way, axis=0))) or 1e-6
    some = tuple(replace(each, scale=_scale(each.pulls.values, extent)) for each in some)
    walk = _walk(run.task.vocabulary[row], way, some)

    def at(frame: int) -> Pull:
        number, phase = divmod(frame, len(PHASES))
        return replace(some[number], phase=phase)

    return Reel(walk.title, range(len(PHASES) * len(some)), at, strip(run, member), {"walk": walk})


def _scale(pulled: Array, extent: float) -> float:
    """How many times longer than in truth the pulls (batch, feature) of one update are drawn."""
    whole, strongest = float(np.linalg.norm(pulled.sum(axis=0))), float(_lengths(pulled).max(initial=0))
    return min(PULL * extent / (strongest or 1.0), SUM * extent / (whole or 1.0))


def _lengths(vectors: Array) -> Array:
    return np.linalg.norm(vectors, axis=-1)


def _walk(token: str, way: Array, some: tuple[Pull, ...]) -> Walk:
    """The way (step, feature) and a plane for it and all that pulls."""
    tips = [begin + each.scale * np.vstack([each.pulls.values, each.pulls.values.sum(axis=0)])
            for begin, each in zip(way, some, strict=False)]  # fmt: skip
    every = np.vstack([way, *tips])
    flat = plane(every)
    points = flat.points(every)
    points = points[np.isfinite(points).all(axis=1)]
    corners = np.array([points.min(axis=0), points.max(axis=0)]) if len(points) else np.full((2, 2), np.nan)
    at = {"step": [(some[0].step or 0) - 1, *(each.step for each in some)]}
    return Walk(
        way=Labelled(way, {**at, "feature": numbers(way.shape[1])}),
        plane=flat,
        drawn=Labelled(flat.points(way), {**at, "direction": DIRECTIONS}),
        corners=Labelled(corners, {"statistic": ("low", "high"), "direction": DIRECTIONS}),
        token=token,
        batch=len(some[0].sequences),
        strongest=max(float(_lengths(each.pulls.values).max(initial=0)) for each in some),
        length=float(_lengths(np.diff(way, axis=0)).sum()),
        distance=float(_lengths(way[-1] - way[0])),
    )


def restless(run: Run, begin: int, end: int, member: int = 0) -> int:
    """The token whose embedding moves furthest between the kept steps nearest to two steps."""
    two = [run.weights(_clock.nearest(run, step), member)["token"].astype(np.float64) for step in (begin, end)]
    return int(np.argmax(np.nan_to_num(_lengths(two[1] - two[0]), nan=-1)))
