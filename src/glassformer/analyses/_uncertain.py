"""What the analyses of uncertainty share: the numbers of one life as physics sees them, and the Boltzmann law."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import isfinite
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from glassformer import canonical
from glassformer.analyses._result import Array, Labelled, Result, fate, result
from glassformer.analyses._scale import Scale
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.words import thousands

LINES = ("mean", "10 %", "90 %")  # over inputs; one input has a mean only
NATS, SHARE, TEMPERATURE = "nats per prediction", "probability", "temperature"
CALIBRATED = 0.02  # nats between loss and entropy that count as none


@result
class Uncertainty(Result):
    """How sure a model is, and how rightly, over its life and over temperature; a part of it leaves tables empty."""

    by_step: dict[str, Labelled]  # (statistic, step): entropy, loss, p_max, p_target; at the temperature: *_at, gap
    change: dict[str, Labelled]  # (statistic, step): divergence since the step before, per step; physics: same_window
    by_temperature: dict[str, Labelled]  # (statistic, temperature): averaged over the life
    at_moments: dict[str, Labelled]  # (step, temperature): entropy, loss, energy, free_energy, heat
    maps: dict[str, Labelled]  # (temperature, step): entropy, loss, heat, of a memory its tape; (feature, step): memory
    marks: dict[str, Labelled]  # (step,): temperatures of the least loss and of the largest specific heat
    attention: dict[str, Labelled]  # (block, head, step): entropy, (block, head): if_even; by_position at the end
    ladder: dict[str, Labelled]  # (rung,) that can be reached: price, entropy, and the first logged step on or below
    truth: Labelled  # (quantity,): what the exact predictor states on the same inputs; NaN where nobody knows
    looked_at: tuple[int, ...]  # steps
    moments: tuple[int, ...]  # steps worth a line of their own
    not_numbers: int  # the first step whose predictions are none; -1: there is no such step
    last_entropy: float  # at the last step, as trained
    last_loss: float  # and at the temperature
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
    scale: Scale  # of the steps
    exact: bool = True  # False: nobody knows the truth, and the best table of counts stands in for it
    own_lives: bool = False  # whether every temperature had its own training

    @property
    def temperatures(self) -> Array:
        """(temperature,)."""
        return np.array(self.by_temperature["entropy"].axes["temperature"].values)

    @property
    def highest(self) -> float:
        """ln V: the entropy of knowing nothing."""
        return float(np.log(self.tokens))

    @property
    def known(self) -> bool:
        """Whether the true distribution is known."""
        return bool(np.isfinite(self.truth.values).any())

    @property
    def sample(self) -> str:
        """On what the numbers are measured, for the logged loss is of more windows; nothing of a single input."""
        return f" ({thousands(self.inputs)} {self.inputs_are})" if self.inputs > 1 else ""

    @property
    def as_trained(self) -> bool:
        """Whether the temperature is that of the training."""
        return self.temperature == 1 or self.own_lives

    def true(self, quantity: str) -> float:
        """What the exact predictor states; NaN where that is not known."""
        names = self.truth.axes["quantity"].labels
        return float(self.truth.values[names.index(quantity)]) if quantity in names else float("nan")

    @property
    def calibrated(self) -> float:
        """Loss minus entropy of the exact predictor on these inputs: 0 but for their being a sample; 0 if unknown."""
        found = self.true("loss") - self.true("entropy")
        return found if np.isfinite(found) and self.exact else 0.0

    @property
    def no_story(self) -> str:
        """The title of a life in which there is nothing to compare; empty: there is."""
        if self.not_numbers >= 0:
            return fate("the predictions are not numbers", since=self.not_numbers)
        if len(self.looked_at) == 1:
            both = f"entropy {nats(self.last_entropy)} and loss {self.last_loss:.2f} nats"
            return f"Only step {thousands(self.looked_at[0])} was kept: {both}"
        return ""


@runtime_checkable
class Lived(Protocol):
    """A life that is no run's, and says of itself how sure it was: that of a physics model."""

    def uncertainty(self, temperature: float, step: int) -> Uncertainty:
        """Every diagnostic, at the temperature it has nearest to this one; `step` is looked at too, -1: none."""
        ...


Subject = Run | Lived
Part = TypeVar("Part", bound=Uncertainty)


