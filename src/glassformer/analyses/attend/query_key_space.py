"""Queries and keys of one head on one plane, and the score of one query with every key."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._attend import (
    AXES,
    checked,
    example,
    largest,
    looked_up,
    may_see,
    must_ask,
    occurring,
    product,
    trigger,
)
from glassformer.analyses._pairs import drawn, groups, in_file, pairs, read_pair, shown
from glassformer.analyses._plane import PairPlane, pair_plane
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, numbers, percent, result
from glassformer.analyses._sought import copied
from glassformer.analyses.attend.attention import named
from glassformer.run import Run

ORDER = 30
ANSWERS = ("4.09", "4.r9_10")
COST = "b"
APPLIES = (_applies.asking,)

GRID = 13  # points along each side of the drawn field, which is linear: its colours between them are exact
TOP = 5
STRAIGHT = 0.8  # share of the variance that a straight line must explain to be spoken of
CLEAR = 0.9  # share of pairs in which one key must score above another to be spoken of


@result
class QueryKey(Result):
    """All queries and keys of a head on a plane where dot products are scores, and one query followed."""

    queries: Labelled  # (token, position, axis)
    keys: Labelled  # (token, position, axis)
    scores: Labelled  # (token, position): of the one query with every key, in true units
    can_see: Labelled  # (token, position): 1 where the query can meet the key
    by_group: Labelled  # (group, position): mean score of a group's keys, NaN where the query cannot meet any
    field: Labelled  # (vertical, horizontal): the score that a key drawn there would have, from -reach to reach
    top: Labelled  # (key,): the highest scores, highest first; where it is not among them, then that of the answer
    reach: float
    product: str  # how a score comes about
    copied: bool  # as in `Attention`
    answer: str  # the key that the query must look up, where it is one of the showcase; else empty
    query: str  # `+@5`
    groups: tuple[str, ...]
    plane: PairPlane
    head: int
    heads: int
    blocks: int
    example: tuple[int, ...]  # the pairs of the first showcase, in a list of all pairs
    causal: bool


def query_key_space(
    run: Run,
    *,
    query: str | None = None,
    head: int | None = None,
    step: int = -1,
    member: int = 0,
    plane: PairPlane | None = None,
    reach: float | None = None,
) -> QueryKey:
    """Queries and keys of every pair in block 0, and the scores of `query` (`+@5`; None: a token that looks things up).

    `plane` and `reach`: fixed ones, for films.
    """
    must_ask(run)
    head = checked(run, 0, head, member=member)
    asked, place = trigger(run) if query is None else read_pair(run, query)
    all_pairs = pairs(run, step=step, member=member, also=(asked,))
    token = all_pairs.row(asked)
    q, k = (all_pairs.at(point, head).astype(np.float64) for point in ("query", "key"))  # (token, position, feature)
    plane = plane or pair_plane(q, k)
    drawn_q, drawn_k = plane.queries(q), plane.keys(k)
    scores = k @ q[token, place] * all_pairs.scale  # (token, position)
    visible = may_see(len(all_pairs.tokens), all_pairs.context, token, place, all_pairs.causal)
    visible &= occurring(run)[list(all_pairs.ids)]
    visible[token, place] = True
    names, kinds = tuple(run.task.groups), tuple(groups(run)[k] for k in all_pairs.ids)
    by_group = np.full((len(names), all_pairs.context), np.nan)
    others = visible.copy()
    others[token, place] = False  # its own key is one of its kind, not its group's
    for row, name in enumerate(names):
        here = others & (np.array(kinds) == name)[:, None]
        some = here.any(axis=0)
        by_group[row, some] = np.where(here, scores, 0).sum(axis=0)[some] / here.sum(axis=0)[some]
    reach = reach or 1.9 * largest(drawn_q, drawn_k) or 1.0
    side = np.linspace(-reach, reach, GRID)
    field = (drawn_q[token, place, 0] * side[None, :] + drawn_q[token, place, 1] * side[:, None]) * all_pairs.scale
    order = np.argsort(np.where(visible, -scores, np.inf), axis=None, kind="stable")[: min(TOP, int(visible.sum()))]
    found = looked_up(run, asked, place)
    if found is not None and (key := all_pairs.row(found[0]) * all_pairs.context + found[1]) not in order:
        order = np.append(order, key)
    at = [np.unravel_index(flat, scores.shape) for flat in order]
    pair_axes = {"token": all_pairs.tokens, "position": numbers(all_pairs.context)}
    return QueryKey(
        step=all_pairs.step,
        clock=_clock.text(run, all_pairs.step or 0, member),
        queries=Labelled(drawn_q, pair_axes | {"axis": AXES}),
        keys=Labelled(drawn_k, pair_axes | {"axis": AXES}),
        scores=Labelled(scores, pair_axes, "score"),
        can_see=Labelled(visible.astype(float), pair_axes),
        by_group=Labelled(by_group, {"group": names, "position": numbers(all_pairs.context)}, "score"),
        field=Labelled(field, {"vertical": _texts(side), "horizontal": _texts(side)}, "score"),
        top=Labelled(
            scores.ravel()[order], {"key": tuple(in_file(all_pairs.tokens[t], int(p)) for t, p in at)}, "score"
        ),
        reach=reach,
        product=product(run),
        copied=copied(run),
        answer="" if found is None else in_file(run.task.vocabulary[found[0]], found[1]),
        query=in_file(all_pairs.tokens[token], place),
        groups=kinds,
        plane=plane,
        head=head,
        heads=all_pairs.points["query"].values.shape[0],
        blocks=run.architecture.blocks,
        example=example(run, all_pairs.ids),
        causal=all_pairs.causal,
    )


def _texts(side: Array) -> tuple[str, ...]:
    return tuple(f"{x:.4g}" for x in side)


def means(seen: QueryKey) -> dict[str, float]:
    """Mean score of the keys of each group that the query can meet, other than its own, highest first."""
    can = seen.can_see.values.astype(bool)
    can[_index(seen)] = False
    found = {}
    for group in seen.by_group.axes["group"].labels:
        here = can & (np.array(seen.groups) == group)[:, None]
        if np.isfinite(seen.by_group.values[list(seen.by_group.axes["group"].labels).index(group)]).any():
            found[group] = float(seen.scores.values[here].mean())
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def recency(seen: QueryKey, group: str) -> float:
    """How much higher a key of a group scores one position later; NaN where it does not grow or fall evenly."""
    row = seen.by_group.values[list(seen.by_group.axes["group"].labels).index(group)]
    known = np.flatnonzero(np.isfinite(row))
    if len(known) < 3 or np.ptp(row[known]) == 0 or np.corrcoef(known, row[known])[0, 1] ** 2 < STRAIGHT:
        return np.nan
    return float(np.polyfit(known, row[known], 1)[0])


def beats(seen: QueryKey, group: str) -> float:
    """Of all pairs of a key of the group and another key that the query can meet: in how many the first scores more."""
    can, mine = seen.can_see.values.astype(bool), (np.array(seen.groups) == group)[:, None]
    can[_index(seen)] = False
    ours, theirs = seen.scores.values[can & mine], seen.scores.values[can & ~mine]
    return float((ours[:, None] > theirs[None]).mean()) if len(ours) and len(theirs) else np.nan


def latest_wins(seen: QueryKey, group: str) -> float:
    """Of all pairs of keys of the group at two positions: in how many the later one scores more."""
    can, mine = seen.can_see.values.astype(bool), (np.array(seen.groups) == group)[:, None]
    can[_index(seen)] = False
    token, place = np.nonzero(can & mine)
    scores = seen.scores.values[token, place]
    later = place[:, None] > place[None]
    return float((scores[:, None] > scores[None])[later].mean()) if later.any() else np.nan


def by_position(seen: QueryKey) -> tuple[int, float]:
    """The position whose keys score highest on average, and the share of the scores' variance that lies in position."""
    can = seen.can_see.values.astype(bool)
    can[_index(seen)] = False
    token, place = np.nonzero(can)
    scores = seen.scores.values[token, place]
    middle = {int(p): float(scores[place == p].mean()) for p in np.unique(place)}
    whole = float(((scores - scores.mean()) ** 2).sum()) if len(scores) else 0.0
    between = float(((np.array([middle[int(p)] for p in place]) - scores.mean()) ** 2).sum()) if middle else 0.0
    return (max(middle, key=lambda p: middle[p]) if middle else -1), (between / whole if whole > 0 else 0.0)


