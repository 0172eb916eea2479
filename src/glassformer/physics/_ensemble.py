"""What the physics models have in common: one system at several temperatures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.canonical import Array, entropy, loss

if TYPE_CHECKING:
    from glassformer.analyses._uncertain import Uncertainty
    from glassformer.analyses.attend.attention_profile import AttentionProfile


@dataclass(frozen=True, kw_only=True, eq=False)
class Ensemble:
    """One system at several temperatures, step by step. Entropies and losses are in nats."""

    settings: Any  # of the model; it names the target
    steps: Array  # (step,)
    temperatures: Array  # (temperature,)
    probabilities: Array  # (temperature, step, token)

    @property
    def target(self) -> int:
        """The token that is always right."""
        return int(self.settings.target)

    @property
    def entropy(self) -> Array:
        """(temperature, step): uncertainty about the next token."""
        return entropy(self.probabilities)

    @property
    def loss(self) -> Array:
        """(temperature, step): surprise at the target."""
        return loss(self.probabilities, self.target)

    @property
    def mean_entropy(self) -> Array:
        """(temperature,): entropy averaged over the steps."""
        return self.entropy.mean(axis=1)

    @property
    def nearest_one(self) -> int:
        """Index of the temperature nearest to 1."""
        return int(np.abs(self.temperatures - 1).argmin())

    def uncertainty(self, temperature: float, step: int) -> "Uncertainty":
        """How sure it was and how rightly, as the analyses of uncertainty ask any life."""
        from glassformer.physics._told import uncertainty

        return uncertainty(self, temperature, step)

    def attention_profile(self, step: int) -> "AttentionProfile":
        """How far back it looked."""
        from glassformer.physics._told import attention_profile

        return attention_profile(self, step)


def holds_from(holds: Array) -> int | None:
    """The first step from which something holds to the end; None: it does not hold at the last one."""
    fails = np.flatnonzero(~holds)
    first = int(fails[-1]) + 1 if len(fails) else 0
    return first if first < len(holds) else None


def next_token(chances: Array, feedback: str, draw: float) -> Array:
    """(...,): the token that is read next: the most likely one, or one drawn by its chance with a random number."""
    below: Array = (chances.cumsum(axis=-1) <= draw).sum(axis=-1)  # how many tokens end before the number drawn
    likely: Array = chances.argmax(axis=-1)
    return likely if feedback == "argmax" else np.minimum(below, chances.shape[-1] - 1)
