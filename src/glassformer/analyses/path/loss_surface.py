"""The loss over the plane in which training really moved, with its path; and how far the picture can be trusted."""

import numpy as np

from glassformer import reference
from glassformer.analyses import _applies, _clock, _counted, _decide, _judged, _logged
from glassformer.analyses._life import flat, tensors
from glassformer.analyses._options import Frames, Member, Pace, Shown, Step, StepAxis
from glassformer.analyses._plane import DIRECTIONS
from glassformer.analyses._reel import Reel, frames_of, strip
from glassformer.analyses._result import Array, Labelled, Result, fate, percent, result, shared, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.architecture import nest
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 90
ANSWERS = ("1.P8", "3.§3.1.4.1")
COST = "c"
EDITS = "weights"
APPLIES = (_applies.choice,)

MOST = 3_000_000  # parameters; the whole path is held at once
LARGE = 5000  # parameters; above, the grid is coarser and fewer windows are judged
GRID = {"small": (33, 21), "large": (17, 11)}  # cells across and up
ON_PATH = ("path", "shadow")  # whose loss is measured on the way
WINDOWS = {"small": 64, "large": 40}
PATH = {"small": 50, "large": 16}  # kept steps on the path whose loss is measured
MARGIN = 0.3  # of the path's extent, on every side
SHAPE = 33 / 21  # width over height of the plane that is drawn


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    if run.parameters > MOST:
        return f"the plane of a path of {thousands(run.parameters)} parameters would take too much memory"
    return None if len(run.steps) > 2 else "fewer than three steps were kept: there is no path"


@result
class LossSurface(Result):
    """Validation loss on a grid of a plane in the space of all weights, and along the way."""

    loss: Labelled  # (vertical, horizontal): loss at the grid's cells, bottom row first
    path: Labelled  # (step, direction): the kept weights' shadow in the plane
    on_path: Labelled  # (quantity, step): loss of the true weights, and of their shadows in the plane
    apart: float  # the largest difference of the two
    apart_mean: float
    shares: Labelled  # (rank,): share of the path's variance along the first ten principal components
    rungs: Labelled  # (rung,)
    off: Labelled  # (step,): distance of the true weights from the plane
    looked_at: tuple[int, ...]
    kept: float  # share of the path's variance in the plane
    parameters: int
    windows: int
    scale: Scale
    diverged: int  # kept steps on the way that are not numbers

    @property
    def title(self) -> str:
        """How much of the path the plane keeps, and how far its loss is from the true one."""
        if self.diverged:
            return fate(f"the plane up to step {thousands(self.looked_at[-1])}, after which the loss is not a number")
        first, last = self.on_path.values[0, [0, -1]]
        by = f"at most {self.apart:.2g} nats" if self.apart < 0.1 else f"{self.apart_mean:.2g} nats on average"
        return (
            f"The path {'falls' if last < first else 'rises'} from {first:.2f} to {last:.2f} nats ({self.windows} "
            f"{self.whose} windows); the plane keeps {percent(self.kept)} of its variance, and the loss there differs "
            f"by {by}"
        )


