"""How much the weights change between two looks, part by part, and whether they keep going the same way."""

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._life import flat, parts, spread, steps_per_pass
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import Array, Labelled, Result, fate, power, result, shared, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.run import Run

ORDER = 40
ANSWERS = ("1.P7", "1.Q11")
COST = "b"
EDITS = "weights"
APPLIES = (_applies.moved,)

MOST_STEPS = 150
UNEVEN = 4.0  # times an interval that the longest may be
PEAK = 1.5  # times both ends, from which the change on the way is worth a sentence


@result
class WeightChange(Result):
    """Changes between neighbouring looks; an interval is named by the step at its end."""

    change: Labelled  # (part, step): mean absolute change of a parameter, scaled to `per` steps; `all` first
    relative: Labelled  # (part, step): the same over the mean absolute weight at the interval's end
    cosine: Labelled  # (part, step): direction of each change against the one before; NaN at the first
    cosine_smooth: Labelled  # (part, step): running medians of the same
    begin: int  # of the first interval
    looked_at: tuple[int, ...]  # the ends of the intervals
    per: float  # steps to which changes are scaled: an epoch, or a power of ten near the typical interval
    per_pass: float
    scale: Scale
    blocks: int
    tied: bool  # whether the read-out is the embedding turned round, and has but the last norm of its own

    @property
    def title(self) -> str:
        """From where to where the mean change goes."""
        values, unit = self.change.values, unit_of(self)
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values).all(axis=0))[0])
            return fate(f"the change up to step {thousands(self.looked_at[bad])} is not a number")
        if not values[0].any():
            return "No parameter changes between the kept steps"
        if len(self.looked_at) == 1:
            whole = values[0, 0] * self.looked_at[0] / self.per
            return f"By step {thousands(self.looked_at[0])} a parameter has changed by {whole:.2g} on average"
        first, last, peak = values[0, 0], values[0, -1], int(np.argmax(values[0]))
        if values[0, peak] > PEAK * max(first, last):
            return (
                f"The mean change per {unit} rises from {_plain(first)} to {_plain(values[0, peak])} at step "
                f"{thousands(self.looked_at[peak])}, then falls to {_plain(last)}"
            )
        verb = "falls" if last < first else "grows"
        return f"The mean change per {unit} {verb} from {_plain(first)} to {_plain(last)}{_fold(first, last)}"


@shared
def weight_change(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> WeightChange:
    """Mean absolute change from look to look: passes where training has them, otherwise even intervals."""
    at = _even(spread(run, MOST_STEPS, member, whole=True))
    life, places = flat(run, at, member), {"all": slice(None), **parts(run)}
    moves, between = np.diff(life, axis=0), np.diff(at)
    per_pass = steps_per_pass(run)
    per = per_pass or 10.0 ** int(np.log10(np.median(between)))
    sizes, relative, cosines = [], [], []
    for place in places.values():
        size = np.abs(moves[:, place]).mean(axis=1) * per / between
        weight = np.abs(life[1:, place]).mean(axis=1)
        sizes.append(size)
        relative.append(np.divide(size, weight, out=np.full_like(size, np.nan), where=weight > 0))
        cosines.append(_cosine(moves[:, place]))
    axes = {"part": tuple(places), "step": at[1:]}
    return WeightChange(
        **_clock.over_life(run, step, member),
        change=Labelled(np.array(sizes), axes),
        relative=Labelled(np.array(relative), axes, "share of the mean weight"),
        cosine=Labelled(np.array(cosines), axes),
        cosine_smooth=Labelled(
            np.array([np.concatenate([values[:1], _clock.smooth(values[1:], 9)]) for values in cosines]), axes
        ),
        begin=at[0],
        looked_at=tuple(at[1:]),
        per=per,
        per_pass=per_pass,
        scale=spaced(run, axis, member),
        blocks=run.architecture.blocks,
        tied=run.architecture.tied_embedding,
    )


def _even(steps: list[int]) -> list[int]:
    """Steps without those that follow too closely: where chance moves weights to and fro, they would stand out."""
    least = max(np.diff(steps), default=0) / UNEVEN
    found = steps[:1]
    for step in steps[1:]:
        if step - found[-1] >= least:
            found.append(step)
    return found if found[-1] == steps[-1] else [*found[: max(1, len(found) - 1)], steps[-1]]


def _cosine(moves: Array) -> Array:
    """(interval,): cosine between each change and the one before it."""
    found = np.full(len(moves), np.nan)
    length = np.linalg.norm(moves, axis=1)
    for k in range(1, len(moves)):
        both = length[k] * length[k - 1]
        if both > 0:
            found[k] = moves[k] @ moves[k - 1] / both
    return found


def unit_of(seen: WeightChange) -> str:
    """To what the changes are scaled, in words."""
    return "epoch" if seen.per_pass else "step" if seen.per == 1 else f"{thousands(round(seen.per))} steps"


def _fold(first: float, last: float) -> str:
    """How many times the smaller the larger is, unless the smaller is nothing."""
    if min(first, last) == 0:
        return ""
    times = max(first, last) / min(first, last)
    return f", {f'{times:.2g}' if times < 10 else thousands(round(float(f'{times:.2g}')))}-fold"


def _plain(value: float) -> str:
    """0.088, 2.4 · 10⁻⁶: two digits that count."""
    plain = value == 0 or value >= 1e-4
    return np.format_float_positional(float(f"{value:.2g}"), trim="-") if plain else power(value, 2)
