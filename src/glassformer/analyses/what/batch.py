"""What one step sees: windows of the training part, what is asked of each, and where they lie in the corpus."""

import numpy as np

from glassformer.analyses import _counted
from glassformer.analyses._options import Seed
from glassformer.analyses._result import Labelled, Result, numbers, result, thousands
from glassformer.run import Run

ORDER = 70
ANSWERS = ("3.§4",)
COST = "a"
EDITS = "data"

MOST = 6  # windows shown


@result
class Batch(Result):
    """Some windows drawn as training draws them: inputs, targets, beginnings, and the weight of each prediction."""

    inputs: Labelled  # (window, position): token ids
    targets: Labelled  # (window, position): token ids; NaN where nothing is asked
    begins: Labelled  # (window,): place of the first token in the training part
    weights: Labelled  # (position,): share of the batch's loss that one prediction at a position carries
    tokens: tuple[tuple[str, ...], ...]
    asked: tuple[tuple[str, ...], ...]  # the target at each position; empty where nothing is asked
    corpus: int  # tokens of the training part
    pieces: int
    batch: int  # windows per step in training
    predictions: int  # that one step learns from
    order: str  # random or passes
    read_position: int  # where the one answer is read; -1: at every position
    context: int

    @property
    def title(self) -> str:
        """How many predictions one step learns from."""
        many = thousands(self.predictions)
        if self.read_position < 0:
            return (
                f"Each step learns from {self.batch} windows of {self.context} tokens: {many} next tokens, all of "
                "equal weight"
            )
        return (
            f"Each step learns from {self.batch} questions of {self.context} tokens: {many} answers, all read at "
            f"position {self.read_position}"
        )


def batch(run: Run, *, count: int = MOST, seed: Seed = 0) -> Batch:
    """`count` windows (at most a batch), drawn by the rule that training follows but with NumPy's random numbers.

    A piece is chosen evenly, then a beginning within it; tasks that go through their pieces in passes begin a pass.
    """
    task, a, train = run.task, run.architecture, run.experiment.train
    data = task.data(a.context)
    split, rng = data.train, np.random.default_rng(seed)
    many = min(count, train.batch)
    if data.order == "passes":
        pieces = rng.permutation(len(split.starts))[:many]
        begins = split.starts[pieces]
    else:
        pieces = rng.integers(len(split.starts), size=many)
        begins = split.starts[pieces] + rng.integers(split.windows[pieces])
    span = np.array([split.tokens[int(b) : int(b) + a.context + 1] for b in begins])
    inputs, place = span[:, :-1], a.read_position
    targets, weights = np.full(inputs.shape, np.nan), np.zeros(a.context)
    read, came = _counted.read(run), _counted.came(run, span)
    targets[:, read], weights[read] = came, 1 / (train.batch * came.shape[1])
    words = task.vocabulary
    axes = {"window": numbers(many), "position": numbers(a.context)}
    return Batch(
        inputs=Labelled(inputs.astype(float), axes, "id"),
        targets=Labelled(targets, axes, "id"),
        begins=Labelled(begins.astype(float), {"window": numbers(many)}, "token of the training part"),
        weights=Labelled(weights, {"position": numbers(a.context)}, "share of the loss"),
        tokens=tuple(tuple(words[token] for token in row) for row in inputs),
        asked=tuple(tuple("" if np.isnan(t) else words[int(t)] for t in row) for row in targets),
        corpus=int((split.starts + split.windows + a.context).max()),  # a text goes on behind its training part
        pieces=len(split.starts),
        batch=train.batch,
        predictions=train.batch * came.shape[1],
        order=data.order,
        read_position=-1 if place is None else place,
        context=a.context,
    )
