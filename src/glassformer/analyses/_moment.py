"""When a result was seen: the fields of a result that say so."""

from typing import Any

from glassformer.analyses import _clock
from glassformer.run import Run


def at_step(run: Run, step: int, member: int) -> dict[str, Any]:
    """`step` and `clock` of a result that shows one kept step."""
    return {"step": step, "clock": _clock.text(run, step, member)}


def over_life(run: Run, step: int, member: int) -> dict[str, Any]:
    """`step` and `clock` of a result that shows a whole life, with one step marked if it was asked for."""
    return {"step": None if step == -1 else _clock.resolve(run, step), "clock": _clock.text(run, step, member)}
