"""Where one input begins: its tokens at their positions, among all that there could be."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._pairs import at_position, placed, shown
from glassformer.analyses._plane import Plane
from glassformer.analyses._result import Labelled, Result, Words, numbers, result
from glassformer.analyses.know.embeddings import Embeddings, embeddings, few, projection, vectors
from glassformer.run import Run

ORDER = 30
ANSWERS = ("4.12", "4.r13")
COST = "b"


@result
class SequenceEmbeddings(Result):
    """The points of one input; `all` holds everything else there could be, for the background."""

    tables: dict[str, Labelled]  # token: (token, feature); position: (position, feature)
    summed: Labelled  # (feature, token, position)
    embedded: Labelled  # (position, feature): the input's own vectors
    drawn: dict[str, Labelled]  # token, position, sum as in Embeddings; input (position, axis)
    distances: Labelled  # (position, other): between the input's points, in all features
    planes: dict[str, Plane]
    groups: dict[str, tuple[str, ...]]
    tokens: tuple[str, ...]
    rows: tuple[int, ...]  # for each position of the input, the row of its token in the tables
    features: tuple[int, ...]
    width: int


def sequence_embeddings(
    run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0
) -> SequenceEmbeddings:
    """The embeddings of `sequence` (the task's first showcase when None) in the planes of all pairs."""
    step = _clock.resolve(run, step)
    ids = [int(token) for token in run.tokens(sequence)]
    drawn_ids = few(run)
    everything: Embeddings = embeddings(run, step=step, member=member)
    token, position = vectors(run, step, member)
    own = token[ids] + (0 if position is None else position[: len(ids)])
    tokens = tuple(run.task.vocabulary[k] for k in ids)
    names, flat = placed(tokens), everything.planes["sum"]
    at = flat.points(own, np.arange(len(ids)) / max(run.architecture.context - 1, 1))
    apart = np.linalg.norm(own[:, None] - own[None], axis=-1)
    return SequenceEmbeddings(
        step=step,
        clock=everything.clock,
        tables=everything.tables,
        summed=everything.summed,
        embedded=Labelled(own, {"position": names, "feature": numbers(own.shape[1])}),
        drawn=everything.drawn | {"input": Labelled(at, {"position": names, "axis": ("across", "up")})},
        distances=Labelled(apart, {"position": names, "other": names}),
        planes=everything.planes,
        groups=everything.groups,
        tokens=tokens,
        rows=tuple(drawn_ids.index(k) if k in drawn_ids else -1 for k in ids),
        features=tuple(everything.features),
        width=everything.width,
    )


def say(seen: SequenceEmbeddings) -> Words:
    """How far apart the input's points lie, and those of the same token."""
    text, apart = " ".join(map(shown, seen.tokens)), seen.distances.values
    many = len(seen.tokens)
    caption = (
        f"The input {text} at the entrance of the model. Heat maps: all token and position vectors, and their sums for "
        "one feature, red above zero and blue below; the frames mark what this input uses. Planes: grey, everything "
        "there could be; in ink, this input's tokens, positions and sums (8₇ is 8 at position 7), thin arrows lead "
        "along them in the order of reading. Distances are exact and counted in all features; the same token "
        "at two places differs by the positions alone."
    )
    if not np.isfinite(apart).all():
        title = f"At step {seen.step} the embeddings are not numbers: the training has diverged"
    elif many == 1:
        title = f"{at_position(seen.tokens[0], 0)} is all, {np.linalg.norm(seen.embedded.values[0]):.2f} from zero"
    else:
        pairs = [(a, b) for a in range(many) for b in range(a + 1, many)]
        mean = float(np.mean([apart[a, b] for a, b in pairs]))
        same = [(a, b) for a, b in pairs if seen.tokens[a] == seen.tokens[b]]
        a, b = max(same, key=lambda pair: apart[pair]) if same else min(pairs, key=lambda pair: apart[pair])
        both = f"“{at_position(seen.tokens[a], a)}” and “{at_position(seen.tokens[b], b)}”"
        if same:
            title = f"{both}, one token at two places, lie {apart[a, b]:.2f} apart; "
            title += f"any two points of the input {mean:.2f} on average"
        else:
            title = (
                f"The nearest two points of the input are {both}, {apart[a, b]:.2f} apart; the average is {mean:.2f}"
            )
        title += projection({"sum": seen.planes["sum"]})
    return Words(
        title, caption, f"Heat maps and planes with the points of {text} in front of all others in grey. {title}."
    )
