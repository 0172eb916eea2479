"""How far back heads look: mean attention by position and by distance, over many windows."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, percent, thousands
from glassformer.errors import CallError
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
    windows: int
    first: int  # the step of the faint line
    causal: bool


def attention_profile(run: Run, *, step: int = -1, member: int = 0) -> AttentionProfile:
    """Mean attention by distance and by key position over 256 validation windows, beside looking everywhere alike."""
    a = run.architecture
    if a.attention == "off":
        raise CallError("this model has no attention")
    step, first, context = _clock.resolve(run, step), int(run.steps[0]), a.context
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
        windows=len(windows),
        first=first,
        causal=a.causal,
    )


def say(seen: AttentionProfile) -> Words:
    """Where the attention exceeds that of looking everywhere alike."""
    caption = (
        f"Mean attention over {seen.windows} validation windows and all queries that have such a key: left by "
        + ("how many positions back the key lies" if seen.causal else "where the key lies relative to the query")
        + ", right by the key's position. Band: the middle eight windows in ten. Dashed: attention spread evenly "
        "over all that may be seen. "
        f"Thin grey: step {thousands(seen.first)}. The means are exact for these windows. If position did not "
        f"matter to the head, "
        "its line would follow the dashed one; what depends on the token alone shows as the width of the band."
    )
    mean, even = seen.by_distance.values[0], seen.uniform_by_distance.values
    if not np.isfinite(mean).all():
        title = f"At step {seen.step} the attention is not a number: the training has diverged"
        return Words(title, caption, title)
    block, head, place = np.unravel_index(int(np.argmax(mean - even)), mean.shape)
    many = mean.shape[0] * mean.shape[1] > 1
    who = f"block {block}, head {head}" if many else "the head"
    label = seen.by_distance.axes["distance"][place]
    where = (
        (
            "its own position"
            if label == "0"
            else f"the position {label} back"
            if label != "1"
            else "the position just before"
        )
        if seen.causal
        else "its own position"
        if label == "0"
        else f"the key {abs(int(label))} {'after' if int(label) > 0 else 'before'} the query"
    )
    most = "most of all heads, " if many else ""
    shares = (
        f"{percent(float(mean[block, head, place]))} of the attention on average, where looking everywhere alike "
        f"gives {percent(float(even[place]))}"
    )
    title = f"{most}{who} favours {where}: {shares}"
    if np.abs(mean - even).max() < 0.02:
        title = (
            f"{'Every head' if many else 'The head'} looks almost everywhere alike: its clearest preference, "
            f"{where}, gets {shares}"
        )
    return Words(
        title[0].upper() + title[1:], caption, f"Curves of mean attention by distance and by position. {title}."
    )
