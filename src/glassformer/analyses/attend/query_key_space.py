"""Queries and keys of one head on one plane, and the score of one query with every key."""

from collections.abc import Callable
from collections.abc import Sequence as Places
from typing import Annotated

import numpy as np

from glassformer.analyses import _applies, _attend
from glassformer.analyses._options import Frames, Head, Member, Option, Pace, Sequence, Shown, Step
from glassformer.analyses._pairs import at_position, groups, paired, pairs, read_pair, spoken, these
from glassformer.analyses._plane import PairPlane, pair_plane
from glassformer.analyses._reel import Reel, extent, frames_of, glance, strip
from glassformer.analyses._result import Array, Axis, Labelled, Place, fate, listed, numbers, result, thousands
from glassformer.analyses._sought import copied
from glassformer.run import Run

ORDER = 30
ANSWERS = ("4.09", "4.r9_10", "4.D3")
COST = "b"
APPLIES = (_applies.asking,)
GRID = 13  # points along each side of the drawn field, which is linear: its colours between them are exact
TOP = 5
STRAIGHT = 0.8  # share of the variance that a straight line must explain to be spoken of
AWAY = 0.1  # of the highest mean score, below zero, from which a query points away: nearer to zero it points nowhere
CLEAR = 0.9  # share of pairs in which one key must score above another to be spoken of
GLANCE = 60  # frames looked at for the limits of a film


@result
class QueryKeySpace(_attend.OneHead):
    """All queries and keys of a head on a plane where dot products are scores, and one query followed.

    Arrays over groups are of the keys that this query can meet, other than its own, the highest mean score first.
    """

    queries: Labelled  # (token, position, direction)
    keys: Labelled  # (token, position, direction)
    lengths: Labelled  # (token,): of its queries as they are drawn, on average
    scores: Labelled  # (token, position): of the one query with every key, in true units
    can_see: Labelled  # (token, position): whether the query can meet the key
    by_group: Labelled  # (group, position): mean score of a group's keys, NaN where the query cannot meet any
    group_mean: Labelled  # (group,): the same over all positions
    group_above: Labelled  # (group,): in how many pairs of its key and one of another group its key scores more
    group_later: Labelled  # (group,): in how many pairs of its keys at two positions the later one scores more
    group_slope: Labelled  # (group,): how much more a key scores one position later; NaN where it is not even
    best_position: int  # whose keys score highest on average; -1: it meets none
    position_share: float  # of the variance of the scores that lies in the position of the keys
    field: Labelled  # (vertical, horizontal): the score that a key drawn there would have
    top: Labelled  # (key_pair,): the highest scores, highest first; where it is not among them, then that of the answer
    product: str  # how a score comes about
    copied: bool  # as in `Attention`
    answer: tuple[str, int] | None  # token and position of the key that the query must look up; None: no such query
    query: tuple[str, int]  # token and position
    groups: tuple[str, ...]  # of each token
    plane: PairPlane
    head: int
    heads: int
    blocks: int
    example: tuple[int, ...]  # the pairs of the input, in a list of all pairs
    causal: bool
    left_out: int  # tokens of the vocabulary without queries and keys here, the rarer ones
    with_focus: bool  # whether the plane is asked for as the query sees it, too

    @property
    def title(self) -> str:
        """Towards which keys the query points; without groups, which queries are long."""
        if not np.isfinite(self.lengths.values).all():
            return fate("queries and keys are not numbers", self.step)
        said = _points(self) if len(self.means) >= 2 else self.longest
        return said + (" (projection)" if self.plane.kept < 0.6 else "")

    @property
    def longest(self) -> str:
        """Which queries are long and which are short."""
        tokens, lengths = self.lengths.axes["token"].labels, self.lengths.values
        longest, shortest = int(lengths.argmax()), int(lengths.argmin())
        return (
            f"The longest queries are those of {spoken(tokens[longest])} ({lengths[longest]:.1f} on average), the "
            f"shortest those of {spoken(tokens[shortest])} ({lengths[shortest]:.1f})"
        )

    @property
    def means(self) -> dict[str, float]:
        """Mean score of the keys of each group, highest first."""
        return dict(zip(self.group_mean.axes["group"].labels, self.group_mean.values.tolist(), strict=True))

    @property
    def asker(self) -> str:
        """The one query in words: `+ at position 5`."""
        return f"{spoken(self.query[0])} at position {self.query[1]}"

    def row(self, pair: Place) -> int:
        """Where a token at a position stands in a list of all pairs."""
        return self.pairs.values.index(pair)

    @property
    def pairs(self) -> Axis:
        """Every token at every position, token by token."""
        return paired(self.queries.axes["token"].labels, len(self.queries.axes["position"]))


