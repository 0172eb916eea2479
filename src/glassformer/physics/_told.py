"""The life of a physics model as the results of analyses: one input, every step, every temperature."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from glassformer import canonical
from glassformer.analyses import _uncertain
from glassformer.analyses._result import Labelled, numbers, shared
from glassformer.analyses._scale import Scale
from glassformer.analyses._uncertain import NATS, SHARE, Uncertainty, labelled, unit
from glassformer.analyses.attend.attention_profile import LINES, AttentionProfile
from glassformer.canonical import Array
from glassformer.errors import CallError, MissingError
from glassformer.physics._ensemble import Ensemble
from glassformer.physics.models.boltzmann_memory import Memory
from glassformer.physics.models.one_layer import Life
from glassformer.words import thousands

Axes = dict[str, Iterable[Any]]


@shared
def uncertainty(life: Ensemble, temperature: float, step: int) -> Uncertainty:
    """Every diagnostic, at the temperature of the ensemble nearest to the one asked for; `step` is a moment more."""
    assert isinstance(life, Life | Memory)
    last = int(life.steps[-1])
    if not -1 <= step <= last:
        raise MissingError(f"step {step} was not lived; the nearest: {int(np.clip(step, 0, last))}")
    cold = np.asarray(life.temperatures, dtype=np.float64)
    near = int(np.abs(cold - temperature).argmin())
    own = isinstance(life, Memory)
    trained = life.probabilities[near] if isinstance(life, Memory) else life.trained  # (step, token)
    found = _ensemble(life, cold)
    moved = canonical.divergence(trained[1:], trained[:-1])
    moments = sorted({*_moments(moved), *([] if step == -1 else [step])})
    axes: Axes = {"step": moments, "temperature": cold}
    at_moments = {name: Labelled(values[:, moments].T, axes, unit(name)) for name, values in found.items()}
    by_step = {
        "entropy": canonical.entropy(trained),
        "loss": canonical.loss(trained, life.target),
        "gap": life.loss[near] - life.entropy[near],
        "p_max": trained.max(axis=1),
        "p_target": trained[:, life.target],
        "entropy_at": life.entropy[near],
        "loss_at": life.loss[near],
    }
    units = {"p_max": SHARE, "p_target": SHARE}
    change = {"divergence": moved} | ({"same_window": life.alike} if isinstance(life, Life) else {})
    clock = f"step {thousands(last if step == -1 else step)} of {thousands(last)}"
    return Uncertainty(
        step=None if step == -1 else step,
        clock=f"{clock} · loss {life.loss[near, step]:.2f} at T = {cold[near]:.4g}",
        by_step={name: labelled(v[None], "step", life.steps, units.get(name, NATS)) for name, v in by_step.items()},
        change={name: labelled(v[None], "step", life.steps[1:], "nats per step") for name, v in change.items()},
        by_temperature={
            name: labelled(v.mean(axis=1)[None], "temperature", cold, unit(name)) for name, v in found.items()
        },
        at_moments=at_moments,
        maps=_maps(life, found, cold, near),
        marks=_uncertain.extremes(at_moments),
        attention=_attention(life) if isinstance(life, Life) else {},
        ladder={},
        truth=Labelled(np.array([0.0, 0.0, 1.0, 1.0]), {"quantity": ("entropy", "loss", "p_max", "p_target")}),
        looked_at=tuple(life.steps.tolist()),
        moments=tuple(moments),
        not_numbers=_uncertain.first_bad(life.steps, by_step["entropy"]),
        last_entropy=float(by_step["entropy"][-1]),
        last_loss=float(life.loss[near, -1]),
        subject="boltzmann_memory" if own else "one_layer",
        temperature=float(cold[near]),
        wanted=temperature,
        inputs=1,
        predictions=1,
        swept=1,
        inputs_are="input",
        tokens=trained.shape[1],
        total=last,
        scale=Scale("linear", last),
        unlike=_uncertain.unlike(found, cold),
        own_lives=own,
    )


def _ensemble(life: Life | Memory, cold: Array) -> dict[str, Array]:
    """(temperature, step): the canonical ensemble; where every temperature has its own life, of its own logits."""
    if isinstance(life, Memory):
        each = [_uncertain.ensemble(logits, [t]) for logits, t in zip(life.logits, cold, strict=True)]
        found = {name: np.concatenate([one[name] for one in each]) for name in each[0]}
    else:
        found = _uncertain.ensemble(life.logits, cold)
    return found | {"entropy": life.entropy, "loss": life.loss}


def _moments(moved: Array) -> list[int]:
    """First, before and after the largest change, half-way from there to the end, last."""
    last, jump = len(moved), int(moved.argmax()) + 1
    return sorted({0, jump - 1, jump, (jump + last) // 2, last})


def _maps(life: Life | Memory, found: dict[str, Array], cold: Array, near: int) -> dict[str, Labelled]:
    over = {"temperature": cold, "step": life.steps}
    maps = {name: Labelled(found[name], over, unit(name)) for name in ("entropy", "loss", "heat")}
    if isinstance(life, Memory):
        kept = {"feature": numbers(life.memory.shape[2]), "step": life.steps}
        maps["memory"] = Labelled(life.memory[near].T, kept, "strength")
        maps["tape"] = Labelled(life.tape, over, "token")
    return maps


def _attention(life: Life) -> dict[str, Labelled]:
    """(block, head, step): one block, one head, one query."""
    one, many = {"block": numbers(1), "head": numbers(1)}, life.attention.shape[1]
    place = {"key_position": numbers(many)}
    entropies = canonical.entropy(life.attention)[None, None]
    return {
        "by_position": Labelled(life.mean_attention[None, None], one | place, "share"),
        "even_by_position": Labelled(np.full(many, 1 / many), place, "share"),
        "entropy": Labelled(entropies, one | {"step": life.steps}, "nats per query"),
        "if_even": Labelled(np.full((1, 1), np.log(many)), one, "nats per query"),
    }


def attention_profile(life: Ensemble, step: int) -> AttentionProfile:
    """Mean attention over the steps of its life, each of which has one input."""
    if not isinstance(life, Life):
        raise CallError("this model has no attention")
    known = uncertainty(life, 1.0, step)
    found = life.attention  # (step, position); the last position asks
    lines = np.stack([found.mean(axis=0), *np.quantile(found, [0.1, 0.9], axis=0), found[0]])[:, None, None]
    many = found.shape[1]
    heads: Axes = {"statistic": LINES, "block": numbers(1), "head": numbers(1)}
    distance: Axes = {"distance": numbers(many)}
    position: Axes = {"key_position": numbers(many)}
    alike = np.full(many, 1 / many)
    return AttentionProfile(
        clock=known.clock,
        by_distance=Labelled(lines[..., ::-1], heads | distance, "share"),
        by_position=Labelled(lines, heads | position, "share"),
        uniform_by_distance=Labelled(alike, distance, "share"),
        uniform_by_position=Labelled(alike, position, "share"),
        seen_by_distance=Labelled(np.ones(many), distance, "share"),
        seen_by_position=Labelled(np.ones(many), position, "share"),
        entropy=known.attention["entropy"],
        if_alike=known.attention["if_even"],
        marked=step,
        entropy_windows=1,
        lowest=float(found.min()),
        highest=float(found.max()),
        steps_are_inputs=True,
        windows=len(found),
        asked=0,
        copied=True,
        first=int(life.steps[0]),
        causal=True,
    )