def _always(share: float) -> str:
    return "always " if share == 1 else ""


def _in_pairs(share: float) -> str:
    return "" if share == 1 else f" in {percent(share)} of all pairs"


def _share(share: float) -> str:
    return "always" if share == 1 else f"in {percent(share)}"


def _a(word: str) -> str:
    return f"{'an' if word[:1] in 'aeio' else 'a'} {word}"


def _asker(seen: QueryKey) -> str:
    token, _, place = seen.query.rpartition("@")
    return f"{shown(token)} at position {place}"


def _who(seen: QueryKey) -> str:
    return f" ({named(0, seen.head, seen.blocks)})" if seen.blocks * seen.heads > 1 else ""


def say_focus(seen: QueryKey) -> Words:
    """What the one query scores high."""
    top = drawn(seen.top.axes["key"].labels[:TOP])
    caption = (
        f"The plane is coloured by the score that {_asker(seen)} would give a key drawn there, {seen.product}, "
        "white (dark on a dark page) at zero. Straight lines join places of equal score. Squares are keys: those "
        "that the query can meet in colour, those it may not see, or that occur in no question, in grey. "
        + (
            ""
            if seen.plane.lossless
            else f"The plane is the best one for the scores of this head and explains "
            f"{percent(seen.plane.kept)} of their variance; the scores beside it are the true ones. "
        )
        + "Attention is the softmax of these scores over the keys of one input: a score higher by 1 gets 2.7 times the "
        "weight. At its own position the query can meet only itself. The numbers are exact. If the head did not care "
        "what the token is, the lines by group would coincide."
    )
    if not np.isfinite(seen.scores.values).all():
        title = f"At step {seen.step} the scores are not numbers: the training has diverged"
        return Words(title, caption, title)
    mean, asker = means(seen), f"{_asker(seen)}{_who(seen)}"
    if len(mean) >= 2:
        best, *others = mean
        slope = recency(seen, best)
        caption += f" {asker[0].upper()}{asker[1:]} gives {_told(mean)}"
        caption += (
            f"; {best} keys score {abs(slope):.1f} {'more' if slope > 0 else 'less'} for each position later."
            if np.isfinite(slope) and abs(slope) >= 0.05 and seen.causal
            else "."
        )
        above, later = beats(seen, best), latest_wins(seen, best)
        place, share = by_position(seen)
        if above >= CLEAR:
            other = _a(others[0]) if len(others) == 1 else "any other"
            title = f"{asker} {_always(above)}scores {_a(best)} key above {other} key{_in_pairs(above)}"
            if later >= CLEAR and seen.causal:
                again = "" if above == later == 1 else f" {_share(later)}"
                title += f", and the later of two {best} keys above the earlier{again}"
        elif share >= 0.5:
            title = (
                f"{asker} scores keys at position {place} highest on average: the position accounts for "
                f"{percent(share)} of the differences between scores"
            )
        else:
            title = f"{asker} gives {_told(mean)}"
    else:
        title = f"{asker} scores {listed(top)} highest"
    title = title[0].upper() + title[1:]
    kinds = Counter(
        seen.groups[seen.scores.axes["token"].labels.index(key.rpartition("@")[0])] for key in seen.top.axes["key"].labels[:TOP]
    )
    most, count = kinds.most_common(1)[0]
    alt = f"{title}. The {len(top)} highest keys are {listed(top)}; {count} of them belong to the group {most}."
    return Words(title, caption, alt)


