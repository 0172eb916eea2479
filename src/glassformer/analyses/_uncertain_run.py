"""How sure a model is over its life: every distribution of a run on some held-out windows, in NumPy."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _counted, _judged, _logged
from glassformer.analyses._fitting import fitting
from glassformer.analyses._result import Array, Labelled, Result, numbers, result, shared
from glassformer.analyses._scale import Scale, by_losses, spaced
from glassformer.analyses._uncertain import (
    NATS,
    SHARE,
    Subject,
    Uncertainty,
    at_temperature,
    ensemble,
    extremes,
    first_bad,
    labelled,
    spread,
    unit,
)
from glassformer.counted import counted
from glassformer.run import Run
from glassformer.tasks import Examples, Rung, choose

WORK = 2_500_000_000  # multiplications for a whole life: about a second
MOST_STEPS, LEAST_STEPS = 200, 24
MOST_WINDOWS, LEAST_WINDOWS, FEW = 200, 8, 128  # FEW: predictions to have at least, if windows are cheap
TEMPERATURES = np.geomspace(0.1, 10, 33)  # with 1 in the middle
SWEPT_STEPS, SWEEP = (8, 24), 15_000_000  # Boltzmann weights of all temperatures
MOMENTS = 5
VIEWS = 200  # places at which tables of counts are asked how sure they are
DEAR = 300  # multiplications that one GELU is worth here: NumPy has no error function


@dataclass(frozen=True)
class Plan:
    """Which steps and how many windows a life is looked at with; `even` steps are spaced evenly over it."""

    steps: list[int]
    even: list[int]
    moments: list[int]
    windows: int


def uncertainty(
    run: Subject, *, temperature: float = 1.0, step: int = -1, member: int = 0, axis: str = "auto"
) -> Uncertainty:
    """Every diagnostic of a run (one member), or of another life.

    Of a run, averaged over held-out windows, with their spread, at any temperature. A physics model has one input and
    temperatures of its own: the one nearest to `temperature` is taken and named. `step` is looked at too, and marked.
    """
    temperature = at_temperature(temperature)
    if not isinstance(run, Run):
        told = run.uncertainty(temperature, step)
        losses = told.by_step["loss"].values[0]
        return replace(told, scale=by_losses(np.array(told.looked_at), losses, last=told.total, axis=axis))
    at = None if step == -1 else _clock.resolve(run, step)
    seen = _measured(run, temperature, member, -1 if at is None else at)
    return replace(seen, step=at, clock=_clock.text(run, step, member), scale=spaced(run, axis, member))


@shared
def plan(run: Run, member: int, also: int = -1) -> Plan:
    """As many windows and steps as a second of work allows: half of the steps even, half where the loss moves.

    `also`: one more step to look at, and a moment of its own; -1: none.
    """
    a = run.architecture
    each = a.context * run.parameters  # multiplications for one window
    each += a.context * a.blocks * a.feed_forward * DEAR if a.activation == "gelu" else 0
    places = a.context if a.read_position is None else 1
    least = max(LEAST_WINDOWS, min(FEW // places, 64))
    windows = fitting(run, int(np.clip(WORK // (MOST_STEPS * each), least, MOST_WINDOWS)))
    most = int(np.clip(WORK // (windows * each), LEAST_STEPS, MOST_STEPS))
    moments = sorted({*_clock.moments(run, MOMENTS, member), *([] if also == -1 else [also])})
    even = _clock.kept(run, most // 2 if len(run.steps) > most else most)
    steps = sorted({*even, *moments, *_clock.looks(run, most // 2, member)})
    return Plan(steps, even, moments, windows)


@shared
@np.errstate(over="ignore", invalid="ignore")  # a diverged model is looked at like any other
def _measured(run: Run, temperature: float, member: int, also: int) -> Uncertainty:
    """Every diagnostic of one member, over its life and over temperature; `also` at one more step."""
    a, todo = run.architecture, plan(run, member, also)
    examples = _windows(run, todo.windows)
    read, targets = _counted.read(run), _counted.came(run, examples.windows)
    truth = _truth(run, examples)
    swept = _thinned(todo, targets.size * a.answers)
    every = max(1, -(-len(TEMPERATURES) * len(swept) * targets.size * a.answers // SWEEP))  # n-th place of a window

    life: dict[str, list[Array]] = {}
    sweep: dict[str, list[Array]] = {}
    before: tuple[int, Array] | None = None
    for step in todo.steps:
        trace = run.trace(examples.windows[:, :-1], step=step, member=member)
        logits = trace["logits"][:, read].astype(np.float64)  # (window, place, token)
        chances, logs = _softmax(logits)
        found = _at_one(chances, logs, targets)
        if temperature == 1:
            found |= {"entropy_at": found["entropy"], "loss_at": found["loss"]}
        else:
            warm, warm_logs = _softmax(logits / temperature)
            warm_found = _at_one(warm, warm_logs, targets)
            found |= {"entropy_at": warm_found["entropy"], "loss_at": warm_found["loss"]}
        if step in todo.even:  # evenly spaced, for over a longer gap a divergence is not so many times larger
            if before is not None:
                found["change"] = (chances * (logs - before[1])).sum(axis=-1) / (step - before[0])
            before = step, logs
        if "attention" in trace:
            found["attention"] = _attention_entropy(trace["attention"])
        for name, values in found.items():
            life.setdefault(name, []).append(values)
        if step in swept:
            for name, values in _over_temperature(logits[:, ::every], targets[:, ::every]).items():
                sweep.setdefault(name, []).append(values)
    looks = trace["attention"].astype(np.float64).mean(axis=0) if "attention" in trace else None
    return _result(run, temperature, member, todo, examples, truth, life, sweep, swept, every, looks)


@result
class Now(Result):
    """Where a model stands on the plane of entropy and loss at one step."""

    point: Labelled  # (quantity,)


@np.errstate(over="ignore", invalid="ignore")
def now(run: Run, *, step: int, temperature: float = 1.0, member: int = 0) -> Now:
    """Entropy and loss at one step, on the windows of the whole life."""
    examples = _windows(run, plan(run, member).windows)
    read, targets = _counted.read(run), _counted.came(run, examples.windows)
    logits = run.trace(examples.windows[:, :-1], step=step, member=member)["logits"][:, read].astype(np.float64)
    found = _at_one(*_softmax(logits / temperature), targets)
    values = np.array([found[name].mean() for name in ("entropy", "loss")])
    return Now(step=step, clock=_clock.text(run, step, member), point=point(values))


def point(values: Array) -> Labelled:
    """(quantity,): entropy and loss."""
    return Labelled(values, {"quantity": ("entropy", "loss")}, NATS)


@lru_cache(maxsize=16)
def _windows(run: Run, most: int) -> Examples:
    """Whole windows, and what is known about those of their predictions that count."""
    return _counted.only(run, _logged.windows(run, most))


def _thinned(todo: Plan, size: int) -> list[int]:
    """The even steps, fewer of them where a prediction has many tokens, and the moments."""
    most = int(np.clip(SWEEP // (len(TEMPERATURES) * size), *SWEPT_STEPS))
    picked = np.unique(np.round(np.linspace(0, len(todo.even) - 1, min(most, len(todo.even)))).astype(int))
    return sorted({*(todo.even[k] for k in picked), *todo.moments})


def _softmax(logits: Array) -> tuple[Array, Array]:
    """Chances, and their logarithms."""
    return reference.softmax(logits), reference.log_softmax(logits)


def _at_one(chances: Array, logs: Array, targets: Array) -> dict[str, Array]:
    """(window, place): what the distributions say about themselves and about the token that came."""
    came = np.take_along_axis(logs, targets[..., None], axis=-1)[..., 0]
    return {
        "entropy": -(chances * logs).sum(axis=-1),
        "loss": -came,
        "p_max": chances.max(axis=-1),
        "p_target": np.exp(came),
    }


def _attention_entropy(attention: Array) -> Array:
    """(window, block, head): entropy of the attention, averaged over the queries."""
    weights = attention.astype(np.float64)
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1).mean(axis=-1)


def _over_temperature(logits: Array, targets: Array) -> dict[str, Array]:
    """(temperature, window): the canonical ensemble of every prediction, averaged over the places of a window.

    `unlike`, the largest of them, is how far |F − (U − T S)| is from 0.
    """
    found = ensemble(logits, TEMPERATURES)
    ground = logits.max(axis=-1) - np.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    cold = TEMPERATURES[:, None, None]
    found["loss"] = (ground - found["free_energy"]) / cold  # −ln p = (E − F) / T
    apart = np.abs(found["free_energy"] - (found["energy"] - cold * found["entropy"]))
    return {name: values.mean(axis=-1) for name, values in found.items()} | {"unlike": apart.max(axis=-1)}


def _truth(run: Run, examples: Examples) -> Array:
    """(window, place, token): what the exact predictor expects, or of a text the best table of counts."""
    context = run.architecture.context
    rows = np.array([run.task.true_distribution(window[:-1], context) for window in examples.windows])
    return rows[:, counted(run.architecture, run.task.skip).came]


def _result(
    run: Run,
    temperature: float,
    member: int,
    todo: Plan,
    examples: Examples,
    truth: Array,
    life: dict[str, list[Array]],
    sweep: dict[str, list[Array]],
    swept: list[int],
    every: int,
    looks: Array | None,
) -> Uncertainty:
    a = run.architecture
    whole = {name: np.stack(values) for name, values in life.items()}  # (step, window, place)
    attention = whole.pop("attention", None)
    changed = whole.pop("change", np.zeros((0, *whole["entropy"].shape[1:])))
    kinds = _kinds(examples)
    whole["gap"] = whole["loss_at"] - whole["entropy_at"]
    units = {"p_max": SHARE, "p_target": SHARE}
    by_step = {
        name: labelled(spread(values.mean(axis=-1)), "step", todo.steps, units.get(name, NATS))
        for name, values in whole.items()
    }
    for kind, which in kinds.items():
        for name in units:
            by_step[f"{name} {kind}"] = labelled(_pooled(whole[name], which), "step", todo.steps, SHARE)
    apart = np.stack(sweep.pop("unlike"))
    over = {name: np.stack(values) for name, values in sweep.items()}  # (step, temperature, window)
    even = np.isin(swept, todo.even)
    at = [swept.index(step) for step in todo.moments]
    axes: dict[str, Iterable[Any]] = {"step": todo.moments, "temperature": TEMPERATURES}
    at_moments = {name: Labelled(values[at].mean(axis=-1), axes, unit(name)) for name, values in over.items()}
    rows: dict[str, Iterable[Any]] = {"temperature": TEMPERATURES, "step": swept}
    part = "validation" if _judged.held_out(run) else "training"
    return Uncertainty(
        by_step=by_step,
        change={"divergence": labelled(spread(changed.mean(axis=-1)), "step", todo.even[1:], "nats per step")},
        by_temperature={
            name: labelled(spread(values[even].mean(axis=0)), "temperature", TEMPERATURES, unit(name))
            for name, values in over.items()
        },
        at_moments=at_moments,
        maps={name: Labelled(over[name].mean(axis=-1).T, rows, unit(name)) for name in ("entropy", "loss", "heat")},
        marks=extremes(at_moments),
        attention=_attention(run, todo, attention, looks),
        ladder=_ladder(run, member, examples),
        truth=_true(truth, examples, kinds),
        looked_at=tuple(todo.steps),
        moments=tuple(todo.moments),
        not_numbers=first_bad(todo.steps, by_step["entropy"].values[0]),
        last_entropy=float(by_step["entropy"].values[0, -1]),
        last_loss=float(by_step["loss_at"].values[0, -1]),
        subject="run",
        temperature=temperature,
        wanted=temperature,
        inputs=len(examples.windows),
        predictions=int(whole["entropy"][0].size),
        swept=len(examples.windows) * -(-whole["entropy"].shape[2] // every),
        inputs_are=f"{part} windows" if run.task.answers == "next" else f"{part} questions",
        tokens=a.answers,
        total=_clock.total(run),
        scale=Scale("linear", _clock.total(run)),
        exact=run.task.exact,
        unlike=float(np.nanmax(apart)) if np.isfinite(apart).any() else float("nan"),
    )


def _ladder(run: Run, member: int, examples: Examples) -> dict[str, Labelled]:
    """(rung,): of every rung that can be reached its price, its entropy, and the first logged step on or below it."""
    passed = _clock.passed(run, member)
    rungs = [rung for rung, _ in passed]
    crossed = np.array([np.nan if step is None else step for _, step in passed], dtype=np.float64)
    axis = {"rung": _clock.rung_axis(rungs)}
    return {
        "price": Labelled(np.array([rung.nats for rung in rungs]), axis, NATS),
        "entropy": Labelled(_rung_entropies(run, rungs, examples), axis, NATS),
        "crossed": Labelled(crossed, axis, "step"),
    }


def _rung_entropies(run: Run, ladder: list[Rung], examples: Examples) -> Array:
    """(rung,): the mean entropy of each way of guessing.

    A guess that is the true chance given what it looks at is as sure as it is right: its entropy is its price. Tables
    of counts are not quite; theirs is measured on some of the places.
    """
    if run.task.exact:
        return np.array([rung.nats for rung in ladder])
    windows, context = examples.windows, run.architecture.context
    picked = choose(len(windows) * context, VIEWS, np.arange(len(windows) * context) % context)
    views = [windows[k // context, : k % context + 1] for k in picked]
    chances = [np.array([rung.guess(view) for view in views]) for rung in ladder]
    return np.array([float(-(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1).mean()) for p in chances])


def _kinds(examples: Examples) -> dict[str, Array]:
    """(window, place): constrained and free places, where there are both."""
    bound = examples.constrained
    return {"constrained": bound, "free": ~bound} if bound.any() and not bound.all() else {}


def _pooled(values: Array, which: Array) -> Array:
    """(statistic, step): the mean over the chosen places of all windows; the spread over windows that have any."""
    some = which.any(axis=1)
    counts = which.sum(axis=1)[some]
    each = np.where(which, values, 0).sum(axis=-1)[:, some] / counts
    return np.concatenate([values[:, which].mean(axis=1)[None], spread(each)[1:]])


def _attention(run: Run, todo: Plan, found: Array | None, looks: Array | None) -> dict[str, Labelled]:
    a = run.architecture
    if found is None or looks is None:
        return {}
    heads = {"block": numbers(a.blocks), "head": numbers(a.heads)}
    keys = np.arange(1, a.context + 1) if a.causal else np.full(a.context, a.context)
    seen = np.tri(a.context) if a.causal else np.ones((a.context, a.context))  # (query, key)
    place = {"key_position": numbers(a.context)}
    return {
        "by_position": Labelled(looks.sum(axis=-2) / seen.sum(axis=0), heads | place, "share"),
        "even_by_position": Labelled((seen / keys[:, None]).sum(axis=0) / seen.sum(axis=0), place, "share"),
        "entropy": Labelled(np.moveaxis(found.mean(axis=1), 0, -1), heads | {"step": todo.steps}, "nats per query"),
        "if_even": Labelled(np.full((a.blocks, a.heads), np.log(keys).mean()), heads, "nats per query"),
    }


def _true(truth: Array, examples: Examples, kinds: dict[str, Array]) -> Labelled:
    """(quantity,): the exact predictor on the same windows."""
    surprise = float(-(truth * np.log(np.where(truth > 0, truth, 1))).sum(axis=-1).mean()) + 0.0
    found: dict[str, float] = {"entropy": surprise, "loss": float(-examples.truth.mean()) + 0.0}
    places = {"": np.ones(examples.constrained.shape, dtype=bool)} | {
        f" {kind}": which for kind, which in kinds.items()
    }
    for kind, which in places.items():
        found[f"p_max{kind}"] = float(truth.max(axis=-1)[which].mean())
        found[f"p_target{kind}"] = float(np.exp(examples.truth)[which].mean())
    return Labelled(np.array(list(found.values())), {"quantity": tuple(found)})
