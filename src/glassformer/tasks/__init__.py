"""One file per task; the file's name is the task's name."""

from glassformer import _discover
from glassformer.tasks._task import Data, Examples, Rung, Split, Task

__all__ = ["Data", "Examples", "Rung", "Split", "Task", "find", "names"]


def names() -> list[str]:
    """Every task there is."""
    import glassformer.tasks as folder

    return _discover.names(folder)


def find(name: str) -> type[Task]:
    """The class of a task: tasks/plus_last_even.py holds PlusLastEven."""
    import glassformer.tasks as folder

    found: type[Task] = _discover.piece(folder, name, "".join(word.capitalize() for word in name.split("_")))
    return found
