"""The loss over the plane in which training really moved, with its path; and how far the picture can be trusted."""

from dataclasses import dataclass

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _counted, _decide, _logged
from glassformer.analyses._life import flat, tensors
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, shared, thousands, result
from glassformer.architecture import nest
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 90
ANSWERS = ("1.P8", "3.§3.1.4.1")
COST = "c"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return None if len(run.steps) > 2 else "fewer than three steps were kept: there is no path"


MOST = 3_000_000  # parameters; the whole path is held at once
LARGE = 5000  # parameters; above, the grid is coarser and fewer windows are judged
GRID = {"small": (33, 21), "large": (17, 11)}  # cells across and up
WINDOWS = {"small": 64, "large": 40}
PATH = {"small": 50, "large": 16}  # kept steps on the path whose loss is measured
MARGIN = 0.3  # of the path's extent, on every side
SHAPE = 33 / 21  # width over height of the plane that is drawn


@result
class Surface(Result):
    """Validation loss on a grid of a plane in the space of all weights, and along the way."""

    loss: Labelled  # (up, across): loss at the grid's cells, bottom row first
    path: Labelled  # (step, axis): the kept weights' shadow in the plane
    on_path: Labelled  # (where, step): loss of the true weights, and of their shadows in the plane
    shares: Labelled  # (component,): share of the path's variance along the first ten principal components
    rungs: Labelled  # (rung,)
    off: Labelled  # (step,): distance of the true weights from the plane
    looked_at: tuple[int, ...]
    kept: float  # share of the path's variance in the plane
    parameters: int
    windows: int
    diverged: int  # kept steps on the way that are not numbers


@shared
def loss_surface(run: Run, *, step: int = -1, member: int = 0) -> Surface:
    """Loss over the plane of the first two principal components of the kept weights, laid through the last of them."""
    if run.parameters > MOST:
        raise CallError(f"the plane of a path of {run.parameters:,} parameters would take too much memory")
    size = "small" if run.parameters <= LARGE else "large"
    at = sorted({*_clock.kept(run, PATH[size], "change", member), *_even(run, PATH[size] // 2)})
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
    labels = {"step": tuple(map(str, at))}
    rungs = [rung for rung in _clock.ladder(run) if rung.reachable]
    return Surface(
        step=None if step == -1 else _clock.resolve(run, step),
        clock=_clock.text(run, step, member),
        loss=Labelled(losses, {"up": _names(up), "across": _names(across)}, "nats per token"),
        path=Labelled(shadow, {**labels, "axis": ("across", "up")}),
        on_path=Labelled(np.array([true, projected]), {"where": ("path", "shadow"), **labels}, "nats per token"),
        shares=Labelled(variance[:10], {"component": tuple(map(str, range(1, len(variance[:10]) + 1)))}, "share"),
        rungs=Labelled(np.array([r.nats for r in rungs]), {"rung": tuple(r.name for r in rungs)}, "nats per token"),
        off=Labelled(np.linalg.norm(life - origin - shadow @ axes, axis=1), labels),
        looked_at=tuple(at),
        kept=float(variance[:2].sum()),
        parameters=run.parameters,
        windows=len(examples.windows),
        diverged=int((~sound).sum()),
    )


def _even(run: Run, most: int) -> list[int]:
    return _clock.kept(run, max(most, 2))


def _grid(shadow: Array, cells: tuple[int, int]) -> tuple[Array, Array]:
    """Evenly spaced places around the path, to the same scale in both directions."""
    low, high = shadow.min(axis=0), shadow.max(axis=0)
    middle, reach = (low + high) / 2, np.maximum((high - low) * (0.5 + MARGIN), 1e-6)
    tall = max(float(reach[1]), float(reach[0]) / SHAPE)
    wide = tall * SHAPE
    return tuple(  # type: ignore[return-value]
        np.linspace(c - half, c + half, many) for c, half, many in zip(middle, (wide, tall), cells, strict=True)
    )


def _names(places: Array) -> tuple[str, ...]:
    return tuple(f"{place:.4g}" for place in places)


class _Judge:
    """Mean loss of any weights on fixed windows."""

    def __init__(self, run: Run, windows: Array) -> None:
        a = run.architecture
        self.architecture, self.places, self.shapes = a, tensors(run), a.shapes()
        self.read, self.inputs, self.targets = _counted.read(run), windows[:, :-1], _counted.came(run, windows)[..., None]

    def __call__(self, weights: Array) -> float:
        small = weights.astype(np.float32)
        params = nest({name: small[place].reshape(self.shapes[name]) for name, place in self.places.items()})
        with np.errstate(all="ignore"):
            logits = reference.forward(params, self.inputs, self.architecture)[0][:, self.read].astype(np.float64)
            top = logits.max(axis=-1, keepdims=True)
            logs = np.log(np.exp(logits - top).sum(axis=-1, keepdims=True)) + top
            return float((logs - np.take_along_axis(logits, self.targets, axis=-1)).mean())


def say(seen: Surface) -> Words:
    """How much of the path the plane keeps, and how far its loss is from the true one."""
    caption = (
        f"Colours: validation loss of models whose weights lie in one plane of the {thousands(seen.parameters)}-"
        "dimensional space of weights, the plane of the first two principal components of the kept weights, laid "
        f"through the last of them ({seen.loss.values.shape[1]} × {seen.loss.values.shape[0]} models, each judged on "
        f"{seen.windows} held-out windows). Line: the path of training, seen in that plane, its start and end in the "
        "colour of their true loss; contours are the prices of "
        "the task's partial understandings. Below: the loss of the true weights along the way and of their projections "
        "into the plane; where the two part, the path has left the plane and the colours around it are not what "
        "training met. A slice can show valleys and walls, not how many there are in all other directions."
    )
    true, shadow = seen.on_path.values
    last = thousands(seen.looked_at[-1])
    apart = float(np.max(np.abs(true - shadow)))
    if seen.diverged:
        title = f"The plane up to step {last}, after which the loss is not a number: the training has diverged"
    else:
        mean = float(np.mean(np.abs(true - shadow)))
        trust = (
            f"the loss there differs by at most {apart:.2g} nats" if apart < 0.1
            else f"the loss there differs by {mean:.2g} nats on average"
        )  # fmt: skip
        ends = f"{true[0]:.2f} to {true[-1]:.2f} nats"
        title = f"The path falls from {ends}; the plane keeps {percent(seen.kept)} of its variance, and {trust}"
    return Words(title, caption, f"A map of the loss over a plane of weights with the path of training. {title}.")
