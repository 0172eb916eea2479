"""The backward pass of one example: every value on the way, and below it how the loss would change with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _counted
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, shared, result
from glassformer.architecture import Architecture, nest
from glassformer.errors import CallError
from glassformer.glossary import POINTS, WHOLE
from glassformer.run import Run
from glassformer.trace import Trace

ORDER = 60
ANSWERS = ("3.§3.1.4", "1.Q49")
COST = "d"

NUDGE = 1e-5  # how far a value is moved in the numerical check


@result
class Backward(Result):
    """Values and gradients at every named point; the axes are those of the trace."""

    values: dict[str, Labelled]
    gradients: dict[str, Labelled]
    sizes: Labelled  # (point,): length of the gradient at each point, over all blocks
    measured: Labelled  # (point,): the same from the loss itself: moved along the gradient and back, in NumPy
    paths: Labelled  # (place, path): length of what came back by the residual path and by the branch, as shares
    cosine: Labelled  # (place,): between the two; below zero they partly cancel
    tokens: tuple[str, ...]
    asked: tuple[str, ...]  # what should be answered at each position; "" where nothing is asked
    loss: float
    worst: float  # largest relative difference between gradient and measurement
    residual: bool


@shared
def backward(
    run: Run, *, sequence: str | None = None, step: int = -1, position: int | None = None, member: int = 0
) -> Backward:
    """Gradients of one example's loss, as training would average it, or of the prediction at one position alone."""
    age = _clock.resolve(run, step)
    tokens = run.tokens(sequence)
    asked, targets = _asked(run, tokens, position)
    params = {name: value.astype(np.float64) for name, value in run.weights(age, member).items()}
    logits, values = reference.forward(nest(params), tokens, run.architecture)
    same = ("normed_1", "normed_2") if run.architecture.norm == "none" else ()  # what nothing normalises is shown once
    points = [name for name in POINTS if name in values and name not in ("probabilities", *same)]
    gradients = _gradients(params, tokens, run.architecture, {name: values[name] for name in points}, asked, targets)
    sizes = {name: float(np.linalg.norm(gradient)) for name, gradient in gradients.items()}
    measured = {name: _measured(params, tokens, run.architecture, name, gradients[name], asked, targets)
                for name in points}  # fmt: skip
    apart = [abs(measured[name] - sizes[name]) / sizes[name] for name in points if sizes[name] > 1e-12]
    words = tuple(run.task.vocabulary[token] for token in tokens)
    paths, cosine = _paths(run.architecture, gradients)
    seen = Trace({**values, **gradients}, tokens, age, run.task.vocabulary)
    labels = {name: _named(seen.axes(name), words) for name in points}
    wanted = [""] * len(tokens)
    for place, target in zip(asked, targets, strict=True):
        wanted[place] = run.task.vocabulary[target]
    return Backward(
        step=age,
        clock=_clock.text(run, age, member),
        values={name: Labelled(values[name], labels[name]) for name in points},
        gradients={
            name: Labelled(_hide(name, gradients[name], run.architecture), labels[name], "nats per unit")
            for name in points
        },
        sizes=Labelled(np.array([sizes[name] for name in points]), {"point": tuple(points)}),
        measured=Labelled(np.array([measured[name] for name in points]), {"point": tuple(points)}),
        paths=paths,
        cosine=cosine,
        tokens=words,
        asked=tuple(wanted),
        loss=_loss(logits, asked, targets),
        worst=max(apart, default=0.0),
        residual=run.architecture.residual,
    )


def _asked(run: Run, tokens: Array, position: int | None) -> tuple[Array, Array]:
    """Which positions are asked, and the token that is right there."""
    place = run.architecture.read_position
    if run.task.answers == "one":
        where = 0 if place is None else place
        right = np.flatnonzero(run.task.allowed(tokens)[-1])
        if len(right) != 1:
            raise CallError("this sequence is no whole question: it has no single answer")
        return np.array([where]), right
    asked = np.arange(len(tokens) - 1)[_counted.read(run)]
    if not len(asked):
        raise CallError(f"{len(tokens)} tokens ask nothing; give at least {run.task.skip + 2}")
    if position is not None:
        if position not in asked:
            raise CallError(f"position = {position} is not between {asked[0]} and {asked[-1]}")
        asked = np.array([position])
    return asked, tokens[asked + 1]


def _loss(logits: Array, asked: Array, targets: Array) -> float:
    chosen = logits[asked]
    top = chosen.max(axis=-1)
    logs = np.log(np.exp(chosen - top[:, None]).sum(axis=-1)) + top
    return float((logs - chosen[np.arange(len(asked)), targets]).mean())


def _gradients(
    params: dict[str, Array], tokens: Array, a: Architecture, values: dict[str, Array], asked: Array, targets: Array
) -> dict[str, Array]:
    """At every point: how the loss changes with what is added there, which is nothing."""
    import jax
    import jax.numpy as jnp

    from glassformer import model

    def loss(added: dict[str, Any]) -> Any:
        def edit(name: str) -> Any:
            return lambda value, block: value + (added[name] if name in WHOLE else added[name][block])

        inside = nest({name: jnp.asarray(value) for name, value in params.items()})
        logits, _ = model.forward(inside, jnp.asarray(tokens), a, {name: edit(name) for name in added})
        return model.loss(logits[asked], jnp.asarray(targets)).mean()

    with jax.enable_x64(True):
        nothing = {name: jnp.zeros(value.shape, jnp.float64) for name, value in values.items()}
        found = jax.jit(jax.grad(loss))(nothing)
        return {name: np.asarray(gradient) for name, gradient in found.items()}


