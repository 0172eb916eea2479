"""Where one input begins: its tokens at their positions, among all that there could be."""

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Member, Sequence, Step
from glassformer.analyses._pairs import at_position, placed
from glassformer.analyses._plane import DIRECTIONS, Plane
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, result
from glassformer.analyses.know.embeddings import few, of_tokens, projection, vectors
from glassformer.run import Run

ORDER = 30
ANSWERS = ("4.12", "4.r13")
COST = "b"
EDITS = "weights"


@result
class SequenceEmbeddings(Result):
    """The points of one input, and everything else there could be, for the background."""

    tables: dict[str, Labelled]  # token: (token, feature); position: (position, feature)
    summed: Labelled  # (feature, token, position)
    embedded: Labelled  # (position, feature): the input's own vectors
    drawn: dict[str, Labelled]  # token, position, sum as in Embeddings; input (position, direction)
    distances: Labelled  # (position, other_position): between the input's points, in all features
    average: float  # distance of two points of the input; NaN where there is only one
    told: tuple[int, ...]  # of the two places of one token the farthest apart; else of any two the nearest
    planes: dict[str, Plane]
    groups: dict[str, tuple[str, ...]]
    task_groups: tuple[str, ...]  # all groups of the task, in its order
    tokens: tuple[str, ...]
    rows: tuple[int, ...]  # for each position of the input, the row of its token in the tables
    features: tuple[int, ...]
    left_out: int  # tokens of the vocabulary that are not drawn
    width: int

    @property
    def title(self) -> str:
        """How far apart the input's points lie, and those of the same token."""
        if not np.isfinite(self.distances.values).all():
            return fate("the embeddings are not numbers", self.step)
        if not self.told:
            far = np.linalg.norm(self.embedded.values[0])
            return f"{at_position(self.tokens[0], 0)} is all, {far:.2f} from zero"
        a, b = self.told
        both, apart = (f"“{at_position(self.tokens[k], k)}”" for k in self.told), self.distances.values[a, b]
        if self.tokens[a] == self.tokens[b]:
            title = f"{' and '.join(both)}, one token at two places, lie {apart:.2f} apart; "
            title += f"any two points of the input {self.average:.2f} on average"
        else:
            title = f"The nearest two points of the input are {' and '.join(both)}, {apart:.2f} apart; "
            title += f"the average is {self.average:.2f}"
        return title + projection({"sum": self.planes["sum"]})


def sequence_embeddings(
    run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0
) -> SequenceEmbeddings:
    """The embeddings of `sequence` (the task's first showcase when None) in the planes of all pairs."""
    ids = [int(token) for token in run.tokens(sequence)]
    drawn_ids = few(run, also=ids)
    everything = of_tokens(run, drawn_ids, "both", _clock.resolve(run, step), member)
    token, position = vectors(run, everything.step or 0, member)
    own = token[ids] + (0 if position is None else position[: len(ids)])
    tokens = tuple(run.task.vocabulary[k] for k in ids)
    names = placed(tokens)
    at = everything.planes["sum"].points(own, np.arange(len(ids)) / max(run.architecture.context - 1, 1))
    apart = np.linalg.norm(own[:, None] - own[None], axis=-1)
    upper = apart[np.triu_indices(len(ids), 1)]
    return SequenceEmbeddings(
        step=everything.step,
        clock=everything.clock,
        tables=everything.tables,
        summed=everything.summed,
        embedded=Labelled(own, {"position": names, "feature": numbers(own.shape[1])}),
        drawn=everything.drawn | {"input": Labelled(at, {"position": names, "direction": DIRECTIONS})},
        distances=Labelled(apart, {"position": names, "other_position": names}),
        average=float(upper.mean()) if len(upper) else np.nan,
        told=_told(tokens, apart, position is not None),
        planes=everything.planes,
        groups=everything.groups,
        task_groups=everything.task_groups,
        tokens=tokens,
        rows=tuple(drawn_ids.index(k) for k in ids),
        left_out=everything.left_out,
        features=tuple(everything.features),
        width=everything.width,
    )


def _told(tokens: tuple[str, ...], apart: Array, added: bool) -> tuple[int, ...]:
    """The two places worth speaking of; none where there is only one. Without positions a token has one point."""
    pairs = [(a, b) for a in range(len(tokens)) for b in range(a + 1, len(tokens))]
    same = [(a, b) for a, b in pairs if tokens[a] == tokens[b]]
    if same and added:
        return max(same, key=lambda pair: apart[pair])
    pairs = [pair for pair in pairs if pair not in same] or pairs
    return min(pairs, key=lambda pair: apart[pair], default=())
