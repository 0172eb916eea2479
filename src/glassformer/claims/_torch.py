"""The random numbers that PyTorch draws on a processor, for the source's examples that begin with `manual_seed`.

PyTorch takes the low 24 bits of each 32-bit number of the Mersenne twister as a share of 1. A layer's weights lie
evenly between ± 1/√inputs; normal numbers come sixteen at a time, by the rule of Box and Muller.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
AT_ONCE = 16  # normal numbers that are made together


class Generator:
    """`torch.manual_seed(seed)`, and what is drawn after it."""

    def __init__(self, seed: int) -> None:
        self.bits = np.random.MT19937()
        self.bits._legacy_seeding(seed)  # seeds of 32 bits, as everybody's twister had once

    def uniform(self, many: int) -> Array:
        """Shares of 1."""
        raw = self.bits.random_raw(many) & ((1 << 24) - 1)
        return (raw / np.float64(1 << 24)).astype(np.float32)

    def normal(self, *shape: int) -> Array:
        """Normal numbers, of which there must be a multiple of sixteen."""
        parts = self.uniform(int(np.prod(shape))).reshape(-1, 2, AT_ONCE // 2)
        radius, angle = np.sqrt(-2 * np.log(1 - parts[:, 0])), np.float32(2 * np.pi) * parts[:, 1]
        made = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        return made.reshape(shape).astype(np.float32)

    def linear(self, inputs: int, outputs: int) -> Array:
        """(output, input): the weights of a layer."""
        return self._within(1 / sqrt(inputs), outputs * inputs).reshape(outputs, inputs)

    def bias(self, inputs: int, outputs: int) -> Array:
        """(output,): its biases, which are drawn after the weights."""
        return self._within(1 / sqrt(inputs), outputs)

    def _within(self, limit: float, many: int) -> Array:
        return (self.uniform(many) * np.float32(2 * limit) - np.float32(limit)).astype(np.float32)