def part(kind: type[Part], seen: Uncertainty, *names: str, **more: Any) -> Part:
    """What was seen as this kind of result, with some of its tables alone: all `marks`, or one `by_step.entropy`."""
    kept: dict[str, Any] = {}
    for each in fields(Uncertainty):
        value = getattr(seen, each.name)
        if isinstance(value, Mapping) and each.name not in names:
            value = {key: one for key, one in value.items() if f"{each.name}.{key}" in names}
        kept[each.name] = value
    return kind(**kept | more)


def at_temperature(temperature: float) -> float:
    """The number itself, if a system can have this temperature."""
    if isinstance(temperature, bool) or not isinstance(temperature, int | float | np.number):
        raise CallError(f"temperature = {temperature!r} is not a number above 0")
    if not isfinite(temperature) or temperature <= 0:
        raise CallError(f"temperature = {temperature} is not a number above 0; near 0 all goes to the likeliest token")
    return float(temperature)


def ensemble(logits: Array, temperatures: Sequence[float] | Array) -> dict[str, Array]:
    """(temperature, ...): entropy, mean energy, free energy and specific heat of logits (..., token).

    A token's energy is minus its logit, counted from the likeliest token, whose energy is 0: chances and specific heat
    do not depend on where one begins to count.
    """
    cold = np.asarray(temperatures, dtype=np.float64)
    ground = logits - logits.max(axis=-1, keepdims=True)
    chances = canonical.boltzmann(ground, cold)
    return {
        "entropy": canonical.entropy(chances),
        "energy": canonical.energy(chances, ground),
        "free_energy": canonical.free_energy(ground, cold),
        "heat": canonical.specific_heat(chances, ground, cold),
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
    """(statistic, step): mean and the middle eight in ten of values (step, input); an input without a value is NaN."""
    some = np.isfinite(values).any(axis=0)
    values = values[:, some]
    if not values.shape[1]:
        return np.full((3, len(values)), np.nan)
    return np.stack([values.mean(axis=1), *np.quantile(values, [0.1, 0.9], axis=1)])


def labelled(values: Array, axis: str, places: Sequence[float] | Array, unit: str) -> Labelled:
    """(statistic, axis): one line or all three."""
    return Labelled(values, {"statistic": LINES[: len(values)], axis: places}, unit)


def extremes(at_moments: Mapping[str, Labelled]) -> dict[str, Labelled]:
    """(step,): the temperature at which the loss is least, and the one at which the specific heat is largest."""
    axes = at_moments["loss"].axes
    cold = np.array(axes["temperature"].values)

    def where(values: Array) -> Labelled:
        sound = np.isfinite(values).all(axis=1)
        found = np.where(sound, cold[np.argmax(np.where(np.isfinite(values), values, -np.inf), axis=1)], np.nan)
        return Labelled(found, {"step": axes["step"]}, TEMPERATURE)

    return {"least_loss": where(-at_moments["loss"].values), "most_heat": where(at_moments["heat"].values)}


def first_bad(steps: Sequence[int] | Array, entropy: Array) -> int:
    """The first of these steps whose entropy is not a number; -1: there is none."""
    bad = np.flatnonzero(~np.isfinite(entropy))
    return int(steps[bad[0]]) if len(bad) else -1


# ---- words ----------------------------------------------------------------------------------------------------------


def moves(values: Array) -> str:
    """falls, or rises."""
    return "falls" if values[-1] < values[0] else "rises"


def place(value: float, cold: Array) -> str:
    """`at T ≈ 0.42`, or at the edge of what was looked at."""
    inside = cold[0] < value < cold[-1]
    return f"at T ≈ {value:.2g}" if inside else f"at the {'hottest' if value >= cold[-1] else 'coldest'} T ({value:g})"


def nats(value: float) -> str:
    """Two digits that count, three below a tenth."""
    return f"{value:.2f}" if value >= 0.095 or value == 0 else f"{value:.3f}"


def small(value: float) -> str:
    """0.012, 5e−10: few digits, however small."""
    if not np.isfinite(value):
        return "not a number"
    return f"{value:.3g}" if value >= 1e-3 or value == 0 else f"{value:.0e}".replace("e-0", "e-").replace("-", "\u2212")
