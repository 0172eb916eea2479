"""What the analyses of uncertainty share: the numbers of one life as physics sees them, and the Boltzmann law."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import Any

import numpy as np

from glassformer.analyses._result import Array, Labelled, Result, result
from glassformer.errors import CallError
from glassformer.physics import _canonical

LINES = ("mean", "10 %", "90 %")  # over inputs; one input has a mean only
NATS, SHARE, TEMPERATURE = "nats per prediction", "probability", "temperature"


@result
class Uncertainty(Result):
    """How sure a model is, and how rightly, over its life and over temperature. Axes `line`: see LINES."""

    by_step: dict[str, Labelled]  # (line, step): entropy, loss, p_max, p_target; at the temperature: *_at, gap
    change: dict[str, Labelled]  # (line, step): divergence per step since the step before; `same_window` for physics
    by_temperature: dict[str, Labelled]  # (line, temperature): averaged over the life
    at_moments: dict[str, Labelled]  # (moment, temperature): entropy, loss, energy, free_energy, heat
    maps: dict[
        str, Labelled
    ]  # (temperature, step): entropy, loss, heat; a fading memory: tape, and (feature, step): memory
    marks: dict[str, Labelled]  # (moment,): temperatures of the least loss and of the largest specific heat
    attention: dict[str, Labelled]  # (block, head, step): entropy, and (block, head): if_even; by_position at the end
    truth: Labelled  # (quantity,): what the exact predictor states on the same inputs; NaN where nobody knows
    rungs: Labelled  # (rung,): price of each partial understanding
    rung_entropies: Labelled  # (rung,): how sure each is; where the truth is known, exactly its price
    crossed: Labelled  # (rung,): the first logged step on or below; NaN where there is none
    reachable: tuple[bool, ...]
    moments: tuple[int, ...]  # steps worth a line of their own
    subject: str  # run, one_layer or boltzmann_memory
    temperature: float  # the one used
    wanted: float  # the one asked for
    inputs: int
    predictions: int  # on all inputs, at one step
    swept: int  # predictions looked at over all temperatures
    inputs_are: str
    tokens: int
    total: int  # steps of the whole life
    unlike: float  # largest |F − (U − T S)| found
    exact: bool = True  # False: nobody knows the truth, and the best table of counts stands in for it
    own_lives: bool = False  # whether every temperature had its own training

    @property
    def looked_at(self) -> Array:
        """(step,): where the life was looked at."""
        return np.array([int(label) for label in self.by_step["entropy"].axes["step"].labels])

    @property
    def temperatures(self) -> Array:
        """(temperature,)."""
        return np.array([float(label) for label in self.by_temperature["entropy"].axes["temperature"].labels])

    @property
    def highest(self) -> float:
        """ln V: the entropy of knowing nothing."""
        return float(np.log(self.tokens))

    @property
    def known(self) -> bool:
        """Whether the true distribution is known."""
        return bool(np.isfinite(self.truth.values).any())

    def true(self, quantity: str) -> float:
        """What the exact predictor states; NaN where that is not known."""
        names = self.truth.axes["quantity"].labels
        return float(self.truth.values[names.index(quantity)]) if quantity in names else float("nan")

    @property
    def calibrated(self) -> float:
        """Loss minus entropy of the exact predictor on these inputs: 0 but for their being a sample; 0 if unknown."""
        found = self.true("loss") - self.true("entropy")
        return found if np.isfinite(found) and self.exact else 0.0

    def only(self, *names: str) -> "Uncertainty":
        """The same with these arrays of its tables alone (`by_step.entropy` …), for the file beside a figure."""
        kept: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Mapping):
                kept[field.name] = {key: each for key, each in value.items() if f"{field.name}.{key}" in names}
        return replace(self, **kept)


def at_temperature(temperature: float) -> float:
    """The number itself, if a system can have this temperature."""
    if isinstance(temperature, bool) or not isinstance(temperature, int | float | np.number):
        raise CallError(f"temperature = {temperature!r} is not a number above 0")
    if not isfinite(temperature) or temperature <= 0:
        raise CallError(f"temperature = {temperature} is not a number above 0; near 0 all goes to the likeliest token")
    return float(temperature)


def canonical(logits: Array, temperatures: Sequence[float] | Array) -> dict[str, Array]:
    """(temperature, ...): entropy, mean energy, free energy and specific heat of logits (..., token).

    A token's energy is minus its logit, counted from the likeliest token, whose energy is 0: chances and specific heat
    do not depend on where one begins to count.
    """
    cold = np.asarray(temperatures, dtype=np.float64)
    ground = logits - logits.max(axis=-1, keepdims=True)
    chances = _canonical.boltzmann(ground, cold)
    return {
        "entropy": _canonical.entropy(chances),
        "energy": _canonical.energy(chances, ground),
        "free_energy": _canonical.free_energy(ground, cold),
        "heat": _canonical.specific_heat(chances, ground, cold),
    }


def unit(name: str) -> str:
    """Of a quantity of the canonical ensemble; energies are measured in logits."""
    return {"entropy": NATS, "loss": NATS, "heat": "nats per unit of temperature"}.get(name, "logits")


def unlike(found: Mapping[str, Array], temperatures: Array) -> float:
    """The largest |F − (U − T S)|: zero but for rounding, if energies, entropies and free energies fit together."""
    cold = np.reshape(temperatures, (-1, *[1] * (found["entropy"].ndim - 1)))
    gap = np.abs(found["free_energy"] - (found["energy"] - cold * found["entropy"]))
    return float(np.nanmax(gap)) if np.isfinite(gap).any() else float("nan")


def spread(values: Array) -> Array:
    """(line, step): mean and the middle eight in ten of values (step, input); an input without a value is NaN."""
    some = np.isfinite(values).any(axis=0)
    values = values[:, some]
    if not values.shape[1]:
        return np.full((3, len(values)), np.nan)
    return np.stack([values.mean(axis=1), *np.quantile(values, [0.1, 0.9], axis=1)])


def labelled(values: Array, steps: Sequence[int] | Array, unit: str) -> Labelled:
    """(line, step): one line or all three."""
    return Labelled(values, {"line": LINES[: len(values)], "step": tuple(map(str, steps))}, unit)


def extremes(at_moments: Mapping[str, Labelled]) -> dict[str, Labelled]:
    """(moment,): the temperature at which the loss is least, and the one at which the specific heat is largest."""
    axes = at_moments["loss"].axes
    cold = np.array([float(label) for label in axes["temperature"]])

    def where(values: Array) -> Labelled:
        sound = np.isfinite(values).all(axis=1)
        found = np.where(sound, cold[np.argmax(np.where(np.isfinite(values), values, -np.inf), axis=1)], np.nan)
        return Labelled(found, {"moment": axes["moment"]}, TEMPERATURE)

    return {"least_loss": where(-at_moments["loss"].values), "most_heat": where(at_moments["heat"].values)}


def named(temperatures: Array) -> tuple[str, ...]:
    """Labels of temperatures, exact enough to be read back."""
    return tuple(f"{each:.10g}" for each in temperatures)
