"""The Boltzmann law and what follows from it: logits are minus energies, and a temperature makes them chances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.reference import softmax

Array = NDArray[Any]
TINY = 1e-300  # keeps the logarithm of a chance that rounds to zero finite


def boltzmann(logits: Array, temperatures: Array) -> Array:
    """p = exp(logit / T) / Σ exp(logit / T) for every temperature: (temperature, ..., token)."""
    cold = np.asarray(temperatures, dtype=float).reshape(-1, *[1] * logits.ndim)
    return softmax(logits / cold)


def entropy(chances: Array) -> Array:
    """H = −Σ p ln p over the last axis, in nats: 0 when one token is certain, ln N when all are alike."""
    return -(chances * np.log(chances + TINY)).sum(axis=-1)


def loss(chances: Array, target: int) -> Array:
    """L = −ln p(target), in nats: how surprised the model is by the right answer."""
    return -np.log(chances[..., target] + TINY)


def divergence(now: Array, before: Array, floor: float = 1e-12) -> Array:
    """D = Σ p ln(p / q) over the last axis, in nats: how far one distribution has moved from another."""
    return (now * np.log((now + floor) / (before + floor))).sum(axis=-1)


def energy(chances: Array, logits: Array) -> Array:
    """U = Σ p E with E = −logit: the mean energy at a temperature."""
    return -(chances * logits).sum(axis=-1)


def specific_heat(chances: Array, logits: Array, temperatures: Array) -> Array:
    """C = Var(E) / T² = dU/dT: how much energy one more degree takes; (temperature, ...)."""
    centred = logits + energy(chances, logits)[..., None]
    variance = (chances * centred**2).sum(axis=-1)
    return variance / np.reshape(temperatures, (-1, *[1] * (variance.ndim - 1))) ** 2


def free_energy(logits: Array, temperatures: Array) -> Array:
    """F = −T ln Z = U − T H: what the system has left to lower; (temperature, ...)."""
    cold = np.asarray(temperatures, dtype=float).reshape(-1, *[1] * (logits.ndim - 1))
    top = logits.max(axis=-1)
    scaled = (logits - top[..., None]) / cold[..., None]
    return -(top + cold * np.log(np.exp(scaled).sum(axis=-1)))


def heat_peak(logits: Array) -> tuple[float, float]:
    """Temperature and height of the largest specific heat of some levels: bracketed by a scale of them, then solved.

    dC/dT = (κ₃/T − 2 κ₂) / T³ with the second and third central moments of the energy, and is 0 at the peak.
    """
    scale = np.geomspace(1e-2, 1e2, 400) * max(float(logits.std()), 1e-9)
    k = int(specific_heat(boltzmann(logits, scale), logits, scale).argmax())
    cold, hot = float(scale[max(k - 1, 0)]), float(scale[min(k + 1, len(scale) - 1)])
    for _ in range(60):  # each halves the bracket, down to rounding
        middle = (cold + hot) / 2
        chances = softmax(logits / middle)
        centred = energy(chances, logits) + logits  # minus the energy above its mean
        rising = -(chances * centred**3).sum() / middle > 2 * (chances * centred**2).sum()
        cold, hot = (middle, hot) if rising else (cold, middle)
    at = np.array([cold])
    return cold, float(specific_heat(boltzmann(logits, at), logits, at)[0])
