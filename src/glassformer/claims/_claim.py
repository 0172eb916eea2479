"""A statement of a source, the computation that settles it, and what came out.

A file of claims is a list of functions. Each computes, and its verdict follows from the numbers:

    @claim("S1-01", "102,016 parameters", place="1.P1", how="A", stated={"parameters": 102_016}, figure="parameters")
    def parameters() -> Found:
        made = load("five_operations").architecture
        return Found({"parameters": made.parameters}, idea=..., truth=f"{made.parameters:,} with the output bias")

What must be trained first is asked for and handed over: `needs=[trained("mary", seeds=16)]` gives the function a run.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from glassformer.study import Spread, spread

Verdict = Literal["reproduced", "corrected", "refuted", "illustrative", "not checkable"]
How = Literal["A", "E", "D", "P", "R", "S", "B", "T"]
HOW: dict[How, str] = {
    "A": "arithmetic",
    "E": "enumeration of the task",
    "D": "the data set or its tokenizer",
    "P": "the physics model",
    "R": "one ready-made run",
    "S": "many seeds",
    "B": "trained again without a part",
    "T": "traces over kept steps",
}
Number = float | int | Spread


@dataclass(frozen=True)
class OverSeeds(Spread):
    """A median and its interval, over so many seeds."""

    seeds: int


@dataclass(frozen=True)
class Need:
    """Something that is trained before a claim can be settled, and handed to its function: a run, or a study."""

    kind: Literal["run", "study"]
    experiment: str
    study: str = ""
    seeds: int = 1
    seed: int | None = None  # the first one; None: the experiment's own
    steps: int | None = None
    settings: tuple[str, ...] = ()  # as in --set: architecture.blocks=1


def trained(
    experiment: str, *, seeds: int = 1, seed: int | None = None, steps: int | None = None, settings: Sequence[str] = ()
) -> Need:  # fmt: skip
    """A run, of one seed or a population."""
    return Need("run", experiment, "", seeds, seed, steps, tuple(settings))


def studied(
    study: str, experiment: str, *, seeds: int = 8, steps: int | None = None, settings: Sequence[str] = ()
) -> Need:  # fmt: skip
    """A study, come to its end."""
    return Need("study", experiment, study, seeds, None, steps, tuple(settings))


@dataclass(frozen=True)
class Found:
    """What a computation found. Whether the statement holds follows from the numbers, or is computed beside them."""

    numbers: Mapping[str, Number]  # each under its name: a number, or its median and interval over seeds
    measured: str = ""  # the same for a person, made from the numbers; "" writes them out
    holds: bool | None = None  # the statement as it stands; None: every stated number is met within the tolerance
    idea: bool = False  # at least what it means to say, with another number or word; computed, too
    truth: str = ""  # what is true instead, and why; needed wherever the statement does not hold


@dataclass(frozen=True)
class Claim:
    """One statement of a source."""

    id: str
    statement: str
    place: str  # in the source, as in docs/sources.toml: 1.P3
    how: tuple[How, ...]
    measure: Callable[..., Found] = field(repr=False)
    stated: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.0  # how far a measured number may be from the stated one
    needs: tuple[Need, ...] = ()
    slow: bool = False  # not for a few minutes: `glassformer claims --all`, and the table in docs/
    never: Literal["illustrative", "not checkable"] | None = None  # no computation can say whether it holds
    reason: str = ""  # why not
    experiment: str = ""  # whose run shows it
    figure: str = ""  # which of its figures
    step: int | None = None  # where its report opens
    input: str | None = None
    edits: str = ""


def claim(
    id: str, statement: str, *, place: str, how: str, stated: Mapping[str, float] | None = None, tolerance: float = 0.0,
    needs: Sequence[Need] = (), slow: bool = False, illustrative: str = "", not_checkable: str = "",
    experiment: str = "", figure: str = "", step: int | None = None, input: str | None = None, edits: str = "",
) -> Callable[[Callable[..., Found]], Claim]:  # fmt: skip
    """Make a claim of a function that measures: it gets what `needs` names, in that order, and gives what it found.

    `illustrative` and `not_checkable` are reasons: numbers beside such a claim are measured all the same, but no
    computation could say that it holds.
    """

    def made(measure: Callable[..., Found]) -> Claim:
        return Claim(
            id, statement, place, tuple(how.replace(",", "").split()), measure, dict(stated or {}), tolerance,  # type: ignore[arg-type]
            tuple(needs), slow, "illustrative" if illustrative else "not checkable" if not_checkable else None,
            illustrative or not_checkable, experiment or (needs[0].experiment if needs else ""), figure, step, input,
            edits,
        )  # fmt: skip

    return made


def verdict(claim: Claim, found: Found) -> Verdict:
    """What follows: reproduced if it holds as it stands, corrected if its idea does, else refuted."""
    if claim.never:
        return claim.never
    if holds(claim, found):
        return "reproduced"
    return "corrected" if found.idea else "refuted"


def holds(claim: Claim, found: Found) -> bool:
    """Whether the statement holds as it stands."""
    if found.holds is not None:
        return found.holds
    if not claim.stated:
        raise ValueError(f"{claim.id} states no number, so its function must say whether it holds")
    return all(
        abs(_value(found.numbers[name]) - stated) <= claim.tolerance + 1e-12 for name, stated in claim.stated.items()
    )


def over_seeds(values: Any, higher: bool = True) -> OverSeeds:
    """Median and interval over seeds, as a study writes them."""
    found = spread(np.asarray(values, dtype=np.float64), higher)
    return OverSeeds(found.median, found.low, found.high, len(values))


def written(number: Number) -> str:
    """A number as a person reads it; over seeds, the median and its interval."""
    if isinstance(number, Spread):
        return f"{written(number.median)} [{written(number.low)}, {written(number.high)}]"
    if isinstance(number, int) or (math.isfinite(number) and float(number).is_integer() and abs(number) < 1e15):
        return f"{int(number):,}"
    return f"{number:.4g}" if abs(number) < 1e4 else f"{number:,.1f}"


def _value(number: Number) -> float:
    return number.median if isinstance(number, Spread) else float(number)
