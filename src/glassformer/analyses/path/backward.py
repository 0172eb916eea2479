"""The backward pass of one example: every value on the way, and below it how the loss would change with it."""

from collections.abc import Sequence as Places
from typing import Annotated, Any

import numpy as np

from glassformer import glossary, reference
from glassformer.analyses import _clock, _counted, _decide
from glassformer.analyses._options import Block, Member, Option, Sequence, Step
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, percent, result, shared
from glassformer.architecture import Architecture
from glassformer.errors import CallError, check_index
from glassformer.glossary import POINTS, WHOLE
from glassformer.run import Run

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
    paths: Labelled  # (part, quantity): length of what came back by the residual path and by the branch, as shares
    cosine: Labelled  # (part,): between the two; below zero they partly cancel
    by_residual: float  # the mean share of the residual paths; NaN: there is no branch
    tokens: tuple[str, ...]
    asked: tuple[str, ...]  # what should be answered at each position; "" where nothing is asked
    loss: float
    worst: float  # largest relative difference between gradient and measurement
    residual: bool
    block: int  # looked at
    head: int  # looked at

    @property
    def title(self) -> str:
        """Which way the gradient took."""
        text, shares = " ".join(map(shown, self.tokens)), self.paths.values
        if not np.isfinite(self.sizes.values).all():
            return fate("the gradients are not numbers", self.step)
        if not self.residual:
            return f"Without residual paths all of the gradient of {text} passes through the branches"
        if not len(shares):
            return f"The gradient of {text} meets no branch: nothing but embedding and read-out"
        k = int(np.argmax(shares[:, 1]))
        name = self.paths.axes["part"].labels[k].removesuffix(" 0" if len(shares) < 3 else "")
        return (
            f"On {text}, the residual paths carry {percent(self.by_residual)} of the gradient back on "
            f"average; {name} passes most through its branch ({percent(float(shares[k, 1]))})"
        )


@shared
def backward(
    run: Run,
    *,
    sequence: Sequence = None,
    step: Step = -1,
    position: Annotated[int | None, Option("the one position that is asked; none: as in training", least=0)] = None,
    block: Block = 0,
    head: Annotated[int, Option("the head looked at, counted from 0", least=0)] = 0,
    member: Member = 0,
) -> Backward:
    """Gradients of one example's loss, as training would average it, or of the prediction at one position alone."""
    check_index("block", block, run.architecture.blocks)
    check_index("head", head, run.architecture.heads)
    age = _clock.resolve(run, step)
    tokens = run.tokens(sequence)
    asked, targets = _asked(run, tokens, position)
    model = _decide.model(run, tokens, age, member, precise=True)
    logits, values = model.forward(tokens)
    same = ("normed_1", "normed_2") if run.architecture.norm == "none" else ()  # what nothing normalises is shown once
    points = [name for name in POINTS if name in values and name not in ("probabilities", *same)]
    gradients = _gradients(model, tokens, {name: values[name] for name in points}, asked, targets)
    sizes = {name: float(np.linalg.norm(gradient)) for name, gradient in gradients.items()}
    measured = {name: _measured(model, tokens, name, gradients[name], asked, targets) for name in points}
    apart = [abs(measured[name] - sizes[name]) / sizes[name] for name in points if sizes[name] > 1e-12]
    words = tuple(run.task.vocabulary[token] for token in tokens)
    paths, cosine = _paths(run.architecture, gradients)
    labels = {name: _axes(name, values[name].shape, words, run.task.vocabulary) for name in points}
    wanted = [""] * len(tokens)
    for place, target in zip(asked, targets, strict=True):
        wanted[place] = run.task.vocabulary[target]
    return Backward(
        **_clock.at_step(run, age, member),
        values={name: Labelled(values[name], labels[name]) for name in points},
        gradients={
            name: Labelled(_hide(name, gradients[name], run.architecture), labels[name], "nats per unit")
            for name in points
        },
        sizes=Labelled(np.array([sizes[name] for name in points]), {"point": tuple(points)}),
        measured=Labelled(np.array([measured[name] for name in points]), {"point": tuple(points)}),
        paths=paths,
        cosine=cosine,
        by_residual=float(paths.values[:, 0].mean()) if len(paths.values) else float("nan"),
        tokens=words,
        asked=tuple(wanted),
        loss=_loss(logits, asked, targets),
        worst=max(apart, default=0.0),
        residual=run.architecture.residual,
        block=block,
        head=head,
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
    return float(-reference.log_softmax(logits)[asked, targets].mean())


def _gradients(
    model: _decide.Model, tokens: Array, values: dict[str, Array], asked: Array, targets: Array
) -> dict[str, Array]:
    """At every point: how the loss changes with what is added there (after an edit), which is nothing."""
    import jax
    import jax.numpy as jnp

    from glassformer import model as transformer

    def loss(added: dict[str, Any]) -> Any:
        def edit(name: str) -> Any:
            return lambda value, block: (
                model.see(name, value, block) + (added[name] if name in WHOLE else added[name][block])
            )

        inside = jax.tree.map(jnp.asarray, model.w)
        changes = {**model.changes, **{name: edit(name) for name in added}}
        logits, _ = transformer.forward(inside, jnp.asarray(tokens), model.run.architecture, changes)
        return transformer.loss(logits[asked], jnp.asarray(targets)).mean()

    with jax.enable_x64(True):
        nothing = {name: jnp.zeros(value.shape, jnp.float64) for name, value in values.items()}
        found = jax.jit(jax.grad(loss))(nothing)
        return {name: np.asarray(gradient) for name, gradient in found.items()}


def _measured(
    model: _decide.Model, tokens: Array, name: str, gradient: Array, asked: Array, targets: Array
) -> float:  # fmt: skip
    """Slope of the loss along the gradient at a point, from two runs of the NumPy pass."""
    size = np.linalg.norm(gradient)
    if not np.isfinite(size) or size == 0:
        return 0.0
    way = gradient / size
    losses = []
    for sign in (1, -1):
        nudge = {name: lambda value, block, s=sign: value + s * NUDGE * (way if name in WHOLE else way[block])}
        losses.append(_loss(model.forward(tokens, nudge)[0], asked, targets))
    return float((losses[0] - losses[1]) / (2 * NUDGE))


def _hide(name: str, gradient: Array, a: Architecture) -> Array:
    """What lies in the future may not be looked at, so nothing can be asked of it."""
    if name in ("scores", "attention") and a.causal:
        return np.where(np.tri(gradient.shape[-1], dtype=bool), gradient, np.nan)
    return gradient


def _axes(name: str, shape: tuple[int, ...], words: Places[str], vocabulary: Places[str]) -> dict[str, Any]:
    """The places along each axis of a point's array."""

    def places(axis: str, size: int) -> Any:
        return placed(words) if "position" in axis else vocabulary[:size] if axis == "token" else numbers(size)

    return {axis: places(axis, size) for axis, size in zip(glossary.axes(name), shape, strict=True)}


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
    parts = {"part": names}
    return Labelled(shares, {**parts, "quantity": ("residual", "branch")}, "share"), Labelled(np.array(cosines), parts)


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
