"""One file per analysis: `analyses.loss(run)` imports analyses/learn/loss.py and what that needs.

A folder is a section of the story that they tell together.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any

from glassformer import _discover

if TYPE_CHECKING:
    from glassformer.analyses._result import Result

ORIGINAL = "the original training, without the edits"
UNVERIFIED = "unverified"  # said of numbers that come from a file without a digest


@cache
def _analysis(folder: ModuleType, name: str) -> "Callable[..., Result]":
    """The public function of an analysis, which refuses what it does not apply to with the reason."""
    from glassformer.analyses._applies import take_subject
    from glassformer.analyses._judged import held_out
    from glassformer.analyses._lost import quietly
    from glassformer.run import Run

    file = _discover.file(folder, name)
    analyse: Callable[..., Result] = getattr(file, name)

    @wraps(analyse)
    def asked(*subject: Any, **options: Any) -> "Result":
        subject = take_subject(file, subject, options)
        with quietly(subject[0] if subject else None):
            options = meant(analyse, subject, options)
            run = subject[0] if subject and isinstance(subject[0], Run) else None
            edits = getattr(file, "EDITS", "") if run and run.edits else ""
            found = analyse(run.unedited, *subject[1:], **options) if run and edits else analyse(*subject, **options)
        if edits == "training":
            found = replace(found, clock=f"{found.clock} · {ORIGINAL}".lstrip(" ·"))
        subjects = [each for one in subject for each in (one if isinstance(one, list | tuple) else [one])]
        if UNVERIFIED not in found.clock and any(getattr(each, "unverified", ()) for each in subjects):
            found = replace(found, clock=f"{found.clock} · {UNVERIFIED}".lstrip(" ·"))
        return found if not found.held_out or run is None or held_out(run) else replace(found, held_out=False)

    return asked


def meant(analyse: "Callable[..., Any]", subject: tuple[Any, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as Python gives them, their numbers checked: `step=1.5` and `member=True` are refused, not rounded."""
    from glassformer.catalogue import choices
    from glassformer.run import Run

    known = {each.name: each for each in choices(analyse)}
    found = {name: known[name].meant(value) if name in known else value for name, value in options.items()}
    if "member" in found and subject and isinstance(subject[0], Run):
        found["member"] = subject[0].place(found["member"])
    return found


__getattr__, __dir__ = _discover.public(__name__, make=_analysis)


def from_plain(given: Mapping[str, Any]) -> "Result":
    """The result of any analysis from its `plain()`, as it stands in the JSON beside a figure."""
    import sys

    from glassformer.analyses._result import Result
    from glassformer.errors import CallError

    name, _, kind = str(given.get("result")).partition(".")
    here = sys.modules[__name__]
    found = getattr(_discover.file(here, name), kind, None) if name in _discover.places(here) else None
    if not (isinstance(found, type) and issubclass(found, Result)):
        raise CallError(f"result = {given.get('result')!r} is no result of an analysis")
    return found.from_plain(given)
