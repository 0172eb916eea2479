"""One file per analysis: `analyses.loss(run)` imports analyses/learn/loss.py and what that needs.

A folder is a section of the story that they tell together.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from glassformer import _discover

if TYPE_CHECKING:
    from glassformer.analyses._result import Result

__getattr__, __dir__ = _discover.public(__name__)


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
