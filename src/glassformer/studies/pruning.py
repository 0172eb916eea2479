"""How many weights can go: the smallest are set to nothing, with and without training the others again."""

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from glassformer.architecture import nest
from glassformer.counted import counted
from glassformer.experiment import Experiment
from glassformer.run import Run
from glassformer.studies import _measure
from glassformer.study import Cell, Floats, Metric, Study
from glassformer.tensors import Array

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98)  # of the weights in matrices
AGAIN = 0.2  # share of the training's steps for which the others are trained again
MOST = 1_000  # windows that are judged
MAIN = "right_again"
Weights: TypeAlias = dict[str, Array]
METRICS = {
    "right_again": Metric("right, trained again", "share", higher=True),
    "right_cut": Metric("right, only cut", "share", higher=True),
    "loss_again": Metric("loss, trained again", "nats"),
    "loss_cut": Metric("loss, only cut", "nats"),
}


def pruning(experiment: Experiment) -> list[Cell]:  # noqa: ARG001
    """The same training in every cell; what differs is how much is cut afterwards."""
    return [Cell(name=f"{100 * share:g} % cut", x=share) for share in SHARES]


def metrics(experiment: Experiment) -> dict[str, Metric]:
    """Ours, and the usual ones, which are those of the model before anything is cut."""
    usual = _measure.metrics(experiment).items()
    return METRICS | {name: replace(each, title=f"{each.title}, uncut") for name, each in usual if name != "seconds"}


def measure_at(run: Run, share: float) -> dict[str, Floats]:
    """Cut the smallest weights of the trained models, judge them, train the rest again, judge them again."""
    trained = [run.weights(-1, member) for member in range(run.members)]
    kept = [mask(each, share) for each in trained]
    cut = [{name: each[name] * stays[name] for name in each} for each, stays in zip(trained, kept, strict=True)]
    again = trained_again(run, cut, kept)
    right_cut, loss_cut = np.array([judged(run, each) for each in cut], dtype=float).T
    right_again, loss_again = np.array([judged(run, each) for each in again], dtype=float).T
    return {"right_cut": right_cut, "loss_cut": loss_cut, "right_again": right_again, "loss_again": loss_again}


def mask(weights: Weights, share: float) -> Weights:
    """1 for what stays: all but this share of the numbers in matrices, the smallest of them all together."""
    sizes = np.sort(np.concatenate([abs(each).ravel() for each in weights.values() if each.ndim > 1]))
    least = sizes[int(share * len(sizes))] if share > 0 else 0.0
    return {
        name: (abs(each) >= least if each.ndim > 1 else np.ones(each.shape, bool)).astype(np.float32)
        for name, each in weights.items()
    }


def judged(run: Run, weights: Weights) -> tuple[float, float]:
    """The share of right answers on validation windows, where one can be right, and the loss."""
    import jax.numpy as jnp

    from glassformer import model
    from glassformer.judge import fine_loss

    a, came = run.architecture, counted(run.architecture, run.task.skip).came
    seen = run.task.examples(a.context, "validation", MOST)
    windows = jnp.asarray(seen.windows)
    logits, targets = model.answers(nest(weights), windows[:, :-1], a)[:, came], windows[:, 1:][:, came]
    loss, said = float(fine_loss(logits, targets).mean()), np.asarray(logits.argmax(-1))
    if not np.isfinite(loss):  # the likeliest of what is no number is just the first token
        return np.nan, np.nan
    if run.task.measure == "accuracy":
        return float(np.mean(said == np.asarray(targets))), loss
    fits = np.take_along_axis(seen.allowed[:, came], said[..., None], axis=-1)[..., 0]
    return float(fits[seen.answerable[:, came]].mean()), loss


def trained_again(run: Run, weights: list[Weights], kept: list[Weights]) -> list[Weights]:
    """Some more steps of the experiment's own rule from these weights of every member; what was cut stays nothing.

    The rate begins at the experiment's and falls to nothing in a straight line.
    """
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    from glassformer import model, optimiser
    from glassformer.score import every_window

    a, train, rng = run.architecture, run.experiment.train, np.random.default_rng([run.seeds[0], 1])
    came, split = counted(a, run.task.skip).came, run.task.data(a.context).train
    starts, chance = every_window(split)
    steps = max(1, round(AGAIN * train.steps))
    drawn = rng.choice(starts, (run.members, steps, train.batch), p=chance / chance.sum())
    tokens, rule, back = jnp.asarray(split.tokens), optimiser.direction(train, a), ravel_pytree(weights[0])[1]

    def cost(vector: Any, rows: Any, key: Any) -> Any:
        windows = tokens[rows[:, None] + jnp.arange(a.context + 1)]
        logits = model.answers(nest(back(vector)), windows[:, :-1], a, key if a.dropout else None)[:, came]
        return model.loss(logits, windows[:, 1:][:, came]).mean()

    def life(vector: Any, stays: Any, rows: Any, key: Any) -> Any:
        def step(state: Any, given: Any) -> tuple[Any, None]:
            vector, memory = state
            t, here = given
            slope = jax.grad(cost)(vector, here, jax.random.fold_in(key, t)) * stays
            way, memory = rule.update(slope, memory, vector)
            return ((vector - train.rate * (1 - t / steps) * way) * stays, memory), None

        (vector, _), _ = jax.lax.scan(step, (vector, rule.init(vector)), (jnp.arange(steps), rows))
        return vector

    flat, stays = (jnp.stack([ravel_pytree(each)[0] for each in many]) for many in (weights, kept))
    keys = jax.vmap(jax.random.key)(jnp.asarray(run.seeds))
    found = jax.jit(jax.vmap(life))(flat, stays, jnp.asarray(drawn, dtype=jnp.int32), keys)
    return [{name: np.asarray(each) for name, each in back(vector).items()} for vector in found]


def conclude(study: Study) -> str:
    """How much can go before the seeds tell the difference, with and without training again."""
    rows = sorted(study.rows(), key=lambda row: row.cell.x or 0)
    whole, told = rows[0], []
    for metric, how in (("right_cut", "only cut"), ("right_again", "trained again")):
        free = [
            row for k, row in enumerate(rows) if not any(study.better(metric, whole, each) for each in rows[: k + 1])
        ]
        worse = rows[len(free)] if len(free) < len(rows) else None
        text = f"{how}, up to {100 * (free[-1].cell.x or 0):g} % of the weights can go before the seeds tell"
        told.append(text + (f" ({worse.cell.name}: {study.shown(worse, metric)})" if worse else ""))
    return f"Right before the cut: {study.shown(whole, 'right_cut')}. " + "; ".join(told).capitalize() + "."
