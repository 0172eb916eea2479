"""The name is the registration: what lies in a folder of the package is what there is."""

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any

from glassformer.errors import unknown


def names(folder: ModuleType) -> list[str]:
    """The pieces in a folder, without importing them; a leading underscore marks a shared part, never listed."""
    return sorted(found.name for found in pkgutil.iter_modules(folder.__path__) if not found.name.startswith("_"))


def piece(folder: ModuleType, name: str, attribute: str) -> Any:
    """One thing from one file: `piece(tasks, "lucky7", "Lucky7")` imports tasks/lucky7.py and nothing beside it."""
    if name not in names(folder):
        raise unknown(name, folder.__name__.rpartition(".")[2], names(folder))
    return getattr(import_module(f"{folder.__name__}.{name}"), attribute)
