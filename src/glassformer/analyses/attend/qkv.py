"""Query, key and value: every token at every position, through the three matrices of the first block."""

from typing import Annotated

import numpy as np

from glassformer.analyses import _applies, _attend
from glassformer.analyses._attend import DIRECTIONS, checked, example, looked_up, tokens_of, trigger
from glassformer.analyses._options import Frames, Head, Member, Option, Pace, Sequence, Shown, Step
from glassformer.analyses._pairs import Pairs, groups, pairs
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._reel import Reel, extent, frames_of, glance, strip
from glassformer.analyses._result import Array, Labelled, fate, listed, numbers, percent, result, thousands
from glassformer.analyses.attend.attention import named
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.08", "4.X", "4.D2")
COST = "c"
EDITS = "weights"
APPLIES = (_applies.asking,)
PARTS = ("query", "key", "value")
ALMOST = 0.9  # share of a matrix's squared weights on one feature from which it reads almost only that
ROUND = 61  # points of a drawn circle
GLANCE = 30  # frames looked at for the limits of a film


@result
class Qkv(_attend.OneHead):
    """All pairs and their three images, each on its own plane; the matrices of one head."""

    exact: dict[str, Labelled]  # embedded, query, key, value: (token, position, feature)
    drawn: dict[str, Labelled]  # the same on their planes: (token, position, direction)
    matrices: dict[str, Labelled]  # query, key, value: (feature, other_feature), the second of the head
    circles: dict[str, Labelled]  # the unit circle (wider: its shadow) and its images: (share of a turn, direction)
    singular: Labelled  # (part, rank): how much each matrix stretches
    reads: Labelled  # (part, feature): share of a matrix's squared weights that reads this feature
    planes: dict[str, Plane]
    groups: tuple[str, ...]  # of each token
    head: int
    heads: int
    blocks: int
    example: tuple[int, ...]  # the pairs of the input, in a list of all pairs
    asked: tuple[int, ...]  # of these, the query worth following and what it must look up
    width: int
    left_out: int  # tokens of the vocabulary that are not drawn, the rarer ones
    turned: bool  # whether queries and keys are turned by their position
    normed: bool  # whether a norm stands between the embedding and the matrices
    extended: bool  # whether token × position maps of each feature are asked for, too

    @property
    def title(self) -> str:
        """How much each matrix stretches, and in which direction not."""
        sizes, shares = self.singular.values, np.nan_to_num(self.reads.values)
        if not np.isfinite(sizes).all():
            return fate("the weights are not numbers", self.step)
        whose = f" of {named(0, self.head, self.blocks)}" if self.who else ""
        first, *rest = (int(k) for k in np.argsort(-sizes[:, 0], kind="stable"))
        stretch = f"stretches most, up to {sizes[first, 0]:.2f} ×"
        part, feature = (int(k) for k in np.unravel_index(int(shares.argmax()), shares.shape))
        if shares.shape[1] > 1 and shares[part, feature] >= ALMOST:
            share = percent(float(shares[part, feature]))
            said = (
                f"The {PARTS[part]} matrix{whose} reads almost only feature {feature} ({share} of its squared weights)"
            )
            said += f" and {stretch}" if part == first else f"; the {PARTS[first]} matrix {stretch}"
        else:
            others = listed([f"{PARTS[k]} {sizes[k, 0]:.2f} ×" for k in rest])
            said = f"The {PARTS[first]} matrix{whose} {stretch} ({others})"
            said += f", and only {sizes[first, -1]:.2f} × along its weakest direction" if sizes.shape[1] > 1 else ""
        return said + (" (projection)" if any(p.is_projection for p in self.planes.values()) else "")