def _points(seen: QueryKey, mean: dict[str, float]) -> str:
    """Towards which keys a query points, and away from which."""
    toward = [f"{group} keys (score {_signed(score)} on average)" for group, score in mean.items() if score > 0]
    away = [f"{group} keys ({_signed(score)})" for group, score in mean.items() if score <= 0]
    place, share = by_position(seen)
    if beats(seen, next(iter(mean))) < CLEAR and share >= 0.5:
        query = f"The query of {_asker(seen)}{_who(seen)}"
        return f"{query} points furthest towards the keys at position {place}, on average over those it may see"
    if not toward or not away:
        return f"{_asker(seen)}{_who(seen)} gives {_told(mean)}"
    return (
        f"The query of {_asker(seen)}{_who(seen)} points towards {listed(toward[:2])} and away from {listed(away[-2:])}"
    )


def _told(mean: dict[str, float]) -> str:
    """Scores by group, the two highest and the lowest of many."""
    several = list(mean.items())
    several = several if len(several) <= 3 else [*several[:2], several[-1]]
    (best, high), *rest = several
    others = listed([f"{group} keys {_signed(score)}" for group, score in rest])
    return f"{best} keys a score of {_signed(high)} on average, {others}"


def _index(seen: QueryKey) -> tuple[int, int]:
    token, _, place = seen.query.rpartition("@")
    return seen.scores.axes["token"].labels.index(token), int(place)


