"""What attention carries away: the values of one input, and the mixes it makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies, _clock, _decide
from glassformer.analyses._pairs import pairs, placed, shown
from glassformer.analyses._plane import Plane
from glassformer.analyses._plane import plane as plane_of
from glassformer.analyses._result import Labelled, Result, Words, numbers, percent, result
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.14", "4.r16")
COST = "b"
APPLIES = (_applies.attention,)


@result
class Mixing(Result):
    """Attention, values and mixes of every head of one block, as numbers and in one plane per head."""

    attention: Labelled  # (head, query_position, key_position)
    value: Labelled  # (head, key_position, feature)
    mixed: Labelled  # (head, query_position, feature): each row of attention times the values
    value_points: Labelled  # (head, key_position, axis)
    mixed_points: Labelled  # (head, query_position, axis)
    all_points: Labelled  # (head, pair, axis): the values of all pairs; block 0 only
    planes: tuple[Plane, ...]
    tokens: tuple[str, ...]
    source: tuple[int, ...]
    places: tuple[int, ...]
    block: int
    blocks: int  # that the model has
    causal: bool

    def told(self, heads: Sequence[int] = ()) -> tuple[int, int]:
        """Of some heads (or all), that and the key position that give most to the last position to look at."""
        weights = np.nan_to_num(self.attention.values[:, self.places[-1]])
        head = max(heads or range(len(weights)), key=lambda k: weights[k].max())
        return head, int(weights[head].argmax())


def mixing(run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0, block: int = 0) -> Mixing:
    """Attention × values = mixes, for every head of a block, on one input (the task's first showcase when None)."""
    a = run.architecture
    if a.attention == "off":
        raise CallError("this model has no attention")
    if not 0 <= block < a.blocks:
        raise CallError(f"block = {block} is not between 0 and {a.blocks - 1}")
    seen = run.trace(sequence, step=step, member=member)
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    value, mixed = seen["value"][block], seen["mixed"][block]  # (head, position, feature)
    every = pairs(run, step=seen.step, member=member)
    if block == 0:
        other = np.stack([every.at("value", head).reshape(-1, a.per_head) for head in range(a.heads)])
        names = tuple(f"{t}@{p}" for t in every.tokens for p in range(every.context))
    else:
        other, names = np.zeros((a.heads, 0, a.per_head)), ()
    planes = tuple(plane_of(np.concatenate([other[h], value[h], mixed[h]])) for h in range(a.heads))
    heads, axes = {"head": numbers(a.heads)}, {"axis": ("x", "y")}
    here, feature = placed(tokens), {"feature": numbers(a.per_head)}
    want = _decide.asked(run, seen.tokens)

    def on(points: np.ndarray, place: dict[str, tuple[str, ...]]) -> Labelled:
        return Labelled(np.stack([planes[h].points(points[h]) for h in range(a.heads)]), heads | place | axes)

    return Mixing(
        step=seen.step,
        clock=_clock.text(run, seen.step, member),
        attention=Labelled(seen["attention"][block], heads | {"query_position": here, "key_position": here}, "share"),
        value=Labelled(value, heads | {"key_position": here} | feature),
        mixed=Labelled(mixed, heads | {"query_position": here} | feature),
        value_points=on(value, {"key_position": here}),
        mixed_points=on(mixed, {"query_position": here}),
        all_points=on(other, {"pair": names}),
        planes=planes,
        tokens=tokens,
        source=want.source,
        places=tuple(k for k in want.places if want.answerable[k] and want.source[k] >= 0) or want.places[-1:],
        block=block,
        blocks=a.blocks,
        causal=a.causal,
    )


def say(seen: Mixing, heads: Sequence[int] = ()) -> Words:
    """Of what the most telling mix of some heads (or all) is made."""
    text = " ".join(map(shown, seen.tokens))
    weights = seen.attention.values
    if not np.isfinite(weights).all():
        title = f"At step {seen.step} the attention is not a number: the training has diverged"
    else:
        query = seen.places[-1]
        head, key = seen.told(heads)
        many = f" in head {head}" if len(weights) > 1 else ""
        many += f" of block {seen.block}" if seen.blocks > 1 else ""
        share = percent(float(weights[head, query, key]))
        title = (
            f"{share} of what {shown(seen.tokens[query])} at position {query} picks up{many} is the value of "
            f"{shown(seen.tokens[key])} at position {key}"
        )
        if (right := seen.source[query]) >= 0 and right != key:
            best = float(weights[list(heads) or slice(None), query, right].max())
            title += f"; {shown(seen.tokens[right])} at position {right}, which the rule needs, gives {percent(best)}"
        if any(each.is_projection for each in seen.planes):
            title += " (the plane is a projection)"
    caption = (
        f"The input {text}, block {seen.block}. Left to right: attention (rows look at columns, 0 to 1); the value of "
        "each position and the mix that each position picks up, as numbers on one scale with 0 at the centre; the "
        "plane of the values, all pairs of token and position in "
        f"grey{'' if seen.all_points.values.size else ' (not known beyond block 0)'}, with the mixes: those of the "
        "positions to look at are named and joined to the values they average, by lines as strong as the attention. A "
        f"mix is an average, so it lies among its values. The plane holds {percent(min(p.kept for p in seen.planes))} "
        "of the variance. The numbers are exact; a head that carried nothing would put all mixes in one place."
    )
    return Words(title, caption, f"Attention, values and mixes on {text}. {title}.")
