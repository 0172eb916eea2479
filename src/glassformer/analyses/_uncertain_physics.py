"""The same diagnostics of a physics model: one input, every step, every temperature."""

import numpy as np

from glassformer.analyses._result import Array, Labelled, shared, thousands
from glassformer.analyses._uncertain import (
    NATS,
    SHARE,
    Uncertainty,
    canonical,
    extremes,
    labelled,
    named,
    unit,
    unlike,
)
from glassformer.errors import MissingError
from glassformer.physics import _canonical
from glassformer.physics.models.boltzmann_memory import Memory
from glassformer.physics.models.one_layer import Life

Lived = Life | Memory


def nearest(life: Lived, step: int) -> int:
    """The step itself, with -1 as the last; one that was never lived is refused."""
    if step == -1:
        return int(life.steps[-1])
    if not 0 <= step < len(life.steps):
        raise MissingError(f"step {step} was not lived; the nearest: {int(np.clip(step, 0, life.steps[-1]))}")
    return int(step)


def clock(life: Lived, seen: Uncertainty, step: int) -> str:
    """`step 59 of 59 · loss 0.01`."""
    step, last = nearest(life, step), int(life.steps[-1])
    loss = float(seen.by_step["loss_at"].values[0, step])
    return f"step {thousands(step)} of {thousands(last)} · loss {loss:.2f} at T = {seen.temperature:.4g}"


@shared
def lived(life: Lived, temperature: float, also: int) -> Uncertainty:
    """Every diagnostic; at the temperature of the ensemble nearest to the one asked for. `also`: a moment more."""
    cold = np.asarray(life.temperatures, dtype=np.float64)
    near = int(np.abs(cold - temperature).argmin())
    own = isinstance(life, Memory)
    trained = life.probabilities[near] if isinstance(life, Memory) else life.trained  # (step, token)
    found = _ensemble(life, cold)
    moments = sorted({*_moments(life, trained), *([] if also == -1 else [also])})
    axes = {"moment": tuple(map(str, moments)), "temperature": named(cold)}
    at_moments = {name: Labelled(values[:, moments].T, axes, unit(name)) for name, values in found.items()}
    loss = _canonical.loss(trained, life.target)
    by_step = {
        "entropy": _canonical.entropy(trained),
        "loss": loss,
        "gap": life.loss[near] - life.entropy[near],
        "p_max": trained.max(axis=1),
        "p_target": trained[:, life.target],
        "entropy_at": life.entropy[near],
        "loss_at": life.loss[near],
    }
    units = {"p_max": SHARE, "p_target": SHARE}
    change = {"divergence": _canonical.divergence(trained[1:], trained[:-1])}
    if isinstance(life, Life):
        change["same_window"] = life.alike
    return Uncertainty(
        by_step={name: labelled(v[None], life.steps, units.get(name, NATS)) for name, v in by_step.items()},
        change={name: labelled(v[None], life.steps[1:], "nats per step") for name, v in change.items()},
        by_temperature={
            name: Labelled(v.mean(axis=1)[None], {"line": ("mean",), "temperature": named(cold)}, unit(name))
            for name, v in found.items()
        },
        at_moments=at_moments,
        maps=_maps(life, found, cold, near),
        marks=extremes(at_moments),
        attention=_attention(life),
        truth=Labelled(np.array([0.0, 0.0, 1.0, 1.0]), {"quantity": ("entropy", "loss", "p_max", "p_target")}),
        rungs=Labelled(np.zeros(0), {"rung": ()}, NATS),
        rung_entropies=Labelled(np.zeros(0), {"rung": ()}, NATS),
        crossed=Labelled(np.zeros(0), {"rung": ()}, "step"),
        reachable=(),
        moments=tuple(moments),
        subject="boltzmann_memory" if own else "one_layer",
        temperature=float(cold[near]),
        wanted=temperature,
        inputs=1,
        predictions=1,
        swept=1,
        inputs_are="input",
        tokens=trained.shape[1],
        total=int(life.steps[-1]),
        unlike=unlike(found, cold),
        own_lives=own,
    )


def _ensemble(life: Lived, cold: Array) -> dict[str, Array]:
    """(temperature, step): the canonical ensemble; where every temperature has its own life, of its own logits."""
    if isinstance(life, Memory):
        each = [canonical(logits, [t]) for logits, t in zip(life.logits, cold, strict=True)]
        found = {name: np.concatenate([one[name] for one in each]) for name in each[0]}
    else:
        found = canonical(life.logits, cold)
    return found | {"entropy": life.entropy, "loss": life.loss}


def _moments(life: Lived, trained: Array) -> list[int]:
    """First, before and after the largest change, half-way from there to the end, last."""
    last = len(life.steps) - 1
    jump = int(_canonical.divergence(trained[1:], trained[:-1]).argmax()) + 1
    return sorted({0, jump - 1, jump, (jump + last) // 2, last})


def _maps(life: Lived, found: dict[str, Array], cold: Array, near: int) -> dict[str, Labelled]:
    over = {"temperature": named(cold), "step": tuple(map(str, life.steps))}
    maps = {name: Labelled(found[name], over, unit(name)) for name in ("entropy", "loss", "heat")}
    if isinstance(life, Memory):
        features = tuple(map(str, range(life.memory.shape[2])))
        kept = {"feature": features, "step": over["step"]}
        maps["memory"] = Labelled(life.memory[near].T, kept, "strength")
        maps["tape"] = Labelled(life.tape, over, "token")
    return maps


def _attention(life: Lived) -> dict[str, Labelled]:
    """(block, head, step): one block, one head, one query."""
    if not isinstance(life, Life):
        return {}
    one = {"block": ("0",), "head": ("0",)}
    many = life.attention.shape[1]
    even, place = np.full((1, 1), np.log(many)), {"key_position": tuple(map(str, range(many)))}
    return {
        "by_position": Labelled(life.mean_attention[None, None], one | place, "share"),
        "even_by_position": Labelled(np.full(many, 1 / many), place, "share"),
        "entropy": Labelled(
            _canonical.entropy(life.attention)[None, None],
            one | {"step": tuple(map(str, life.steps))},
            "nats per query",
        ),
        "if_even": Labelled(even, one, "nats per query"),
    }
