"""How far back heads look, and how widely: mean attention by position and by distance, and its entropy over life."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._fitting import fitting
from glassformer.analyses._options import Member, Step
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, percent, result
from glassformer.analyses._sought import copied, sought
from glassformer.analyses._uncertain_run import uncertainty
from glassformer.analyses.attend.attention import named
from glassformer.run import Run

ORDER = 90
ANSWERS = ("0.7",)
COST = "b"
APPLIES = (_applies.attention,)
WINDOWS = 256
LINES = ("mean", "10 %", "90 %", "first step")
OTHERS = "others"  # the mean of all other queries, where some are told apart


@result
class AttentionProfile(Result):
    """Mean attention over validation windows, with the band that holds eight queries in ten.

    Where the rule asks at some queries only (they have an answer to look up), all lines but `others` are of those.
    """

    by_distance: Labelled  # (statistic, block, head, distance); not causal: key position minus query position
    by_position: Labelled  # (statistic, block, head, key_position)
    uniform_by_distance: Labelled  # (distance,)
    uniform_by_position: Labelled  # (key_position,)
    seen_by_distance: Labelled  # (distance,): share of the queries that have such a key
    seen_by_position: Labelled  # (key_position,)
    answer: dict[str, Labelled] = field(default_factory=dict)  # distance, key_position: how often the answer lies there
    entropy: Labelled  # (block, head, step): of the attention, averaged over queries and windows, over the life
    if_alike: Labelled  # (block, head): the same if each query looked everywhere alike
    marked: int  # the step asked for; -1: none
    entropy_windows: int  # windows behind the entropies; one input a step of a physics model
    lowest: float  # share that a key got on any input
    highest: float
    steps_are_inputs: bool  # a physics model has one input a step: means and bands are over steps
    windows: int
    asked: int  # queries with an answer to look up; 0: they are not told apart
    copied: bool  # as in `Attention`
    first: int  # the step of the faint line
    causal: bool

    def title_of(self, among: Sequence[tuple[int, int]] | None = None) -> str:
        """Where attention exceeds that of looking everywhere alike; of these (block, head) only, if any are named."""
        if self.steps_are_inputs:
            return (
                f"In none of {self.windows} steps does one of the {self.by_position.values.shape[-1]} positions get "
                f"less than {self.lowest:.5f} or more than {self.highest:.5f} of the attention; looking everywhere "
                f"alike gives {self.uniform_by_distance.values[0]:.5f}"
            )
        if not np.isfinite(self.highest):
            return fate("the attention is not a number", self.step)
        said = _clearest(self, among)
        return said[0].upper() + said[1:]


@runtime_checkable
class Lived(Protocol):
    """A life that is no run's, and says of itself how far back it looked: that of a physics model."""

    def attention_profile(self, step: int) -> AttentionProfile:
        """Over the steps of its life, of which each has one input; `step` is marked, -1: none."""
        ...


def attention_profile(run: Run | Lived, *, step: Step = -1, member: Member = 0) -> AttentionProfile:
    """Mean attention by distance and by key position over 256 validation windows, beside looking everywhere alike.

    Of a physics model, which has one input a step: over the steps of its life.
    """
    if not isinstance(run, Run):
        return run.attention_profile(step)
    marked = -1 if step == -1 else _clock.resolve(run, step)
    return _of_run(run, _clock.resolve(run, step), member, marked)


def _of_run(run: Run, step: int, member: int, marked: int) -> AttentionProfile:
    a = run.architecture
    known = uncertainty(run, member=member)
    first, context = int(run.steps[0]), a.context
    windows = run.task.examples(context, "validation", fitting(run, WINDOWS)).windows[:, :context]
    back = np.arange(context)[:, None] - np.arange(context)[None, :]  # (query, key): how far back the key lies
    allowed = back >= 0 if a.causal else np.ones_like(back, bool)
    distances = np.arange(context) if a.causal else np.arange(-(context - 1), context)
    keys = {
        "distance": (distances, back if a.causal else -back),
        "key_position": (np.arange(context), np.broadcast_to(np.arange(context)[None, :], back.shape)),
    }
    source = _sources(run, windows)
    asks = source >= 0  # (window, query)
    apart = bool(asks.any() and not asks.all())
    chosen = asks if apart else np.ones_like(asks)
    now, then = (run.trace(windows, step=s, member=member)["attention"].astype(np.float64) for s in (step, first))
    heads = {"statistic": (*LINES, OTHERS) if apart else LINES, "block": numbers(a.blocks), "head": numbers(a.heads)}
    lines, alike, share, answer = {}, {}, {}, {}
    for name, (labels, key) in keys.items():
        axis = {name: tuple(labels.tolist())}
        pairs = [np.nonzero(allowed & (key == label)) for label in labels]  # (query, key) of each kind
        found = [_lines(now, then, chosen, q, k, apart) for q, k in pairs]
        lines[name] = Labelled(np.stack(found, axis=-1), {**heads, **axis}, "share")
        count = [chosen[:, q] for q, _ in pairs]  # (window, pair): whether this query counts
        alike[name] = Labelled(
            np.array([_mean(1 / allowed[q].sum(axis=1), each) for (q, _), each in zip(pairs, count, strict=True)]),
            axis,
            "share",
        )
        share[name] = Labelled(np.array([each.sum() / chosen.sum() for each in count]), axis, "share")
        if apart:
            there = [_mean(source[:, q] == k, each) for (q, k), each in zip(pairs, count, strict=True)]
            answer[name] = Labelled(np.array(there), axis, "share")
    return AttentionProfile(
        **_clock.at_step(run, step, member),
        by_distance=lines["distance"],
        by_position=lines["key_position"],
        uniform_by_distance=alike["distance"],
        uniform_by_position=alike["key_position"],
        seen_by_distance=share["distance"],
        seen_by_position=share["key_position"],
        answer=answer,
        entropy=known.attention["entropy"],
        if_alike=known.attention["if_even"],
        marked=marked,
        entropy_windows=known.inputs,
        lowest=float(now[..., allowed].min()),
        highest=float(now[..., allowed].max()),
        steps_are_inputs=False,
        windows=len(windows),
        asked=int(asks.sum()) if apart else 0,
        copied=copied(run),
        first=first,
        causal=a.causal,
    )


