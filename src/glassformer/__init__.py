"""Glassformer, a laboratory for tiny transformers.

>>> import glassformer as gf
>>> run = gf.train("plus_last_even", seed=18)  # after '+' comes the last even number
>>> run.ask("10 + 10 6 +")  # next-token probabilities
>>> run.trace("10 + 10 6 +", step=5000)  # every value inside, 5000 steps into the training
>>> gf.figures.plot_query_key_space(run, step=5000)
>>> gf.films.film_embeddings(run).save("embeddings.mp4")
"""

TYPE_CHECKING = False  # true for type checkers; a command begins here, and Ctrl-C is not answered before this is loaded
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

FOLDERS = ("analyses", "catalogue", "figures", "films", "physics", "studies", "tasks")


def __getattr__(name: str) -> "Any":
    """The public names, each imported when it is first used: opening a run loads no JAX, training no Matplotlib."""
    if name == "train":
        from glassformer.training import train

        return train
    if name == "open":
        from glassformer.run import open as open_run

        return open_run
    if name == "Error":
        from glassformer.errors import Error

        return Error
    if name in FOLDERS:
        from importlib import import_module

        return import_module(f"glassformer.{name}")
    raise AttributeError(f"module 'glassformer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["Error", *FOLDERS, "open", "train"]
