"""Inside one update: how the batch's gradient, momentum, scaling and decay make every parameter's change."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from glassformer.analyses import _clock, _named
from glassformer.analyses._life import tensors
from glassformer.analyses._replay import Move, moves
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, percent, shared, thousands, result
from glassformer.experiment import Training
from glassformer.run import Run

ORDER = 70
ANSWERS = ("1.P2", "1.P8")
COST = "d"


@result
class Update(Result):
    """One update of all parameters, split into parts that sum to it, and its gradient into the batch's examples."""

    change: Labelled  # (part, parameter): the parts, then `rounding`; their sum over parts is the true change
    true: Labelled  # (parameter,): weights after minus weights before
    waterfall: Labelled  # (part,): the column of one weight
    pulls: Labelled  # (example,): what each example's gradient times the rate does to that weight
    share: Labelled  # (example,): share of the whole gradient, along the gradient; sums to 1
    by_tensor: Labelled  # (tensor, part): root of the mean square of each part, then `change` and `weights`
    sequences: tuple[str, ...]  # the batch, written out
    weight: str  # the one drawn, `token[11,0]`
    called: str  # the same in words
    weight_before: float
    from_now: float  # share of that weight's change that this batch's gradient caused; the rest was carried over
    optimiser: str
    rate: float
    difference: float  # largest difference, over all parameters, between the sum of the parts and the true change
    replayed: float  # largest difference between replayed and kept weights after the update; NaN: not kept
    gradient_size: float  # length of the whole gradient
    agreement: float  # length of the gradient over the sum of its examples' lengths: 1 if all pull the same way


@shared
def one_update(run: Run, *, step: int = -1, weight: str | None = None, member: int = 0) -> Update:
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
    examples = numbers(len(move.windows))
    return Update(
        step=age,
        clock=_clock.text(run, age, member),
        change=Labelled(table, axes),
        true=Labelled(true, {"parameter": names}),
        waterfall=Labelled(table[:, place], {"part": axes["part"]}),
        pulls=Labelled(-move.rate * move.gradients[:, place], {"example": examples}),
        share=Labelled(move.gradients @ whole / square if square else np.zeros(len(examples)), {"example": examples}),
        by_tensor=_by_tensor(run, parts, true, move.before),
        sequences=tuple(_written(run, window) for window in move.windows),
        weight=names[place],
        called=_named.named(run, names[place]),
        weight_before=float(move.before[place]),
        from_now=_from_now(move, run, place),
        optimiser=run.experiment.train.optimiser,
        rate=move.rate,
        difference=float(np.max(np.abs(rounding))),
        replayed=_apart(move.after, kept),
        gradient_size=float(np.sqrt(square)),
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
        mean, root = _moments(move, train)
        parts["momentum"] = -move.rate * (mean - gradient)
        parts["scaling"] = -move.rate * (mean / root - mean)
    if train.optimiser == "adamw" and train.decay > 0:
        parts["decay"] = -move.rate * train.decay * _decays(run) * move.before
    return parts


def _moments(move: Move, train: Training) -> tuple[Array, Array]:
    """Adam's mean of gradients, and the root it divides by."""
    return move.first / move.early[0], np.sqrt(move.second / move.early[1]) + train.epsilon


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


# ---- one embedding, over some steps (the film) ----------------------------------------------------------------------


@result
class Pull(Result):
    """One update of one token's embedding: each example's pull, and the step that the optimiser made of them."""

    pulls: Labelled  # (example, feature): minus the gradient of each example's share of the loss
    before: Labelled  # (feature,)
    change: Labelled  # (feature,)
    sequences: tuple[str, ...]
    rate: float


@shared
def pulls(run: Run, token: int, begin: int, end: int, member: int = 0) -> tuple[Pull, ...]:
    """The updates that lead to steps `begin` … `end`, as one token's embedding feels them."""
    width = run.architecture.width
    mine = slice(token * width, (token + 1) * width)  # the embedding comes first
    feature = {"feature": numbers(width)}
    return tuple(
        Pull(
            step=move.step,
            pulls=Labelled(-move.gradients[:, mine], {"example": numbers(len(move.windows)), **feature}),
            before=Labelled(move.before[mine], feature),
            change=Labelled((move.after - move.before)[mine], feature),
            sequences=tuple(_written(run, window) for window in move.windows),
            rate=move.rate,
        )
        for move in moves(run, begin, end, member)
    )


def restless(run: Run, begin: int, end: int, member: int = 0) -> int:
    """The token whose embedding moves furthest between the kept steps nearest to two steps."""
    two = [run.weights(_clock.nearest(run, step), member)["token"].astype(np.float64) for step in (begin, end)]
    return int(np.argmax(np.nan_to_num(np.linalg.norm(two[1] - two[0], axis=1), nan=-1)))


# ---- words -----------------------------------------------------------------------------------------------------------

SAID = {
    "gradient": "rate × gradient", "clipping": "clipping", "momentum": "momentum carried over",
    "scaling": "÷ √ second moment", "decay": "weight decay", "rounding": "rounding",
}  # fmt: skip


def say(seen: Update) -> Words:
    """How far the weight moved, and what the optimiser made of the gradient."""
    number, share = seen.waterfall.values, seen.share.values
    many = len(seen.sequences)
    caption = (
        f"The update that leads to step {thousands(max(seen.step or 0, 1))}, replayed with its own batch of {many} and "
        f"what the optimiser ({seen.optimiser}, rate {seen.rate:.3g}) remembered. Top left: one weight's move as a "
        "sum; each bar begins where the one before ended, and the last is the true change. Top right: how far each "
        "example alone would push that weight (rate × its share of the gradient), with the example written out, and at "
        "the right its share of the whole gradient. Below: the typical size (root of the mean square) of every part in "
        "every tensor. (The figure `ten_gradients` does the same by hand.) The parts sum to "
        f"the true change of every parameter to within {seen.difference:.1e}, which is the rounding of 32-bit numbers; "
        + _faithful(seen)
    )  # fmt: skip
    to = f"to step {thousands(max(seen.step or 0, 1))}"
    total, plain = float(number.sum()), float(number[0])
    if not np.isfinite([*number, *share]).all() or np.isinf(seen.replayed):
        title = f"The update {to} is not a number, or leads to none: the training has diverged"
    elif not seen.rate or not plain:
        why = "the rate is 0" if not seen.rate else "the gradient is 0"
        title = f"In the update {to} {why}: {seen.called} moves by {_signed(total)}"
    else:
        now = f"; {percent(seen.from_now)} of that stems from this batch" if 0 <= seen.from_now <= 1 else ""
        title = (
            f"In the update {to}, {seen.called} moves by {_signed(total)}, {_times(abs(total / plain))} what rate × "
            f"gradient alone would do{now}"
        )
    return Words(title, caption, f"A waterfall, bars by example and sizes by tensor. {title}.")


def _times(ratio: float) -> str:
    """3.1 times, 95 times, 78 000 times."""
    return f"{ratio:.2g} times" if ratio < 100 else f"{thousands(round(float(f'{ratio:.2g}')))} times"


def _signed(value: float) -> str:
    return f"{value:+.2g}".replace("-", "\u2212")


def _faithful(seen: Update) -> str:
    if np.isnan(seen.replayed):
        return "the weights of that step were not kept, so the replay cannot be compared with them."
    if seen.replayed == 0:
        return "the replayed weights equal the kept ones bit for bit."
    return (
        f"the replayed weights differ from the kept ones by up to {seen.replayed:.1e}, as they do on another machine "
        "or with other versions."
    )