def _sources(run: Run, windows: Array) -> Array:
    """(window, query): where the answer after each query lies; -1 where there is none to look up."""
    if run.task.answers != "next":
        return np.full(windows.shape, -1)
    return np.stack([run.task.source_position(window) for window in windows])


def _mean(values: Array, counts: Array) -> float:
    """The mean over what counts; NaN where nothing does."""
    return float(np.broadcast_to(values, counts.shape)[counts].mean()) if counts.any() else float("nan")


def _lines(now: Array, then: Array, chosen: Array, query: Array, key: Array, apart: bool) -> Array:
    """(statistic, block, head): mean, band and beginning over the chosen (window, query), then the mean of the rest."""
    use = chosen[:, query]  # (window, pair)
    values, before = (np.moveaxis(each[..., query, key], 0, -2) for each in (now, then))  # (block, head, window, pair)
    nothing = np.full(now.shape[1:3], np.nan)
    band = np.quantile(values[..., use], [0.1, 0.9], axis=-1) if use.any() else [nothing, nothing]
    found = [values[..., use].mean(axis=-1) if use.any() else nothing, *band]
    found.append(before[..., use].mean(axis=-1) if use.any() else nothing)
    if apart:
        found.append(values[..., ~use].mean(axis=-1) if not use.all() else nothing)
    return np.stack(found)


def _clearest(seen: AttentionProfile, among: Sequence[tuple[int, int]] | None) -> str:
    """The clearest preference of these heads, and where the rule asks, whether the answer is what makes it."""
    every = list(np.ndindex(*seen.by_distance.values.shape[1:3]))
    places = every if among is None else list(among)
    best = max((favourite(seen, *at) for at in places), key=lambda each: each.beyond)
    here = "where the rule asks, " if seen.asked else ""
    shares = f"{percent(best.share)} of the attention on average, where looking everywhere alike gives"
    shares = f"{shares} {percent(best.alike)}"
    if best.beyond < 0.02:
        who = "the head looks" if len(every) == 1 else "every head looks"
        who = "these heads look" if len(places) < len(every) else who
        return f"{here}{who} almost everywhere alike: the clearest preference, {best.where}, gets {shares}"
    if seen.asked:
        shares = f"{percent(best.share)} of the attention; {_where_it_lies(seen, best)}"
    if len(every) == 1:
        return f"{here}{best.where} gets {shares}" if seen.asked else f"the head favours {best.where}: {shares}"
    favours = "has the clearest preference" + ("" if len(places) == len(every) else " of these heads")
    return (
        f"{here}{named(best.block, best.head, seen.by_distance.values.shape[1])} {favours}: {best.where} gets {shares}"
    )


def _where_it_lies(seen: AttentionProfile, best: "Favourite") -> str:
    """How often the answer lies where the attention goes; where it lies elsewhere more often, what that place gets."""
    often = seen.answer["distance"].values * seen.seen_by_distance.values
    k = int(np.nanargmax(often))
    where, there = _place("distance", seen.by_distance, k, seen.causal), float(seen.answer["distance"].values[k])
    if where == best.where or not there > best.answer:
        return f"{sought(seen.copied)} lies there in {percent(best.answer)}"
    got = float(seen.by_distance.values[0, best.block, best.head, k])
    return f"{where}, where {sought(seen.copied)} lies in {percent(there)}, gets {percent(got)}"


@dataclass(frozen=True)
class Favourite:
    """Where a head most exceeds looking everywhere alike."""

    beyond: float  # by how much, over all queries: those that have no such key count as none
    block: int
    head: int
    where: str
    share: float
    alike: float
    answer: float  # how often the answer lies there


def favourite(seen: AttentionProfile, block: int, head: int) -> Favourite:
    """What a head prefers most: a distance, or a position that every query can see (of others the mask decides)."""
    found = []
    for axis, lines, alike, share in (
        ("distance", seen.by_distance, seen.uniform_by_distance, seen.seen_by_distance),
        ("key_position", seen.by_position, seen.uniform_by_position, seen.seen_by_position),
    ):
        beyond = np.nan_to_num((lines.values[0, block, head] - alike.values) * share.values, nan=-1.0)
        if axis == "key_position" and seen.causal:
            beyond[1:] = -1
        k = int(np.argmax(beyond))
        there = float(seen.answer[axis].values[k]) if seen.answer else float("nan")
        means = float(lines.values[0, block, head, k]), float(alike.values[k])
        where = _place(axis, lines, k, seen.causal)
        found.append(Favourite(float(beyond[k]), block, head, where, *means, there))
    return max(found, key=lambda each: each.beyond)


def _place(axis: str, lines: Labelled, k: int, causal: bool) -> str:
    """A place of an axis, in words."""
    far = lines.axes[axis].values[k]
    assert isinstance(far, int)
    if axis == "key_position":
        return f"position {far}"
    if far == 0:
        return "the query's own position"
    if causal:
        return "the position just before" if far == 1 else f"the position {far} back"
    return f"the position {'just' if abs(far) == 1 else abs(far)} {'after' if far > 0 else 'before'} the query"
