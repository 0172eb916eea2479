"""One parameter by its name, `token[11,0]`: where it lies among all of them, and what it is in words."""

import re

import numpy as np

from glassformer.analyses._pairs import shown
from glassformer.analyses.know.weights import spoken
from glassformer.errors import CallError
from glassformer.run import Run


def place(run: Run, weight: str, field: str = "weight") -> tuple[str, int]:
    """The tensor of a parameter and its place in it, counted row by row."""
    shapes = run.architecture.shapes()
    found = re.fullmatch(r"([\w.]+)\[(\d+(?:,\d+)*)\]", re.sub(r"\s", "", weight)) if isinstance(weight, str) else None
    if found and found[1] in shapes:
        at, shape = tuple(map(int, found[2].split(","))), shapes[found[1]]
        if len(at) == len(shape) and all(k < many for k, many in zip(at, shape, strict=True)):
            return found[1], int(np.ravel_multi_index(at, shape))
    first = next(iter(shapes))
    like = f"{first}[{','.join('0' * len(shapes[first]))}]"
    sizes = ", ".join(f"{name}{list(shape)}" for name, shape in shapes.items())
    raise CallError(f"{field} = {weight!r} names no parameter; write one like {like!r}, counted from 0, within {sizes}")


def named(run: Run, weight: str) -> str:
    """`token[11,0]` → token + · feature 0: a parameter by its words."""
    name, _, inside = weight.rstrip("]").partition("[")
    at = [int(each) for each in inside.split(",")]
    if name == "token":
        return f"the embedding of “{shown(run.task.vocabulary[at[0]])}”, feature {at[1]}"
    if name in ("read_out", "read_out_bias"):
        word = shown(run.task.vocabulary[at[-1]])
        return f"the read-out of “{word}”, feature {at[0]}" if name == "read_out" else f"the read-out bias of “{word}”"
    return f"{spoken(name)}[{inside}]"
