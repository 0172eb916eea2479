"""Glassformer, a laboratory for tiny transformers.

>>> import glassformer as gf
>>> run = gf.train("plus_last_even", seed=18)  # after '+' comes the last even number
>>> run = gf.open("plus_last_even")  # the same, another day: a folder, or the beginning of its name under runs/
>>> run.ask("10 + 10 6 +")  # next-token probabilities
>>> run.trace("10 + 10 6 +", step=5000)  # every value inside, 5000 steps into the training
>>> run.ask("10 + 10 6 +", edits={"mixed": lambda value: 0 * value})  # with one of them changed on its way
>>> run.to_pandas()  # the metrics, one row per logged step
>>> gf.figures.plot_query_key_space(run, step=5000)
>>> gf.films.film_embeddings(run).save("embeddings.mp4")

train, resume, open  make a run, go on with one, open one; `help(gf.Run)` says what it gives
analyses             labelled numbers about a run: `gf.analyses.attention(run, step=5000)`
figures, films       the same, drawn: `gf.figures.plot_attention(run)`, `gf.films.film_attention(run)`
studies, physics     questions that take many trainings; two models read like physical systems
tasks, catalogue     what can be learnt; what there is, and what applies to a run
Run, Trace, Error    what `open` and `run.trace` give, and what every refusal is
"""

TYPE_CHECKING = False  # as `typing` has it, which is not loaded: a command answers Ctrl-C only once this file is read
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.2.0"

FOLDERS = ("analyses", "catalogue", "figures", "films", "physics", "studies", "tasks")
NAMES = {  # public name → where it is
    "Error": "errors",
    "Run": "run",
    "Trace": "trace",
    "open": "run",
    "resume": "session",
    "train": "session",
}


def __getattr__(name: str) -> "Any":
    """The public names, each imported when it is first used: opening a run loads no JAX, training no Matplotlib."""
    from importlib import import_module

    if name in FOLDERS:
        return import_module(f"glassformer.{name}")
    if name in NAMES:
        return getattr(import_module(f"glassformer.{NAMES[name]}"), name)
    from difflib import get_close_matches

    near = [] if name.startswith("_") else get_close_matches(name, __dir__(), n=1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(__dir__())}"
    raise AttributeError(f"module 'glassformer' has no attribute {name!r}{'' if name.startswith('_') else hint}")


def __dir__() -> list[str]:
    return sorted([*FOLDERS, *NAMES, "__version__"])
