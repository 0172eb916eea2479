"""The sum of two numbers modulo 113, from three tenths of all pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Literal

import numpy as np

from glassformer.settings import setting
from glassformer.tasks._questions import Listed, Questions, certain, dealt
from glassformer.tasks._task import IntArray

P = 113
EQUALS = P


@dataclass(frozen=True, kw_only=True)
class ModularAddition(Questions):
    """`a b =`: no partial understanding pays, so a model learns by heart long before it understands.

    With `split = "unordered"` a pair and its mirror image are in the same part; otherwise knowing that a + b = b + a
    answers three tenths of the test pairs.
    """

    share: float = setting("share of all pairs, for training", 0.3, above=0.0, below=1.0)
    split: Literal["ordered", "unordered"] = setting(
        "unordered: a pair and its mirror image are in one part", "ordered"
    )

    vocabulary = (*map(str, range(P)), "=")
    showcase = ("5 9 =", "100 100 =", "112 1 =")
    kinds = ("mirror image in training", "wholly new")
    rungs = {"the rule": lambda question: question}  # noqa: RUF012  # one number alone says nothing at all

    @property
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Numbers, and the sign."""
        return {"number": range(P), "sign": (EQUALS,)}

    @property
    def outputs(self) -> int:
        """The sign is no answer."""
        return P

    def listed(self) -> Listed:
        """All 12,769 pairs."""
        a, b = np.divmod(np.arange(P * P), P)
        questions = np.column_stack([a, b, np.full(P * P, EQUALS)])
        answers = (a + b) % P
        train, test = dealt(self._units(), (self.share, 1 - self.share), self.seed)
        kind = np.where(np.isin(b * P + a, train), 0, 1)
        return Listed(questions, certain(answers, P + 1), answers, kind, {"train": train, "validation": test})

    def _units(self) -> list[IntArray]:
        if self.split == "ordered":
            return list(np.arange(P * P)[:, None])
        return [np.unique([a * P + b, b * P + a]) for a, b in combinations_with_replacement(range(P), 2)]
