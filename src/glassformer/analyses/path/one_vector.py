"""One token's vector before and after training, feature by feature."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Member, Option, Step
from glassformer.analyses._pairs import shown
from glassformer.analyses._primer import short
from glassformer.analyses._result import Labelled, Result, fate, numbers, result, thousands
from glassformer.analyses.know.embeddings import few, vectors
from glassformer.errors import unknown
from glassformer.run import Run

ORDER = 82
ANSWERS = ("1.P7", "3.§2")
COST = "a"
EDITS = "weights"


@result
class OneVector(Result):
    """The features of one token's embedding at the first kept step and at another."""

    features: Labelled  # (step, feature)
    token: str
    nearest: tuple[str, ...]  # at each of the two steps: the other token whose vector points most the same way, or ""
    cosine: float  # between the two; NaN where one has no length
    moved: float  # the distance between them

    @property
    def title(self) -> str:
        """How far it came, and the feature that changed most."""
        first, last = self.features.values
        begin, end = (int(step) for step in np.array(self.features.axes["step"].values))
        if not np.isfinite(self.features.values).all():
            return fate("the embeddings are not numbers", self.step)
        if begin == end:
            return (
                f"At step {thousands(begin)}, the first one kept, the vector of “{shown(self.token)}” has not moved yet"
            )
        most = int(np.argmax(np.abs(last - first)))
        return (
            f"From step {thousands(begin)} to {thousands(end)} the vector of “{shown(self.token)}” moves by "
            f"{self.moved:.2f}; feature {most} changes most, from {short(first[most], 2)} to {short(last[most], 2)}"
        )


def one_vector(
    run: Run,
    *,
    token: Annotated[str | None, Option("the token; none: the frequent one that ends farthest from its start")] = None,
    step: Step = -1,
    member: Member = 0,
) -> OneVector:
    """The vector of `token` at the first kept step and at `step`, with its nearest other token at both."""
    words, step, ids = run.task.vocabulary, _clock.resolve(run, step), few(run)
    steps = (int(run.steps[0]), step)
    both = np.array([vectors(run, at, member)[0] for at in steps])  # (step, token, feature)
    if token is not None and token not in words:
        raise unknown(token, "the tokens", words)
    far = np.nan_to_num(np.linalg.norm(both[1] - both[0], axis=-1), nan=np.inf)[ids]  # what broke went farthest
    which = words.index(token) if token is not None else ids[int(np.argmax(far))]
    own = both[:, which]
    return OneVector(
        **_clock.at_step(run, step, member),
        features=Labelled(own, {"step": steps, "feature": numbers(own.shape[1])}),
        token=words[which],
        nearest=tuple(
            words[k] if np.isfinite(at).all() else "" for k, at in zip(_nearest(both, which), own, strict=True)
        ),
        cosine=float(_cosines(own[:1], own[1])[0]),
        moved=float(np.linalg.norm(own[1] - own[0])),
    )


def _cosines(points: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(point,): cosine of each with one vector; NaN where one has no length."""
    with np.errstate(all="ignore"):
        return points @ own / (np.linalg.norm(points, axis=-1) * np.linalg.norm(own))


def _nearest(both: np.ndarray, which: int) -> list[int]:
    """At each step, the other token whose vector has the largest cosine with that of one."""
    alike = [np.nan_to_num(_cosines(points, points[which]), nan=-2.0) for points in both]
    return [int(np.argmax(np.where(np.arange(len(each)) == which, -3.0, each))) for each in alike]
