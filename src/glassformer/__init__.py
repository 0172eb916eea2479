"""Glassformer, a laboratory for tiny transformers."""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is first used: opening a run loads no JAX."""
    if name == "train":
        from glassformer.training import train

        return train
    if name == "open":
        from glassformer.run import open as open_run

        return open_run
    raise AttributeError(f"module 'glassformer' has no attribute {name!r}")
