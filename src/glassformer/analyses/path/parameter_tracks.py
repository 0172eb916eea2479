"""Individual parameters followed through training: all of a small model, some of a large one."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import numpy as np

from glassformer.analyses import _clock, _named
from glassformer.analyses._life import flat, steps_per_pass, tensors
from glassformer.analyses._options import Member, Option, Step, StepAxis
from glassformer.analyses._primer import short
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, numbers, result, shared, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.analyses.know.weights import spoken
from glassformer.errors import CallError, check_name
from glassformer.run import Run

ORDER = 30
ANSWERS = ("1.P7", "1.P2")
COST = "b"
EDITS = "weights"

ALL = 1000  # parameters up to which every one is followed
CHOSEN = 8  # tensors of a larger model of which one number is followed
MOST_STEPS = 200
MOST_WEIGHTS = 16  # named ones
BANDS = (0.05, 0.25, 0.75, 0.95)
Preset = Literal["all", "read_out_bias"]
NAMES = {
    "token": "token embedding", "position": "position embedding", "read out": "read-out", "norm": "last norm",
    "norm bias": "last norm's bias",
}  # fmt: skip


@result
class ParameterTracks(Result):
    """Values by step. Of a small model every number; of a large one some, with the spread of their tensor behind."""

    tracks: dict[str, Labelled]  # tensor (or a weight asked for) → (step, parameter)
    bands: dict[str, Labelled]  # the same → (step, statistic): quantiles of the tensor's values; where one is followed
    moved: Labelled  # (tensor,): root of the mean square of end minus start
    begin: Labelled  # (tensor,): root of the mean square at the start
    groups: dict[str, tuple[str, ...]]  # token group → tokens, for the read-out's biases
    group_change: Labelled | None  # (group,): mean change of the read-out biases
    looked_at: tuple[int, ...]
    per_pass: float
    scale: Scale
    parameters: int
    blocks: int
    followed: int
    preset: str
    called: tuple[str, ...]  # the weights that were asked for by name, in words

    @property
    def title(self) -> str:
        """Which tensor moved most, or how the read-out's biases of each group moved."""
        moved, begin = self.moved.values, self.begin.values
        first, last = (thousands(self.looked_at[k]) for k in (0, -1))
        if not np.isfinite(moved).all():
            return fate("parameters are not numbers", self.looked_at[-1])
        if self.preset == "read_out_bias" and self.group_change is not None:
            groups = zip(self.group_change.axes["group"].labels, self.group_change.values, strict=True)
            words = [f"{group} {_signed(value)}" for group, value in groups]
            return f"From step {first} to {last} the mean read-out bias changes by: {listed(words)}"
        if self.called:
            return _told(self)
        if len(self.looked_at) == 1:
            return (
                f"Only step {last} was kept: {thousands(self.parameters)} parameters, none of which can be seen moving"
            )
        k = int(np.argmax(moved))
        name = titled(self.moved.axes["tensor"].labels[k], self.blocks == 1)
        grew = f" (at the start they measure {begin[k]:.2g})" if begin[k] > 1e-6 else ""
        the = "" if name.startswith("norm") else "the "  # as norm 2 (block 1)
        return (
            f"Between steps {first} and {last}, the weights of {the}{name} move most, typically by {moved[k]:.2g}{grew}"
        )


@shared
def parameter_tracks(
    run: Run,
    *,
    step: Step = -1,
    member: Member = 0,
    preset: Annotated[Preset, Option("what is followed: the whole model, or the read-out's biases alone")] = "all",
    weights: Annotated[tuple[str, ...], Option(f"up to {MOST_WEIGHTS} others by name, such as token[15,0]")] = (),
    axis: StepAxis = "auto",
) -> ParameterTracks:
    """Every parameter of a model up to 1 000; of a larger one one number each of 8 tensors.

    Those are embedding, read-out, what moved furthest of all and the matrices that did, and in each the number that
    ended furthest from where it began; the read-out's biases, which are few, are all followed.
    `preset="read_out_bias"`: those alone. `weights`: other ones, by name, such as
    `("token[15,0]", "blocks.0.query[0,0]")`, counted from 0.
    """
    check_name(preset, "the presets", get_args(Preset))
    asked = _asked(run, weights, preset)
    if preset == "read_out_bias" and "read_out_bias" not in run.architecture.shapes():
        raise CallError("this model has no read-out bias")
    at = _clock.looks(run, MOST_STEPS, member)
    life, places = flat(run, at, member), tensors(run)
    change = life[-1] - life[0]
    size = {name: float(np.sqrt(np.mean(change[place] ** 2))) for name, place in places.items()}
    start = {name: float(np.sqrt(np.mean(life[0, place] ** 2))) for name, place in places.items()}
    small = run.parameters <= ALL
    names = ["read_out_bias"] if preset == "read_out_bias" else list(places) if small else _few(run, size)
    labels = {"step": at}
    tracks, bands = {}, {}
    for weight, (name, within) in asked.items():
        values = life[:, places[name]]
        tracks[weight] = _track(values[:, [within]], at, (_words(run, name)[within],))
        bands[weight] = _band(values, labels)
    for name in names if not asked else ():
        values, words = life[:, places[name]], _words(run, name)
        if small or name == "read_out_bias":
            tracks[name] = _track(values, at, words)
            continue
        far = int(np.argmax(np.nan_to_num(np.abs(change[places[name]]), nan=-1)))
        tracks[name] = _track(values[:, [far]], at, (words[far],))
        bands[name] = _band(values, labels)
    groups = {name: tuple(run.task.vocabulary[k] for k in ids) for name, ids in run.task.groups.items()}
    mine = {"tensor": tuple(places)}
    return ParameterTracks(
        **_clock.over_life(run, step, member),
        tracks=tracks,
        bands=bands,
        moved=Labelled(np.array(list(size.values())), mine),
        begin=Labelled(np.array(list(start.values())), mine),
        groups=groups,
        group_change=_by_group(run, change, places),
        looked_at=tuple(at),
        per_pass=steps_per_pass(run),
        scale=spaced(run, axis, member),
        parameters=run.parameters,
        blocks=run.architecture.blocks,
        followed=sum(each.values.shape[1] for each in tracks.values()),
        preset=preset,
        called=tuple(_named.named(run, weight) for weight in asked),
    )


