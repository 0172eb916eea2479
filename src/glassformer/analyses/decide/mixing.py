"""What attention carries away: the values of one input, and the mixes it makes of them."""

from collections.abc import Sequence as Places
from typing import Any

import numpy as np

from glassformer.analyses import _applies, _clock, _decide
from glassformer.analyses._options import Block, Member, Sequence, Step
from glassformer.analyses._pairs import paired, pairs, placed, shown
from glassformer.analyses._plane import DIRECTIONS, Plane
from glassformer.analyses._plane import plane as plane_of
from glassformer.analyses._result import Axis, Labelled, Result, fate, numbers, percent, result
from glassformer.errors import check_index
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
    value_points: Labelled  # (head, key_position, direction)
    mixed_points: Labelled  # (head, query_position, direction)
    all_points: Labelled  # (head, pair, direction): the values of all pairs; block 0 only
    planes: tuple[Plane, ...]
    tokens: tuple[str, ...]
    source: tuple[int, ...]
    places: tuple[int, ...]
    block: int
    blocks: int  # that the model has
    causal: bool

    def title_of(self, heads: Places[int] = ()) -> str:
        """Of what the most telling mix is made; of some heads only, if any are named."""
        weights = self.attention.values
        if not np.isfinite(weights).all():
            return fate("the attention is not a number", self.step)
        query = self.places[-1]
        head, key = self.told(heads)
        many = f" in head {head}" if len(weights) > 1 else ""
        many += f" of block {self.block}" if self.blocks > 1 else ""
        attended = weights[head, query] @ self.value.values[head]
        if not np.allclose(attended, self.mixed.values[head, query], rtol=1e-3, atol=1e-4):
            return (
                f"An edit decides what {shown(self.tokens[query])} at position {query} picks up{many}; attention gives "
                f"{percent(float(weights[head, query, key]))} to {shown(self.tokens[key])} at position {key}"
            )
        said = (
            f"{percent(float(weights[head, query, key]))} of what {shown(self.tokens[query])} at position {query} "
            f"picks up{many} is the value of {shown(self.tokens[key])} at position {key}"
        )
        if (right := self.source[query]) >= 0 and right != key:
            best = float(weights[list(heads) or slice(None), query, right].max())
            said += f"; {shown(self.tokens[right])} at position {right}, which the rule needs, gives {percent(best)}"
        return said + (" (the plane is a projection)" if any(each.is_projection for each in self.planes) else "")

    def told(self, heads: Places[int] = ()) -> tuple[int, int]:
        """Of some heads (or all), that and the key position that give most to the last position to look at."""
        weights = np.nan_to_num(self.attention.values[:, self.places[-1]])
        head = max(heads or range(len(weights)), key=lambda k: weights[k].max())
        return head, int(weights[head].argmax())


def mixing(run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0, block: Block = 0) -> Mixing:
    """Attention × values = mixes, for every head of a block, on one input (the task's first showcase when None)."""
    a = run.architecture
    check_index("block", block, a.blocks)
    seen = run.trace(sequence, step=step, member=member)
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    value, mixed = seen["value"][block], seen["mixed"][block]  # (head, position, feature)
    every = pairs(run, step=seen.step, member=member)
    if block == 0:
        other = np.stack([every.at("value", head).reshape(-1, a.per_head) for head in range(a.heads)])
        names = paired(every.tokens, every.context)
    else:
        other, names = np.zeros((a.heads, 0, a.per_head)), Axis(())
    planes = tuple(plane_of(np.concatenate([other[h], value[h], mixed[h]])) for h in range(a.heads))
    heads: dict[str, Any] = {"head": numbers(a.heads)}
    here, feature = placed(tokens), {"feature": numbers(a.per_head)}
    want = _decide.asked(run, seen.tokens)

    def on(points: np.ndarray, place: dict[str, Axis]) -> Labelled:
        return Labelled(
            np.stack([planes[h].points(points[h]) for h in range(a.heads)]), heads | place | {"direction": DIRECTIONS}
        )

    return Mixing(
        **_clock.at_step(run, seen.step, member),
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
