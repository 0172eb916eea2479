"""Of a run: where the predictions that count are made, and what came there."""

from dataclasses import replace

from glassformer.analyses._result import Array
from glassformer.counted import counted
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks import Examples

BY_PLACE = ("constrained", "answerable", "allowed", "kind", "truth")  # what is known of each prediction


def read(run: Run) -> slice:
    """The positions at which they are made: all after those that the task skips, or the one that is read."""
    return counted(run.architecture, run.task.skip).read


def place(run: Run, tokens: Array) -> int:
    """The position of one text at which its answer is read, or its last; a text that ends before it is refused."""
    asked = run.architecture.read_position
    if asked is not None and len(tokens) <= asked:
        raise CallError(f"the answer is read at position {asked}, but the text has {len(tokens)} tokens; add some")
    return len(tokens) - 1 if asked is None else asked


def came(run: Run, windows: Array) -> Array:
    """(window, place): the tokens that came there."""
    return windows[:, 1:][:, counted(run.architecture, run.task.skip).came]


def only(run: Run, given: Examples) -> Examples:
    """The same whole windows, and of what is known about their predictions only what counts."""
    kept = counted(run.architecture, run.task.skip).came
    return replace(given, **{name: getattr(given, name)[:, kept] for name in BY_PLACE})
