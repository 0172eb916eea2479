"""When each part became necessary: every part taken out at every kept step, and the step from which that hurts."""

from collections import defaultdict
from typing import Annotated

import numpy as np

from glassformer.analyses import _clock, _removal
from glassformer.analyses._options import Member, Option, Step, StepAxis
from glassformer.analyses._removal import SMALL, WAYS, Part, nats
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, listed, numbers, result, shared, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks import Examples

ORDER = 20
ANSWERS = ("new",)
COST = "c"

SHARE = 0.01  # of all there is to learn: what a part must cost to be needed
STAY = 0.05  # share of the training for which it must last up to the end: the last noise is no birth
LARGE = 200_000  # parameters; larger models are looked at less often
CHECKPOINTS, NEURONS = (60, 12, 6), (64, 12, 4)  # of small, larger and large models
CANDIDATES = 4  # neurons tried for each that is followed
MEMBERS, COARSE = 8, 24  # members of a population that are compared, and at how many steps


def applies(run: Run) -> str | None:
    """Why it is not done unasked."""
    if run.parameters < LARGE:
        return None
    return f"taking every part out of a model of {thousands(run.parameters)} parameters at every step takes minutes"


@result
class Birth(Result):
    """The effect of removing each part over a life, and the first kept step from which it is needed for good."""

    effect: Labelled  # (part, way, step): rise of the loss without the part
    sampling_error: Labelled  # (part, way, step): of that rise, over windows
    born: Labelled  # (part, way): NaN where it is not needed at the end
    before: Labelled  # (part, way): the latest step looked at that lies before; NaN where there is none
    members: dict[str, Labelled]  # born: (part, member), at a coarser grain and by the mean; empty for single runs
    threshold: float  # nats that a part must cost to be needed: a share of the way from a uniform guess to the floor
    windows: int
    checkpoints: int
    followed: int  # neurons followed
    left_out: int  # neurons not followed
    last: int  # the last kept step
    scale: Scale
    order: tuple[str, ...]  # the large parts by birth, by the mean; those never born left out
    costliest: str  # the large part that costs most to average in the end

    @property
    def title(self) -> str:
        """In which order the large parts became necessary, and which costs most to lose in the end."""
        names, mean = self.born.axes["part"].values, self.born.axes["way"].values.index("mean")
        if not np.isfinite(self.effect.values[..., -1]).all():
            return fate("the loss is not a number", self.last)
        if not self.order:
            return f"By step {thousands(self.last)} no part has become necessary for good"
        born = [int(self.born.values[names.index(part), mean]) for part in self.order]
        first = listed([_the(part) for part, step in zip(self.order, born, strict=True) if step == born[0]])
        title = f"First needed {'are' if born[1:2] == born[:1] else 'is'} {first}, from step {thousands(born[0])} on"
        if born[1:] and born[1] > born[0]:
            title += f", then {_the(self.order[1])} from step {thousands(born[1])}"
        last = float(self.effect.values[names.index(self.costliest), mean, -1])
        return f"{title}; in the end averaging {_the(self.costliest)} costs most, {nats(last)} nats"