def query_key_space(
    run: Run, *, query: _attend.Query = None, sequence: Sequence = None, head: Head = None, step: Step = -1,
    member: Member = 0,
    with_focus: Annotated[bool, Option("beside it, the plane coloured by the scores of the one query")] = False,
    plane: PairPlane | None = None,
) -> QueryKeySpace:  # fmt: skip
    """Queries and keys of every pair in block 0, and the scores of one query, that of `sequence` worth following.

    `plane`: a fixed one, for films.
    """
    head = _attend.checked(run, 0, head, member=member)
    asked, place = _attend.trigger(run, sequence) if query is None else read_pair(run, query)
    all_pairs = pairs(run, step=step, member=member, also=(asked, *_attend.tokens_of(run, sequence)))
    token = all_pairs.row(asked)
    q, k = (all_pairs.at(point, head).astype(np.float64) for point in ("query", "key"))  # (token, position, feature)
    plane = plane or pair_plane(q, k)
    drawn_q, drawn_k = plane.queries(q), plane.keys(k)
    scores = k @ q[token, place] * all_pairs.scale  # (token, position)
    visible = _attend.may_see(len(all_pairs.tokens), all_pairs.context, token, place, all_pairs.causal)
    visible &= _attend.occurring(run)[list(all_pairs.ids)]
    visible[token, place] = True
    kinds = tuple(groups(run)[k] for k in all_pairs.ids)
    others = visible.copy()
    others[token, place] = False  # its own key is one of its kind, not its group's
    reach = 1.9 * _attend.largest(drawn_q, drawn_k) or 1.0
    side = np.linspace(-reach, reach, GRID)
    field = (drawn_q[token, place, 0] * side[None, :] + drawn_q[token, place, 1] * side[:, None]) * all_pairs.scale
    order = np.argsort(np.where(visible, -scores, np.inf), axis=None, kind="stable")[: min(TOP, int(visible.sum()))]
    found = _attend.looked_up(run, asked, place, sequence)
    if found is not None and (key := all_pairs.row(found[0]) * all_pairs.context + found[1]) not in order:
        order = np.append(order, key)
    at = [divmod(int(flat), all_pairs.context) for flat in order]
    axes = {"token": all_pairs.tokens, "position": numbers(all_pairs.context)}
    best, share = _position(scores, others)
    told = _by_group(scores, others, np.array(kinds), tuple(run.task.groups))
    return QueryKeySpace(
        **_attend.about_head(run, head, all_pairs.step, member),
        queries=Labelled(drawn_q, axes | {"direction": _attend.DIRECTIONS}),
        keys=Labelled(drawn_k, axes | {"direction": _attend.DIRECTIONS}),
        lengths=Labelled(np.linalg.norm(drawn_q, axis=-1).mean(axis=-1), {"token": all_pairs.tokens}),
        scores=Labelled(scores, axes, "score"),
        can_see=Labelled(visible, axes),
        by_group=told["rows"],
        group_mean=told["mean"],
        group_above=told["above"],
        group_later=told["later"],
        group_slope=told["slope"],
        best_position=best,
        position_share=share,
        field=Labelled(field, {"vertical": side, "horizontal": side}, "score"),
        top=Labelled(scores.ravel()[order], {"key_pair": these((all_pairs.tokens[t], p) for t, p in at)}, "score"),
        product=_attend.product(run),
        copied=copied(run),
        answer=None if found is None else (run.task.vocabulary[found[0]], found[1]),
        query=(all_pairs.tokens[token], place),
        groups=kinds,
        plane=plane,
        example=_attend.example(run, all_pairs.ids, sequence),
        causal=all_pairs.causal,
        left_out=len(run.task.vocabulary) - len(all_pairs.ids),
        with_focus=with_focus,
    )


def _by_group(scores: Array, can: Array, kinds: Array, names: Places[str]) -> dict[str, Labelled]:
    """What the fields over groups hold; `can` (token, position): the keys that count."""
    rows = np.full((len(names), scores.shape[1]), np.nan)
    told: dict[str, tuple[float, ...]] = {}
    token, place = np.nonzero(can)
    values = scores[token, place]
    for row, name in zip(rows, names, strict=True):
        here = can & (kinds == name)[:, None]
        some = here.any(axis=0)
        row[some] = np.where(here, scores, 0).sum(axis=0)[some] / here.sum(axis=0)[some]
        if not np.isfinite(row).any():
            continue
        mine = kinds[token] == name
        ours, theirs, later = values[mine], values[~mine], place[mine][:, None] > place[mine][None]
        told[name] = (
            float(ours.mean()),
            float((ours[:, None] > theirs[None]).mean()) if len(theirs) else np.nan,
            float((ours[:, None] > ours[None])[later].mean()) if later.any() else np.nan,
            _slope(row),
        )
    found = dict(sorted(told.items(), key=lambda item: -item[1][0]))
    units = {"mean": "score", "above": "share", "later": "share", "slope": "score per position"}
    columns = zip(*found.values(), strict=True) if found else ((),) * len(units)
    return {"rows": Labelled(rows, {"group": names, "position": numbers(scores.shape[1])}, "score")} | {
        name: Labelled(np.array(column), {"group": tuple(found)}, unit)
        for (name, unit), column in zip(units.items(), columns, strict=True)
    }