def _track(values: Array, steps: Sequence[int], words: Sequence[str]) -> Labelled:
    """As the weights were kept: in as many digits as they have."""
    return Labelled(values.astype(np.float32), {"step": steps, "parameter": words})


def _asked(run: Run, weights: Sequence[str], preset: str) -> dict[str, tuple[str, int]]:
    """The weights asked for by name, each with its tensor and its place there."""
    if isinstance(weights, str) or len(weights) > MOST_WEIGHTS:
        raise CallError(f"weights = {weights!r} is not a list of up to {MOST_WEIGHTS} names, such as ['token[0,0]']")
    if weights and preset != "all":
        raise CallError(f"weights names what to follow, and preset = {preset!r} does too; leave one of them out")
    return {re.sub(r"\s", "", str(each)): _named.place(run, each, "weights") for each in weights}


def _band(values: Array, labels: Mapping[str, Any]) -> Labelled:
    return Labelled(np.quantile(values, BANDS, axis=1).T, {**labels, "statistic": BANDS})


def _few(run: Run, size: Mapping[str, float]) -> list[str]:
    """Embedding, read-out and its biases, what moved furthest, then matrices that did; in the order of the computation.

    What moved furthest of all is what the title names, so it must be there, whatever its shape.
    """
    furthest = sorted(size, key=lambda name: -np.nan_to_num(size[name], nan=np.inf))
    always = {furthest[0], *(name for name in ("token", "read_out", "read_out_bias") if name in size)}
    matrices = [name for name in furthest if len(run.architecture.shapes()[name]) > 1 and name not in always]
    top = matrices[: CHOSEN - len(always)]
    return [name for name in size if name in (*always, *top)]


def _words(run: Run, name: str) -> tuple[str, ...]:
    """A word for each number of a tensor: token or place, then feature."""
    shape = run.architecture.shapes()[name]
    if name == "token":
        sides: list[Sequence[Any]] = [run.task.vocabulary, numbers(shape[1])]
    elif name == "read_out":
        sides = [numbers(shape[0]), run.task.vocabulary[: shape[1]]]
    elif name == "read_out_bias":
        return tuple(run.task.vocabulary[: shape[0]])
    else:
        sides = [numbers(length) for length in shape]
    words = [""]
    for side, said in zip(sides, _sides(name, len(sides)), strict=True):
        words = [f"{word} {said}{each}".strip() for word in words for each in side]
    return tuple(words)


def _sides(name: str, many: int) -> tuple[str, ...]:
    """What the numbers along each side of a tensor are called."""
    leaf = name.rpartition(".")[2]
    if leaf == "expand":
        return ("feature ", "→ neuron ")
    if leaf == "contract":
        return ("neuron ", "→ feature ")
    known = {"token": ("token ", "feature "), "position": ("position ", "feature "), "read_out": ("feature ", "→ ")}
    return known.get(name, ("feature ", "→ ") if many == 2 else ("",) * many)


def _by_group(run: Run, change: Array, places: Mapping[str, slice]) -> Labelled | None:
    if "read_out_bias" not in places:
        return None
    biases = change[places["read_out_bias"]]
    groups = {name: [k for k in ids if k < len(biases)] for name, ids in run.task.groups.items()}
    groups = {name: ids for name, ids in groups.items() if ids}
    means = np.array([float(np.mean(biases[ids])) for ids in groups.values()])
    return Labelled(means, {"group": tuple(groups)})


def _told(seen: ParameterTracks) -> str:
    """From where to where the weights asked for go; of many, the one that moves most."""
    ends = [(float(each.values[0, 0]), float(each.values[-1, 0])) for each in seen.tracks.values()]
    first, last = (thousands(seen.looked_at[k]) for k in (0, -1))
    if len(ends) <= 3:
        ways = [f"{name} goes from {short(a)} to {short(b)}" for name, (a, b) in zip(seen.called, ends, strict=True)]
        return f"Between steps {first} and {last}, {listed(ways)}"
    far = int(np.argmax([abs(b - a) for a, b in ends]))
    a, b = ends[far]
    return (
        f"Of {len(ends)} weights, between steps {first} and {last} {seen.called[far]} moves most, from {short(a)} to "
        f"{short(b)}"
    )


def titled(name: str, single: bool) -> str:
    """`blocks.1.key` → key (block 1), without its block where there is one; `token` → token embedding."""
    said = spoken(name).removesuffix(" (block 0)" if single else "")
    return NAMES.get(said, said)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\u2212")