@shared
def birth(
    run: Run,
    *,
    step: Step = -1,
    member: Member = 0,
    checkpoints: Annotated[int | None, Option("how many kept steps are looked at; none: as suits", least=1)] = None,
    windows: int | None = None,
    neurons: Annotated[int | None, Option("how many neurons are followed; none: as suits", least=0)] = None,
    ways: tuple[str, ...] = WAYS,
    axis: StepAxis = "auto",
) -> Birth:
    """Ablation of every part over a life, in these ways; necessary is worse by a hundredth of all there is to learn.

    Looked at are so many checkpoints, then ever smaller halves of the stretch in which a part is born; as many as there
    are kept steps (or more) are all of them. Of many neurons, of all blocks, `neurons` are followed, those that cost
    most to average at the end; as many as there are (or more) are all of them, which takes its time.
    """
    for name, value, least in (("checkpoints", checkpoints, 1), ("windows", windows, 2), ("neurons", neurons, 0)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise CallError(f"{name} = {value!r} is not a whole number of at least {least}")
    big = (run.parameters >= SMALL) + (run.parameters >= LARGE)
    given = _removal.held_out(run, windows)
    rungs = [rung.nats for rung in _clock.ladder(run) if rung.reachable]
    threshold = SHARE * (rungs[0] - rungs[-1])
    steps = _clock.looks(run, checkpoints or CHECKPOINTS[big], member)
    parts, left_out = _followed(run, given, member, NEURONS[big] if neurons is None else neurons)
    with np.errstate(all="ignore"):  # models that diverged are said to have, not warned about
        looks = [_look(run, given, at, member, parts, ways) for at in steps]
        effect, error = (np.stack([look[k] for look in looks], -1) for k in (0, 1))
        born, before = _births(run, given, member, parts, ways, steps, effect, threshold)
    names = tuple(part.name for part in parts)
    axes = {"part": names, "way": ways}
    life = axes | {"step": steps}
    mean = ways.index("mean")
    order, costliest = _told(parts, born[:, mean], effect[:, mean, -1])
    return Birth(
        **_clock.over_life(run, step, member),
        effect=Labelled(effect.astype(np.float32), life, "nats per token"),
        sampling_error=Labelled(error.astype(np.float32), life, "nats per token"),
        born=Labelled(born, axes, "step"),
        before=Labelled(before, axes, "step"),
        members=_members(run, given, [part for part in parts if part.kind != "neuron"], threshold),
        threshold=threshold,
        windows=len(given.windows),
        checkpoints=len(steps),
        followed=sum(part.kind == "neuron" for part in parts),
        left_out=left_out,
        last=steps[-1],
        scale=spaced(run, axis, member),
        order=order,
        costliest=costliest,
    )


def _told(parts: list[Part], born: Array, last: Array) -> tuple[tuple[str, ...], str]:
    """The large parts that are needed, by birth, and the one that costs most."""
    large = [k for k, part in enumerate(parts) if part.kind != "neuron"]
    top = max(large, key=lambda k: float(last[k]))
    order = sorted((k for k in large if np.isfinite(born[k])), key=lambda k: (born[k], k))
    return tuple(parts[k].name for k in order), parts[top].name


def for_good(needed: Array) -> Array:
    """(..., step) → (...,): the place of the first step from which it is needed to the end; one too far for none."""
    return needed.shape[-1] - np.cumprod(needed[..., ::-1], axis=-1).sum(-1)


def _followed(run: Run, given: Examples, member: int, most: int) -> tuple[list[Part], int]:
    """The parts to follow: of many neurons, those that cost most to average at the end, whatever their block."""
    everything = _removal.parts(run.architecture)
    parts = [part for part in everything if part.kind != "neuron"]
    neurons = [part for part in everything if part.kind == "neuron"]
    if len(neurons) <= most:
        return everything, 0
    if not most:
        return parts, len(neurons)
    with np.errstate(all="ignore"):
        last = int(run.steps[-1])
        tried = _removal.Model(run, given, last, member).strongest(neurons, CANDIDATES * most)
        effect, _ = _look(run, given, last, member, tried, ("mean",))
    chosen = np.sort(np.argsort(-np.nan_to_num(effect[:, 0]), kind="stable")[:most])
    return parts + [tried[k] for k in chosen], len(neurons) - len(chosen)


def _look(
    run: Run, given: Examples, step: int, member: int, parts: list[Part], ways: tuple[str, ...] = WAYS
) -> tuple[Array, Array]:
    """(part, way) each: the rise of the loss without each part at one step, and its sampling error."""
    model = _removal.Model(run, given, step, member)
    rise = model.losses(parts, ways) - model.loss(model.logits)
    return rise.mean(-1), rise.std(-1, ddof=1) / np.sqrt(rise.shape[-1])


def _births(
    run: Run, given: Examples, member: int, parts: list[Part], ways: tuple[str, ...], steps: list[int], effect: Array,
    threshold: float,
) -> tuple[Array, Array]:  # fmt: skip
    """(part, way) each: the first kept step from which a part is needed for good, and the latest one known before."""
    at = np.searchsorted(run.steps, steps)
    first = for_good(effect >= threshold)
    high = {key: int(at[first[key]]) for key in np.ndindex(first.shape) if first[key] < len(steps)}
    low = {key: int(at[first[key] - 1]) if first[key] else -1 for key in high}
    while halves := _halves(low, high):
        for middle, keys in halves.items():
            for key, rise in _asked(run, given, int(run.steps[middle]), member, parts, ways, keys).items():
                (high if rise >= threshold else low)[key] = middle
    born, before = np.full(first.shape, np.nan), np.full(first.shape, np.nan)
    late = steps[-1] - STAY * (steps[-1] - steps[0])
    for key in (key for key in high if run.steps[high[key]] <= late):
        born[key] = run.steps[high[key]]
        before[key] = run.steps[low[key]] if low[key] >= 0 else np.nan
    return born, before


def _halves(low: dict[tuple[int, ...], int], high: dict[tuple[int, ...], int]) -> dict[int, list[tuple[int, ...]]]:
    """Places in the middle of what is still open, and who asks about them."""
    found = defaultdict(list)
    for key in high:
        if low[key] >= 0 and high[key] - low[key] > 1:
            found[(low[key] + high[key]) // 2].append(key)
    return found


def _asked(
    run: Run, given: Examples, step: int, member: int, parts: list[Part], ways: tuple[str, ...],
    keys: list[tuple[int, ...]],
) -> dict[tuple[int, ...], float]:  # fmt: skip
    """What each of some parts, each in its way, costs at a step."""
    model = _removal.Model(run, given, step, member)
    base = model.loss(model.logits)
    found: dict[tuple[int, ...], float] = {}
    for way in range(len(ways)):
        some = [key for key in keys if key[1] == way]
        rise = model.losses([parts[part] for part, _ in some], ways[way : way + 1])[:, 0] - base
        found |= dict(zip(some, rise.mean(-1).tolist(), strict=True))
    return found


def _members(run: Run, given: Examples, parts: list[Part], threshold: float) -> dict[str, Labelled]:
    """Births in the members of a population, at a coarse grain and without single neurons."""
    if run.members == 1:
        return {}
    found = []
    for member in range(min(run.members, MEMBERS)):
        steps = _clock.looks(run, COARSE, member)
        with np.errstate(all="ignore"):
            effect = np.stack([_look(run, given, at, member, parts, ("mean",))[0][:, 0] for at in steps], -1)
        first = for_good(effect >= threshold)
        late = steps[-1] - STAY * (steps[-1] - steps[0])
        found.append([steps[k] if k < len(steps) and steps[k] <= late else np.nan for k in first])
    seeds = Axis(numbers(len(found)), tuple(str(seed) for seed in run.seeds[: len(found)]))
    table = np.array(found, dtype=float).T  # (part, member)
    return {"born": Labelled(table, {"part": [part.name for part in parts], "member": seeds}, "step")}


def _the(name: str) -> str:
    return f"the {name}" if name.endswith("embedding") or name == "feed-forward" else name