def _slope(row: Array) -> float:
    """How much a row grows from one place to the next; NaN where it does not grow or fall evenly."""
    known = np.flatnonzero(np.isfinite(row))
    if len(known) < 3 or np.ptp(row[known]) == 0 or np.corrcoef(known, row[known])[0, 1] ** 2 < STRAIGHT:
        return np.nan
    return float(np.polyfit(known, row[known], 1)[0])


def _position(scores: Array, can: Array) -> tuple[int, float]:
    """The position whose keys score highest on average, and the share of the scores' variance that lies in position."""
    token, place = np.nonzero(can)
    values = scores[token, place]
    if not len(values):
        return -1, 0.0
    middle = {int(p): float(values[place == p].mean()) for p in np.unique(place)}
    whole = float(((values - values.mean()) ** 2).sum())
    between = float(((np.array([middle[int(p)] for p in place]) - values.mean()) ** 2).sum())
    return max(middle, key=lambda p: middle[p]), between / whole if whole > 0 else 0.0


def _points(seen: QueryKeySpace) -> str:
    """Towards which keys a query points, and away from which."""
    toward = [f"{group} keys (score {_signed(score)} on average)" for group, score in seen.means.items() if score > 0]
    most = max(seen.means.values())
    away = [f"{group} keys ({_signed(score)})" for group, score in seen.means.items() if score <= -AWAY * most]
    query = f"The query of {seen.asker}{seen.who} points"
    if seen.group_above.values[0] < CLEAR and seen.position_share >= 0.5:
        return f"{query} furthest towards the keys at position {seen.best_position}, on average over those it may see"
    if not toward or not away:
        return f"{seen.asker}{seen.who} gives {by_group(seen)}"
    return f"{query} towards {listed(toward[:2])} and away from {listed(away[-2:])}"


def by_group(seen: QueryKeySpace) -> str:
    """Mean scores by group, the two highest and the lowest of many."""
    several = list(seen.means.items())
    several = several if len(several) <= 3 else [*several[:2], several[-1]]
    (best, high), *rest = several
    others = listed([f"{group} keys {_signed(score)}" for group, score in rest])
    return f"{best} keys a score of {_signed(high)} on average, {others}"


def _signed(value: float) -> str:
    return f"{value:.{1 if abs(value) >= 0.95 else 2}f}".replace("-", "\u2212")


def reel(
    run: Run, *, query: _attend.Query = None, head: Head = None, member: Member = 0, frames: Frames = 200,
    pace: Pace = "even", steps: Shown = None,
) -> Reel:  # fmt: skip
    """All queries and keys on the plane of the last step."""
    last = query_key_space(run, query=query, head=head, member=member)
    every = frames_of(run, frames, pace, steps, member)

    def at(step: int) -> QueryKeySpace:
        return query_key_space(run, query=query, head=last.head, step=step, member=member, plane=last.plane)

    still = {"last": last, "first": at(every[0]), "extent": extent({"space": clouds(at, every)})}
    return Reel(grown(at(int(run.steps[0])), last), every, at, strip(run, member), still)


def clouds(at: Callable[[int], QueryKeySpace], frames: Places[int]) -> list[Array]:
    """Queries and keys at some of a film's frames."""
    lives = [at(step) for step in glance(frames, GLANCE)]
    return [part.values for each in lives for part in (each.queries, each.keys)]


def grown(first: QueryKeySpace, last: QueryKeySpace) -> str:
    """How far the groups of keys move apart in the eyes of one query, from the first step to the last."""
    before, now = first.means, last.means
    if len(now) < 2 or not np.isfinite([*before.values(), *now.values()]).all():
        return "Queries and keys on one plane, while they learn"
    best, *_, worst = now
    gaps = [f"{round(each[best] - each[worst], 1) + 0:.1f}".replace("-", "\u2212") for each in (before, now)]
    return (
        f"{at_position(*last.query)} scores {best} keys {gaps[1]} higher than {worst} keys at step "
        f"{thousands(last.step or 0)}, {gaps[0]} at step {thousands(first.step or 0)}"
    )