def _signed(value: float) -> str:
    return f"{value:.1f}".replace("-", "\u2212") if abs(value) >= 0.95 else f"{value:.2f}".replace("-", "\u2212")


def say(seen: QueryKey) -> Words:
    """Which queries are long, and what lies in their direction."""
    lengths = np.linalg.norm(seen.queries.values, axis=-1).mean(axis=-1)  # (token,)
    tokens = seen.queries.axes["token"].labels
    caption = (
        "All queries (circles) and keys (squares) of "
        + (f"head {seen.head} of {seen.heads}, " if seen.heads > 1 else "the head, ")
        + "one of each for every token at every position; rings join places equally far from the origin. The score of "
        f"a query with a key is {seen.product}: the product of their lengths times the cosine of the angle between them"
        + (f", divided by {seen.product.rpartition(' / ')[2]}" if " / " in seen.product else "")
        + ". A query looks along its own direction, the further out a key lies there the better. "
        + (
            ""
            if seen.plane.lossless
            else f"Drawn is the plane whose dot products come closest to the true scores; it explains "
            f"{percent(seen.plane.kept)} of their variance. "
        )
        + f"The arrow is the query of {_asker(seen)}; a name stands beside the keys of each group where the groups lie "
        "apart, with their mean score for that query. In `4₇` the small number is the position. In colour: the "
        "queries and keys of the first showcase, named where there is room; bars, where there is room: the scores of "
        "that query with the keys of the showcase that it may see. Exact, no input needed. If the head asked for "
        "nothing, all queries would lie at the origin."
    )
    if not np.isfinite(lengths).all():
        title = f"At step {seen.step} queries and keys are not numbers: the training has diverged"
        return Words(title, caption, title)
    longest, shortest = int(lengths.argmax()), int(lengths.argmin())
    mean = means(seen)
    long = (
        f"{shown(tokens[longest])} has the longest queries ({lengths[longest]:.1f} on average), "
        f"{shown(tokens[shortest])} the shortest ({lengths[shortest]:.1f})"
    )
    caption += f" {long[0].upper()}{long[1:]}."
    title = f"{_points(seen, mean)}" if len(mean) >= 2 else long
    if seen.plane.kept < 0.6:
        title += " (projection)"
    return Words(title[0].upper() + title[1:], caption, f"Plane of all queries and keys. {title}.")
