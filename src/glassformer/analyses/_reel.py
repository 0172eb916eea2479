"""What a film shows: results that stand still, and one for each of its frames."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._plane import DIRECTIONS
from glassformer.analyses._result import Array, Labelled, Result, numbers, result
from glassformer.analyses._scale import Scale, spaced
from glassformer.errors import CallError
from glassformer.run import Run

MOST_FRAMES = 5000


@result
class Strip(Result):
    """The loss along the bottom of a film, in front of the ladder."""

    losses: Labelled  # (step, member): validation loss; one column, or those of all members
    main: Labelled  # (step,): the thick curve, of one member or the median of all
    rungs: Labelled  # (rung,): nats of the reachable rungs, highest first
    own_floor: float  # what the exact predictor pays on the windows that are judged; NaN: not known
    scale: Scale  # of the steps
    subject: str  # whose life it is


@result
class Extent(Result):
    """How far the points and numbers of a film go."""

    corners: dict[str, Labelled]  # for each plane, (statistic, direction): the least and the most
    largest: float = float("nan")  # of the absolute numbers that are drawn in colours; NaN: none are


@dataclass(frozen=True)
class Reel:
    """The numbers of a film: `at(frame)` gives those of a frame, whose `step` and `clock` say where it is in time."""

    title: str  # a sentence computed from the results
    frames: Sequence[int]  # kept steps, or places on a way through the model
    at: Callable[[int], Result]
    strip: Strip
    still: Mapping[str, Any] = field(default_factory=dict)  # what is needed beside the frames, by name


def strip(run: Run, member: int | None = 0, axis: str = "auto") -> Strip:
    """The loss of a run for its films; without a member, of all members and their median."""
    steps, losses = _clock.metrics(run)["step"], _clock.metrics(run).get("validation_loss")
    many = np.zeros((len(steps), 0)) if losses is None else losses if losses.ndim == 2 else losses[:, None]
    if member is not None:
        many = many[:, [member if many.shape[1] > 1 else 0]] if many.shape[1] else many
    main = np.nanmedian(many, axis=1) if many.shape[1] > 1 else many[:, 0] if many.shape[1] else np.zeros(0)
    rungs = [rung for rung in _clock.ladder(run) if rung.reachable]
    return Strip(
        losses=Labelled(many, {"step": steps, "member": numbers(many.shape[1])}, "nats"),
        main=Labelled(main, {"step": steps[: len(main)]}, "nats"),
        rungs=Labelled(np.array([rung.nats for rung in rungs]), {"rung": _clock.rung_axis(rungs)}, "nats"),
        own_floor=_clock.window_floor(run, member or 0) if run.task.exact else float("nan"),
        scale=spaced(run, axis, member or 0),
        subject=run.name,
    )


def frames_of(
    run: Run,
    frames: int = 200,
    pace: Literal["even", "change"] = "even",
    steps: Iterable[int] | None = None,
    member: int = 0,
) -> list[int]:
    """The kept steps that a film shows: those asked for, else so many of them."""
    if not 2 <= frames <= MOST_FRAMES:
        raise CallError(f"frames = {frames} is not between 2 and {MOST_FRAMES:,}")
    chosen = _clock.kept(run, frames, pace, member) if steps is None else [_clock.resolve(run, int(s)) for s in steps]
    if not chosen:
        raise CallError("a film needs at least one step")
    return chosen


def glance(frames: Sequence[int], most: int) -> list[int]:
    """Some of a film's frames, evenly spread, to find limits that hold all of it."""
    return [frames[k] for k in np.unique(np.round(np.linspace(0, len(frames) - 1, most)).astype(int))]


def extent(planes: Mapping[str, Sequence[Array]], numbers: Sequence[Array] = ()) -> Extent:
    """The limits that hold the points (..., 2) of each plane and these numbers, over all of a film."""
    axes, corners = {"statistic": ("least", "most"), "direction": DIRECTIONS}, {}
    for name, points in planes.items():
        flat = np.vstack([each.reshape(-1, 2) for each in points])
        known = flat[np.isfinite(flat).all(axis=1)] if np.isfinite(flat).all(axis=1).any() else np.zeros((1, 2))
        corners[name] = Labelled(np.stack([known.min(axis=0), known.max(axis=0)]), axes)
    most = [float(np.abs(each[np.isfinite(each)]).max(initial=0)) for each in map(np.asarray, numbers)]
    return Extent(corners=corners, largest=max(most, default=float("nan")))