def _measured(
    params: dict[str, Array], tokens: Array, a: Architecture, name: str, gradient: Array, asked: Array, targets: Array
) -> float:
    """Slope of the loss along the gradient at a point, from two runs of the NumPy pass."""
    size = np.linalg.norm(gradient)
    if not np.isfinite(size) or size == 0:
        return 0.0
    way = gradient / size
    losses = []
    for sign in (1, -1):
        edits = {name: lambda value, block, s=sign: value + s * NUDGE * (way if name in WHOLE else way[block])}
        losses.append(_loss(reference.forward(nest(params), tokens, a, edits)[0], asked, targets))
    return float((losses[0] - losses[1]) / (2 * NUDGE))


def _hide(name: str, gradient: Array, a: Architecture) -> Array:
    """What lies in the future may not be looked at, so nothing can be asked of it."""
    if name in ("scores", "attention") and a.causal:
        return np.where(np.tri(gradient.shape[-1], dtype=bool), gradient, np.nan)
    return gradient


def _named(axes: dict[str, tuple[str, ...]], words: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Positions labelled by token and place, `8@7`."""
    return {axis: placed(words) if "position" in axis else labels for axis, labels in axes.items()}


def _paths(a: Architecture, gradients: dict[str, Array]) -> tuple[Labelled, Labelled]:
    """Where a branch leaves the stream: by which way how much of the gradient came back, and whether the two agree.

    The residual path hands the gradient after the sum back unchanged; the rest came through the branch.
    """
    rows, cosines, names = [], [], []
    for name, whole, after in _branches(a, gradients):
        by_residual = after if a.residual else np.zeros_like(after)
        by_branch = whole - by_residual
        sizes = np.array([np.linalg.norm(by_residual), np.linalg.norm(by_branch)])
        rows.append(sizes / sizes.sum() if sizes.sum() else sizes)
        cosines.append(float((by_residual * by_branch).sum() / sizes.prod()) if sizes.prod() else np.nan)
        names.append(name)
    shares = np.array(rows).reshape(-1, 2)
    places = {"place": tuple(names)}
    return Labelled(shares, {**places, "path": ("residual", "branch")}, "share"), Labelled(np.array(cosines), places)


def _branches(a: Architecture, gradients: dict[str, Array]) -> list[tuple[str, Array, Array]]:
    """Every branch: its name, the gradient where it leaves the stream, and the gradient after the sum."""
    post = a.norm_place == "post" and a.norm != "none"
    found = []
    for block in range(a.blocks):
        if a.attention != "off":
            last = gradients["normed_2" if post and a.feed_forward else "out"]
            before = last[block - 1] if block else gradients["embedded"]
            found.append((f"attention {block}", before, gradients["middle"][block]))
        if a.feed_forward:
            before = gradients["normed_1" if post and a.attention != "off" else "middle"][block]
            found.append((f"feed-forward {block}", before, gradients["out"][block]))
    return found


def say(seen: Backward) -> Words:
    """Which way the gradient took, and whether the check agrees."""
    text = " ".join(map(shown, seen.tokens))
    asked = [k for k, word in enumerate(seen.asked) if word]
    what = f"the answer “{seen.asked[asked[0]]}”" if len(asked) == 1 else f"its {len(asked)} next tokens"
    caption = (
        f"One example, {text}, and the loss of {what} ({seen.loss:.3f} nats). Upper rows: the value at each named "
        "point of the forward pass, from left to right; lower rows: the gradient there, the change of the loss per "
        "unit of that value. Red is above zero, blue below; each map has its own scale, written above it. Bars: where "
        "a branch leaves the stream, how much of the gradient came back by the residual path and how much through the "
        "branch (lengths, as shares of their sum; a cosine below zero means that the two partly cancel). Check: the "
        "loss was computed in NumPy with each point moved a little along its gradient and back; the slopes agree with "
        "the gradients to within "
        f"{seen.worst:.0e} of their size. Gradients are exact for this example alone; training averages over a batch."
    )
    shares = seen.paths.values
    if not np.isfinite(seen.sizes.values).all():
        title = f"At step {seen.step} the gradients are not numbers: the training has diverged"
    elif not seen.residual:
        title = f"Without residual paths all of the gradient of {text} passes through the branches"
    elif not len(shares):
        title = f"The gradient of {text} meets no branch: nothing but embedding and read-out"
    else:
        k = int(np.argmax(shares[:, 1]))
        name = seen.paths.axes["place"].labels[k].removesuffix(" 0" if len(shares) < 3 else "")
        title = (
            f"On {text}, the residual paths carry {percent(float(shares[:, 0].mean()))} of the gradient back on "
            f"average; {name} passes most through its branch ({percent(float(shares[k, 1]))})"
        )
    return Words(title, caption, f"Pairs of heat maps, value above gradient, for every named point. {title}.")
