"""The words nearest to a word: tokens whose embeddings point the same way, and analogies between four of them."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Member, Option, Step
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Labelled, Result, fate, listed, numbers, result
from glassformer.analyses.know.embeddings import few, vectors
from glassformer.errors import CallError, check_name
from glassformer.run import Run

ORDER = 25
ANSWERS = ("3.§3.2", "new")
COST = "a"
EDITS = "weights"
RANKS = {True: 15, False: 6}  # neighbours that are told: of one word, of each of many
ROWS = 24  # tokens with a row where none is asked for, the most frequent
TOLD = 3  # neighbours in a title

Word = Annotated[str | None, Option("the token whose neighbours are told; none: the most frequent ones")]


def applies(run: Run) -> str | None:
    """That there are tokens to compare."""
    return None if len(run.task.vocabulary) > RANKS[False] else "there are too few tokens to have neighbours"


@result
class Neighbours(Result):
    """For each word asked for, the tokens whose embeddings have the largest cosine with its own."""

    cosine: Labelled  # (word, rank)
    nearest: tuple[tuple[str, ...], ...]  # (word, rank): these tokens
    analogy: tuple[str, str, str] | None  # a, b, c of a − b + c, which is then the only word
    mean: float  # cosine of two tokens drawn by chance
    spread: float  # and its standard deviation
    others: int  # tokens among which the nearest were found

    @property
    def words(self) -> tuple[str, ...]:
        """What was asked for, as it is written."""
        return self.cosine.axes["word"].labels

    @property
    def title(self) -> str:
        """The nearest tokens, beside what chance would give."""
        values = self.cosine.values
        if not np.isfinite(values).all():
            return fate("the embeddings are not numbers", self.step)
        if len(self.words) == 1:
            near = [f"{shown(word)} ({number(float(c))})" for word, c in zip(self.nearest[0], values[0], strict=True)]
            return f"Nearest to {self.words[0]} lie {listed(near[:TOLD])}; {self.chance}"
        best = int(values[:, 0].argmax())
        return (
            f"Of {len(self.words)} tokens, “{self.words[best]}” has the nearest neighbour, "
            f"“{shown(self.nearest[best][0])}” (cosine {number(float(values[best, 0]))}); {self.chance}"
        )

    @property
    def chance(self) -> str:
        """The cosine of two tokens drawn by chance."""
        return f"two tokens have {number(self.mean)} ± {number(self.spread)} on average"


def number(value: float) -> str:
    """A cosine with a true minus sign, and none before zero."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\u2212")


def neighbours(
    run: Run, *, token: Word = None,
    minus: Annotated[str | None, Option("taken away from it; with `plus` an analogy: token − minus + plus")] = None,
    plus: Annotated[str | None, Option("added to the token less `minus`")] = None,
    step: Step = -1, member: Member = 0,
) -> Neighbours:  # fmt: skip
    """Tokens by the cosine of their embeddings with that of one token, of many, or of `token − minus + plus`."""
    asked = [word for word in (token, minus, plus) if word is not None]
    for word in asked:
        check_name(word, "the vocabulary", run.task.vocabulary)
    if len(asked) not in (0, 3) and (token is None or len(asked) > 1):
        raise CallError("an analogy takes three tokens: token − minus + plus")
    step, vocabulary = _clock.resolve(run, step), run.task.vocabulary
    table, _ = vectors(run, step, member)
    unit = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-30)
    ids = [vocabulary.index(word) for word in asked] or few(run, most=ROWS)
    aims, own, names = unit[ids], [[k] for k in ids], [shown(vocabulary[k]) for k in ids]
    if len(asked) == 3:
        aims, own, names = (aims[0] - aims[1] + aims[2])[None], [ids], ["{} − {} + {}".format(*names)]
    cosines = (aims / np.maximum(np.linalg.norm(aims, axis=1, keepdims=True), 1e-30)) @ unit.T  # (word, token)
    for row, left_out in zip(cosines, own, strict=True):
        row[left_out] = -np.inf
    many = min(RANKS[len(names) == 1], len(vocabulary) - max(map(len, own)))
    order = np.argsort(-np.nan_to_num(cosines, nan=-np.inf), axis=1, kind="stable")[:, :many]
    two = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    return Neighbours(
        **_clock.at_step(run, step, member),
        cosine=Labelled(np.take_along_axis(cosines, order, 1), {"word": names, "rank": numbers(many)}, "cosine"),
        nearest=tuple(tuple(vocabulary[k] for k in row) for row in order),
        analogy=(str(token), str(minus), str(plus)) if len(asked) == 3 else None,
        mean=float(two.mean()),
        spread=float(two.std()),
        others=len(vocabulary) - max(map(len, own)),
    )
