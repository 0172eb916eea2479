"""Which tokens there are: id, group and count of each, and how a text becomes numbers and comes back."""

import numpy as np

from glassformer.analyses._options import Sequence
from glassformer.analyses._pairs import placed
from glassformer.analyses._result import Labelled, Result, listed, result
from glassformer.run import Run

ORDER = 30
ANSWERS = ("3.§2.2",)
COST = "a"
EDITS = "data"


@result
class Vocabulary(Result):
    """How often each token occurs in the data, the family of each, and one text encoded and decoded."""

    counts: Labelled  # (token,): occurrences in the whole text, or in the sequences made for training
    groups: tuple[str, ...]  # of each token
    families: tuple[str, ...]  # every group of the task, in its order
    ids: Labelled  # (position,): the ids of the text
    tokens: tuple[str, ...]  # of the text
    text: str
    back: str  # what decoding gives
    lost: str  # what of the text decoding does not give back, in words; empty: nothing
    returns: bool  # encoding what decoding gave yields the same ids
    total: int
    counted: str  # what was counted, in words

    @property
    def title(self) -> str:
        """How many tokens in which groups, and whether the text comes back."""
        each = [f"{self.groups.count(name)} {name}" for name in dict.fromkeys(self.groups)]
        back = "comes back unchanged" if self.returns else "does not come back"
        back = f"comes back {self.lost}" if self.lost else back
        return (
            f"{len(self.groups)} tokens ({listed(each)}) are all this model knows; the text becomes "
            f"{len(self.tokens)} ids and {back}"
        )


def vocabulary(run: Run, *, sequence: Sequence = None) -> Vocabulary:
    """Every token with its id, its group and its count; `sequence` goes to ids and back."""
    task, context = run.task, run.architecture.context
    split = task.data(context).train
    counts = np.bincount(split.tokens, minlength=len(task.vocabulary)).astype(float)
    group = {int(token): name for name, tokens in task.groups.items() for token in tokens}
    ids = run.tokens(sequence)
    words = tuple(task.vocabulary[token] for token in ids)
    back = task.decode(ids)
    whole = len(task.encode(task.showcase[0])) == len(ids)
    text = sequence if sequence is not None else task.showcase[0] if whole else back
    return Vocabulary(
        counts=Labelled(counts, {"token": tuple(task.vocabulary)}, "tokens"),
        groups=tuple(group.get(k, "") for k in range(len(task.vocabulary))),
        families=tuple(task.groups),
        ids=Labelled(ids.astype(float), {"position": placed(words)}, "id"),
        tokens=words,
        text=text,
        back=back,
        lost=_lost(text, back) if not task.exact else "",
        returns=bool(np.array_equal(task.encode(back), ids)),
        total=int(counts.sum()),
        counted=_counted(run),
    )


def _counted(run: Run) -> str:
    """What the tokens of training lie in: a text with its held-out parts, or sequences made for training alone."""
    data = run.task.data(run.architecture.context)
    one_text = len(data.train.starts) == 1 and data.validation.tokens is data.train.tokens
    return "the whole text" if one_text else "the training part"


def _lost(text: str, back: str) -> str:
    """What is not as it was."""
    if text == back:
        return ""
    return "with other spaces" if "".join(text.split()) == "".join(back.split()) else "with other signs"
