"""What a model computed on one input: every value under its name, every axis with its labels."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer import glossary
from glassformer.errors import unknown

Array = NDArray[Any]

PLACES = ("position", "query_position", "key_position")


class Trace(Mapping[str, Array]):
    """Values by name. `tokens` are the ids that went in, `step` the age of the model that saw them."""

    def __init__(self, values: Mapping[str, Array], tokens: Array, step: int, words: Sequence[str]) -> None:
        self.tokens, self.step = tokens, step
        self._values, self._words = dict(values), tuple(words)

    def __getitem__(self, name: str) -> Array:
        if name not in self._values:
            raise unknown(name, "the trace", self._values)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def axes(self, name: str) -> dict[str, tuple[str, ...]]:
        """Each axis of a value, in order, with the label of each place; positions are labelled by their tokens."""
        shape, axes = self[name].shape, glossary.axes(name)
        axes = ("batch",) * (len(shape) - len(axes)) + axes  # position_embedding has no batch, whatever went in
        return {axis: self._labels(axis, size) for axis, size in zip(axes, shape, strict=True)}

    def _labels(self, axis: str, size: int) -> tuple[str, ...]:
        if axis == "token":
            return self._words[:size]
        if axis in PLACES and self.tokens.ndim == 1:
            return tuple(self._words[token] for token in self.tokens)
        return tuple(str(place) for place in np.arange(size))
