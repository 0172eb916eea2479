"""How often each token occurs, and how much that alone would tell."""

import numpy as np

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Labelled, Result, percent, result, thousands
from glassformer.analyses.what.vocabulary import vocabulary
from glassformer.run import Run

ORDER = 40
ANSWERS = ("2.F1",)
COST = "a"
EDITS = "data"


@result
class TokenCounts(Result):
    """How often each token occurs in the data, and the entropy of that."""

    counts: Labelled  # (token,): occurrences in the whole text, or in the sequences made for training
    groups: tuple[str, ...]  # of each token
    families: tuple[str, ...]  # every group of the task, in its order
    total: int
    counted: str  # what was counted, in words
    nats: float  # entropy of the counts
    most: float  # the most it could be, with every token as frequent
    rung: float  # exact price of "token frequencies" on the ladder; NaN where the task has no such rung

    @property
    def title(self) -> str:
        """Which token leads, and how much frequencies alone tell."""
        counts, names = self.counts.values, self.counts.axes["token"].labels
        top, unused = int(np.argmax(counts)), int((counts == 0).sum())
        return (
            f"“{shown(names[top])}” is the most frequent: {percent(float(counts[top] / max(self.total, 1)))} of "
            f"{thousands(self.total)} tokens; the counts' entropy is {self.nats:.2f} of at most {self.most:.2f} nats"
            + (f"; {unused} of {len(names)} never occur" if unused else "")
        )


def token_counts(run: Run) -> TokenCounts:
    """Every token with its group and its count, the entropy of the counts, and what frequencies alone would cost."""
    seen = vocabulary(run)
    chances = seen.counts.values[seen.counts.values > 0] / max(seen.total, 1)
    rungs = {rung.name: rung.nats for rung in run.task.ladder(run.architecture.context)}
    return TokenCounts(
        counts=seen.counts,
        groups=seen.groups,
        families=seen.families,
        total=seen.total,
        counted=seen.counted,
        nats=float(-(chances * np.log(chances)).sum()),
        most=float(np.log(len(seen.groups))),
        rung=float(rungs.get("token frequencies", np.nan)),
    )
