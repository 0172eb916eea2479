"""One file per task; the file's name is the task's name."""

from glassformer import _discover
from glassformer.errors import CallError
from glassformer.settings import setting
from glassformer.tasks._rule import Rule
from glassformer.tasks._task import Data, Examples, Rung, Split, Task, choose

__all__ = ["Data", "Examples", "Rule", "Rung", "Split", "Task", "choose", "find", "names", "setting"]


def names() -> list[str]:
    """Every task there is."""
    import glassformer.tasks as folder

    return _discover.names(folder)


def find(name: str) -> type[Task]:
    """The class of a task: tasks/plus_last_even.py holds PlusLastEven."""
    import glassformer.tasks as folder

    wanted = "".join(word.capitalize() for word in name.split("_"))
    module = _discover.file(folder, name)
    found = getattr(module, wanted, None)
    if not (isinstance(found, type) and issubclass(found, Task)):
        kinds = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Task)]
        there = [kind.__name__ for kind in kinds if kind.__module__ == module.__name__]
        held = f"; it holds {', '.join(there)}" if there else ""
        raise CallError(f"tasks/{name}.py must hold a task called {wanted}{held}")
    return found
