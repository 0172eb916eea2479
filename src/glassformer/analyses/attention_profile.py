"""How far back heads look, and how widely: mean attention by position and by distance, and its entropy over life."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, percent, thousands
from glassformer.analyses._uncertain import Uncertainty
from glassformer.analyses.attention import named
from glassformer.analyses.uncertainty import Subject, uncertainty
from glassformer.errors import CallError
from glassformer.physics.one_layer import Life
from glassformer.run import Run

WINDOWS = 256
LINES = ("mean", "10 %", "90 %", "first step")


@dataclass(frozen=True, kw_only=True)
class AttentionProfile(Result):
    """Mean attention over validation windows, with the band that holds eight windows in ten."""

    by_distance: Labelled  # (line, block, head, distance); not causal: key position minus query position
    by_position: Labelled  # (line, block, head, key_position)
    uniform_by_distance: Labelled  # (distance,)
    uniform_by_position: Labelled  # (key_position,)
    entropy: Labelled  # (block, head, step): of the attention, averaged over queries and windows, over the life
    if_even: Labelled  # (block, head): the same if each query looked everywhere alike
    marked: int  # the step asked for; -1: none
    entropy_windows: int  # windows behind the entropies; one input a step of a physics model
    least: float  # share that a key got on any input
    most: float
    steps_are_inputs: bool  # a physics model has one input a step: means and bands are over steps
    windows: int
    first: int  # the step of the faint line
    causal: bool


def attention_profile(run: Subject, *, step: int = -1, member: int = 0) -> AttentionProfile:
    """Mean attention by distance and by key position over 256 validation windows, beside looking everywhere alike.

    Of a physics model, which has one input a step: over the steps of its life.
    """
    if isinstance(run, Run):
        if run.architecture.attention == "off":
            raise CallError("this model has no attention")
        marked = -1 if step == -1 else _clock.resolve(run, step)
        return _of_run(run, _clock.resolve(run, step), member, marked)
    if not isinstance(run, Life):
        raise CallError("this model has no attention")
    return _of_life(run, uncertainty(run, step=step), step)


def _of_life(life: Life, known: Uncertainty, step: int) -> AttentionProfile:
    found = life.attention  # (step, position); the last position asks
    lines = np.stack([found.mean(axis=0), *np.quantile(found, [0.1, 0.9], axis=0), found[0]])[:, None, None]
    one, many = {"line": LINES, "block": ("0",), "head": ("0",)}, found.shape[1]
    even = np.full(many, 1 / many)
    return AttentionProfile(
        clock=known.clock,
        by_distance=Labelled(lines[..., ::-1], one | {"distance": numbers(many)}, "share"),
        by_position=Labelled(lines, one | {"key_position": numbers(many)}, "share"),
        uniform_by_distance=Labelled(even, {"distance": numbers(many)}, "share"),
        uniform_by_position=Labelled(even, {"key_position": numbers(many)}, "share"),
        entropy=known.attention["entropy"],
        if_even=known.attention["if_even"],
        marked=step,
        entropy_windows=1,
        least=float(found.min()),
        most=float(found.max()),
        steps_are_inputs=True,
        windows=len(found),
        first=int(life.steps[0]),
        causal=True,
    )


def _of_run(run: Run, step: int, member: int, marked: int) -> AttentionProfile:
    a = run.architecture
    known = uncertainty(run, member=member)
    first, context = int(run.steps[0]), a.context
    windows = run.task.examples(context, "validation", WINDOWS).windows[:, :context]
    back = np.arange(context)[:, None] - np.arange(context)[None, :]  # (query, key): how far back the key lies
    allowed = back >= 0 if a.causal else np.ones_like(back, bool)
    distances = np.arange(context) if a.causal else np.arange(-(context - 1), context)
    by = {
        "distance": [(back if a.causal else -back) == d for d in distances],
        "position": [np.broadcast_to(np.arange(context)[None, :] == k, back.shape) for k in range(context)],
    }
    even = allowed / allowed.sum(axis=1, keepdims=True)
    now, then = (run.trace(windows, step=s, member=member)["attention"].astype(np.float64) for s in (step, first))

    def lines(masks: list[Array]) -> Array:
        found = np.empty((4, *now.shape[1:3], len(masks)))
        for k, each in enumerate(masks):
            use = each & allowed
            values = now[..., use].mean(axis=-1)  # (window, block, head)
            found[:, :, :, k] = [
                values.mean(0),
                *np.quantile(values, [0.1, 0.9], axis=0),
                then[..., use].mean(axis=(0, -1)),
            ]
        return found

    heads = {"line": LINES, "block": numbers(a.blocks), "head": numbers(a.heads)}
    return AttentionProfile(
        step=step,
        clock=_clock.text(run, step, member),
        by_distance=Labelled(lines(by["distance"]), heads | {"distance": tuple(map(str, distances.tolist()))}, "share"),
        by_position=Labelled(lines(by["position"]), heads | {"key_position": numbers(context)}, "share"),
        uniform_by_distance=Labelled(
            np.array([even[m & allowed].mean() for m in by["distance"]]),
            {"distance": tuple(map(str, distances.tolist()))},
            "share",
        ),
        uniform_by_position=Labelled(
            np.array([even[m & allowed].mean() for m in by["position"]]), {"key_position": numbers(context)}, "share"
        ),
        entropy=known.attention["entropy"],
        if_even=known.attention["if_even"],
        marked=marked,
        entropy_windows=known.inputs,
        least=float(now[..., allowed].min()),
        most=float(now[..., allowed].max()),
        steps_are_inputs=False,
        windows=len(windows),
        first=first,
        causal=a.causal,
    )


def say(seen: AttentionProfile, among: Sequence[tuple[int, int]] | None = None) -> Words:
    """Where the attention exceeds that of looking everywhere alike; `among`: of these (block, head) only."""
    caption = (
        _over(seen)
        + "left by "
        + ("how many positions back the key lies" if seen.causal else "where the key lies relative to the query")
        + ", right by the key's position. Band: the middle eight in ten of them. Dashed: attention spread evenly over "
        f"all that may be seen. Thin grey: step {thousands(seen.first)}. The means are exact for these windows. If "
        "position did not matter to the head, its line would follow the dashed one; what depends on the token alone "
        "shows as the width of the band. " + _entropies(seen)
    )
    mean, even = seen.by_distance.values[0], seen.uniform_by_distance.values
    if seen.steps_are_inputs:
        title = (
            f"In none of {seen.windows} steps does one of the {mean.shape[-1]} positions get less than "
            f"{seen.least:.5f} or more "
            f"than {seen.most:.5f} of the attention; looking everywhere alike gives {even[0]:.5f}"
        )
        return Words(title, caption, f"Curves of mean attention by distance and by position. {title}.")
    if not np.isfinite(mean).all():
        title = f"At step {seen.step} the attention is not a number: the training has diverged"
        return Words(title, caption, title)
    places = list(np.ndindex(*mean.shape[:2])) if among is None else list(among)
    beyond, block, head, where, share, alike = max(favourite(seen, *at) for at in places)
    many = mean.shape[0] * mean.shape[1] > 1
    shares = f"{percent(share)} of the attention on average, where looking everywhere alike gives {percent(alike)}"
    if beyond < 0.02:
        who = "These heads look" if among is not None and len(places) < mean[..., 0].size else "Every head looks"
        who = who if many else "The head looks"
        title = f"{who} almost everywhere alike: the clearest preference, {where}, gets {shares}"
    elif many:
        whole = among is None or len(places) == mean[..., 0].size
        favours = "has the clearest preference" if whole else "has the clearest preference of these heads"
        title = f"{named(block, head, len(mean))} {favours}: {where} gets {shares}"
    else:
        title = f"The head favours {where}: {shares}"
    return Words(
        title[0].upper() + title[1:], caption, f"Curves of mean attention by distance and by position. {title}."
    )


def favourite(seen: AttentionProfile, block: int, head: int) -> tuple[float, int, int, str, float, float]:
    """Where a head most exceeds looking everywhere alike, by distance or by position: by how much, said, its shares."""
    found = []
    for lines, even, said in (
        (seen.by_distance, seen.uniform_by_distance, _at_distance),
        (seen.by_position, seen.uniform_by_position, lambda label, _: f"position {label}"),
    ):
        beyond = lines.values[0, block, head] - even.values
        k = int(np.argmax(beyond))
        label = list(lines.axes.values())[-1][k]
        share = float(lines.values[0, block, head, k])
        found.append((float(beyond[k]), block, head, said(label, seen.causal), share, float(even.values[k])))
    return max(found)


def _at_distance(label: str, causal: bool) -> str:
    far = abs(int(label))
    if label == "0":
        return "the query's own position"
    if causal:
        return "the position just before" if far == 1 else f"the position {far} back"
    return f"the position {'just' if far == 1 else far} {'after' if int(label) > 0 else 'before'} the query"


def _over(seen: AttentionProfile) -> str:
    if seen.steps_are_inputs:
        return f"Mean attention of the newest token over the {seen.windows} steps of a life, one input a step: "
    return f"Mean attention over {seen.windows} validation windows and all queries that have such a key: "


def _entropies(seen: AttentionProfile) -> str:
    """What the last chart shows, and from where to where it went."""
    first, last = (seen.entropy.values[..., k] for k in (0, -1))
    words = (
        "Last: the entropy of each head's attention by training step, averaged over queries"
        + ("" if seen.steps_are_inputs else f" and {seen.entropy_windows} windows")
        + f"; the thick dashes are at {float(seen.if_even.values.max()):.3f} nats, looking everywhere alike, and 0 "
        "would be looking at one position only."
    )
    if not np.isfinite([first, last]).all() or seen.steps_are_inputs:
        return words
    return f"{words} It goes from {_between(first)} to {_between(last)} nats."


def _between(values: Array) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:.2f}" if round(low, 2) == round(high, 2) else f"{low:.2f} to {high:.2f}"
