"""What may be set in a physics model, and the one sentence that refuses anything else."""

from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any

from glassformer.errors import CallError

MOST_NUMBERS = 20_000_000  # probabilities kept: 160 MB of them


def whole(default: int | None, least: int, most: int) -> Any:
    """A whole number between two bounds; where the default is None, None may be given."""
    return field(default=default, metadata={"whole": True, "least": least, "most": most, "none": default is None})


def real(default: float, least: float, most: float, above: bool = False) -> Any:
    """A number between two bounds; `above`: the lower one is not itself allowed."""
    return field(default=default, metadata={"whole": False, "least": least, "most": most, "above": above})


def word(default: str, *allowed: str) -> Any:
    """One word of a few."""
    return field(default=default, metadata={"words": allowed})


def check(settings: Any, where: str) -> None:
    """Refuse the first value that is not allowed; numbers of other libraries become plain ones."""
    for each in fields(settings):
        value, about = getattr(settings, each.name), each.metadata
        if value is None and about.get("none"):
            continue
        good = value in about["words"] if "words" in about else _number(value, about)
        if not good:
            raise CallError(f"{where}.{each.name} = {value!r} is not allowed; it is {_allowed(about)}")
        if "words" not in about:
            object.__setattr__(settings, each.name, int(value) if about["whole"] else float(value))


def ordered(settings: Any, where: str) -> None:
    """What two settings must agree on in every model with tokens, a target, a start and a range of temperatures."""
    for name in ("target", "start"):
        if (value := getattr(settings, name)) >= settings.tokens:
            raise CallError(
                f"{where}.{name} = {value} is not one of the {settings.tokens} tokens; "
                f"it is a whole number from 0 to {settings.tokens - 1}"
            )
    if settings.coldest > settings.hottest:
        raise CallError(
            f"{where}.coldest = {settings.coldest:g} lies above {where}.hottest = {settings.hottest:g}; "
            "the temperatures run from the coldest up to the hottest"
        )
    many = settings.temperatures * settings.steps * settings.tokens
    if many > MOST_NUMBERS:
        raise CallError(
            f"{where}: temperatures × steps × tokens = {many:,} probabilities would be kept; "
            f"the most is {MOST_NUMBERS:,}, so lower one of the three"
        )


def _number(value: Any, about: Any) -> bool:
    """Whether it is a number within its bounds; what is not a number is never within any."""
    if isinstance(value, bool) or not isinstance(value, Integral if about["whole"] else Real):
        return False
    low = value > about["least"] if about.get("above") else value >= about["least"]
    return bool(low and value <= about["most"])


def _allowed(about: Any) -> str:
    if "words" in about:
        return "one of " + ", ".join(map(repr, about["words"]))
    kind = "a whole number" if about["whole"] else "a number"
    ends = f"above {about['least']:,} and at most" if about.get("above") else f"from {about['least']:,} to"
    return f"{kind} {ends} {about['most']:,}" + (", or none" if about.get("none") else "")
