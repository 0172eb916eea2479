"""How the heads share the work: which columns of the matrices belong to which head."""

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._options import Block, Member, Step
from glassformer.analyses._result import Labelled, Result, fate, numbers, result
from glassformer.errors import check_index
from glassformer.run import Run

ORDER = 90
ANSWERS = ("3.§3.3", "3.§6")
COST = "a"
EDITS = "weights"
APPLIES = (_applies.attention,)


@result
class HeadSplit(Result):
    """The matrices of one block's attention, their columns (or, for the output, their rows) by head."""

    matrices: dict[str, Labelled]  # query, key, value: (feature, head, other_feature: of the head); output: turned
    heads: int
    head_width: int
    width: int
    block: int
    blocks: int
    projection: bool

    @property
    def title(self) -> str:
        """That the columns are shared out and the stream is not."""
        if not all(np.isfinite(each.values).all() for each in self.matrices.values()):
            return fate("the weights are not numbers", self.step)
        where = f" (block {self.block})" if self.blocks > 1 else ""
        features = f"{self.width} features" if self.width > 1 else "feature"
        if self.heads == 1:
            whole = "both features" if self.width == 2 else f"all {features}"
            return f"One head reads {whole} of the stream and has every column: there is nothing to share out{where}"
        return (
            f"Each of {self.heads} heads reads all {features} of the stream and makes {self.head_width} of its own; "
            f"the stream itself is not cut{where}"
        )


def head_split(run: Run, *, block: Block = 0, step: Step = -1, member: Member = 0) -> HeadSplit:
    """Query, key, value and output matrices of a block at a kept step."""
    a = run.architecture
    check_index("block", block, a.blocks)
    step = _clock.resolve(run, step)
    weights = run.weights(step, member)
    stream = {"feature": numbers(a.width)}
    own = {"head": numbers(a.heads), "other_feature": numbers(a.per_head)}
    matrices = {}
    for name in ("query", "key", "value", "output"):
        if (found := weights.get(f"blocks.{block}.{name}")) is not None:
            sides = own | stream if name == "output" else stream | own
            parted = np.asarray(found, dtype=np.float64).reshape([len(each) for each in sides.values()])
            matrices[name] = Labelled(parted, sides, "weight")
    return HeadSplit(
        **_clock.at_step(run, step, member),
        matrices=matrices,
        heads=a.heads,
        head_width=a.per_head,
        width=a.width,
        block=block,
        blocks=a.blocks,
        projection="output" in matrices,
    )
