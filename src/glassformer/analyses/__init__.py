"""One file per analysis: `analyses.loss(run)` imports analyses/loss.py and nothing beside it."""

import sys
from typing import Any

from glassformer import _discover

PREFIX = ""


def __getattr__(name: str) -> Any:
    here = sys.modules[__name__]
    if name.startswith(PREFIX) and name.removeprefix(PREFIX) in _discover.names(here):
        return _discover.piece(here, name.removeprefix(PREFIX), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [PREFIX + name for name in _discover.names(sys.modules[__name__])]