def qkv(
    run: Run, *, sequence: Sequence = None, head: Head = None,
    extended: Annotated[bool, Option("below, token × position maps of each feature")] = False,
    step: Step = -1, member: Member = 0, planes: dict[str, Plane] | None = None,
) -> Qkv:  # fmt: skip
    """Every pair at `embedded`, `query`, `key` and `value`, and the matrices; those of `sequence` are marked.

    `planes`: fixed ones, for films.
    """
    head = checked(run, 0, head, member=member)
    all_pairs = pairs(run, step=step, member=member, also=tokens_of(run, sequence))
    weights, a = run.weights(all_pairs.step or 0, member), run.architecture
    columns = slice(head * a.per_head, (head + 1) * a.per_head)
    matrices = {part: weights[f"blocks.0.{part}"][:, columns].astype(np.float64) for part in PARTS}
    exact = {point: all_pairs.at(point, head).astype(np.float64) for point in ("embedded", *PARTS)}
    planes = planes or {point: plane(values) for point, values in exact.items()}
    axes = {"token": all_pairs.tokens, "position": numbers(all_pairs.context)}
    circles = (
        {}
        if a.positions == "rotary"
        else {
            point: _circle(
                planes[point],
                None if point == "embedded" else matrices[point],
                weights.get(f"blocks.0.{point}_bias", np.zeros(a.inner))[columns] if point != "embedded" else None,
            )
            for point in exact
        }
    )
    sizes = np.full((3, min(a.width, a.per_head)), np.nan)
    for row, part in enumerate(PARTS):
        if np.isfinite(matrices[part]).all():
            sizes[row] = np.linalg.svd(matrices[part], compute_uv=False)
    turn = np.linspace(0, 1, ROUND)
    return Qkv(
        **_attend.about_head(run, head, all_pairs.step, member),
        exact={p: Labelled(v, axes | {"feature": numbers(v.shape[-1])}) for p, v in exact.items()},
        drawn={
            p: Labelled(on_plane(planes[p], v, all_pairs), axes | {"direction": DIRECTIONS}) for p, v in exact.items()
        },
        matrices={
            p: Labelled(m, {"feature": numbers(a.width), "other_feature": numbers(a.per_head)})
            for p, m in matrices.items()
        },
        circles={p: Labelled(c, {"share": turn, "direction": DIRECTIONS}) for p, c in circles.items()},
        singular=Labelled(sizes, {"part": PARTS, "rank": numbers(sizes.shape[1])}),
        reads=Labelled(_reads(matrices), {"part": PARTS, "feature": numbers(a.width)}, "share"),
        planes=planes,
        groups=tuple(groups(run)[k] for k in all_pairs.ids),
        example=example(run, all_pairs.ids, sequence),
        asked=_asked(run, all_pairs, sequence),
        width=a.width,
        left_out=len(run.task.vocabulary) - len(all_pairs.ids),
        turned=a.positions == "rotary",
        normed=a.norm != "none" and a.norm_place == "pre",
        extended=extended,
    )


def _reads(matrices: dict[str, Array]) -> Array:
    """(part, feature): how the squared weights of each matrix are shared out over what it reads."""
    squares = np.stack([(matrices[part] ** 2).sum(axis=1) for part in PARTS])
    total = squares.sum(axis=1, keepdims=True)
    return np.divide(squares, total, out=np.full_like(squares, np.nan), where=total > 0)


def _asked(run: Run, all_pairs: Pairs, sequence: str | None) -> tuple[int, ...]:
    """The query that figures of attention follow and the pair it must look up, in a list of all pairs."""
    query = trigger(run, sequence)
    chosen = [
        pair for pair in (looked_up(run, *query, sequence), query) if pair is not None and pair[0] in all_pairs.ids
    ]
    return tuple(all_pairs.row(token) * all_pairs.context + place for token, place in chosen)


def on_plane(where: Plane, values: Array, all_pairs: Pairs) -> Array:
    """Pairs (token, position, feature) on a plane; on a line, positions are fanned out."""
    spread = np.linspace(0, 1, all_pairs.context)[None, :] * np.ones((len(all_pairs.tokens), 1))
    return where.points(values, spread=spread)


def _circle(where: Plane, matrix: Array | None, bias: Array | None) -> Array:
    """Outline of the image of the unit sphere on a plane: an ellipse, since all maps are linear."""
    width = where.width if matrix is None else len(matrix)
    through = where.basis if matrix is None else matrix @ where.basis  # (feature, 2)
    if not np.isfinite(through).all():
        return np.full((ROUND, 2), np.nan)
    _, sizes, turned = np.linalg.svd(through, full_matrices=False)
    angle = np.linspace(0, 2 * np.pi, ROUND)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])[:, : min(width, 2)]
    centre = where.zero + (0 if bias is None else where.directions(bias))
    return centre + (ring * sizes) @ turned


def reel(
    run: Run, *, head: Head = None, member: Member = 0, frames: Frames = 200, pace: Pace = "even", steps: Shown = None
) -> Reel:
    """Four planes, fixed on the last step, and the three matrices."""
    last = qkv(run, head=head, member=member)

    def at(step: int) -> Qkv:
        return qkv(run, head=last.head, step=step, member=member, planes=last.planes)

    every = frames_of(run, frames, pace, steps, member)
    lives = [at(step) for step in glance(every, GLANCE)]
    weights = [matrix.values for each in lives for matrix in each.matrices.values()]
    still = {
        "last": last,
        "extent": extent({part: [each.drawn[part].values for each in lives] for part in last.drawn}, weights),
    }
    return Reel(_grown(lives[0], last), every, at, strip(run, member), still)


def _grown(first: Qkv, last: Qkv) -> str:
    """From where to where the largest stretch of each matrix goes."""
    ends = [each.singular.values[:, 0] for each in (first, last)]
    if not np.isfinite(ends).all():
        return "Embedding, queries, keys and values, while they learn"
    return (
        f"From step {thousands(first.step or 0)} to {thousands(last.step or 0)} the largest stretch of the query "
        f"matrix goes from {ends[0][0]:.1f} × to {ends[1][0]:.1f} ×, key {ends[0][1]:.1f} to {ends[1][1]:.1f}, "
        f"value {ends[0][2]:.1f} to {ends[1][2]:.1f}"
    )