@shared
def loss_surface(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> LossSurface:
    """Loss over the plane of the first two principal components of the kept weights, laid through the last of them."""
    size = "small" if run.parameters <= LARGE else "large"
    at = sorted({*_clock.kept(run, PATH[size], "change", member), *_clock.kept(run, max(PATH[size] // 2, 2))})
    life = flat(run, at, member)
    examples = _logged.windows(run, _decide.affordable(run, WINDOWS[size]))
    judge = _Judge(run, examples.windows)
    true = np.array([judge(weights) for weights in life])
    sound = np.isfinite(life).all(axis=1) & np.isfinite(true)
    life, true, at = life[sound], true[sound], [s for s, good in zip(at, sound, strict=True) if good]
    if len(at) < 2:
        raise CallError("fewer than two kept steps: there is no path to lay a plane through")
    centred = life - life.mean(axis=0)
    _, strength, directions = np.linalg.svd(centred, full_matrices=False)
    variance = strength**2 / max(float((strength**2).sum()), 1e-300)
    axes, origin = directions[:2], life[-1]
    axes = axes * np.where((life[-1] - life[0]) @ axes.T < 0, -1.0, 1.0)[:, None]  # training goes right and up
    shadow = (life - origin) @ axes.T  # (step, 2)
    across, up = _grid(shadow, GRID[size])
    places = np.stack(np.meshgrid(across, up), axis=-1)  # (up, across, 2)
    losses = np.array([[judge(origin + point @ axes) for point in row] for row in places])
    projected = np.array([judge(origin + point @ axes) for point in shadow])
    apart = np.abs(true - projected)
    rungs = [rung for rung in _clock.ladder(run) if rung.reachable]
    return LossSurface(
        **_clock.over_life(run, step, member),
        held_out=_judged.held_out(run),
        loss=Labelled(losses, {"vertical": up, "horizontal": across}, "nats per token"),
        path=Labelled(shadow, {"step": at, "direction": DIRECTIONS}),
        on_path=Labelled(np.array([true, projected]), {"quantity": ON_PATH, "step": at}, "nats per token"),
        apart=float(apart.max()),
        apart_mean=float(apart.mean()),
        shares=Labelled(variance[:10], {"rank": range(1, len(variance[:10]) + 1)}, "share"),
        rungs=Labelled(np.array([r.nats for r in rungs]), {"rung": _clock.rung_axis(rungs)}, "nats per token"),
        off=Labelled(np.linalg.norm(life - origin - shadow @ axes, axis=1), {"step": at}),
        looked_at=tuple(at),
        kept=float(variance[:2].sum()),
        parameters=run.parameters,
        windows=len(examples.windows),
        scale=spaced(run, axis, member),
        diverged=int((~sound).sum()),
    )


def _grid(shadow: Array, cells: tuple[int, int]) -> tuple[Array, Array]:
    """Evenly spaced places around the path, to the same scale in both directions."""
    low, high = shadow.min(axis=0), shadow.max(axis=0)
    middle, reach = (low + high) / 2, np.maximum((high - low) * (0.5 + MARGIN), 1e-6)
    tall = max(float(reach[1]), float(reach[0]) / SHAPE)
    wide = tall * SHAPE
    return tuple(  # type: ignore[return-value]
        np.linspace(c - half, c + half, many) for c, half, many in zip(middle, (wide, tall), cells, strict=True)
    )


class _Judge:
    """Mean loss of any weights on fixed windows."""

    def __init__(self, run: Run, windows: Array) -> None:
        a = run.architecture
        self.architecture, self.places, self.shapes = a, tensors(run), a.shapes()
        self.read, self.inputs, self.targets = (
            _counted.read(run),
            windows[:, :-1],
            _counted.came(run, windows)[..., None],
        )

    def __call__(self, weights: Array) -> float:
        small = weights.astype(np.float32)
        params = nest({name: small[place].reshape(self.shapes[name]) for name, place in self.places.items()})
        with np.errstate(all="ignore"):
            logits = reference.forward(params, self.inputs, self.architecture)[0][:, self.read].astype(np.float64)
            return float(-np.take_along_axis(reference.log_softmax(logits), self.targets, axis=-1).mean())


# ---- the film --------------------------------------------------------------------------------------------------------


@result
class Here(Result):
    """Where the point stands, and what the weights cost."""

    place: Labelled  # (direction,)
    loss: Labelled  # (quantity,): of the weights themselves, and of the point of the plane where they are drawn


def reel(run: Run, *, member: Member = 0, frames: Frames = 200, pace: Pace = "change", steps: Shown = None) -> Reel:
    """Training as a walk on the loss over the plane of its own path; the plane stays as it is."""
    seen = loss_surface(run, member=member)

    def at(step: int) -> Here:
        here, losses = (
            np.array([np.interp(step, seen.looked_at, each) for each in rows])
            for rows in (seen.path.values.T, seen.on_path.values)
        )
        return Here(
            **_clock.at_step(run, step, member),
            place=Labelled(here, {"direction": DIRECTIONS}),
            loss=Labelled(losses, {"quantity": ON_PATH}, "nats per token"),
        )

    every = frames_of(run, frames, pace, steps, member)
    return Reel(seen.title, every, at, strip(run, member), {"surface": seen})
