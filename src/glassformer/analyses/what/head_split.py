"""How the heads share the work: which columns of the matrices belong to which head."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._result import Labelled, Result, Words, numbers, result
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 90
ANSWERS = ("3.§3.3", "3.§6")
COST = "a"
APPLIES = (_applies.attention,)


@result
class HeadSplit(Result):
    """The matrices of one block's attention with the head of each column (or, for the output, of each row)."""

    matrices: dict[str, Labelled]  # query, key, value: (feature, head_feature); output: (head_feature, feature)
    heads: int
    head_width: int
    width: int
    block: int
    blocks: int
    projection: bool


def head_split(run: Run, *, block: int = 0, step: int = -1, member: int = 0) -> HeadSplit:
    """Query, key, value and output matrices of a block at a kept step."""
    a = run.architecture
    if a.attention == "off":
        raise CallError("this model has no attention")
    if not 0 <= block < a.blocks:
        raise CallError(f"block = {block} is not between 0 and {a.blocks - 1}")
    step = _clock.resolve(run, step)
    weights = run.weights(step, member)
    features = numbers(a.width)
    columns = tuple(f"head {h} feature {k}" for h in range(a.heads) for k in range(a.per_head))
    matrices = {}
    for name in ("query", "key", "value", "output"):
        if (found := weights.get(f"blocks.{block}.{name}")) is not None:
            sides = (
                {"head_feature": columns, "feature": features}
                if name == "output"
                else {"feature": features, "head_feature": columns}
            )
            matrices[name] = Labelled(np.asarray(found, dtype=np.float64), sides, "weight")
    return HeadSplit(
        step=step,
        clock=_clock.text(run, step, member),
        matrices=matrices,
        heads=a.heads,
        head_width=a.per_head,
        width=a.width,
        block=block,
        blocks=a.blocks,
        projection="output" in matrices,
    )


def say(seen: HeadSplit) -> Words:
    """That the columns are shared out and the stream is not."""
    features = f"{seen.width} features" if seen.width > 1 else "feature"
    if seen.heads == 1:
        whole = "both features" if seen.width == 2 else f"all {features}"
        title = f"One head reads {whole} of the stream and has every column: there is nothing to share out"
    else:
        title = (
            f"Each of {seen.heads} heads reads all {features} of the stream and makes {seen.head_width} of its own; "
            "the stream itself is not cut"
        )
    title += f" (block {seen.block})" if seen.blocks > 1 else ""
    end = (
        "Their results, side by side, go through the output matrix, whose rows belong to the heads, and are "
        "added to the stream."
        if seen.projection
        else "Their results, side by side, are added to the stream as they are: this model has no output matrix."
    )
    caption = (
        f"Weights of block {seen.block}: rows are features of the stream, columns what the heads make of them. Thick "
        f"lines part the columns (for the output matrix, the rows) of one head from the next. {end} Red is positive, "
        "blue negative (on a dark page as the bar says), on one scale for all. If heads cut the stream, each block of "
        "columns would have non-zero rows for its own features only. Exact values of the step."
    )
    if not np.isfinite([m for each in seen.matrices.values() for m in each.values.ravel()]).all():
        title = (
            f"At step {seen.step} weights are not numbers: the training has diverged; {seen.heads} heads of "
            f"{seen.head_width}"
        )
    names = ", ".join(f"{name} {' × '.join(map(str, each.values.shape))}" for name, each in seen.matrices.items())
    return Words(title, caption, f"Heat maps of the matrices {names}, parted by head. {title}.")
