"""All weights over a life as one table, and how steps become passes over the training part."""

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._result import Array
from glassformer.architecture import part
from glassformer.run import Run


def steps_per_pass(run: Run) -> float:
    """Steps in one pass over the training part (an epoch); 0 where training draws at random and has none."""
    data = run.task.data(run.architecture.context)
    return len(data.train.starts) / run.experiment.train.batch if data.order == "passes" else 0.0


def steps_per_reading(run: Run) -> float:
    """Steps after which as many tokens were read as the training part of a text has; 0 where there is no text."""
    if run.task.exact:
        return 0.0
    context = run.architecture.context
    tokens = (run.task.data(context).train.windows + context).sum()  # the stream itself holds the other parts too
    return float(tokens / (run.experiment.train.batch * context))


def flat(run: Run, steps: list[int], member: int = 0) -> Array:
    """(step, parameter): the weights of some kept steps, in the order of the computation."""
    rows = [np.concatenate([value.ravel() for value in run.weights(step, member).values()]) for step in steps]
    return np.stack(rows).astype(np.float64)


def tensors(run: Run) -> dict[str, slice]:
    """Where each tensor lies in such a row."""
    found, end = {}, 0
    for name, shape in run.architecture.shapes().items():
        begin, end = end, end + int(np.prod(shape))
        found[name] = slice(begin, end)
    return found


def parts(run: Run) -> dict[str, slice]:
    """Where each part of the model (embedding, attention_0, …) lies in such a row."""
    found: dict[str, slice] = {}
    for name, place in tensors(run).items():
        mine = part(name)
        found[mine] = slice(found[mine].start if mine in found else place.start, place.stop)
    return found


def spread(run: Run, most: int, member: int = 0, whole: bool = False) -> list[int]:
    """Kept steps evenly over a life; where training goes in passes, one after each, and (unless `whole`) the last."""
    every = steps_per_pass(run)
    last = _clock.resolve(run)
    if every and 3 <= (last - run.steps[0]) / every <= most:
        wanted = np.arange(run.steps[0], last + 1, every)
        return sorted({*(_clock.nearest(run, round(step)) for step in wanted), *([] if whole else [last])})
    return _clock.kept(run, most, member=member)


def called(name: str, single: bool) -> str:
    """`feed_forward_0` → feed-forward (with its block, where there are several)."""
    stem, _, block = name.rpartition("_")
    if block.isdigit():
        return stem.replace("_", "-") + ("" if single else f", block {block}")
    return name.replace("_", "-")
