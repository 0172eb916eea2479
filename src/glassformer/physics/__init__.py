"""Models small enough to be physics: `physics.one_layer()` imports physics/one_layer.py and nothing beside it."""

import sys
from typing import Any

from glassformer import _discover


def __getattr__(name: str) -> Any:
    here = sys.modules[__name__]
    if name in _discover.names(here):
        return _discover.piece(here, name, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return _discover.names(sys.modules[__name__])
