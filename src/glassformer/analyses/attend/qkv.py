"""Query, key and value: every token at every position, through the three matrices of the first block."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._attend import AXES, checked, example, looked_up, must_ask, trigger
from glassformer.analyses._pairs import Pairs, groups, pairs
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, numbers, percent, result
from glassformer.analyses.attend.attention import named
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.08", "4.X")
COST = "c"
APPLIES = (_applies.asking,)

PARTS = ("query", "key", "value")
ALMOST = 0.9  # share of a matrix's squared weights on one feature from which it reads almost only that
ROUND = 61  # points of a drawn circle


@result
class Qkv(Result):
    """All pairs and their three images, each on its own plane; the matrices of one head."""

    exact: dict[str, Labelled]  # embedded, query, key, value: (token, position, feature)
    drawn: dict[str, Labelled]  # the same on their planes: (token, position, axis)
    matrices: dict[str, Labelled]  # query, key, value: (feature, feature of the head)
    circles: dict[str, Labelled]  # the unit circle (wider: its shadow) and its images: (point, axis)
    singular: Labelled  # (part, number): how much each matrix stretches
    reads: Labelled  # (part, feature): share of a matrix's squared weights that reads this feature
    planes: dict[str, Plane]
    groups: tuple[str, ...]  # of each token
    head: int
    heads: int
    blocks: int
    example: tuple[int, ...]  # the pairs of the first showcase, in a list of all pairs
    asked: tuple[int, ...]  # of these, the query worth following and what it must look up
    width: int
    normed: bool  # whether a norm stands between the embedding and the matrices


def qkv(
    run: Run, *, head: int | None = None, step: int = -1, member: int = 0, planes: dict[str, Plane] | None = None
) -> Qkv:
    """Every pair at `embedded`, `query`, `key` and `value`, and the matrices. `planes`: fixed ones, for films."""
    must_ask(run)
    head = checked(run, 0, head, member=member)
    all_pairs = pairs(run, step=step, member=member)
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
    return Qkv(
        step=all_pairs.step,
        clock=_clock.text(run, all_pairs.step or 0, member),
        exact={p: Labelled(v, axes | {"feature": numbers(v.shape[-1])}) for p, v in exact.items()},
        drawn={p: Labelled(on_plane(planes[p], v, all_pairs), axes | {"axis": AXES}) for p, v in exact.items()},
        matrices={
            p: Labelled(m, {"feature": numbers(a.width), "head_feature": numbers(a.per_head)})
            for p, m in matrices.items()
        },
        circles={p: Labelled(c, {"point": numbers(len(c)), "axis": AXES}) for p, c in circles.items()},
        singular=Labelled(sizes, {"part": PARTS, "number": numbers(sizes.shape[1])}),
        reads=Labelled(_reads(matrices), {"part": PARTS, "feature": numbers(a.width)}, "share"),
        planes=planes,
        groups=tuple(groups(run)[k] for k in all_pairs.ids),
        head=head,
        heads=a.heads,
        blocks=a.blocks,
        example=example(run, all_pairs.ids),
        asked=_asked(run, all_pairs),
        width=a.width,
        normed=a.norm != "none" and a.norm_place == "pre",
    )


def _reads(matrices: dict[str, Array]) -> Array:
    """(part, feature): how the squared weights of each matrix are shared out over what it reads."""
    squares = np.stack([(matrices[part] ** 2).sum(axis=1) for part in PARTS])
    total = squares.sum(axis=1, keepdims=True)
    found: Array = np.divide(squares, total, out=np.full_like(squares, np.nan), where=total > 0)
    return found


def _asked(run: Run, all_pairs: Pairs) -> tuple[int, ...]:
    """The query that figures of attention follow and the pair it must look up, in a list of all pairs."""
    query = trigger(run)
    chosen = [pair for pair in (looked_up(run, *query), query) if pair is not None and pair[0] in all_pairs.ids]
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
    found: Array = centre + (ring * sizes) @ turned
    return found


def say(seen: Qkv) -> Words:
    """How much each matrix stretches, and in which direction not."""
    which = f" of {named(0, seen.head, seen.blocks)}" if seen.blocks * seen.heads > 1 else ""
    caption = (
        "Every token at every position, before and after the three matrices of the first block"
        + (f" (head {seen.head} of {seen.heads})" if seen.heads > 1 else "")
        + (", which read the embedding after its norm" if seen.normed else "")
        + ". Each image is the embedding times one matrix: the ellipse, drawn where it has room, is the image of the "
        "unit circle"
        + (" (of the unit sphere, as seen on the plane)" if seen.width > 2 else "")
        + ", and its longest and shortest radius are the singular values. Labels: the pairs of the first "
        "showcase, where there is room. "
        + (
            "The planes are those of the two largest principal components of the points drawn. "
            if seen.width > 2
            else ""
        )
        + "The numbers are exact. Two tokens that fall on one point in an image are one and the same to that part "
        "of the head."
    )
    sizes = seen.singular.values
    if not np.isfinite(sizes).all():
        title = f"At step {seen.step} the weights are not numbers: the training has diverged"
    else:
        order = [int(k) for k in np.argsort(-sizes[:, 0], kind="stable")]
        rest = listed([f"{PARTS[k]} {sizes[k, 0]:.2f} ×" for k in order[1:]])
        stretch = f"stretches most, up to {sizes[order[0], 0]:.2f} ×"
        title = f"The {PARTS[order[0]]} matrix{which} {stretch} ({rest})"
        shares = np.nan_to_num(seen.reads.values)
        part, feature = (int(k) for k in np.unravel_index(int(shares.argmax()), shares.shape))
        if shares.shape[1] > 1 and shares[part, feature] >= ALMOST:
            only = (
                f"reads almost only feature {feature} ({percent(float(shares[part, feature]))} of its squared weights)"
            )
            also = f" and {stretch}" if part == order[0] else f"; the {PARTS[order[0]]} matrix {stretch}"
            title = f"The {PARTS[part]} matrix{which} {only}{also}"
        elif sizes.shape[1] > 1:
            title += f", and only {sizes[order[0], -1]:.2f} × along its weakest direction"
        if any(p.is_projection for p in seen.planes.values()):
            title += " (projection)"
    return Words(title, caption, f"Planes of embeddings, queries, keys and values, and the three matrices. {title}.")
